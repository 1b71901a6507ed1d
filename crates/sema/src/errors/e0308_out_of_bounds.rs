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
    let help = match (value.parse::<i64>(), extent.parse::<i64>()) {
        (_, Ok(0)) => {
            format!("give `{tensor}` elements, or read with a default: `{tensor}[… else 0]`")
        }
        (Ok(_), Ok(n)) => {
            format!("the last subscript of this axis is {}, also written `last`", n - 1)
        }
        _ => format!(
            "choose a range that keeps it inside, or read with a default: `{tensor}[… else 0]`"
        ),
    };
    let label = match extent {
        "0" => "the axis is empty".to_owned(),
        "1" => "the only valid subscript is 0".to_owned(),
        _ => format!("valid subscripts are 0..{extent}"),
    };
    Diagnostic::error(
        Code::E0308,
        format!(
            "the subscript `{value}` leaves axis {axis} of `{tensor}`, whose extent is {extent}"
        ),
        span,
        label,
    )
    .with_help(help)
}
