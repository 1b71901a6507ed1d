//! E0301: one index on axes of different extent.

use einlang_source::{Code, Diagnostic, Span};

/// A tensor, an axis of it, the extent of the axis and the read.
pub(crate) type AxisRead<'a> = (&'a str, usize, &'a str, Span);

/// A bare index on two axes whose extents are known to differ; the smaller one, if it is known.
pub(crate) fn extents_differ(
    index: &str,
    a: AxisRead<'_>,
    b: AxisRead<'_>,
    smaller: Option<&str>,
) -> Diagnostic {
    let axis = |(tensor, axis, extent, _): AxisRead<'_>| {
        format!("axis {axis} of `{tensor}` has extent {extent}")
    };
    let range = match smaller {
        Some(extent) => format!(", such as `{index} in 0..{extent}`"),
        None => String::new(),
    };
    Diagnostic::error(
        Code::E0301,
        format!("`{index}` runs over axes of different extent: {} and {}", axis(a), axis(b)),
        b.3,
        axis(b),
    )
    .with_label(a.3, axis(a))
    .with_help(format!(
        "use another index for one of them, or write a range for `{index}` that fits both{range}"
    ))
}

/// What is compared, its extent, and the place that says so.
pub(crate) type Side<'a> = (&'a str, &'a str, Span);

/// A call whose arguments fail what the function tests at entry.
pub(crate) fn extents_at_call(a: Side<'_>, b: Side<'_>, call: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0301,
        format!("in this call {} has extent {}, but {} has extent {}", a.0, a.1, b.0, b.1),
        call,
        "the extents must be equal",
    )
    .with_label(a.2, format!("extent {} in this call", a.1))
    .with_label(b.2, format!("extent {} in this call", b.1))
    .with_help("pass tensors whose extents agree, or a slice of the longer one: `x[0..n]`")
}

/// Extents that turned out to differ once a recurrence around was solved.
pub(crate) fn extents_found(a: Side<'_>, b: Side<'_>) -> Diagnostic {
    Diagnostic::error(
        Code::E0301,
        format!("{} has extent {}, but {} has extent {}", a.0, a.1, b.0, b.1),
        b.2,
        format!("extent {}", b.1),
    )
    .with_label(a.2, format!("extent {}", a.1))
    .with_help("use another index for one of them, or give the index a range that both allow")
}
