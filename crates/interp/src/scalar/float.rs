//! Floats: `f64` and `f32` at their own precision, narrower types in `f32` with one rounding.

use einlang_tir::constant::Const;
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::{bool_bits, special};

/// The number that bits of a float type mean.
pub(crate) fn decode(elem: Elem, bits: u64) -> f64 {
    match elem {
        Elem::F64 => f64::from_bits(bits),
        Elem::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => Const::from_bits(elem, bits).as_float().unwrap_or_default(),
    }
}

/// The bits of the nearest number.
pub(crate) fn encode(elem: Elem, value: f64) -> u64 {
    Const::float(elem, value).bits()
}

/// Traps where a NaN appears that no operand was.
pub(super) fn check(elem: Elem, operands: &[u64], bits: u64) -> Result<u64, Trap> {
    let is_nan = |bits: &u64| decode(elem, *bits).is_nan();
    match is_nan(&bits) && !operands.iter().any(is_nan) {
        true => Err(Trap::Overflow),
        false => Ok(bits),
    }
}

/// Applies an operation of floats of one type.
#[inline]
pub(super) fn apply(op: Op, elem: Elem, x: [u64; 3]) -> u64 {
    match elem {
        Elem::F64 => {
            let [a, b, c] = x.map(f64::from_bits);
            compare64(op, a, b).map_or_else(|| number64(op, a, b, c).to_bits(), bool_bits)
        }
        Elem::F32 => {
            let [a, b, c] = x.map(|bits| f32::from_bits(bits as u32));
            compare32(op, a, b)
                .map_or_else(|| u64::from(number32(op, a, b, c).to_bits()), bool_bits)
        }
        _ => {
            // Exact: an `f32` holds every value of the narrower types.
            let [a, b, c] = x.map(|bits| decode(elem, bits) as f32);
            compare32(op, a, b)
                .map_or_else(|| encode(elem, number32(op, a, b, c).into()), bool_bits)
        }
    }
}

/// `x ** n`.
pub(super) fn powi(elem: Elem, bits: u64, power: i128) -> u64 {
    match elem {
        Elem::F64 => f64_powi(f64::from_bits(bits), power).to_bits(),
        // A double holds the powers of an `f32` more precisely than the `f32` result needs.
        _ => encode(elem, f64_powi(decode(elem, bits), power)),
    }
}

/// Repeated multiplication for small powers, which is exact where it can be; `pow` beyond.
fn f64_powi(x: f64, power: i128) -> f64 {
    match i32::try_from(power) {
        Ok(n) if n.unsigned_abs() <= 64 => {
            let product = (0..n.unsigned_abs()).fold(1.0, |product, _| product * x);
            if n < 0 { 1.0 / product } else { product }
        }
        _ => {
            // `power as f64` may round an odd power to an even one; the sign is put back.
            let magnitude = x.abs().powf(power as f64);
            if x.is_sign_negative() && power % 2 != 0 { -magnitude } else { magnitude }
        }
    }
}

/// The derivative of order `n` of digamma.
pub(super) fn polygamma(elem: Elem, n: i128, bits: u64) -> u64 {
    encode(elem, special::polygamma(n, decode(elem, bits)))
}

macro_rules! float_ops {
    ($number:ident $compare:ident $float:ident) => {
        /// The truth value, for operations that give one.
        #[inline]
        fn $compare(op: Op, a: $float, b: $float) -> Option<bool> {
            Some(match op {
                Op::Eq => a == b,
                Op::Ne => a != b,
                Op::Lt => a < b,
                Op::Le => a <= b,
                Op::Gt => a > b,
                Op::Ge => a >= b,
                Op::IsNan => a.is_nan(),
                Op::IsFinite => a.is_finite(),
                _ => return None,
            })
        }

        /// The number, for operations that give one.
        #[inline]
        fn $number(op: Op, a: $float, b: $float, c: $float) -> $float {
            let wide = |f: fn(f64) -> f64| f(f64::from(a)) as $float;
            match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                Op::Rem => a % b,
                Op::Neg => -a,
                Op::Abs => a.abs(),
                Op::Sign if a > 0.0 => 1.0,
                Op::Sign if a < 0.0 => -1.0,
                Op::Sign if a == 0.0 => 0.0,
                Op::Min => {
                    if b < a {
                        b
                    } else {
                        a
                    }
                }
                Op::Max => {
                    if b > a {
                        b
                    } else {
                        a
                    }
                }
                Op::Fma => a.mul_add(b, c),
                Op::Pow => a.powf(b),
                Op::Floor => a.floor(),
                Op::Ceil => a.ceil(),
                Op::Round => a.round(),
                Op::Trunc => a.trunc(),
                Op::Sqrt => a.sqrt(),
                Op::Cbrt => a.cbrt(),
                Op::Hypot => a.hypot(b),
                Op::Exp => a.exp(),
                Op::Exp2 => a.exp2(),
                Op::Expm1 => a.exp_m1(),
                Op::Log => a.ln(),
                Op::Log2 => a.log2(),
                Op::Log10 => a.log10(),
                Op::Log1p => a.ln_1p(),
                Op::Sin => a.sin(),
                Op::Cos => a.cos(),
                Op::Tan => a.tan(),
                Op::Asin => a.asin(),
                Op::Acos => a.acos(),
                Op::Atan => a.atan(),
                Op::Atan2 => a.atan2(b),
                Op::Sinh => a.sinh(),
                Op::Cosh => a.cosh(),
                Op::Tanh => a.tanh(),
                Op::Asinh => wide(libm::asinh),
                Op::Acosh => wide(libm::acosh),
                Op::Atanh => wide(libm::atanh),
                Op::Erf => wide(libm::erf),
                Op::Erfc => wide(libm::erfc),
                Op::Gamma => wide(libm::tgamma),
                Op::Lgamma => wide(libm::lgamma),
                Op::Digamma => wide(special::digamma),
                Op::Trigamma => wide(special::trigamma),
                Op::BesselJ0 => wide(libm::j0),
                Op::BesselJ1 => wide(libm::j1),
                // NaN has no sign, and these are answered before or take no floats.
                Op::Sign
                | Op::Powi
                | Op::Polygamma
                | Op::Ipow
                | Op::Eq
                | Op::Ne
                | Op::Lt
                | Op::Le
                | Op::Gt
                | Op::Ge
                | Op::IsNan
                | Op::IsFinite
                | Op::And
                | Op::Or
                | Op::Not
                | Op::Band
                | Op::Bor
                | Op::Bxor
                | Op::Bnot
                | Op::Shl
                | Op::Shr
                | Op::Cast
                | Op::Bitcast
                | Op::Select
                | Op::Detach => a,
            }
        }
    };
}

float_ops!(number64 compare64 f64);
float_ops!(number32 compare32 f32);
