//! Sine and cosine: `x = n pi / 2 + r`, and one of two polynomials in `r` by the last bits of `n`.
//!
//! The three parts of `pi / 2` give `r` to its last bit as long as `n` is not large; beyond that, the
//! formula does not hold.

use super::code::{Mask, Term};
use super::coefficients as c;
use super::exp::whole;

/// `x - n pi / 2`, and for doubles what that loses.
fn reduced<'a>(x: Term<'a>, n: Term<'a>) -> (Term<'a>, Option<Term<'a>>) {
    let [a, b, c] = x.by_type(c::HALF_PI_F32, c::HALF_PI_F64);
    let first = n.fma(-a, x);
    if x.by_type(true, false) {
        return (n.fma(-c, n.fma(-b, first)), None);
    }
    let second = n * b;
    let left = n.fma(b, -second);
    let r = first - second;
    let lost = (first - r) - second;
    (r, Some(lost - n.fma(c, left)))
}

/// The sine and the cosine of `r`, to less than two units in the last place.
fn of_single<'a>(r: Term<'a>) -> (Term<'a>, Term<'a>) {
    let z = r * r;
    // A zero added to the product makes it positive where `z` is 0, so that -0 stays what it is.
    let sine = r.fma(z.fma(z.polynomial(c::SIN_F32), 0.0), r);
    let cosine = z.fma(z.fma(z.polynomial(c::COS_F32), -0.5), 1.0);
    (sine, cosine)
}

/// The same of doubles, where `r` lacks a small part.
fn of_double<'a>(r: Term<'a>, small: Term<'a>) -> (Term<'a>, Term<'a>) {
    let z = r * r;
    let half = z * 0.5;
    let first = -half + 1.0;
    let sine = r * z * z.polynomial(c::SIN_F64) + small * first;
    let lost = (-first + 1.0) - half;
    let cosine = z * z * z.polynomial(c::COS_F64) + (lost - r * small);
    (r + sine, first + cosine)
}

/// The polynomial of the quarter that `x` is in, some quarters further.
fn quarter<'a>(x: Term<'a>, further: i64, holds: &mut Option<Mask<'a>>) -> Term<'a> {
    *holds = Some(x.abs().at_most(x.by_type(100_000.0, 1e6)));
    let at = whole(x);
    let sum = x.fma(std::f64::consts::FRAC_2_PI, at);
    let (sine, cosine) = match reduced(x, sum - at) {
        (r, None) => of_single(r),
        (r, Some(small)) => of_double(r, small),
    };
    let which = sum.bits() + further;
    let value = (which & 1).is(0).choose(sine, cosine);
    let sign = (which & 2).shift_left(x.by_type(30, 62));
    (value.bits() ^ sign).of_bits()
}

/// The sine. Zeros keep their sign: for singles by the formula, since all parts of `pi / 2` are positive.
pub(super) fn sin<'a>(x: Term<'a>, holds: &mut Option<Mask<'a>>) -> Term<'a> {
    let value = quarter(x, 0, holds);
    if x.by_type(true, false) { value } else { x.equals(0.0).choose(x, value) }
}

/// The cosine.
pub(super) fn cos<'a>(x: Term<'a>, holds: &mut Option<Mask<'a>>) -> Term<'a> {
    quarter(x, 1, holds)
}
