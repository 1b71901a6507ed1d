//! E0502: no clause defines a point that a recurrence reads.

use einlang_source::{Code, Diagnostic, Span};

/// A self-read of a point in no clause's domain.
pub(crate) fn no_base(name: &str, point: &str, span: Span, first: Span) -> Diagnostic {
    let more = match point.contains(',') {
        true => ", with a range on an axis along which more points are missing",
        false => "",
    };
    Diagnostic::error(
        Code::E0502,
        format!("`{name}` reads its point `{name}[{point}]`, which no clause defines"),
        span,
        format!("reads `{name}[{point}]`"),
    )
    .with_label(first, format!("`{name}` begins here"))
    .with_help(format!("add the missing clause: `let {name}[{point}] = …;`{more}"))
}
