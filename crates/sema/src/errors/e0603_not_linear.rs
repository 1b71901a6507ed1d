//! E0603: a rule that is not linear in its differentials.

use einlang_source::{Code, Diagnostic, Span};

/// `@fn f(x) { @x * @x }`
pub(crate) fn not_linear(function: &str, span: Span) -> Diagnostic {
    let message = format!("the rule of `{function}` is not linear in its differentials");
    Diagnostic::error(Code::E0603, message, span, "here")
        .with_help("add differentials and scale them by what does not contain one")
}
