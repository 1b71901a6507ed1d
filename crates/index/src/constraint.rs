//! Single constraints on integers: `a >= 0`, `a = 0` and `a mod m <= k`.
//!
//! The third form makes the language of constraints closed: negating one gives another
//! (`a mod m > k` is `(a - k - 1) mod m <= m - k - 2`), and eliminating a variable from any of
//! them needs nothing else (Presburger: congruences are exactly what quantifier elimination over
//! the integers adds to inequalities). So no set ever has to carry an `exists`.

use crate::affine::Affine;
use crate::error::{GaveUp, Result};
use crate::int::{gcd_positive, positive};
use crate::var::{Named, Var, Vars};

/// `expr mod modulus <= at_most`: the expression lies at most `at_most` above a multiple of the
/// modulus. With `at_most = 0` it is divisibility.
///
/// Within a [`crate::Set`] it is reduced: `0 <= at_most < modulus - 1`, coefficients and constant
/// lie in `0..modulus`, and the coefficients have no common factor with the modulus.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Congruence {
    pub(crate) expr: Affine,
    pub(crate) modulus: i64,
    pub(crate) at_most: i64,
}

/// A condition on a point.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Constraint {
    /// The expression is not negative.
    Ge(Affine),
    /// The expression is zero.
    Eq(Affine),
    /// The expression is close above a multiple.
    Mod(Congruence),
}

/// A constraint that may turn out to be decided.
pub(crate) enum Reduced<T> {
    /// It holds everywhere.
    Always,
    /// It holds nowhere.
    Never,
    /// It is equivalent to this.
    To(T),
}

impl<T> Reduced<T> {
    pub(crate) fn decided(holds: bool) -> Reduced<T> {
        if holds { Reduced::Always } else { Reduced::Never }
    }
}

/// Brings `a >= 0` to lowest terms; over the integers `2*x - 1 >= 0` is `x - 1 >= 0`.
pub(crate) fn reduce_ge(mut a: Affine) -> Result<Reduced<Affine>> {
    match a.content() {
        0 => return Ok(Reduced::decided(a.constant_part() >= 0)),
        1 => {}
        g => a.divide_down(g)?,
    }
    Ok(Reduced::To(a))
}

/// Brings `a = 0` to lowest terms with a positive leading coefficient.
pub(crate) fn reduce_eq(mut a: Affine) -> Result<Reduced<Affine>> {
    match a.content() {
        0 => return Ok(Reduced::decided(a.constant_part() == 0)),
        1 => {}
        g if !a.constant_part().unsigned_abs().is_multiple_of(g) => return Ok(Reduced::Never),
        g => a.divide_down(g)?,
    }
    match a.terms().first() {
        Some(first) if first.1 < 0 => Ok(Reduced::To(a.neg().unwrap_or(a))),
        _ => Ok(Reduced::To(a)),
    }
}

impl Congruence {
    /// `expr mod modulus <= at_most` in lowest terms.
    pub(crate) fn reduced(expr: &Affine, modulus: i64, at_most: i64) -> Result<Reduced<Self>> {
        let modulus = positive(modulus)?;
        let expr = expr.map(|c| c.rem_euclid(modulus));
        // With a common factor g, expr = g*b + c where 0 <= c < g, and its remainder is
        // g*(b mod modulus/g) + c.
        let g = expr.terms().iter().fold(modulus, |g, t| gcd_positive(g, t.1));
        let left_over = expr.constant_part() % g;
        let (modulus, expr) = (modulus / g, expr.map(|c| c / g));
        let at_most =
            i64::try_from((i128::from(at_most) - i128::from(left_over)).div_euclid(g.into()))
                .map_err(|_| GaveUp::Overflow)?;
        if at_most < 0 || at_most >= modulus - 1 {
            return Ok(Reduced::decided(at_most >= 0));
        }
        if let Some(constant) = expr.as_constant() {
            return Ok(Reduced::decided(constant <= at_most));
        }
        Ok(Reduced::To(Congruence { expr, modulus, at_most }.canonical_sign()))
    }

