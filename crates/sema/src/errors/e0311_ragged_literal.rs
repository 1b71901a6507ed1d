//! E0311: an array literal whose rows differ in shape.

use einlang_source::{Code, Diagnostic, Span};

/// A row that does not fit the first one.
pub(crate) fn ragged_literal(first: &str, found: &str, span: Span, at: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0311,
        format!("the rows of this array have different shapes: `{first}` and `{found}`"),
        span,
        format!("this row is `{found}`"),
    )
    .with_label(at, format!("the first row is `{first}`"))
    .with_help(
        "make all rows equally long, or annotate the binding as a jagged array: `jagged[…; 2d]`",
    )
}
