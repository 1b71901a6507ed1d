//! E0410: an effect where values are computed in any order, or not at all.

use einlang_source::{Code, Diagnostic, Span};

/// `print` in an indexed body, directly or through a function.
pub(crate) fn effect_here(name: &str, effect: &str, place: &str, span: Span) -> Diagnostic {
    let message = if name == effect {
        format!("`{name}` cannot be used in {place}")
    } else {
        format!("`{name}` may call `{effect}`, which cannot be used in {place}")
    };
    Diagnostic::error(Code::E0410, message, span, "has an effect")
        .with_note("points are computed in any order, each as often as needed")
        .with_help(format!(
            "move `{effect}` out, for example into a `for` loop over the finished values"
        ))
}
