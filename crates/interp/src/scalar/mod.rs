//! The meaning of the scalar operations.
//!
//! A scalar is its bits, as [`Const`] keeps them, beside an element type that is known before
//! anything runs. Integers are computed exactly and wrapped; `f64` and `f32` are computed at their
//! own precision; `f16`, `bf16` and `f8e4m3` are computed in `f32` and rounded once. Under
//! `checked`, an integer that does not fit and a NaN made from numbers are traps.

mod float;
mod int;
mod special;

use einlang_tir::constant::Const;
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::{Elem, ElemKind};

/// Bits of a truth value.
pub(crate) fn bool_bits(value: bool) -> u64 {
    u64::from(value)
}

/// The integer that bits of an integer type mean.
#[inline]
pub(crate) fn int_of(elem: Elem, bits: u64) -> i128 {
    match elem.kind() {
        ElemKind::Signed => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

/// Applies an operation. `elem` is the type of the operands (of the float, where one of two is an
/// integer) and `result` the type of the result; the verifier has seen to it that they fit.
#[inline]
pub(crate) fn apply(
    op: Op,
    elems: [Elem; 2],
    result: Elem,
    x: [u64; 3],
    checked: bool,
) -> Result<u64, Trap> {
    let elem = elems[0];
    match op {
        Op::Select => return Ok(if x[0] != 0 { x[1] } else { x[2] }),
        Op::Detach => return Ok(x[0]),
        Op::Cast => return Ok(cast(elem, result, x[0])),
        Op::Bitcast => {
            let bits = x[0] & (u64::MAX >> (64 - elem.bits().min(64)));
            return Ok(Const::from_bits(result, bits).bits());
        }
        Op::Powi => {
            let power = int_of(elems[1], x[1]);
            let bits = float::powi(elem, x[0], power);
            return if checked { float::check(elem, &x[..1], bits) } else { Ok(bits) };
        }
        Op::Polygamma => {
            let bits = float::polygamma(elems[1], int_of(elem, x[0]), x[1]);
            return if checked { float::check(elems[1], &x[1..2], bits) } else { Ok(bits) };
        }
        _ => {}
    }
    match elem.kind() {
        ElemKind::Bool => Ok(logic(op, x)),
        ElemKind::Signed | ElemKind::Unsigned => int::apply(op, elem, x, checked),
        ElemKind::Float => {
            let bits = float::apply(op, elem, x);
            match checked && result == elem {
                true => float::check(elem, &x[..op.arity().min(3)], bits),
                false => Ok(bits),
            }
        }
    }
}

/// `x as T`.
pub(crate) fn cast(from: Elem, to: Elem, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    match (from.kind(), to) {
        (ElemKind::Float, _) => {
            let value = float::decode(from, bits);
            match to {
                Elem::Bool => bool_bits(value != 0.0),
                _ => Const::float(to, value).bits(),
            }
        }
        // One rounding: an integer of 64 bits does not fit a double exactly.
        (_, Elem::F32) => u64::from((int_of(from, bits) as f32).to_bits()),
        (_, Elem::BF16) => Const::float(to, to_odd(int_of(from, bits))).bits(),
        _ => Const::int(to, int_of(from, bits)).bits(),
    }
}

/// A double from which a narrower float is rounded as from the integer itself: what does not fit
/// sets the last bit.
fn to_odd(value: i128) -> f64 {
    const LOST: i128 = (1 << 11) - 1;
    let kept = value & !LOST;
    match value.unsigned_abs() >> 53 {
        0 => value as f64,
        _ => (kept | (i128::from(value != kept) << 11)) as f64,
    }
}

/// Truth values; the order is `false < true`.
fn logic(op: Op, x: [u64; 3]) -> u64 {
    let (a, b) = (x[0] != 0, x[1] != 0);
    bool_bits(match op {
        Op::And => a && b,
        Op::Or => a || b,
        Op::Not => !a,
        Op::Ne => a != b,
        Op::Lt => !a & b,
        Op::Le => a <= b,
        Op::Gt => a & !b,
        Op::Ge => a >= b,
        // `eq`, and nothing else takes truth values.
        _ => a == b,
    })
}

/// The sentence for a trap of an operation.
pub(crate) fn trap_message(op: Op, elem: Elem, x: [u64; 3], trap: Trap) -> String {
    let show = |bits| crate::show::scalar(Const::from_bits(elem, bits));
    let (a, b) = (show(x[0]), show(x[1]));
    let sign = match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::Ipow => "**",
        _ => op.name(),
    };
    match trap {
        Trap::DivisionByZero => format!("integer division by zero: `{a} {sign} {b}`"),
        Trap::NegativePower => format!("negative integer power: `{a} ** {b}`"),
        Trap::Overflow if elem.is_float() => format!("`{}` of {a} gives NaN", op.name()),
        Trap::Overflow if op.arity() == 1 => format!("overflow: `{sign}({a})` does not fit {elem}"),
        _ => format!("overflow: `{a} {sign} {b}` does not fit {elem}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: Op, elem: Elem, a: i128, b: i128) -> Result<i128, Trap> {
        let x = [Const::int(elem, a).bits(), Const::int(elem, b).bits(), 0];
        apply(op, [elem, elem], elem, x, false).map(|bits| int_of(elem, bits))
    }

    fn float(op: Op, elem: Elem, a: f64, b: f64) -> f64 {
        let x = [Const::float(elem, a).bits(), Const::float(elem, b).bits(), 0];
        let bits = apply(op, [elem, elem], elem, x, false).expect("floats do not trap");
        Const::from_bits(elem, bits).as_float().expect("a float")
    }

    #[test]
    fn integers_wrap_truncate_and_trap() {
        assert_eq!(int(Op::Add, Elem::I8, 127, 1), Ok(-128));
        assert_eq!(int(Op::Mul, Elem::I64, i128::from(i64::MAX), 2), Ok(-2));
        assert_eq!(int(Op::Div, Elem::I32, -7, 2), Ok(-3));
        assert_eq!(int(Op::Rem, Elem::I32, -7, 2), Ok(-1));
        assert_eq!(int(Op::Div, Elem::I8, -128, -1), Ok(-128));
        assert_eq!(int(Op::Rem, Elem::I64, i128::from(i64::MIN), -1), Ok(0));
        assert_eq!(int(Op::Div, Elem::U8, 200, 0), Err(Trap::DivisionByZero));
        assert_eq!(int(Op::Ipow, Elem::I32, 3, 4), Ok(81));
        assert_eq!(int(Op::Ipow, Elem::I32, 2, 33), Ok(0));
        assert_eq!(int(Op::Ipow, Elem::I32, 2, -1), Err(Trap::NegativePower));
        assert_eq!(int(Op::Sub, Elem::U8, 1, 2), Ok(255));
        assert_eq!(int(Op::Shl, Elem::I8, 1, 9), Ok(2));
        assert_eq!(int(Op::Shr, Elem::I8, -128, 7), Ok(-1));
        assert_eq!(int(Op::Shr, Elem::U8, 128, 7), Ok(1));
        assert_eq!(int(Op::Bnot, Elem::U16, 0, 0), Ok(65535));
        assert_eq!(int(Op::Abs, Elem::I8, -128, 0), Ok(-128));
        assert_eq!(int(Op::Sign, Elem::I8, -128, 0), Ok(-1));
    }

    #[test]
    fn checked_integers_trap() {
        let x = [127, 1, 0];
        let sum = |checked| apply(Op::Add, [Elem::I8; 2], Elem::I8, x, checked);
        assert_eq!((sum(false).is_ok(), sum(true)), (true, Err(Trap::Overflow)));
        let power = apply(Op::Ipow, [Elem::I8; 2], Elem::I8, [2, 7, 0], true);
        assert_eq!(power, Err(Trap::Overflow));
        let zero = Const::float(Elem::F32, 0.0).bits();
        let nan = apply(Op::Div, [Elem::F32; 2], Elem::F32, [zero, zero, 0], true);
        assert_eq!(nan, Err(Trap::Overflow));
    }

    #[test]
    fn floats_have_their_own_precision() {
        assert_eq!(float(Op::Add, Elem::F32, 16_777_216.0, 1.0), 16_777_216.0);
        assert_eq!(float(Op::Add, Elem::F64, 16_777_216.0, 1.0), 16_777_217.0);
        assert_eq!(float(Op::Add, Elem::F16, 2048.0, 1.0), 2048.0);
        assert_eq!(float(Op::Mul, Elem::BF16, 1.0078125, 1.0078125), 1.015625);
        assert_eq!(float(Op::Mul, Elem::F8E4M3, 3.0, 1.125), 3.5);
        assert_eq!(float(Op::Round, Elem::F32, -2.5, 0.0), -3.0);
        assert_eq!(float(Op::Sign, Elem::F64, -0.0, 0.0), 0.0);
        assert_eq!(float(Op::Min, Elem::F32, 1.0, f64::NAN), 1.0);
        assert!(float(Op::Min, Elem::F32, f64::NAN, 1.0).is_nan());
        assert_eq!(float(Op::Rem, Elem::F64, -7.5, 2.0), -1.5);
    }

    #[test]
    fn casts_saturate_and_wrap() {
        let f = |value: f64| Const::float(Elem::F32, value).bits();
        let to = |elem, bits| int_of(elem, cast(Elem::F32, elem, bits));
        assert_eq!(to(Elem::I8, f(-300.0)), -128);
        assert_eq!(to(Elem::I32, f(f64::NAN)), 0);
        assert_eq!(to(Elem::U8, f(2.9)), 2);
        assert_eq!(
            int_of(Elem::U8, cast(Elem::I32, Elem::U8, Const::int(Elem::I32, -1).bits())),
            255
        );
        assert_eq!(cast(Elem::Bool, Elem::F64, 1), 1.0_f64.to_bits());
        assert_eq!(cast(Elem::I32, Elem::Bool, 7), 1);
        // By way of a double this would round twice, and down.
        let big = Const::int(Elem::I64, (1 << 54) + (1 << 30) + 1).bits();
        let rounded = f32::from_bits(cast(Elem::I64, Elem::F32, big) as u32);
        assert_eq!(rounded, 18_014_400_656_965_632.0);
    }
}
