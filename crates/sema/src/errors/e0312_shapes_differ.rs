//! E0312: whole tensors of different shape or rank.

use einlang_source::{Code, Diagnostic, Span};

use super::Operand;

const ONE_SHAPE: &str = "cut both to one shape with slices such as `x[0..2]`, or say with indices which elements belong together";

/// Whole tensors of different rank; the help writes the indexed form.
pub(crate) fn ranks_differ(op: &str, a: &Operand, b: &Operand, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!("`{op}` between whole tensors of different rank: `{}` and `{}`", a.ty, b.ty),
        span,
        "",
    )
    .with_label(a.span, format!("this is `{}`", a.ty))
    .with_label(b.span, format!("this is `{}`", b.ty))
    .with_help(format!("say it with indices: `{}`", indexed_form(op, a, b)))
}

/// Whole tensors of one rank whose shapes are known to differ.
pub(crate) fn shapes_differ(op: &str, a: &Operand, b: &Operand, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!("`{op}` between whole tensors of different shape: `{}` and `{}`", a.ty, b.ty),
        span,
        "",
    )
    .with_label(a.span, format!("this is `{}`", a.ty))
    .with_label(b.span, format!("this is `{}`", b.ty))
    .with_help(ONE_SHAPE)
}

/// `let y[i, j] = A[i, j] + v[j];`: the smaller operand is repeated along the leading axes.
fn indexed_form(op: &str, a: &Operand, b: &Operand) -> String {
    const NAMES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
    let rank = a.rank.max(b.rank).min(NAMES.len());
    let indices = |n: usize| NAMES[rank - n.min(rank)..rank].join(", ");
    let read = |operand: &Operand| format!("{}[{}]", operand.text, indices(operand.rank));
    format!("let y[{}] = {} {op} {};", indices(rank), read(a), read(b))
}

/// What an operand is called, the extent of one of its axes, and its place.
pub(crate) type Extent<'a> = (&'a str, &'a str, Span);

/// Whole tensors of one rank, an axis of which has different extents.
pub(crate) fn whole_extents(a: Extent<'_>, b: Extent<'_>, axis: usize) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!(
            "whole tensors of different shape: axis {axis} of `{}` has extent {}, that of `{}` has {}",
            a.0, a.1, b.0, b.1
        ),
        b.2,
        format!("extent {}", b.1),
    )
    .with_label(a.2, format!("extent {}", a.1))
    .with_help(ONE_SHAPE)
}

/// New values of an update that do not fill the points they replace.
pub(crate) fn update_extents(
    points: &str,
    values: &str,
    axis: usize,
    span: Span,
    base: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!(
            "the update replaces {} along axis {axis} with {}",
            counted(points, "point"),
            counted(values, "value")
        ),
        span,
        counted(values, "value"),
    )
    .with_label(base, "this tensor is updated")
    .with_help("give as many values as there are points, or one scalar for all of them")
}

fn counted(number: &str, thing: &str) -> String {
    format!("{number} {thing}{}", if number == "1" { "" } else { "s" })
}

/// A body that is a tensor whose extent changes from point to point.
pub(crate) fn body_extent_varies(name: &str, axis: usize, extent: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!("the body of `{name}` has extent {extent} along axis {axis}, which differs from point to point"),
        span,
        "a tensor has one extent per axis",
    )
    .with_help("give the axis an index of its own, with a guard for the points that exist")
}

/// Clauses whose bodies have different extents.
pub(crate) fn clause_extents(
    name: &str,
    axis: usize,
    a: (&str, Span),
    b: (&str, Span),
) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!(
            "axis {axis} of `{name}` has extent {} in this clause, but {} in another",
            a.0, b.0
        ),
        a.1,
        format!("extent {}", a.0),
    )
    .with_label(b.1, format!("extent {} in another clause", b.0))
    .with_help("give the bodies of all clauses the same shape")
}
