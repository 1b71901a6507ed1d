//! The error function: a polynomial up to 1, and `exp(-x^2)` times a rational function beyond.

use super::code::Term;
use super::coefficients as c;
use super::exp::{exp_parts, scaled};

/// `1 - erf(x)` of a magnitude.
fn upper(size: Term<'_>) -> Term<'_> {
    let size = size.greater(11.0).choose(11.0, size);
    let t = (size - 2.0) / (size + 2.0);
    let (constant, rest) = (c::ERFC_F32[0], t.polynomial(&c::ERFC_F32[1..]));
    let above = t.fma(rest, constant);
    let above_lost = t.fma(rest, -above + constant);
    let below = size.fma(2.0, 1.0);
    let inverse = size.number(1.0) / below;
    let ratio = above * inverse;
    let square = size * size;
    let lost = size.fma(size, -square);
    let left = (-lost).fma(ratio, ((-ratio).fma(below, above) + above_lost) * inverse);
    let (sum, rest, n) = exp_parts(-square);
    scaled(sum.fma(ratio, rest.fma(ratio, (sum + rest) * left)), n)
}

/// `erf(x)` up to 1.
fn inner(x: Term<'_>) -> Term<'_> {
    x.fma((x * x).polynomial(c::ERF_F32), x)
}

/// The error function.
pub(super) fn erf(x: Term<'_>) -> Term<'_> {
    let size = x.abs();
    let far = (-upper(size) + 1.0).with_sign(x);
    size.less(1.0).choose(inner(x), far)
}

/// `1 - erf(x)`.
pub(super) fn erfc(x: Term<'_>) -> Term<'_> {
    let size = x.abs();
    let upper = upper(size);
    let far = x.less(0.0).choose(-upper + 2.0, upper);
    size.less(0.5).choose(-inner(x) + 1.0, far)
}
