//! Integer helpers: exact division, greatest common divisors and narrowing.
//!
//! Everything is computed in `i128`, where the product of two `i64` always fits, and then narrowed
//! back to `i64`; a value that does not fit is [`GaveUp::Overflow`].

use crate::error::{GaveUp, Result};

/// `v` as an `i64`.
pub(crate) fn narrow(v: i128) -> Result<i64> {
    i64::try_from(v).map_err(|_| GaveUp::Overflow)
}

/// `a * x + b * y`.
pub(crate) fn linear(a: i64, x: i64, b: i64, y: i64) -> Result<i64> {
    // Each product is at most 2^126 in size, so only the sum of two extreme ones could overflow.
    let sum = (i128::from(a) * i128::from(x)).checked_add(i128::from(b) * i128::from(y));
    narrow(sum.ok_or(GaveUp::Overflow)?)
}

/// The greatest common divisor; `gcd(0, x)` is `x`.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest common divisor of a positive `a` and any `b`, which therefore fits `i64`.
pub(crate) fn gcd_positive(a: i64, b: i64) -> i64 {
    gcd(a.unsigned_abs(), b.unsigned_abs()) as i64
}

/// The quotient rounded to the nearest integer, for a non-zero divisor. The remainder that goes
/// with it is at most half the divisor, which makes Euclid's algorithm converge fastest.
pub(crate) fn round_div(a: i64, b: i64) -> Result<i64> {
    let (a, b) = if b < 0 { (-i128::from(a), -i128::from(b)) } else { (a.into(), b.into()) };
    narrow((2 * a + b).div_euclid(2 * b))
}

/// A divisor or modulus must be positive.
pub(crate) fn positive(d: i64) -> Result<i64> {
    if d > 0 { Ok(d) } else { Err(GaveUp::Divisor) }
}
