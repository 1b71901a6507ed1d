//! E0306: a number of subscripts or slots that is not the number of axes.

use einlang_source::{Code, Diagnostic, Span};

/// More subscripts than axes.
pub(crate) fn too_many_subscripts(
    name: &str,
    rank: usize,
    n_given: usize,
    span: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0306,
        format!("`{name}` has {}, but {n_given} subscripts are given", axes(rank)),
        span,
        format!("{n_given} subscripts"),
    )
    .with_help(format!("give at most {rank} subscripts; fewer read a sub-tensor"))
}

/// Subscripts on a value without axes.
pub(crate) fn subscript_of_scalar(name: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0306,
        format!("`{name}` is a single `{ty}` and has no axes to subscript"),
        span,
        "no axes",
    )
    .with_help(format!("use `{name}` without brackets"))
}

/// Two clauses of one binding that disagree about its axes.
pub(crate) fn clause_ranks(
    name: &str,
    known: usize,
    found: usize,
    span: Span,
    first: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0306,
        format!("the clauses of `{name}` have different ranks: {known} and {found}"),
        span,
        format!("this clause makes {}", axes(found)),
    )
    .with_label(first, format!("`{name}` has {} here", axes(known)))
    .with_note("the rank is the number of slots plus the rank of the body")
    .with_help(format!("give every clause of `{name}` slots and a body that make {}", axes(known)))
}

fn axes(n: usize) -> String {
    match n {
        0 => "no axes".to_string(),
        1 => "1 axis".to_string(),
        n => format!("{n} axes"),
    }
}
