//! E0304: an inferred output domain that does not start at 0.

use einlang_source::{Code, Diagnostic, Span};

/// A shifted read takes away the first points.
pub(crate) fn not_from_zero(name: &str, range: &str, span: Span, from: Option<Span>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(
        Code::E0304,
        format!("the inferred range of `{name}` is `{range}`, which does not start at 0"),
        span,
        format!("the first points of `{name}` would be left undefined"),
    );
    if let Some(from) = from {
        diagnostic = diagnostic.with_label(from, "this read takes them away");
    }
    diagnostic.with_help(format!(
        "say what is meant: `{name} in {range}` with a clause for the first points, a default read such as `x[{name} - 1 else 0]`, or shifted reads"
    ))
}
