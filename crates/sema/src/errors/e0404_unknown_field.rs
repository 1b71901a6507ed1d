//! E0404: a field that is not there.

use einlang_source::{Code, Diagnostic, Span};

use super::suggest;

/// A field that its struct does not have.
pub(crate) fn unknown_field(name: &str, owner: &str, span: Span, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0404,
        format!("`{owner}` has no field `{name}`"),
        span,
        "no such field",
    );
    let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let help = match all.is_empty() {
        true => format!("`{owner}` has no fields"),
        false => format!("the fields of `{owner}` are {}", all.join(", ")),
    };
    suggest(diagnostic, name, span, known.iter().copied(), help)
}

/// `t.2` of a pair.
pub(crate) fn unknown_tuple_field(name: &str, ty: &str, n_parts: usize, span: Span) -> Diagnostic {
    let help = match n_parts {
        0 => "`()` has no parts".to_string(),
        n => format!("its parts are `.0` to `.{}`", n - 1),
    };
    Diagnostic::error(Code::E0404, format!("`{ty}` has no part `.{name}`"), span, "no such part")
        .with_help(help)
}

/// `t[0]`
pub(crate) fn tuple_subscript(name: &str, ty: &str, index: Option<i128>, span: Span) -> Diagnostic {
    let part = index.map_or("0".to_string(), |index| index.to_string());
    Diagnostic::error(
        Code::E0404,
        format!("`{name}` is the tuple `{ty}`, which has parts and no axes"),
        span,
        "brackets are for tensors",
    )
    .with_help(format!("write `{name}.{part}`"))
}

/// A field of something without fields.
pub(crate) fn no_fields(name: &str, ty: &str, span: Span) -> Diagnostic {
    let help = match name {
        "len" | "length" | "size" => "ask for the number of elements with `len(x)`",
        _ => "fields belong to structs and tuples; call functions as `f(x)` or `x |> f`",
    };
    Diagnostic::error(Code::E0404, format!("`{ty}` has no field `{name}`"), span, "no such field")
        .with_help(help)
}

/// `p.x` of a tensor of structs.
pub(crate) fn field_of_tensor(
    name: &str,
    text: &str,
    ty: &str,
    rank: usize,
    span: Span,
) -> Diagnostic {
    let indices = ["i", "j", "k", "l"][..rank.min(4)].join(", ");
    Diagnostic::error(
        Code::E0404,
        format!("`{text}` is `{ty}`: its elements have `{name}`, the tensor has not"),
        span,
        "a field of the elements",
    )
    .with_help(format!(
        "read it from each element: `let xs[{indices}] = {text}[{indices}].{name};`"
    ))
}

/// Brackets after a value without axes.
pub(crate) fn no_subscripts(name: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0404,
        format!("`{name}` is `{ty}`, which has no axes"),
        span,
        "brackets are for tensors",
    )
    .with_help("read a field with `.name`, or call a function with parentheses")
}
