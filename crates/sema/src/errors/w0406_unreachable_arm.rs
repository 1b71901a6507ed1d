//! W0406: an arm that no value reaches.

use einlang_source::{Code, Diagnostic, Span};

/// Everything the arm takes is taken before.
pub(crate) fn unreachable_arm(span: Span, first: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::warning(
        Code::W0406,
        "no value reaches this arm",
        span,
        "taken by the arms before",
    );
    let diagnostic = match first {
        Some(first) => diagnostic.with_label(first, "the arms begin here"),
        None => diagnostic,
    };
    diagnostic.with_help("remove the arm, or move it before the wider one")
}
