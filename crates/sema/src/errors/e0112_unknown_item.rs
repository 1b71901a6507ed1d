//! E0112: an item that its module does not have.

use einlang_source::{Code, Diagnostic, Span};

use super::suggest;

/// A path to an item that its module does not have.
pub(crate) fn unknown_item<'a>(
    name: &str,
    span: Span,
    module: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0112,
        format!("module `{module}` has no item `{name}`"),
        span,
        format!("not found in `{module}`"),
    );
    suggest(
        diagnostic,
        name,
        span,
        candidates,
        format!("declare `pub fn {name}` in `{module}`, or import another item"),
    )
}

/// A path to an item that the standard library does not have.
pub(crate) fn unknown_library_item<'a>(
    name: &str,
    span: Span,
    module: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let message = format!("`{module}` has no item `{name}`");
    let diagnostic =
        Diagnostic::error(Code::E0112, message, span, format!("not found in `{module}`"));
    let help = format!("see the documentation of `{module}` for what it offers");
    suggest(diagnostic, name, span, candidates, help)
}

/// A path to a variant that its enum does not have.
pub(crate) fn unknown_variant<'a>(
    name: &str,
    span: Span,
    item: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let all: Vec<String> = candidates.clone().into_iter().map(|name| format!("`{name}`")).collect();
    let diagnostic = Diagnostic::error(
        Code::E0112,
        format!("enum `{item}` has no variant `{name}`"),
        span,
        format!("not a variant of `{item}`"),
    );
    suggest(diagnostic, name, span, candidates, format!("the variants are {}", all.join(", ")))
}
