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

/// Elements that are tensors, an axis of which has different extents.
pub(crate) fn element_extents(first: (&str, Span), found: (&str, Span), axis: usize) -> Diagnostic {
    Diagnostic::error(
        Code::E0311,
        format!(
            "the elements of this array have different shapes: axis {axis} has extent {} and {}",
            first.0, found.0
        ),
        found.1,
        format!("extent {} here", found.0),
    )
    .with_label(first.1, format!("extent {} in the first element", first.0))
    .with_help("give all elements the same shape")
}
