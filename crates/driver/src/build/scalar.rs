//! Scalars in C: their types, constants and operations.
//!
//! Operands are expressions without effects, for they may be written several times. What an operation gives is
//! what the evaluator gives: integers wrap, and floats of fewer than 32 bits are computed as `float` and
//! rounded once.

use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, ElemKind};

/// The C type of an element. Narrow floats are their bits.
pub(super) fn c_type(elem: Elem) -> &'static str {
    match elem {
        Elem::Bool => "bool",
        Elem::I8 => "int8_t",
        Elem::I16 => "int16_t",
        Elem::I32 => "int32_t",
        Elem::I64 => "int64_t",
        Elem::U8 | Elem::F8E4M3 => "uint8_t",
        Elem::U16 | Elem::F16 | Elem::BF16 => "uint16_t",
        Elem::U32 => "uint32_t",
        Elem::U64 => "uint64_t",
        Elem::F32 => "float",
        Elem::F64 => "double",
    }
}

/// The constant that says which element type a tensor has.
pub(super) fn tag(elem: Elem) -> String {
    format!("EINLANG_{}", elem.as_str().to_uppercase())
}

/// A constant.
pub(super) fn constant(value: Const) -> String {
    of_bits(value.elem(), &format!("UINT64_C({})", value.bits()))
}

/// The value with bits that lie in a word.
pub(super) fn of_bits(elem: Elem, word: &str) -> String {
    match elem {
        Elem::F32 => format!("f32of((uint32_t){word})"),
        Elem::F64 => format!("f64of({word})"),
        elem => format!("(({}){word})", c_type(elem)),
    }
}

/// The word with the bits of a value.
pub(super) fn to_bits(elem: Elem, value: &str) -> String {
    match (elem, elem.kind()) {
        (Elem::F32, _) => format!("f32bits({value})"),
        (Elem::F64, _) => format!("f64bits({value})"),
        (_, ElemKind::Signed) => format!("(uint64_t)(int64_t){value}"),
        _ => format!("(uint64_t){value}"),
    }
}

/// The format of floats that C does not have: bits of exponent and fraction, whether there is infinity.
fn format_of(elem: Elem) -> Option<&'static str> {
    match elem {
        Elem::F16 => Some("5, 10, 1"),
        Elem::BF16 => Some("8, 7, 1"),
        Elem::F8E4M3 => Some("4, 3, 0"),
        _ => None,
    }
}

/// The value of a float in a type that C computes with.
pub(super) fn widened(elem: Elem, value: &str) -> String {
    match format_of(elem) {
        Some(format) => format!("widened({value}, {format})"),
        None => value.to_owned(),
    }
}

/// How the fewest digits of a float are told: whether it is single, or the format of a narrower one.
pub(super) fn shortest(elem: Elem) -> String {
    let single = u8::from(elem == Elem::F32);
    format!("{single}, {}", format_of(elem).unwrap_or("0, 0, 0"))
}

/// What must hold for an operation, and what is said otherwise: a text in which `%s` is the first operand.
pub(super) fn demand(op: Op, elem: Elem, args: &[String]) -> Option<(String, &'static str)> {
    match (op, elem.kind(), args) {
        (Op::Div, ElemKind::Signed | ElemKind::Unsigned, [_, y]) => {
            Some((format!("{y} != 0"), "integer division by zero: `%s / 0`"))
        }
        (Op::Rem, ElemKind::Signed | ElemKind::Unsigned, [_, y]) => {
            Some((format!("{y} != 0"), "integer division by zero: `%s % 0`"))
        }
        (Op::Ipow, ElemKind::Signed, [_, y]) => {
            Some((format!("{y} >= 0"), "a negative power of an integer"))
        }
        _ => None,
    }
}

/// An operation as an expression; none if C has no such thing here. `elems` are the types of the operands.
pub(super) fn operation(op: Op, elems: &[Elem], result: Elem, args: &[String]) -> Option<String> {
    let elem = elems.first().copied().unwrap_or(result);
    match (op, args) {
        (Op::Detach, [x]) => return Some(x.clone()),
        (Op::Select, [condition, x, y]) => return Some(format!("({condition} ? {x} : {y})")),
        (Op::Cast, [x]) => return Some(cast(elem, result, x)),
        (Op::Bitcast, [x]) => {
            let word = format!("({} & UINT64_MAX >> {})", to_bits(elem, x), 64 - elem.bits());
            return (elem.bits() == result.bits()).then(|| of_bits(result, &word));
        }
        (Op::Powi, [x, n]) => {
            let power = format!("powerOf({}, (int64_t){n})", widened(elem, x));
            return Some(rounded(result, &power));
        }
        (Op::Polygamma, [n, x]) => {
            let of = elems.get(1).copied().unwrap_or(result);
            return Some(rounded(result, &format!("polygamma((int64_t){n}, {})", widened(of, x))));
        }
        _ => {}
    }
    if let Some(test) = test(op, elem, args) {
        return Some(test);
    }
    match elem.kind() {
        ElemKind::Bool => None,
        ElemKind::Signed | ElemKind::Unsigned => integer(op, elem, args),
        ElemKind::Float => {
            let wide: Vec<String> = args.iter().map(|arg| widened(elem, arg)).collect();
            float(op, elem == Elem::F64, &wide).map(|value| rounded(result, &value))
        }
    }
}

