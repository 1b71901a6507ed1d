//! E0603: a rule that is not linear in its differentials.

use einlang_source::{Code, Diagnostic, Span};

/// What is wrong with a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotLinear {
    /// `@x * @x`
    At(Span),
    /// `@y / @x`, which would be a request elsewhere.
    Request(Span),
    /// A part without any differential.
    Without(Span),
}

/// `@fn f(x) { @x * @x }`; `param` is a name that differentials of the rule may have.
pub(crate) fn not_linear(function: &str, param: Option<&str>, why: NotLinear) -> Diagnostic {
    let message = format!("the rule of `{function}` is not linear in its differentials");
    let error = |span: Span, label: &str| Diagnostic::error(Code::E0603, &message, span, label);
    let param = param.unwrap_or("x");
    match why {
        NotLinear::At(span) => error(span, "here")
            .with_help("add differentials and scale them by what does not contain one"),
        NotLinear::Request(span) => {
            error(span, "in a rule this is a quotient of two differentials, not a request").with_help(
                format!(
                    "ask for the derivative in a function of its own, such as `fn slope(x) {{ let y \
                     = …; @y / @x }}`, and multiply by what it gives: `slope(…) * @{param}`"
                ),
            )
        }
        NotLinear::Without(span) => error(span, "there is no differential in this").with_help(format!(
            "what a rule gives is a sum of differentials, scaled; they are written with `@`, so it is \
             `@{param}`, not `{param}`"
        )),
    }
}
