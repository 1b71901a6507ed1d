//! E0410: an effect where values are computed in any order, or not at all.

use einlang_source::{Code, Diagnostic, Span};

/// `print` in an indexed body, directly or through a function.
pub(crate) fn effect_here(name: &str, effect: &str, place: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0410,
        message(name, effect, &format!("in {place}")),
        span,
        "has an effect",
    )
    .with_note("points are computed in any order, each as often as needed")
    .with_help(format!(
        "move `{effect}` out, for example into a `for` loop over the finished values"
    ))
}

/// An effect among the statements of a module that is not the program itself.
pub(crate) fn effect_in_module(name: &str, effect: &str, span: Span) -> Diagnostic {
    let message = message(name, effect, "at the top level of a module");
    Diagnostic::error(Code::E0410, message, span, "has an effect")
        .with_note("a module only defines things; which of them are evaluated is up to its users")
        .with_help(format!(
            "move `{effect}` into a function of the module, or into the program that uses it"
        ))
}

fn message(name: &str, effect: &str, place: &str) -> String {
    match name == effect {
        true => format!("`{name}` cannot be used {place}"),
        false => format!("`{name}` may call `{effect}`, which cannot be used {place}"),
    }
}