/// A float in the type of a result.
fn rounded(elem: Elem, value: &str) -> String {
    match format_of(elem) {
        Some(format) => format!("(({})narrowed({value}, {format}))", c_type(elem)),
        None => format!("(({}){value})", c_type(elem)),
    }
}

fn cast(from: Elem, to: Elem, x: &str) -> String {
    let ty = c_type(to);
    match (from.kind(), to.kind()) {
        _ if from == to => x.to_owned(),
        (ElemKind::Float, ElemKind::Float) => rounded(to, &widened(from, x)),
        (ElemKind::Float, ElemKind::Bool) => format!("({} != 0)", widened(from, x)),
        (ElemKind::Float, kind) => {
            let (x, bits) = (widened(from, x), to.bits());
            match kind {
                // From a float to an integer saturates, which C does not.
                ElemKind::Unsigned => {
                    format!("(({ty})saturatedUnsigned({x}, UINT{bits}_MAX))")
                }
                _ => format!("(({ty})saturated({x}, INT{bits}_MIN, INT{bits}_MAX))"),
            }
        }
        (_, ElemKind::Float) if format_of(to).is_some() => rounded(to, &format!("oddly({x})")),
        (_, ElemKind::Bool) => format!("({x} != 0)"),
        _ => format!("(({ty}){x})"),
    }
}

/// An operation that gives a truth value.
fn test(op: Op, elem: Elem, args: &[String]) -> Option<String> {
    let args: Vec<String> = args.iter().map(|arg| widened(elem, arg)).collect();
    let sign = match (op, &args[..]) {
        (Op::Eq, _) => "==",
        (Op::Ne, _) => "!=",
        (Op::Lt, _) => "<",
        (Op::Le, _) => "<=",
        (Op::Gt, _) => ">",
        (Op::Ge, _) => ">=",
        (Op::And, _) => "&&",
        (Op::Or, _) => "||",
        (Op::Not, [x]) => return Some(format!("(!{x})")),
        (Op::IsNan, [x]) => return Some(format!("({x} != {x})")),
        (Op::IsFinite, [x]) => return Some(format!("(isfinite({x}) != 0)")),
        _ => return None,
    };
    let [x, y] = &args[..] else { return None };
    Some(format!("({x} {sign} {y})"))
}

fn integer(op: Op, elem: Elem, args: &[String]) -> Option<String> {
    let (ty, most) = (c_type(elem), elem.bits() - 1);
    let signed = elem.kind() == ElemKind::Signed;
    // Integers wrap: unsigned arithmetic does.
    let value = match (op, args) {
        (Op::Add, [x, y]) => format!("(uint64_t){x} + (uint64_t){y}"),
        (Op::Sub, [x, y]) => format!("(uint64_t){x} - (uint64_t){y}"),
        (Op::Mul, [x, y]) => format!("(uint64_t){x} * (uint64_t){y}"),
        // The smallest integer divided by -1 is itself, and for C an error.
        (Op::Div, [x, y]) if signed => {
            format!("{y} == -1 ? 0 - (uint64_t){x} : (uint64_t)({x} / {y})")
        }
        (Op::Rem, [x, y]) if signed => format!("{y} == -1 ? 0 : {x} % {y}"),
        (Op::Div, [x, y]) => format!("{x} / {y}"),
        (Op::Rem, [x, y]) => format!("{x} % {y}"),
        (Op::Ipow, [x, y]) => format!("integerPower((uint64_t){x}, (uint64_t){y})"),
        (Op::Neg, [x]) => format!("0 - (uint64_t){x}"),
        (Op::Abs, [x]) if signed => format!("{x} < 0 ? 0 - (uint64_t){x} : (uint64_t){x}"),
        (Op::Abs, [x]) => x.clone(),
        (Op::Sign, [x]) if signed => format!("({x} > 0) - ({x} < 0)"),
        (Op::Sign, [x]) => format!("{x} > 0"),
        (Op::Min, [x, y]) => format!("{y} < {x} ? {y} : {x}"),
        (Op::Max, [x, y]) => format!("{y} > {x} ? {y} : {x}"),
        (Op::Band, [x, y]) => format!("{x} & {y}"),
        (Op::Bor, [x, y]) => format!("{x} | {y}"),
        (Op::Bxor, [x, y]) => format!("{x} ^ {y}"),
        (Op::Bnot, [x]) => format!("~{x}"),
        // Distances are taken modulo the width.
        (Op::Shl, [x, y]) => format!("(uint64_t){x} << ((uint64_t){y} & {most})"),
        (Op::Shr, [x, y]) => format!("{x} >> ((uint64_t){y} & {most})"),
        _ => return None,
    };
    Some(format!("(({ty})({value}))"))
}

