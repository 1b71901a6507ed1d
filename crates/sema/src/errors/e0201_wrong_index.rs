//! E0201: an index on an axis whose coordinate it is not.

use einlang_source::{Code, Diagnostic, Edit, Span};

/// An index of another name on a named axis. `declared` is where the index is introduced and the
/// coordinate it was declared with; a coordinate that passes through whole has no such place.
/// `edits` put indices that are in scope where they belong.
pub(crate) fn wrong_index(
    (index, declared): (&str, Option<(Span, Option<&str>)>),
    (tensor, layout, position): (&str, &str, usize),
    wanted: &str,
    edits: Vec<Edit>,
    span: Span,
) -> Diagnostic {
    let over = match declared {
        Some((_, Some(coordinate))) => format!("`{index}` ranges over `{coordinate}`"),
        _ => format!("`{index}` is not `{wanted}`"),
    };
    let diagnostic = Diagnostic::error(
        Code::E0201,
        format!(
            "index `{index}` is used on axis {position} of `{tensor}`, which is `{wanted}`: \
             `{tensor}` is `{layout}`"
        ),
        span,
        over,
    );
    match declared {
        _ if !edits.is_empty() => {
            let names: Vec<String> =
                edits.iter().map(|edit| format!("`{}`", edit.replacement)).collect();
            let help = format!("did you mean {}?", names.join(" and "));
            diagnostic.with_edits(help, edits)
        }
        Some((at, None)) => {
            diagnostic.with_label(at, format!("`{index}` is introduced here")).with_edit(
                format!(
                    "did you mean `{wanted}`? use that name, or let `{index}` range over it: \
                     `{index}: {wanted}`"
                ),
                at,
                format!("{index}: {wanted}"),
            )
        }
        Some((at, Some(coordinate))) => diagnostic
            .with_label(at, format!("`{index}` is declared over `{coordinate}` here"))
            .with_help(format!(
                "did you mean `{index}: {wanted}`? an explicit range is allowed on any axis too"
            )),
        None => diagnostic.with_edit(format!("did you mean `{wanted}`?"), span, wanted),
    }
}

/// One bare coordinate on two axes of a tensor.
pub(crate) fn repeated_coordinate(
    name: &str,
    tensor: &str,
    layout: &str,
    span: Span,
    first: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0201,
        format!("`{name}` is used twice on `{tensor}`, which is `{layout}`"),
        span,
        "the second time",
    )
    .with_label(first, "the first time")
    .with_note("a bare coordinate stands for one axis; the diagonal has to be asked for")
    .with_help(format!(
        "declare indices of their own, such as `i: {name}`, and write `{tensor}[i, i]` for the \
         diagonal or `{tensor}[i, j]` for all points"
    ))
}

/// A rest that stands for axes of different names.
pub(crate) fn rest_differs(
    rest: &str,
    (before, found): (&str, &str),
    (tensor, layout): (&str, &str),
    span: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0201,
        format!(
            "the rest `..{rest}` stands for `{before}` elsewhere, and for `{found}` on \
             `{tensor}`, which is `{layout}`"
        ),
        span,
        format!("`{found}`, not `{before}`"),
    )
    .with_help(format!("use another rest for the axes of `{tensor}`, or rename them with `as`"))
}

/// Whole tensors whose axes have different names: operand, layout, coordinate.
pub(crate) fn operand_layouts(
    (left, left_layout, a): (&str, &str, &str),
    (right, right_layout, b): (&str, &str, &str),
    (at_left, at_right): (Span, Span),
) -> Diagnostic {
    Diagnostic::error(
        Code::E0201,
        format!(
            "axis `{a}` of `{left}` meets axis `{b}` of `{right}`: `{left}` is `{left_layout}`, \
             `{right}` is `{right_layout}`"
        ),
        at_right,
        format!("`{right_layout}`"),
    )
    .with_label(at_left, format!("`{left_layout}`"))
    .with_note("whole tensors go together axis by axis")
    .with_help(format!(
        "write the indexed form, which says how the axes belong together, or rename the axes of \
         one side: `{right} as […; {}]`",
        left_layout.trim_matches(['[', ']'])
    ))
}
