//! E0205: layouts of arguments, parameters and results that do not match.

use einlang_source::{Code, Diagnostic, Span, nearest};

/// An argument whose layout is not the parameter's.
pub(crate) fn argument_layout(
    (function, param, declared): (&str, &str, &str),
    (argument, layout): (&str, &str),
    (wanted, found): (&str, &str),
    span: Span,
    at: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0205,
        format!(
            "`{argument}` is `{layout}`, but the parameter `{param}` of `{function}` is \
             `{declared}`"
        ),
        span,
        format!("`{found}` where `{wanted}` is wanted"),
    )
    .with_label(at, format!("`{param}` is declared here"));
    advise(diagnostic, (argument, layout), declared, (wanted, found))
}

/// A value whose layout is not that of the declared result.
pub(crate) fn return_layout(
    value: &str,
    declared: &str,
    layout: &str,
    wanted: &str,
    found: &str,
    span: Span,
    at: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0205,
        format!("`{value}` is `{layout}`, but the declared result is `{declared}`"),
        span,
        format!("`{found}` where `{wanted}` is declared"),
    )
    .with_label(at, "the result is declared here");
    advise(diagnostic, (value, layout), declared, (wanted, found))
}

/// A value whose layout is not that of its annotation.
pub(crate) fn annotation_layout(declared: &str, layout: &str, span: Span, at: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0205,
        format!("this value is `{layout}`, but `{declared}` is declared for it"),
        span,
        format!("`{layout}`"),
    )
    .with_label(at, "declared here")
    .with_help("change the declaration, or rename the axes of the value with `as`")
}

/// Branches, arms or elements of different layouts.
pub(crate) fn branch_layouts(
    first: &str,
    second: &str,
    (a, b): (&str, &str),
    span: Span,
    at_first: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0205,
        format!("this value is `{second}`, and the one it takes turns with is `{first}`"),
        span,
        format!("`{b}` here"),
    )
    .with_label(at_first, format!("`{a}` here"))
    .with_help("give both the same layout; `as` renames axes, an indexed definition reorders them")
}

/// A coordinate call whose argument has no such axis: the argument, its layout and rank.
pub(crate) fn no_such_axis(
    function: &str,
    coordinate: &str,
    (argument, layout, rank): (&str, &str, usize),
    known: &[&str],
    (span, at): (Span, Span),
) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0205,
        format!(
            "`{function}[{coordinate}]` needs an axis `{coordinate}`, but `{argument}` is \
             `{layout}`"
        ),
        span,
        "no axis of this name",
    )
    .with_label(at, format!("`{layout}`"));
    if let Some(near) = nearest(coordinate, known.iter().copied()) {
        return diagnostic.with_edit(format!("did you mean `{near}`?"), span, near);
    }
    match (known.is_empty(), rank) {
        (true, 0) => diagnostic.with_help(format!("give `{function}` a tensor with such an axis")),
        (true, _) => diagnostic.with_help(format!(
            "name the axes where the call reads them, as in `{argument}[…, {coordinate}]`, or \
             with `as […; …, {coordinate}]`"
        )),
        (false, _) => {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            diagnostic.with_help(format!("the axes are {}", known.join(", ")))
        }
    }
}

/// A coordinate call in a function whose callers put the coordinate on different axes.
pub(crate) fn coordinate_elsewhere(
    function: &str,
    coordinate: &str,
    found: &str,
    (argument, layout): (&str, &str),
    span: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0205,
        format!(
            "`{function}[{coordinate}]` works on axis `{found}` of `{argument}` here, which is \
             `{layout}`: other calls of the function around have `{coordinate}` on another axis"
        ),
        span,
        format!("`{layout}`"),
    )
    .with_help("declare the layout of the parameter that this comes from, so that all calls agree")
}

/// Reordering when the names are the same, renaming when they are not.
fn advise(
    diagnostic: Diagnostic,
    (value, layout): (&str, &str),
    declared: &str,
    (wanted, found): (&str, &str),
) -> Diagnostic {
    let names = |text: &str| {
        let mut names: Vec<String> =
            text.trim_matches(['[', ']']).split(", ").map(str::to_owned).collect();
        names.sort();
        names
    };
    let has_rest = declared.contains("..");
    if names(layout) == names(declared) {
        return diagnostic.with_help(format!(
            "the axes are in another order; `let t{declared} = {value}{layout};` reorders them"
        ));
    }
    if nearest(found, [wanted]).is_some() {
        return diagnostic.with_help(format!("did you mean `{wanted}`?"));
    }
    match has_rest {
        true => diagnostic.with_help(format!("rename `{found}` to `{wanted}` with `as`")),
        false => diagnostic.with_help(format!(
            "if `{found}` is meant as `{wanted}`, rename the axes: `{value} as […; {}]`",
            declared.trim_matches(['[', ']'])
        )),
    }
}
