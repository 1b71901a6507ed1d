//! E0403: a call of something that cannot be called, or with wrong arguments.

use einlang_source::{Code, Diagnostic, Span, nearest};

/// A value that is no function.
pub(crate) fn not_callable(text: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("`{text}` is `{ty}` and cannot be called"),
        span,
        "not a function",
    )
    .with_help("read elements with brackets `x[i]`, and multiply with `*`")
}

/// Too few or too many values.
pub(crate) fn wrong_arity(
    name: &str,
    wanted: usize,
    found: usize,
    span: Span,
    declared: Option<Span>,
) -> Diagnostic {
    let plural = if wanted == 1 { "argument" } else { "arguments" };
    let diagnostic = Diagnostic::error(
        Code::E0403,
        format!("`{name}` takes {wanted} {plural}, but {found} are given"),
        span,
        format!("{found} given"),
    );
    let diagnostic = match declared {
        Some(declared) => diagnostic.with_label(declared, "declared here"),
        None => diagnostic,
    };
    diagnostic.with_help(format!("call it with {wanted} {plural}"))
}

/// Parameters without a value.
pub(crate) fn missing_arguments(
    name: &str,
    missing: &[&str],
    span: Span,
    declared: Span,
) -> Diagnostic {
    let list = quoted(missing);
    Diagnostic::error(
        Code::E0403,
        format!("the call of `{name}` lacks {list}"),
        span,
        format!("{list} missing"),
    )
    .with_label(declared, "declared here")
    .with_help(format!(
        "pass {list}, or give the parameter a default in the declaration of `{name}`"
    ))
}

/// `fn main(n)`: nobody passes it anything.
pub(crate) fn main_with_parameters(param: Span, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        "the program is the call `main()`, which gives this parameter no value",
        param,
        "no value",
    )
    .with_label(declared, "called without arguments")
    .with_help("give it a default, as in `n: i32 = 10`, or make it an `input` of the program")
}

/// `f(x, speed = 1.0)` without such a parameter.
pub(crate) fn unknown_argument<'a>(
    name: &str,
    wanted: &str,
    span: Span,
    declared: Span,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let known: Vec<&str> = known.collect();
    let diagnostic = Diagnostic::error(
        Code::E0403,
        format!("`{name}` has no parameter `{wanted}`"),
        span,
        "no such parameter",
    )
    .with_label(declared, "declared here");
    match nearest(wanted, known.iter().copied()) {
        Some(near) => diagnostic.with_edit(format!("did you mean `{near}`?"), span, near),
        None => diagnostic.with_help(format!("the parameters are {}", quoted(&known))),
    }
}

/// A parameter with two values.
pub(crate) fn argument_twice(name: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("a parameter of `{name}` is given twice"),
        span,
        "given again",
    )
    .with_label(declared, "declared here")
    .with_help("give each parameter one value, by position or by name")
}

/// Named arguments of something without parameter names.
pub(crate) fn no_named_arguments(name: &str, argument: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("`{name}` takes its arguments by position, not by the name `{argument}`"),
        span,
        "a named argument",
    )
    .with_help(format!("leave out `{argument} =`"))
}

/// A function that would be specialised for ever new types.
pub(crate) fn endless_specialisation(name: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("`{name}` calls itself with ever new types and would need endless specialisations"),
        span,
        "one type too many",
    )
    .with_label(declared, "declared here")
    .with_help(format!("declare the types of the parameters of `{name}`"))
}

/// Calls of functions without a declared result, one inside the other.
pub(crate) fn calls_too_deep(name: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("the result of `{name}` depends on too many functions without a declared result"),
        span,
        "too deep to follow",
    )
    .with_label(declared, "declared here")
    .with_help(format!("declare the result of `{name}` after its parameters: `-> …`"))
}

