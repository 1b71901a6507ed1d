//! E0304: an inferred output domain that does not start at 0.

use einlang_source::{Code, Diagnostic, Span};

/// A shifted read takes away the first points. Where the read is of the binding itself, its base
/// is meant to stand there.
pub(crate) fn not_from_zero(
    name: &str,
    range: &str,
    span: Span,
    from: Option<Span>,
    own: bool,
) -> Diagnostic {
    let start = range.split("..").next().unwrap_or(range);
    let mut diagnostic = Diagnostic::error(
        Code::E0304,
        format!("the inferred range of `{name}` is `{range}`, which does not start at 0"),
        span,
        format!("nothing would be defined before `{start}`"),
    );
    if let Some(from) = from {
        diagnostic =
            diagnostic.with_label(from, format!("this read needs `{name}` to start there"));
    }
    if own {
        return diagnostic.with_help(format!(
            "write the range, `{name} in {range}`, and clauses for the points before it"
        ));
    }
    let shift = match start.parse::<u32>() {
        Ok(start) => format!(", or write `{name} + {start}` for `{name}` on the right side"),
        Err(_) => String::new(),
    };
    diagnostic.with_help(format!(
        "write `{name} in {range}` and a clause for the points before, read with a default: `[… else 0]`{shift}"
    ))
}
