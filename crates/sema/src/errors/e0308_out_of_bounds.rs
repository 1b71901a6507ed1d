//! E0308: a subscript that is provably out of bounds.

use einlang_source::{Code, Diagnostic, Span};

/// A subscript that leaves its axis.
pub(crate) fn out_of_bounds(
    tensor: &str,
    axis: usize,
    value: &str,
    extent: &str,
    span: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0308,
        format!(
            "the subscript `{value}` leaves axis {axis} of `{tensor}`, whose extent is {extent}"
        ),
        span,
        format!("valid subscripts are 0..{extent}"),
    )
    .with_help(format!(
        "keep the subscript inside the axis, or read with a default: `{tensor}[… else 0]`"
    ))
}
