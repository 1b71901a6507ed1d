//! Scalars in C: their types, constants and operations.

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
    let bits = value.bits();
    match value.elem() {
        Elem::F32 => format!("f32_of(UINT32_C({}))", bits as u32),
        Elem::F64 => format!("f64_of(UINT64_C({bits}))"),
        elem => format!("(({})UINT64_C({bits}))", c_type(elem)),
    }
}

/// An operation on values of one type, as an expression; none if C has no such thing here.
pub(super) fn operation(op: Op, elem: Elem, result: Elem, args: &[String]) -> Option<String> {
    let is_float = matches!(elem, Elem::F32 | Elem::F64);
    let is_int = matches!(elem.kind(), ElemKind::Signed | ElemKind::Unsigned);
    // Integers wrap: unsigned arithmetic does.
    let infix = |sign: &str| match (args, is_float, is_int) {
        ([x, y], true, _) => Some(format!("({x} {sign} {y})")),
        ([x, y], _, true) => {
            let ty = c_type(elem);
            Some(format!("(({ty})((uint64_t){x} {sign} (uint64_t){y}))"))
        }
        _ => None,
    };
    let test = |sign: &str| match args {
        [x, y] if is_float || is_int || elem == Elem::Bool => Some(format!("({x} {sign} {y})")),
        _ => None,
    };
    match (op, args) {
        (Op::Detach, [x]) => Some(x.clone()),
        (Op::Add, _) => infix("+"),
        (Op::Sub, _) => infix("-"),
        (Op::Mul, _) => infix("*"),
        (Op::Div, [x, y]) if is_float => Some(format!("({x} / {y})")),
        (Op::Eq, _) => test("=="),
        (Op::Ne, _) => test("!="),
        (Op::Lt, _) => test("<"),
        (Op::Le, _) => test("<="),
        (Op::Gt, _) => test(">"),
        (Op::Ge, _) => test(">="),
        (Op::And, [x, y]) => Some(format!("({x} && {y})")),
        (Op::Or, [x, y]) => Some(format!("({x} || {y})")),
        (Op::Not, [x]) => Some(format!("(!{x})")),
        (Op::Min, [x, y]) if is_float || is_int => Some(format!("({y} < {x} ? {y} : {x})")),
        (Op::Max, [x, y]) if is_float || is_int => Some(format!("({y} > {x} ? {y} : {x})")),
        (Op::Neg, [x]) if is_float => Some(format!("(-{x})")),
        (Op::Neg, [x]) if is_int => Some(format!("(({})(0 - (uint64_t){x}))", c_type(elem))),
        (Op::Abs, [x]) if is_int => {
            let ty = c_type(elem);
            Some(format!("(({ty})({x} < 0 ? 0 - (uint64_t){x} : (uint64_t){x}))"))
        }
        (Op::Band, [x, y]) if is_int => Some(format!("(({})({x} & {y}))", c_type(elem))),
        (Op::Bor, [x, y]) if is_int => Some(format!("(({})({x} | {y}))", c_type(elem))),
        (Op::Bxor, [x, y]) if is_int => Some(format!("(({})({x} ^ {y}))", c_type(elem))),
        (Op::Bnot, [x]) if is_int => Some(format!("(({})~{x})", c_type(elem))),
        // Distances are taken modulo the width.
        (Op::Shl, [x, y]) if is_int => {
            let (ty, most) = (c_type(elem), elem.bits() - 1);
            Some(format!("(({ty})((uint64_t){x} << ((uint64_t){y} & {most})))"))
        }
        (Op::Shr, [x, y]) if is_int => {
            let (ty, most) = (c_type(elem), elem.bits() - 1);
            Some(format!("(({ty})({x} >> ((uint64_t){y} & {most})))"))
        }
        (op, [x]) if is_float && elementary(op).is_some() => {
            let (name, single) = (elementary(op)?, elem == Elem::F32);
            Some(format!("{name}{}({x})", if single { "f" } else { "" }))
        }
        (Op::Pow, [x, y]) if elem == Elem::F64 => Some(format!("pow({x}, {y})")),
        (Op::Pow, [x, y]) if elem == Elem::F32 => Some(format!("powf({x}, {y})")),
        (Op::Cast, [x]) => {
            let to_float = matches!(result, Elem::F32 | Elem::F64);
            let to_int = matches!(result.kind(), ElemKind::Signed | ElemKind::Unsigned);
            // From a float to an integer saturates, which C does not.
            let fits = (is_int && (to_int || to_float)) || (is_float && to_float);
            fits.then(|| format!("(({}){x})", c_type(result)))
        }
        _ => None,
    }
}

