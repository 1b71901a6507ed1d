//! E0114: imports that chase each other.

use einlang_source::{Code, Diagnostic, Span};

/// An import of a name that is itself only an import of this one.
pub(crate) fn import_cycle(path: &str, span: Span, other: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0114,
        format!("the import of `{path}` leads back to itself"),
        span,
        "waits for another import",
    );
    let diagnostic =
        if other == span { diagnostic } else { diagnostic.with_label(other, "which waits too") };
    diagnostic.with_help("import the item from the module that declares it")
}
