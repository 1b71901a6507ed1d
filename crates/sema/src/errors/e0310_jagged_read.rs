//! E0310: a jagged array in indexed notation.

use einlang_source::{Code, Diagnostic, Span};

/// Rows of different length have no common index range.
pub(crate) fn jagged_read(name: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0310,
        format!("`{name}` is jagged (`{ty}`) and cannot be read with indices"),
        span,
        "its rows may have different lengths",
    )
    .with_help(format!(
        "read it one level at a time, `{name}[0][1]`, or with a comprehension, `[v | row in {name}, v in row]`"
    ))
}
