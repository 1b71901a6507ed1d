//! E0110: a name that means nothing here.

use einlang_source::{Code, Diagnostic, Span};

use super::suggest;

/// A value that is not bound here.
pub(crate) fn unknown_name<'a>(
    name: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::E0110, format!("unknown name `{name}`"), span, "not bound here");
    suggest(diagnostic, name, span, candidates, format!("bind it first with `let {name} = …;`"))
}

/// A size of a function that its rule does not declare.
pub(crate) fn size_in_rule(name: &str, function: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0110, format!("unknown name `{name}`"), span, "not bound here").with_help(
        format!(
            "the sizes of `{function}` are not known in its rule: declare `{name}` there too, as in \
             `@fn {function}(x: [f64; {name}])`, or ask for `len(x)`"
        ),
    )
}

/// A variant that is named without its enum.
pub(crate) fn variant_without_enum(name: &str, path: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0110, format!("unknown name `{name}`"), span, "not bound here")
        .with_edit(format!("did you mean the variant `{path}`?"), span, path)
}

/// A type that is not declared.
pub(crate) fn unknown_type<'a>(
    name: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(Code::E0110, format!("unknown type `{name}`"), span, "not declared here");
    suggest(diagnostic, name, span, candidates, format!("declare it with `struct {name} {{ … }}`"))
}

/// A rest of axes that nothing introduces.
pub(crate) fn unknown_rest<'a>(
    name: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0110,
        format!("unknown rest `..{name}`"),
        span,
        "introduced by no slot, reduction or type",
    );
    suggest(diagnostic, name, span, candidates, format!("introduce `..{name}` on the left side"))
}

/// A module where a value is needed.
pub(crate) fn module_is_no_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0110, format!("`{name}` is a module, not a value"), span, "a module")
        .with_help(format!("name something in it: `{name}::…`"))
}

/// A type where a value is needed.
pub(crate) fn type_is_no_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::E0110, format!("`{name}` is a type, not a value"), span, "a type")
        .with_help(format!("make a value with `{name} {{ … }}`"))
}

/// A function that captures a binding which comes after the call.
pub(crate) fn captured_too_late(function: &str, name: &str, call: Span, bound: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0110,
        format!("`{function}` uses `{name}`, which is not bound yet"),
        call,
        format!("`{name}` has no value here"),
    )
    .with_label(bound, format!("`{name}` is bound here"))
    .with_help(format!("move this after the binding of `{name}`, or pass `{name}` as an argument"))
}
