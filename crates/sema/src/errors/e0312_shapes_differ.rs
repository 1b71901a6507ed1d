//! E0312: whole tensors of different shape or rank.

use einlang_source::{Code, Diagnostic, Span};

use super::Operand;

/// Whole tensors of different rank; the help writes the indexed form.
pub(crate) fn ranks_differ(op: &str, a: &Operand, b: &Operand, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!("`{op}` between whole tensors of different rank: `{}` and `{}`", a.ty, b.ty),
        span,
        "",
    )
    .with_label(a.span, format!("this is `{}`", a.ty))
    .with_label(b.span, format!("this is `{}`", b.ty))
    .with_help(format!("say it with indices: `{}`", indexed_form(op, a, b)))
}

/// Whole tensors of one rank whose shapes are known to differ.
pub(crate) fn shapes_differ(op: &str, a: &Operand, b: &Operand, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0312,
        format!("`{op}` between whole tensors of different shape: `{}` and `{}`", a.ty, b.ty),
        span,
        "",
    )
    .with_label(a.span, format!("this is `{}`", a.ty))
    .with_label(b.span, format!("this is `{}`", b.ty))
    .with_help(format!(
        "combine the parts that belong together with indices: `{}`",
        indexed_form(op, a, b)
    ))
}

/// `let y[i, j] = A[i, j] + v[j];`: the smaller operand is repeated along the leading axes.
fn indexed_form(op: &str, a: &Operand, b: &Operand) -> String {
    const NAMES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
    let rank = a.rank.max(b.rank).min(NAMES.len());
    let indices = |n: usize| NAMES[rank - n.min(rank)..rank].join(", ");
    let read = |operand: &Operand| format!("{}[{}]", operand.text, indices(operand.rank));
    format!("let y[{}] = {} {op} {};", indices(rank), read(a), read(b))
}