    /// The remainder of `a` is at most `k` exactly when that of `k - a` is, so either may stand
    /// for the other; the smaller one is kept.
    fn canonical_sign(self) -> Congruence {
        let m = self.modulus;
        let mirrored = self.expr.map(|c| (-i128::from(c)).rem_euclid(m.into()) as i64);
        let constant = (i128::from(mirrored.constant_part()) + i128::from(self.at_most))
            .rem_euclid(m.into()) as i64;
        let mirrored = Congruence { expr: mirrored.with_constant(constant), ..self };
        if mirrored.expr < self.expr { mirrored } else { self }
    }

    /// The expression.
    pub fn expr(&self) -> &Affine {
        &self.expr
    }

    /// The modulus.
    pub fn modulus(&self) -> i64 {
        self.modulus
    }

    /// The largest remainder allowed.
    pub fn at_most(&self) -> i64 {
        self.at_most
    }

    /// True at the point.
    pub(crate) fn holds(&self, value: &dyn Fn(Var) -> i64) -> Result<bool> {
        Ok(self.expr.eval(value)?.rem_euclid(self.modulus.into()) <= self.at_most.into())
    }

    /// `expr mod modulus > at_most`.
    fn negated(&self) -> Result<Congruence> {
        let expr = self.expr.add_constant(-self.at_most - 1)?;
        Ok(Congruence { expr, modulus: self.modulus, at_most: self.modulus - self.at_most - 2 })
    }
}

impl Constraint {
    /// `a >= b`.
    pub fn ge(a: &Affine, b: &Affine) -> Result<Constraint> {
        Ok(Constraint::Ge(a.sub(b)?))
    }

    /// `a < b`.
    pub fn lt(a: &Affine, b: &Affine) -> Result<Constraint> {
        Ok(Constraint::Ge(b.sub(a)?.add_constant(-1)?))
    }

    /// `a = b`.
    pub fn equal(a: &Affine, b: &Affine) -> Result<Constraint> {
        Ok(Constraint::Eq(a.sub(b)?))
    }

    /// `modulus` divides `a`.
    pub fn divides(modulus: i64, a: &Affine) -> Result<Constraint> {
        let modulus = positive(modulus)?;
        Ok(Constraint::Mod(Congruence { expr: a.clone(), modulus, at_most: 0 }))
    }

    /// The expression that is constrained.
    pub fn expr(&self) -> &Affine {
        match self {
            Constraint::Ge(a) | Constraint::Eq(a) => a,
            Constraint::Mod(c) => &c.expr,
        }
    }

    /// True at the point.
    pub fn holds(&self, value: &dyn Fn(Var) -> i64) -> Result<bool> {
        match self {
            Constraint::Ge(a) => Ok(a.eval(value)? >= 0),
            Constraint::Eq(a) => Ok(a.eval(value)? == 0),
            Constraint::Mod(c) => c.holds(value),
        }
    }

    /// The constraint for another expression in place of the one it has.
    pub(crate) fn with_expr(&self, expr: Affine) -> Constraint {
        match self {
            Constraint::Ge(_) => Constraint::Ge(expr),
            Constraint::Eq(_) => Constraint::Eq(expr),
            Constraint::Mod(c) => Constraint::Mod(Congruence { expr, ..*c }),
        }
    }

    /// Constraints of which exactly one holds where this one does not.
    pub fn negate(&self) -> Result<Vec<Constraint>> {
        let below = |a: &Affine| Ok(Constraint::Ge(a.scale(-1)?.add_constant(-1)?));
        match self {
            Constraint::Ge(a) => Ok(vec![below(a)?]),
            Constraint::Eq(a) => Ok(vec![Constraint::Ge(a.add_constant(-1)?), below(a)?]),
            Constraint::Mod(c) => Ok(vec![Constraint::Mod(c.negated()?)]),
        }
    }

    /// Prints with the names of `vars`, as `i < n`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, Constraint> {
        Named::new(self, vars)
    }
}
