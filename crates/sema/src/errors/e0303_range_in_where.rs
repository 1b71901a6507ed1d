//! E0303: the range of an index written in `where`.

use einlang_source::{Code, Diagnostic, Span};

/// `where i in 0..n` for an index `i`.
pub(crate) fn range_in_where(index: &str, range: &str, span: Span, introduced: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0303,
        format!("the range of the index `{index}` cannot stand in `where`"),
        span,
        "an index range",
    )
    .with_label(introduced, "the index is introduced here")
    .with_note("`where` binds names and states conditions; a range belongs to its index")
    .with_help(format!("write `{index} in {range}` where `{index}` is introduced"))
}