/// An operation of `double`s or of `float`s.
fn float(op: Op, double: bool, args: &[String]) -> Option<String> {
    let end = if double { "" } else { "f" };
    Some(match (op, args) {
        (Op::Add, [x, y]) => format!("({x} + {y})"),
        (Op::Sub, [x, y]) => format!("({x} - {y})"),
        (Op::Mul, [x, y]) => format!("({x} * {y})"),
        (Op::Div, [x, y]) => format!("({x} / {y})"),
        (Op::Neg, [x]) => format!("(-{x})"),
        (Op::Sign, [x]) => format!("({x} > 0 ? 1 : {x} < 0 ? -1 : {x} == 0 ? 0 : {x})"),
        (Op::Min, [x, y]) => format!("({y} < {x} ? {y} : {x})"),
        (Op::Max, [x, y]) => format!("({y} > {x} ? {y} : {x})"),
        (Op::Rem, [x, y]) => format!("fmod{end}({x}, {y})"),
        (Op::Pow, [x, y]) => format!("pow{end}({x}, {y})"),
        (Op::Hypot, [x, y]) => format!("hypot{end}({x}, {y})"),
        (Op::Atan2, [x, y]) => format!("atan2{end}({x}, {y})"),
        (Op::Fma, [x, y, z]) => format!("fma{end}({x}, {y}, {z})"),
        (op, [x]) => match (elementary(op), special(op)) {
            (Some(name), _) => format!("{name}{end}({x})"),
            // These are computed in double precision.
            (None, Some(name)) => format!("{name}({x})"),
            (None, None) => return None,
        },
        _ => return None,
    })
}

/// The function of C for an operation on one float, which C has for `float` too.
fn elementary(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Abs => "fabs",
        Op::Sqrt => "sqrt",
        Op::Cbrt => "cbrt",
        Op::Floor => "floor",
        Op::Ceil => "ceil",
        Op::Round => "round",
        Op::Trunc => "trunc",
        Op::Exp => "exp",
        Op::Exp2 => "exp2",
        Op::Expm1 => "expm1",
        Op::Log => "log",
        Op::Log2 => "log2",
        Op::Log10 => "log10",
        Op::Log1p => "log1p",
        Op::Sin => "sin",
        Op::Cos => "cos",
        Op::Tan => "tan",
        Op::Asin => "asin",
        Op::Acos => "acos",
        Op::Atan => "atan",
        Op::Sinh => "sinh",
        Op::Cosh => "cosh",
        Op::Tanh => "tanh",
        _ => return None,
    })
}

/// The function for an operation that is computed in double precision.
fn special(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Asinh => "asinh",
        Op::Acosh => "acosh",
        Op::Atanh => "atanh",
        Op::Erf => "erf",
        Op::Erfc => "erfc",
        Op::Gamma => "tgamma",
        Op::Lgamma => "logGamma",
        Op::Digamma => "digamma",
        Op::Trigamma => "trigamma",
        Op::BesselJ0 => "j0",
        Op::BesselJ1 => "j1",
        _ => return None,
    })
}

/// The body of a case of the service that computes rare operations on the words `x`, `y` and `z`.
pub(super) fn case(op: Op, elems: [Elem; 2], result: Elem) -> Option<String> {
    let words = ["x", "y", "z"].into_iter().take(op.arity());
    // Of three operands the last has the type of the second.
    let elems = [elems[0], elems[1], elems[1]];
    let args: Vec<String> = words.zip(elems).map(|(word, elem)| of_bits(elem, word)).collect();
    let value = operation(op, &elems, result, &args)?;
    let demand = demand(op, elems[0], &args);
    let demand = demand.map_or(String::new(), |(holds, _)| format!("if (!({holds})) return 0; "));
    Some(format!("{demand}*out = {}; return 1;", to_bits(result, &value)))
}
