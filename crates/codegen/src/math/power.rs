//! `x ** y` of floats that are narrower than the type of the formula: `2^(y log2 |x|)` and its sign.

use super::code::Term;
use super::exp::exp2;
use super::log::log2;

/// `x ** y`.
pub(super) fn pow<'a>(x: Term<'a>, y: Term<'a>) -> Term<'a> {
    let size = x.abs();
    let value = exp2(y * log2(size));
    let value = size.equals(1.0).choose(1.0, value);
    let half = y * 0.5;
    let whole = y.trunc().equals(y);
    let even = half.trunc().equals(half);
    // A negative number has the sign of its power where that is odd, and no power that is not whole.
    let signed = value.with_sign(x);
    let odd = even.choose(value, whole.choose(signed, value));
    let negative = x.less(0.0).and(x.greater(f64::NEG_INFINITY));
    let of_negative = whole.choose(odd, negative.choose(f64::NAN, odd));
    let value = y.equals(y).choose(of_negative, y + x);
    x.equals(1.0).or(y.equals(0.0)).choose(1.0, value)
}
