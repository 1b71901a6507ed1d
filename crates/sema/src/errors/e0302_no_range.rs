//! E0302: an index whose range cannot be found.

use einlang_source::{Code, Diagnostic, Span};

/// No read determines the index.
pub(crate) fn no_range(
    name: &str,
    suggestion: Option<&str>,
    output: bool,
    span: Span,
) -> Diagnostic {
    let place = if output { "on the left side" } else { "of the reduction" };
    let diagnostic = Diagnostic::error(
        Code::E0302,
        format!("the range of `{name}` cannot be inferred"),
        span,
        format!("no read determines this index {place}"),
    )
    .with_note("a range comes from a subscript of its own, such as `x[i]`; default reads and computed subscripts give none");
    match suggestion {
        Some(range) => diagnostic.with_help(format!("write the range: `{name} in {range}`")),
        None => diagnostic.with_help(format!("write the range: `{name} in 0..n`")),
    }
}

/// `t in 1..` without `until`.
pub(crate) fn open_range(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0302,
        format!("the range of `{name}` has no end"),
        span,
        "open ranges belong to recurrences that end with `until`",
    )
    .with_help("end the range, or end the clause with `until condition, max n`")
}
