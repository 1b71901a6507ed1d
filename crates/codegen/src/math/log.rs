//! Logarithms: `x = 2^e m` with `m` between the square roots of 1/2 and 2, and a series in `m - 1`.

use super::code::Term;
use super::coefficients as c;

/// The exponent and the logarithm of what is left, for positive finite numbers.
fn parts(x: Term<'_>) -> (Term<'_>, Term<'_>) {
    let fraction = x.fraction();
    let up = x.by_type(24, 54);
    let tiny = x.less(x.by_type(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
    let normal = tiny.choose(x * (up as f64).exp2(), x);
    let root = x.bits_of(std::f64::consts::FRAC_1_SQRT_2);
    let offset = normal.bits() - root;
    let m = ((offset & ((1 << fraction) - 1)) + root).of_bits();
    let e = offset.shift_right(fraction).to_float();
    (tiny.choose(e - up as f64, e), m - 1.0)
}

/// `log(1 + f)` as a sum, the second of which corrects the first.
fn series(f: Term<'_>) -> (Term<'_>, Term<'_>) {
    let square = f * f;
    let half = square * 0.5;
    if f.by_type(true, false) {
        return (f, (f * square).fma(f.polynomial(c::LOG_F32), -half));
    }
    // `log(1 + f) = 2 s + s R` with `s = f / (2 + f)`, and `2 s = f - f^2 / 2 + s f^2 / 2`.
    let s = f / (f + 2.0);
    let z = s * s;
    let rest = s * (half + z * z.polynomial(c::LOG_F64));
    let first = f - half;
    let lost = (f - first) - half;
    let lost = lost - (f * 0.5).fma(f, -half);
    (first, lost + rest)
}

/// A logarithm of which the value for positive finite numbers is known.
fn with_specials<'a>(x: Term<'a>, value: Term<'a>) -> Term<'a> {
    let usual = x.greater(0.0).and(x.less(f64::INFINITY));
    let negative = x.less(0.0).choose(f64::NAN, x);
    let special = x.equals(0.0).choose(f64::NEG_INFINITY, negative);
    usual.choose(value, special)
}

fn natural(x: Term<'_>) -> Term<'_> {
    let (e, f) = parts(x);
    let (first, rest) = series(f);
    if x.by_type(true, false) {
        let [high, low] = c::LN2_F32;
        return e.fma(high, first + e.fma(low, rest));
    }
    // The first part is short: its product with an exponent is exact.
    let [high, low] = c::SHORT_LN2_F64;
    let whole = e * high;
    let sum = whole + first;
    let lost = (whole - sum) + first;
    sum + (lost + e.fma(low, rest))
}

/// The natural logarithm.
pub(super) fn log(x: Term<'_>) -> Term<'_> {
    with_specials(x, natural(x))
}

/// `log(1 + f)` times a constant in two parts, and a last summand.
fn scaled<'a>(f: Term<'a>, [high, low]: [f64; 2], rest: Term<'a>) -> (Term<'a>, Term<'a>) {
    let (first, tail) = series(f);
    let log = first + tail;
    let left = (first - log) + tail;
    (log, log.fma(low, left.fma(high, rest)))
}

/// The logarithm to base 2.
pub(super) fn log2(x: Term<'_>) -> Term<'_> {
    let factors = x.by_type(c::LOG2_E_F32, c::LOG2_E_F64);
    let (e, f) = parts(x);
    let (log, rest) = scaled(f, factors, x.number(0.0));
    // The product is split, for it may nearly cancel the exponent.
    let product = log * factors[0];
    let left = log.fma(factors[0], -product);
    let sum = e + product;
    let lost = (e - sum) + product;
    with_specials(x, sum + (lost + (left + rest)))
}

/// The logarithm to base 10.
pub(super) fn log10(x: Term<'_>) -> Term<'_> {
    let factors = x.by_type(c::LOG10_E_F32, c::LOG10_E_F64);
    let [high, low] = x.by_type(c::LOG10_2_F32, c::LOG10_2_F64);
    let (e, f) = parts(x);
    let (log, rest) = scaled(f, factors, e * low);
    let product = log * factors[0];
    let left = log.fma(factors[0], -product);
    let whole = e * high;
    let whole_left = e.fma(high, -whole);
    let sum = whole + product;
    let lost = (whole - sum) + product;
    with_specials(x, sum + (lost + (left + (whole_left + rest))))
}

/// `log(1 + x)`, exact near 0: what the sum `1 + x` loses is added again.
pub(super) fn log1p(x: Term<'_>) -> Term<'_> {
    let sum = x + 1.0;
    let back = sum - 1.0;
    let lost = (-(sum - back) + 1.0) + (x - back);
    let value = with_specials(sum, natural(sum) + lost / sum);
    let special = sum.greater(0.0).and(sum.less(f64::INFINITY));
    let value = special.choose(value, with_specials(sum, sum));
    x.equals(0.0).choose(x, value)
}
