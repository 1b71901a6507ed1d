//! Integers: computed exactly, then wrapped.

use einlang_tir::constant::Const;
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::{bool_bits, int_of};

/// Applies an operation of integers of one type.
pub(super) fn apply(op: Op, elem: Elem, x: [u64; 3], checked: bool) -> Result<u64, Trap> {
    let (a, b) = (int_of(elem, x[0]), int_of(elem, x[1]));
    let truth = match op {
        Op::Eq => a == b,
        Op::Ne => a != b,
        Op::Lt => a < b,
        Op::Le => a <= b,
        Op::Gt => a > b,
        Op::Ge => a >= b,
        _ => return fit(elem, exact(op, elem, a, b, checked)?, checked),
    };
    Ok(bool_bits(truth))
}

/// Wraps a result, or traps if it does not fit.
fn fit(elem: Elem, value: i128, checked: bool) -> Result<u64, Trap> {
    let constant = Const::int(elem, value);
    match checked && constant.as_int() != Some(value) {
        true => Err(Trap::Overflow),
        false => Ok(constant.bits()),
    }
}

/// The exact result; of two operands of 64 bits it always fits 128.
fn exact(op: Op, elem: Elem, a: i128, b: i128, checked: bool) -> Result<i128, Trap> {
    let distance = (b & i128::from(elem.bits() - 1)) as u32;
    Ok(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a.wrapping_mul(b),
        Op::Div | Op::Rem if b == 0 => return Err(Trap::DivisionByZero),
        Op::Div => a / b,
        Op::Rem => a % b,
        Op::Ipow => return power(elem, a, b, checked),
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Sign => a.signum(),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Band => a & b,
        Op::Bor => a | b,
        Op::Bxor => a ^ b,
        // The bits of a signed type are inverted as they are, those of an unsigned one wrap.
        Op::Bnot => Const::int(elem, !a).as_int().unwrap_or_default(),
        // Bits that are shifted out are gone, which is no overflow.
        Op::Shl => Const::int(elem, a << distance).as_int().unwrap_or_default(),
        Op::Shr => a >> distance,
        // No other operation takes integers.
        _ => a,
    })
}

/// `a ** b` modulo the width; the width of the type decides what is an overflow.
fn power(elem: Elem, a: i128, b: i128, checked: bool) -> Result<i128, Trap> {
    if b < 0 {
        return Err(Trap::NegativePower);
    }
    let (mut base, mut rest, mut result) = (a as u64, b, 1_u64);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        rest >>= 1;
    }
    if checked && !power_fits(elem, a, b) {
        return Err(Trap::Overflow);
    }
    Ok(Const::from_bits(elem, result).as_int().unwrap_or_default())
}

/// Whether `a ** b` fits the type; more than 64 doublings never do.
fn power_fits(elem: Elem, a: i128, b: i128) -> bool {
    if (-1..=1).contains(&a) {
        return a >= 0 || b % 2 == 0 || elem.kind() == einlang_tir::types::ElemKind::Signed;
    }
    let mut product: i128 = 1;
    for _ in 0..b.min(65) {
        product = product.saturating_mul(a);
        if Const::int(elem, product).as_int() != Some(product) {
            return false;
        }
    }
    b <= 64
}
