//! E0302: an index whose range cannot be found.

use einlang_source::{Code, Diagnostic, Span};

/// No read determines the index.
pub(crate) fn no_range(
    name: &str,
    suggestion: Option<&str>,
    output: bool,
    span: Span,
) -> Diagnostic {
    let of = if output { "of the left side" } else { "of the reduction" };
    let help = match suggestion {
        Some(range) => format!("write the range: `{name} in {range}`"),
        None => format!("write the range: `{name} in 0..10` for ten points"),
    };
    Diagnostic::error(
        Code::E0302,
        format!("the range of `{name}` cannot be inferred"),
        span,
        format!("no read tells how far this index {of} runs"),
    )
    .with_note("a range comes from a subscript in which nothing else is unknown, such as `x[i]` or `x[2 * i + 1]`; default reads give none")
    .with_help(help)
}

/// `t in 1..` without `until`.
pub(crate) fn open_range(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0302,
        format!("the range of `{name}` has no end"),
        span,
        "open ranges belong to recurrences that end with `until`",
    )
    .with_help(format!(
        "end the range, as in `{name} in 1..10`, or end the clause with `until condition, max n`"
    ))
}
