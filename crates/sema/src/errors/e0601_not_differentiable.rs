//! E0601: a derivative of, or by, something that is no float.

use einlang_source::{Code, Diagnostic, Span};

/// `@n` where `n` is an integer, a truth value or a string.
pub(crate) fn not_differentiable(name: &str, ty: &str, field: &str, span: Span) -> Diagnostic {
    let message = match field {
        "" => format!("`{name}` has type {ty}, which has no derivative"),
        field => format!("`{name}{field}` has type {ty}, which has no derivative"),
    };
    let help = match field {
        "" => format!("only floats can be differentiated: make `{name}` a float where it is bound"),
        field => format!("name the fields that are floats instead, without `{field}`"),
    };
    Diagnostic::error(Code::E0601, message, span, "not a float").with_help(help)
}
