//! Exponentials: `x = n log(2) + r` with `|r| <= log(2) / 2`, a polynomial in `r`, and two factors whose
//! product is `2^n`, so that results below the normal range are rounded once.

use super::code::{Index, Term};
use super::coefficients as c;

/// The number at which the fraction of a float counts whole numbers: adding it rounds.
pub(super) fn whole(x: Term<'_>) -> f64 {
    x.by_type(1.5 * f64::from(1_u32 << 23), 1.5 * (1_u64 << 52) as f64)
}

/// `x` times a factor rounded to a whole number, as a float and as an integer.
pub(super) fn rounded<'a>(x: Term<'a>, factor: f64) -> (Term<'a>, Index<'a>) {
    let at = whole(x);
    let sum = x.fma(factor, at);
    (sum - at, sum.bits() - x.bits_of(at))
}

/// `2^n` for an exponent in the normal range.
fn power<'a>(x: Term<'a>, n: Index<'a>) -> Term<'a> {
    (n + x.by_type(127, 1023)).shift_left(x.fraction()).of_bits()
}

/// `x * 2^n`, rounded once.
pub(super) fn scaled<'a>(x: Term<'a>, n: Index<'a>) -> Term<'a> {
    let half = n.shift_right(1);
    x * power(x, half) * power(x, n - half)
}

/// `n` and `r` in two parts, the second a correction of the first.
fn reduced(x: Term<'_>) -> (Index<'_>, Term<'_>, Term<'_>) {
    let [high, low] = x.by_type(c::LN2_F32, c::LN2_F64);
    let (number, n) = rounded(x, x.by_type(c::LOG2_E_F32, c::LOG2_E_F64)[0]);
    let first = number.fma(-high, x);
    let rest = number * low;
    let r = first - rest;
    (n, r, (first - r) - rest)
}

/// `(exp(r) - 1 - r)`.
fn beyond_linear(r: Term<'_>) -> Term<'_> {
    r * r * r.polynomial(r.by_type(c::EXP_F32, c::EXP_F64))
}

/// `exp(x)` as a sum of two parts times a power of two.
pub(super) fn exp_parts(x: Term<'_>) -> (Term<'_>, Term<'_>, Index<'_>) {
    parts_within(x.clamp(x.by_type(-104.0, -746.0), x.by_type(89.0, 710.0)))
}

/// The same for an argument within the range of results.
fn parts_within(x: Term<'_>) -> (Term<'_>, Term<'_>, Index<'_>) {
    let (n, r, correction) = reduced(x);
    let beyond = beyond_linear(r) + correction;
    let one = x.number(1.0);
    let sum = one + r;
    let left = (one - sum) + r;
    (sum, left + beyond, n)
}

/// The exponential. What is too small for any result is put aside first: a product below the normal
/// range takes a processor many times as long as any other, and masks of minus infinity are common.
pub(super) fn exp(x: Term<'_>) -> Term<'_> {
    let (nothing, top) = (x.less(x.by_type(-104.0, -746.0)), x.by_type(89.0, 710.0));
    let some = nothing.choose(0.0, x);
    let (sum, rest, n) = parts_within(some.greater(top).choose(top, some));
    nothing.choose(0.0, scaled(sum + rest, n))
}

/// Two to the power `x`.
pub(super) fn exp2(x: Term<'_>) -> Term<'_> {
    let x = x.clamp(x.by_type(-151.0, -1076.0), x.by_type(129.0, 1025.0));
    let (number, n) = rounded(x, 1.0);
    let r = x - number;
    let one = x.number(1.0);
    scaled(r.fma(r.polynomial(x.by_type(c::EXP2_F32, c::EXP2_F64)), one), n)
}

/// `(exp(x) - 1) / 2` for `x` within the range of results, as a sum whose second part corrects the
/// first.
fn half_expm1(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let (n, r, correction) = reduced(x);
    let beyond = beyond_linear(r) + correction;
    let small = r + beyond;
    let factor = power(x, n - 1);
    if x.by_type(true, false) {
        return (factor.fma(small, factor - 0.5), x.number(0.0));
    }
    let left = (r - small) + beyond;
    let (a, b) = (factor * small, factor - 0.5);
    let sum = a + b;
    let back = sum - a;
    let lost = (a - (sum - back)) + (b - back);
    (sum, factor.fma(left, lost))
}

/// `exp(x) - 1`, exact near 0.
pub(super) fn expm1(x: Term<'_>) -> Term<'_> {
    let (low, high) = x.by_type((-20.0, 89.0), (-40.0, 710.0));
    let (half, lost) = half_expm1(x.clamp(low, high));
    let value = (half + lost) * 2.0;
    x.abs().less(x.by_type(1e-9, 1e-18)).choose(x, value)
}

/// The hyperbolic tangent: `t / (t + 2)` with `t = exp(2 |x|) - 1`.
pub(super) fn tanh(x: Term<'_>) -> Term<'_> {
    let size = x.abs();
    let top = x.by_type(10.0, 20.0);
    let size = size.greater(top).choose(top, size);
    let (half, lost) = half_expm1(size + size);
    let below = half + 1.0;
    if x.by_type(true, false) {
        return (half / below).with_sign(x);
    }
    let back = below - half;
    let below_lost = lost + ((-back + 1.0) + (half - (below - back)));
    let inverse = x.number(1.0) / below;
    let value = half * inverse;
    let left = (-value).fma(below, half) + (-value).fma(below_lost, lost);
    left.fma(inverse, value).with_sign(x)
}
