//! E0203: a broadcast in an audited function that no attribute lists.

use einlang_source::{Code, Diagnostic, Span};

/// An operand lacks coordinates of the result. `binding` is the definition it belongs to.
pub(crate) fn unlisted_broadcast(
    function: &str,
    tensor: &str,
    missing: &[&str],
    span: Span,
    binding: Option<(&str, Span)>,
) -> Diagnostic {
    let over: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let over = over.join(", ");
    let attribute = format!("#[broadcast({tensor}: {})]", missing.join(", "));
    let diagnostic = Diagnostic::error(
        Code::E0203,
        format!("`{tensor}` is broadcast over {over}, and `{function}` is audited"),
        span,
        format!("without {over}"),
    );
    match binding {
        Some((name, at)) => diagnostic
            .with_label(at, format!("in the definition of `{name}`"))
            .with_help(format!("if it is meant, write `{attribute}` before `{name}`")),
        None => diagnostic.with_help(format!(
            "bind the value with `let`, and write `{attribute}` before it if it is meant"
        )),
    }
}
