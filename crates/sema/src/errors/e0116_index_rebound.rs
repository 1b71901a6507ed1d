//! E0116: an index bound again in `where`.

use einlang_source::{Code, Diagnostic, Span};

/// `where j = i` for an index `j`.
pub(crate) fn index_rebound(name: &str, span: Span, introduced: Span, equals: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0116,
        format!("`where` cannot bind the index `{name}` again"),
        span,
        format!("`{name}` already has a value here"),
    )
    .with_label(introduced, "the index is introduced here")
    .with_edit("write `==` to keep only the points where both are equal", equals, "==")
}
