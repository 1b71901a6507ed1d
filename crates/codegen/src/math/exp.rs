//! Exponentials: `x = n log(2) + r` with `|r| <= log(2) / 2`, a polynomial in `r`, and two factors whose
//! product is `2^n`, so that results below the normal range are rounded once.

use super::code::{Index, Mask, Term};
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

/// The whole number `n` and `r`, which is off by half a unit in its last place.
fn reduced(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let [high, low] = x.by_type(c::LN2_F32, c::LN2_F64);
    let (number, _) = rounded(x, x.by_type(c::LOG2_E_F32, c::LOG2_E_F64)[0]);
    (number, number.fma(-low, number.fma(-high, x)))
}

/// `n` and `r` in two parts, the second a correction of the first.
fn reduced_in_parts(x: Term<'_>) -> (Index<'_>, Term<'_>, Term<'_>) {
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
    let x = x.clamp(x.by_type(-104.0, -746.0), x.by_type(89.0, 710.0));
    let (n, r, correction) = reduced_in_parts(x);
    let beyond = beyond_linear(r) + correction;
    let one = x.number(1.0);
    let sum = one + r;
    let left = (one - sum) + r;
    (sum, left + beyond, n)
}

/// `x * 2^n` for a whole number, or 0 where there is nothing. Products below the normal range take a processor many
/// times as long as any other, and masks of minus infinity are common: they are put aside.
fn scaled_unless<'a>(nothing: Mask<'a>, x: Term<'a>, n: Term<'a>) -> Term<'a> {
    if let Some(value) = x.scaled_at_once(n) {
        return nothing.choose(0.0, value);
    }
    let at = whole(x);
    let n = nothing.choose(0.0, n);
    nothing.choose(0.0, scaled(x, (n + at).bits() - x.bits_of(at)))
}

/// The exponential.
pub(super) fn exp(x: Term<'_>) -> Term<'_> {
    let nothing = x.less(x.by_type(-104.0, -746.0));
    let (n, r) = reduced(x.up_to(x.by_type(89.0, 710.0)));
    let above = r.fma(r.polynomial(r.by_type(c::EXP_F32, c::EXP_F64)), 1.0);
    scaled_unless(nothing, r.fma(above, 1.0), n)
}

/// Two to the power `x`.
pub(super) fn exp2(x: Term<'_>) -> Term<'_> {
    let nothing = x.less(x.by_type(-151.0, -1076.0));
    let x = x.up_to(x.by_type(129.0, 1025.0));
    let at = whole(x);
    let n = (x + at) - at;
    let r = x - n;
    let above = r.polynomial(x.by_type(c::EXP2_F32, c::EXP2_F64));
    scaled_unless(nothing, r.fma(above, 1.0), n)
}

/// `(exp(x) - 1) / 2` for `x` within the range of results, as a sum whose second part corrects the
/// first.
fn half_expm1(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let (n, r, correction) = reduced_in_parts(x);
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

/// `1 / x` of a single that is positive and not near the ends of the range, off by a unit in the last place: a guess
/// that is off by an eighth, twice to the third power. Dividing takes a processor several times as long.
fn inverse(x: Term<'_>) -> Term<'_> {
    let mut guess = (-x.bits() + GUESS).of_bits();
    for _ in 0..2 {
        let off = (-x).fma(guess, 1.0);
        guess = guess.fma(off.fma(off, off), guess);
    }
    guess
}

/// The bits of a single less those of another are nearly those of its inverse.
const GUESS: i64 = 0x7ef3_11c7;

/// The hyperbolic tangent of singles: a polynomial up to 5/8 and for NaN, and `1 - 2 / (exp(2 |x|) + 1)` beyond.
fn tanh_of_single(x: Term<'_>) -> Term<'_> {
    let size = x.abs();
    let within = size.up_to(10.0);
    let (n, r) = reduced(within + within);
    let above = r.fma(r.polynomial(c::EXP_F32), 1.0);
    let n = (n + whole(x)).bits().shift_left(x.fraction());
    let power = (r.fma(above, 1.0).bits() + n).of_bits();
    let far = -inverse(power.fma(0.5, 0.5)) + 1.0;
    let z = x * x;
    let near = (x * z).fma(z.polynomial(c::TANH_F32), x);
    size.greater(0.625).choose(far, near).with_sign(x)
}

/// The hyperbolic tangent: of doubles, `t / (t + 2)` with `t = exp(2 |x|) - 1`.
pub(super) fn tanh(x: Term<'_>) -> Term<'_> {
    if x.by_type(true, false) {
        return tanh_of_single(x);
    }
    let (half, lost) = half_expm1((x.abs() + x.abs()).up_to(40.0));
    let below = half + 1.0;
    let back = below - half;
    let below_lost = lost + ((-back + 1.0) + (half - (below - back)));
    let inverse = x.number(1.0) / below;
    let value = half * inverse;
    let left = (-value).fma(below, half) + (-value).fma(below_lost, lost);
    left.fma(inverse, value).with_sign(x)
}
