//! E0601: a derivative of, or by, something that is no float, or by something that is no binding, or
//! one that has no type.

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

/// `@y / @(2.0 * x)`: nothing depends on a value that only the request names.
pub(crate) fn not_a_binding(name: &str, is_const: bool, span: Span) -> Diagnostic {
    if is_const {
        let message = format!("`{name}` is a constant, which no derivative is taken by");
        let help = format!("bind it with `let {name} = …;` instead, where it is to be varied");
        return Diagnostic::error(Code::E0601, message, span, "this never changes").with_help(help);
    }
    let message = "a derivative is taken by a binding, or by a part of one";
    Diagnostic::error(Code::E0601, message, span, "nothing depends on this value").with_help(
        "bind it with `let`, use that name in what is differentiated, and put the name after `@`; \
         to convert or scale the result, put the request in parentheses: `(@y / @x) as f32`",
    )
}

/// `@y / @x` of a struct by a struct, or of one with tensors by a tensor.
pub(crate) fn no_type_for_derivative(record: &str, by: &str, span: Span) -> Diagnostic {
    let message = format!("the derivative of {record} by {by} has no type");
    Diagnostic::error(Code::E0601, message, span, "this would be no such record").with_help(
        "ask for one field, as in `@y.a / @x`, or for several as a tuple: `@(y.a, y.b) / @x`",
    )
}
