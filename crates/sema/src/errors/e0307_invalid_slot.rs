//! E0307, as far as names decide it: a slot that is computed from a name nobody has bound.

use einlang_source::{Code, Diagnostic, Span};

/// `let x[t + 1] = … x[t] …` with `t` unbound.
pub(crate) fn slot_of_unbound_index(
    slot: &str,
    name: &str,
    span: Span,
    rewritten: Option<(String, String)>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0307,
        format!("the slot `{slot}` is computed from `{name}`, which is not bound"),
        span,
        format!("`{name}` has no value here"),
    )
    .with_note("a slot is an index of its own, or one point that is computed from bound values");
    match rewritten {
        Some((index, read)) => diagnostic.with_help(format!(
            "introduce the index itself, `{index}`, and shift the reads instead: `{name}` becomes `{read}`"
        )),
        None => diagnostic.with_help(format!("write `{name}` alone to introduce it as an index")),
    }
}

/// `name in range` or `name: coordinate` in a read, which introduces nothing.
pub(crate) fn binder_in_read(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0307,
        format!("a read cannot introduce the index `{name}`"),
        span,
        "indices are introduced on the left side and by reductions",
    )
    .with_help(format!(
        "introduce `{name}` in a slot or a reduction, such as `sum[{name} in …](…)`"
    ))
}

/// `let a[N] = …` where `N` is a value already.
pub(crate) fn slot_is_value(name: &str, span: Span, what: &str, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0307,
        format!("the slot `{name}` would be a new index, but `{name}` is {what} already"),
        span,
        "a bare name introduces an index",
    )
    .with_label(declared, format!("`{name}` is {what} here"))
    .with_edit(
        format!("write `({name})` for the point, or rename the index"),
        span,
        format!("({name})"),
    )
}

/// `let a[:] = …`
pub(crate) fn slot_is_slice(span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0307, "`:` is no slot", span, "introduces no index")
        .with_help("name the index, `let a[i] = …`, or replace a slice with `a with [:] = …`")
}
