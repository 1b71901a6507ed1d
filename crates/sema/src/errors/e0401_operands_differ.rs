//! E0401: operands whose types do not go together. Nothing converts by itself, so the help is a
//! cast wherever one exists.

use einlang_source::{Code, Diagnostic, Span};

use super::{CLOSURE, SIGNATURE};

use crate::hir::Scalar;

/// One side of an operator.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    /// The type as users write it.
    pub(crate) ty: String,
    /// The element type, when it is a scalar.
    pub(crate) scalar: Option<Scalar>,
    /// The number of axes.
    pub(crate) rank: usize,
    /// The expression in a few words.
    pub(crate) text: String,
    /// Whether `as` may follow the expression directly.
    pub(crate) is_atom: bool,
    /// Where it is written.
    pub(crate) span: Span,
}

/// `i32 + f32`
pub(crate) fn operands_differ(op: &str, a: &Operand, b: &Operand, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0401,
        format!("`{op}` needs the same type on both sides, not `{}` and `{}`", a.ty, b.ty),
        span,
        "",
    )
    .with_label(a.span, format!("this is `{}`", a.ty))
    .with_label(b.span, format!("this is `{}`", b.ty));
    convert(diagnostic, a, b)
}

/// Two arguments of `min`, `max` or `pow`.
pub(crate) fn arguments_differ(
    name: &str,
    a: &str,
    b: &str,
    span: Span,
    first: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0401,
        format!("`{name}` needs two numbers of the same type, not `{a}` and `{b}`"),
        span,
        format!("this is `{b}`"),
    )
    .with_label(first, format!("this is `{a}`"))
    .with_help(format!("convert one of them: `… as {a}`"))
}

/// A default read whose default has another type.
pub(crate) fn default_differs(part: &Operand, default: &Operand) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0401,
        format!(
            "the default is `{}`, but `{}` has elements of type `{}`",
            default.ty, part.text, part.ty
        ),
        default.span,
        format!("this is `{}`", default.ty),
    )
    .with_label(part.span, format!("its elements are `{}`", part.ty));
    match cast(default, part) {
        Some(_) => convert_to(diagnostic, default, part),
        None => diagnostic.with_help(format!("give a default of type `{}`", part.ty)),
    }
}

/// An operator that is not for this type.
pub(crate) fn operator_not_for(op: &str, a: &Operand, b: &Operand, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        Code::E0401,
        format!("`{op}` is not for `{}`", a.ty),
        span,
        "needs numbers",
    )
    .with_label(a.span, format!("this is `{}`", a.ty))
    .with_label(b.span, format!("this is `{}`", b.ty));
    match a.scalar {
        Some(Scalar::Str) if matches!(op, "<" | ">" | "<=" | ">=") => diagnostic.with_help(
            "strings are equal or not, and have no order; compare their `std::text::chars`",
        ),
        Some(Scalar::Str) => {
            diagnostic.with_help("put strings together by interpolation: `\"{a}{b}\"`")
        }
        Some(Scalar::Bool) => {
            diagnostic.with_help("convert to numbers first, `b as i32`, or use `&&`, `||`, `!`")
        }
        _ => diagnostic.with_help("combine the parts that are numbers one by one"),
    }
}

/// `-x`, `!x`
pub(crate) fn unary_not_for(op: &str, operand: &Operand) -> Diagnostic {
    let wanted = if op == "-" { "a number" } else { "a `bool`" };
    let help = match operand.scalar {
        Some(Scalar::Bool) if op == "-" => "use `!` for bools",
        _ if op == "-" => "negate numbers only",
        _ => "compare first: `!(x == 0)`",
    };
    Diagnostic::error(
        Code::E0401,
        format!("`{op}` needs {wanted}, not `{}`", operand.ty),
        operand.span,
        format!("this is `{}`", operand.ty),
    )
    .with_help(help)
}

