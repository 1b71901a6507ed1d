//! E0309: a rest that stands for no known number of axes.

use einlang_source::{Code, Diagnostic, Span};

/// No read tells how many axes the rest has.
pub(crate) fn rest_undetermined(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0309,
        format!("nothing determines which axes `..{name}` stands for"),
        span,
        "no read on the right side has this rest",
    )
    .with_help(format!(
        "take them from a tensor: `..{name}: x`, or read one with it: `x[..{name}]`"
    ))
}