/// `f[a, b](x)` of a function with fewer coordinate parameters.
pub(crate) fn too_many_coordinates(
    name: &str,
    wanted: usize,
    found: usize,
    span: Span,
    declared: Option<Span>,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0403,
        format!("`{name}` takes {wanted} coordinates in brackets, but {found} are given"),
        span,
        format!("{found} given"),
    );
    let diagnostic = match declared {
        Some(declared) => diagnostic.with_label(declared, "declared here"),
        None => diagnostic,
    };
    match wanted {
        0 => diagnostic.with_help(format!("call it without brackets: `{name}(…)`")),
        n => diagnostic.with_help(format!("name {n} of the coordinates of the argument")),
    }
}

/// `sum(x)` without an index.
pub(crate) fn reduction_without_index(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("`{name}` is a reduction and needs an index"),
        span,
        "no index",
    )
    .with_help(format!("write `{name}[i](x[i])`"))
}

/// `Shape::Rect` without its fields.
pub(crate) fn variant_needs_fields(name: &str, fields: &[&str], span: Span) -> Diagnostic {
    let list = fields.iter().map(|field| format!("{field}: …")).collect::<Vec<_>>().join(", ");
    Diagnostic::error(Code::E0403, format!("`{name}` needs its fields"), span, "fields missing")
        .with_help(format!("write `{name} {{ {list} }}`"))
}

/// A struct without some of its fields.
pub(crate) fn missing_fields(
    name: &str,
    missing: &[&str],
    span: Span,
    declared: Span,
) -> Diagnostic {
    let list = quoted(missing);
    Diagnostic::error(
        Code::E0403,
        format!("this `{name}` lacks {list}"),
        span,
        format!("{list} missing"),
    )
    .with_label(declared, "declared here")
    .with_help(format!("give {list} a value"))
}

/// A pattern that does not mention some fields.
pub(crate) fn pattern_misses_fields(name: &str, missing: &[&str], span: Span) -> Diagnostic {
    let list = quoted(missing);
    Diagnostic::error(
        Code::E0403,
        format!("the pattern of `{name}` lacks {list}"),
        span,
        format!("{list} missing"),
    )
    .with_help("name the fields, or write `..` for the others")
}

/// Something else than an index in the brackets of a reduction.
pub(crate) fn not_an_index(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        "a reduction takes indices in its brackets",
        span,
        "not an index",
    )
    .with_help("write a name, `k in 0..n`, `k: coordinate` or `..rest`")
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `@fn f(x, y) { … }` for a function with other parameters.
pub(crate) fn rule_arity(
    name: &str,
    wanted: &[String],
    found: usize,
    span: Span,
    declared: Span,
) -> Diagnostic {
    let plural = |n: usize| if n == 1 { "parameter" } else { "parameters" };
    let n_wanted = wanted.len();
    Diagnostic::error(
        Code::E0403,
        format!(
            "`{name}` has {n_wanted} {}, but its rule has {found} {}",
            plural(n_wanted),
            plural(found)
        ),
        span,
        format!("a rule with {found} {}", plural(found)),
    )
    .with_label(declared, "the function is declared here")
    .with_help(format!(
        "a rule has the parameters of its function: `@fn {name}({})`",
        wanted.join(", ")
    ))
}

/// `@fn k(x) { … }` where `k` is a value.
pub(crate) fn rule_of_no_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("`{name}` is not declared with `fn`, so it cannot have a rule"),
        span,
        "not a function that is declared",
    )
    .with_help(format!("declare it as a function: `fn {name}(…) {{ … }}`"))
}

/// `@fn sin(x) { … }`
pub(crate) fn rule_of_builtin(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0403,
        format!("`{name}` is built in and has its derivative already"),
        span,
        "a rule for a function that is built in",
    )
    .with_help(format!(
        "give the rule to a function of your own that calls `{name}`, and call that"
    ))
}

/// A call of a library function that goes wrong inside, for arguments of these types.
pub(crate) fn library_call(name: &str, types: &str, span: Span, inner: &Diagnostic) -> Diagnostic {
    Diagnostic::error(
        inner.code,
        format!("`{name}` does not work for these arguments: {}", inner.message),
        span,
        format!("called with ({types})"),
    )
    .with_label(inner.primary.span, "it goes wrong here")
    .with_help(format!("see the documentation of `{name}` for what it takes"))
}
