//! E0407: a condition that is no `bool`, or branches of different type.

use einlang_source::{Code, Diagnostic, Span};

use super::{CLOSURE, SIGNATURE};

/// `if n { … }`
pub(crate) fn condition_not_bool(what: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0407,
        format!("{what} is a `bool`, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("write a comparison, such as `x != 0`")
}

/// Branches that give different types.
pub(crate) fn branches_differ(
    what: &str,
    first: &str,
    found: &str,
    span: Span,
    at: Span,
) -> Diagnostic {
    let numbers = |ty: &str| {
        crate::hir::Scalar::parse(ty).is_some_and(|s| !matches!(s.as_str(), "str" | "bool"))
    };
    let help = match numbers(first) && numbers(found) {
        true => format!("convert one of them: `… as {first}`"),
        false if first == CLOSURE => SIGNATURE.to_owned(),
        false => format!("give both the type `{first}`"),
    };
    Diagnostic::error(
        Code::E0407,
        format!("{what} have different types: `{first}` and `{found}`"),
        span,
        format!("this is `{found}`"),
    )
    .with_label(at, format!("this is `{first}`"))
    .with_help(help)
}

/// Clauses of one binding with different types.
pub(crate) fn clause_types(
    name: &str,
    known: &str,
    found: &str,
    span: Span,
    first: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0407,
        format!("the clauses of `{name}` have different types: `{known}` and `{found}`"),
        span,
        format!("this clause makes `{found}`"),
    )
    .with_label(first, format!("`{name}` is `{known}` here"))
    .with_help("convert the body of one clause with `as`")
}
