//! E0115: two meanings for one name.

use einlang_source::{Code, Diagnostic, Span};

/// Two items or imports of one name in one place.
pub(crate) fn name_clash(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(Code::E0115, format!("`{name}` is declared twice"), span, "declared again")
        .with_label(first, "first declared here")
        .with_help(format!(
            "rename one of them, or import one as another name: `use … as my_{name};`"
        ))
}

/// Two fields or variants of one name.
pub(crate) fn member_clash(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(Code::E0115, format!("`{name}` is declared twice"), span, "declared again")
        .with_label(first, "first declared here")
        .with_help("give each its own name")
}

/// A second rule for one function.
pub(crate) fn second_rule(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(Code::E0115, format!("`{name}` has two rules"), span, "the second one")
        .with_label(first, "the first one")
        .with_help(
            "keep one of them: a forward rule and one with `from` serve both directions alike",
        )
}

/// Two `use p::*` that bring the same name.
pub(crate) fn glob_clash(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0115,
        format!("two imports with `*` bring the name `{name}`"),
        span,
        format!("this one brings another `{name}`"),
    )
    .with_label(first, "the first one")
    .with_help(format!("import `{name}` by its name from the module that is meant"))
}

/// `let x[0] = …` where `x` is bound without slots.
pub(crate) fn clause_of_plain_name(name: &str, span: Span, first: Span, what: &str) -> Diagnostic {
    Diagnostic::error(
        Code::E0115,
        format!("`{name}` cannot have a clause: it is bound as {what}"),
        span,
        "a clause of it",
    )
    .with_label(first, format!("bound as {what} here"))
    .with_help(format!(
        "replace points of a value with `{name} with […] = …`, or choose another name"
    ))
}

/// A clause that comes after the binding was used as a whole.
pub(crate) fn clause_after_use(name: &str, span: Span, used: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0115,
        format!("`{name}` gets a further clause after it was used"),
        span,
        "a further clause",
    )
    .with_label(used, format!("`{name}` is used here"))
    .with_help(format!("move all clauses of `{name}` before its first use"))
}
