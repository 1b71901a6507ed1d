//! E0113: an item that its module keeps to itself.

use einlang_source::{Code, Diagnostic, Span};

/// A path to an item without `pub`.
pub(crate) fn private_item(name: &str, span: Span, module: &str, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0113,
        format!("`{name}` is private to module `{module}`"),
        span,
        "not visible here",
    )
    .with_label(declared, "declared here without `pub`")
    .with_help(format!("write `pub` before the declaration of `{name}`"))
}

/// A path to something that the standard library keeps to itself.
pub(crate) fn private_library_item(name: &str, span: Span, module: &str) -> Diagnostic {
    Diagnostic::error(
        Code::E0113,
        format!("`{name}` is private to `{module}`"),
        span,
        "not visible here",
    )
    .with_help(format!("use what `{module}` itself offers"))
}