/// The function of C for an operation on one float.
fn elementary(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Abs => "fabs",
        Op::Sqrt => "sqrt",
        Op::Floor => "floor",
        Op::Ceil => "ceil",
        Op::Round => "round",
        Op::Trunc => "trunc",
        Op::Exp => "exp",
        Op::Exp2 => "exp2",
        Op::Log => "log",
        Op::Log2 => "log2",
        Op::Log10 => "log10",
        Op::Sin => "sin",
        Op::Cos => "cos",
        Op::Tan => "tan",
        Op::Tanh => "tanh",
        _ => return None,
    })
}

/// The body of a case of the service that computes rare operations on the words `x` and `y`.
pub(super) fn case(op: Op, elems: [Elem; 2], result: Elem) -> Option<String> {
    let single = elems[0] == Elem::F32;
    if matches!(op, Op::Powi) && matches!(elems[0], Elem::F32 | Elem::F64) && elems[0] == result {
        let power = "pow(X, (double)(int64_t)y)";
        return Some(float_case(power, single));
    }
    if matches!(elems[0].kind(), ElemKind::Signed | ElemKind::Unsigned) && elems[0] == result {
        return integer_case(op, result);
    }
    if !matches!(elems[0], Elem::F32 | Elem::F64) || elems[0] != result {
        return None;
    }
    let function = match op {
        Op::Cbrt => "cbrt",
        Op::Expm1 => "expm1",
        Op::Log1p => "log1p",
        Op::Tan => "tan",
        Op::Asin => "asin",
        Op::Acos => "acos",
        Op::Atan => "atan",
        Op::Sinh => "sinh",
        Op::Cosh => "cosh",
        Op::Asinh => "asinh",
        Op::Acosh => "acosh",
        Op::Atanh => "atanh",
        Op::Erf => "erf",
        Op::Erfc => "erfc",
        Op::Gamma => "tgamma",
        Op::Rem => return Some(float_case("fmod(X, Y)", single)),
        Op::Hypot => return Some(float_case("hypot(X, Y)", single)),
        Op::Atan2 => return Some(float_case("atan2(X, Y)", single)),
        _ => return None,
    };
    Some(float_case(&format!("{function}(X)"), single))
}

/// A computation in double precision, rounded to the type of the result.
fn float_case(expression: &str, single: bool) -> String {
    let (of, to) = match single {
        true => ("(double)f32_of((uint32_t)$)", "bits_of_f32((float)"),
        false => ("f64_of($)", "bits_of_f64("),
    };
    let expression =
        expression.replace('X', &of.replace('$', "x")).replace('Y', &of.replace('$', "y"));
    format!("*out = {to}{expression}); return 1;")
}

fn integer_case(op: Op, elem: Elem) -> Option<String> {
    let ty = c_type(elem);
    let back = match elem.kind() {
        ElemKind::Signed => "(uint64_t)(int64_t)",
        _ => "(uint64_t)",
    };
    match op {
        Op::Ipow => Some(format!(
            "if ((int64_t)y < 0 && {signed}) return 0; uint64_t r = 1, b = x; \
             for (uint64_t n = y; n; n >>= 1) {{ if (n & 1) r *= b; b *= b; }} \
             *out = {back}({ty})r; return 1;",
            signed = u8::from(elem.kind() == ElemKind::Signed)
        )),
        Op::Shl => Some(format!(
            "*out = {back}({ty})(x << (y & {most})); return 1;",
            most = elem.bits() - 1
        )),
        Op::Shr => Some(format!(
            "*out = {back}({ty})(({ty})x >> (y & {most})); return 1;",
            most = elem.bits() - 1
        )),
        _ => None,
    }
}
