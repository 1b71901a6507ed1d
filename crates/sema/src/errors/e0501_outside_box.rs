//! E0501: a self-read outside the box.

use einlang_source::{Code, Diagnostic, Span};

/// A clause reads its own binding beyond the first or last point.
pub(crate) fn self_read_outside(
    name: &str,
    axis: usize,
    value: &str,
    extent: &str,
    below: bool,
    span: Span,
) -> Diagnostic {
    let side = if below { "before its first point" } else { "beyond its last point" };
    let help = match below {
        true => format!(
            "start the range later and add a base clause, or read with a default: `{name}[… else 0]`"
        ),
        false => format!(
            "end the range earlier and add a clause for the last points, or read with a default: `{name}[… else 0]`"
        ),
    };
    Diagnostic::error(
        Code::E0501,
        format!("`{name}` reads itself {side}: the subscript `{value}` leaves axis {axis}, whose extent is {extent}"),
        span,
        format!("axis {axis} of `{name}` has the points 0..{extent}"),
    )
    .with_help(help)
}
