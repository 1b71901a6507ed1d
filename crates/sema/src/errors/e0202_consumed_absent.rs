//! E0202: a reduction over a coordinate that its body does not use.

use einlang_source::{Code, Diagnostic, Span};

/// The index or coordinate does not occur in what is reduced.
pub(crate) fn consumed_absent(
    op: &str,
    (index, coordinate): (&str, &str),
    (value, layout): (&str, Option<&str>),
    span: Span,
    at: Span,
) -> Diagnostic {
    let what = match index == coordinate {
        true => format!("`{coordinate}`"),
        false => format!("`{index}: {coordinate}`"),
    };
    let body = match layout {
        Some(layout) => format!("no `{index}` in here; `{value}` is `{layout}`"),
        None => format!("no `{index}` in here"),
    };
    let diagnostic = Diagnostic::error(
        Code::E0202,
        format!("`{op}` consumes {what}, which does not occur in its body"),
        span,
        "consumed here",
    )
    .with_label(at, body);
    match layout.is_some_and(|layout| words(layout).any(|word| word == coordinate)) {
        true => diagnostic.with_help(format!(
            "`{value}` is a whole tensor here; read it at its indices: `{value}[…, {index}]`"
        )),
        false => diagnostic.with_help(format!(
            "read a tensor that has `{coordinate}`, or leave `{index}` out of `{op}[…]`"
        )),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}