/// `&&`, `||`, `all` and `any` on something else than bools.
pub(crate) fn not_bool(op: &str, ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0401,
        format!("`{op}` needs `bool`, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help("write a comparison, such as `x != 0`")
}

/// Elements of one array with different types.
pub(crate) fn elements_differ(first: &str, found: &str, span: Span, at: Span) -> Diagnostic {
    let help = match first == CLOSURE {
        true => SIGNATURE.to_owned(),
        false => {
            format!("convert with `… as {first}`, or use a tuple for values of different types")
        }
    };
    Diagnostic::error(
        Code::E0401,
        format!("the elements of an array have one type, not `{first}` and `{found}`"),
        span,
        format!("this is `{found}`"),
    )
    .with_label(at, format!("the first element is `{first}`"))
    .with_help(help)
}

/// The mean of integers would be a rounded number.
pub(crate) fn mean_of_integers(operand: &Operand, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0401,
        format!("`mean` needs floats, not `{}`", operand.ty),
        span,
        format!("this is `{}`", operand.ty),
    )
    .with_help(format!("convert the terms: `{} as f32`", operand.text))
}

/// A reduction over something else than numbers.
pub(crate) fn reduction_needs_numbers(op: &str, ty: &str, span: Span) -> Diagnostic {
    let help = match ty {
        "bool" => format!("count with `{op}[…](1 where condition)`, or use `all` and `any`"),
        _ => "reduce numbers, or use `reduce` with an operator of your own".to_string(),
    };
    Diagnostic::error(
        Code::E0401,
        format!("`{op}` needs numbers, not `{ty}`"),
        span,
        format!("this is `{ty}`"),
    )
    .with_help(help)
}

/// `reduce` whose terms or operator do not match its first value.
pub(crate) fn reduce_types(
    what: &str,
    first: &str,
    found: &str,
    span: Span,
    at: Span,
) -> Diagnostic {
    Diagnostic::error(
        Code::E0401,
        format!("`reduce` starts with `{first}`, but {what} give `{found}`"),
        span,
        format!("this gives `{found}`"),
    )
    .with_label(at, format!("the first value is `{first}`"))
    .with_help("the first value, the terms and the operator's result have one type")
}

/// The ends of a range.
pub(crate) fn range_ends_differ(a: &str, b: &str, span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::E0401,
        format!("the ends of a range have one type, not `{a}` and `{b}`"),
        span,
        format!("this is `{b}`"),
    )
    .with_help(format!("convert one end: `… as {a}`"))
}

/// Advice to cast the narrower side to the wider one.
fn convert(diagnostic: Diagnostic, a: &Operand, b: &Operand) -> Diagnostic {
    match (cast(a, b), cast(b, a)) {
        (Some(x), Some(y)) if x >= y => convert_to(diagnostic, a, b),
        (_, Some(_)) => convert_to(diagnostic, b, a),
        (Some(_), None) => convert_to(diagnostic, a, b),
        (None, None) => diagnostic.with_help(format!(
            "make both sides `{}` or both `{}`; `as` does not convert these",
            a.ty, b.ty
        )),
    }
}

fn convert_to(diagnostic: Diagnostic, from: &Operand, to: &Operand) -> Diagnostic {
    let target = to.scalar.map_or("?", Scalar::as_str);
    let advice = format!("convert explicitly: `{} as {target}`", from.text);
    if from.is_atom && from.rank == 0 {
        let end = Span::at(from.span.file, from.span.end);
        return diagnostic.with_edit(advice, end, format!(" as {target}"));
    }
    diagnostic.with_help(advice)
}

/// How good it is to convert the first to the type of the second; none when that is impossible.
fn cast(from: &Operand, to: &Operand) -> Option<u32> {
    let (from, to) = (from.scalar?, to.scalar?);
    if from == Scalar::Str || matches!(to, Scalar::Str | Scalar::Bool) {
        return None;
    }
    Some(width(to))
}

/// Wider types lose less; floats are wider than integers.
fn width(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bool | Scalar::Str => 0,
        Scalar::I8 | Scalar::U8 => 1,
        Scalar::I16 | Scalar::U16 => 2,
        Scalar::I32 | Scalar::U32 => 3,
        Scalar::I64 | Scalar::U64 => 4,
        Scalar::F8e4m3 => 5,
        Scalar::F16 | Scalar::Bf16 => 6,
        Scalar::F32 => 7,
        Scalar::F64 => 8,
    }
}
