//! Quasi-affine expressions: affine expressions plus quotients and remainders by positive
//! constants.
//!
//! The language's `/` truncates toward zero and its `%` takes the dividend's sign; mathematics
//! (and loop code) prefers floors. Both are kept apart as [`DivOp`]s, because they differ on
//! negative numerators; [`Quasi::with_floors`] turns the first into the second where the sign is
//! known. The text form writes `i / 2` and `i % 2` for the language's operators, `floor(i / 2)`
//! and `i mod 2` for the flooring ones.
//!
//! Invariant: constructors fold what is decided by the coefficients alone (constant operands,
//! exact quotients, nested floors), so equal expressions are usually but not always identical;
//! whether two are equal everywhere is a question for [`crate::Facts`].

use crate::affine::Affine;
use crate::error::{GaveUp, Result};
use crate::int::linear;
use crate::var::{Named, Var, Vars};

mod direction;
mod divide;
pub(crate) mod lower;
mod print;

pub use direction::Direction;

/// Which quotient or remainder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DivOp {
    /// The quotient rounded down.
    FloorDiv,
    /// The remainder that goes with it, in `0..divisor`.
    FloorMod,
    /// The quotient rounded toward zero: the language's `/`.
    TruncDiv,
    /// The remainder with the dividend's sign: the language's `%`.
    TruncRem,
}

impl DivOp {
    /// The value for numbers, `divisor > 0`.
    pub(crate) fn apply(self, number: i128, divisor: i64) -> i128 {
        let divisor = i128::from(divisor);
        match self {
            DivOp::FloorDiv => number.div_euclid(divisor),
            DivOp::FloorMod => number.rem_euclid(divisor),
            DivOp::TruncDiv => number / divisor,
            DivOp::TruncRem => number % divisor,
        }
    }
}

/// One quotient or remainder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Division {
    /// Which one.
    pub op: DivOp,
    /// The dividend.
    pub number: Quasi,
    /// The divisor, always positive.
    pub divisor: i64,
}

/// `affine + Σ coefficient · division`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Quasi {
    affine: Affine,
    divisions: Vec<(Division, i64)>,
}

impl From<Affine> for Quasi {
    fn from(affine: Affine) -> Quasi {
        Quasi { affine, divisions: Vec::new() }
    }
}

impl From<Var> for Quasi {
    fn from(var: Var) -> Quasi {
        Affine::var(var).into()
    }
}

impl From<i64> for Quasi {
    fn from(constant: i64) -> Quasi {
        Affine::constant(constant).into()
    }
}

impl Quasi {
    /// The affine part.
    pub fn affine(&self) -> &Affine {
        &self.affine
    }

    /// The quotients and remainders with their coefficients.
    pub fn divisions(&self) -> &[(Division, i64)] {
        &self.divisions
    }

    /// The expression as an affine one, if nothing is divided.
    pub fn as_affine(&self) -> Option<&Affine> {
        self.divisions.is_empty().then_some(&self.affine)
    }

    /// The value, if no variable occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.as_affine().and_then(Affine::as_constant)
    }

    /// The variable, if the expression is nothing else: a bare use.
    pub fn as_var(&self) -> Option<Var> {
        self.as_affine().and_then(Affine::as_var)
    }

    /// `a * self + b * other`.
    pub fn combine(&self, a: i64, other: &Quasi, b: i64) -> Result<Quasi> {
        let affine = self.affine.combine(a, &other.affine, b)?;
        let mut divisions: Vec<(Division, i64)> = Vec::new();
        for (list, k) in [(&self.divisions, a), (&other.divisions, b)] {
            for (division, c) in list {
                add_division(&mut divisions, division, linear(*c, k, 0, 0)?)?;
            }
        }
        divisions.retain(|d| d.1 != 0);
        divisions.sort();
        Ok(Quasi { affine, divisions })
    }

    /// `self + other`.
    pub fn add(&self, other: &Quasi) -> Result<Quasi> {
        self.combine(1, other, 1)
    }

    /// `self - other`.
    pub fn sub(&self, other: &Quasi) -> Result<Quasi> {
        self.combine(1, other, -1)
    }

    /// `k * self`.
    pub fn scale(&self, k: i64) -> Result<Quasi> {
        self.combine(k, &Quasi::default(), 0)
    }

    /// `-self`.
    pub fn neg(&self) -> Result<Quasi> {
        self.scale(-1)
    }

    /// `self + k`.
    pub fn add_constant(&self, k: i64) -> Result<Quasi> {
        let affine = self.affine.add_constant(k)?;
        Ok(Quasi { affine, divisions: self.divisions.clone() })
    }

    /// The expression with `value` in place of `var`, in divisions too.
    pub fn substitute(&self, var: Var, value: &Quasi) -> Result<Quasi> {
        self.rebuild(
            &mut |affine| {
                let c = affine.coeff(var);
                if c == 0 {
                    return Ok(affine.clone().into());
                }
                Quasi::from(affine.without(var)).combine(1, value, c)
            },
            &mut |op, number, divisor| number.divide(op, divisor),
        )
    }

    /// The expression with every truncating division whose dividend is known not to be negative
    /// replaced by the flooring one, which has the same value there. `nonnegative` must only
    /// answer true when it has a proof; inner divisions are asked about first.
    pub fn with_floors(&self, nonnegative: &mut dyn FnMut(&Quasi) -> bool) -> Result<Quasi> {
        self.rebuild(&mut |affine| Ok(affine.clone().into()), &mut |op, number, divisor| {
            let op = match op {
                DivOp::TruncDiv if nonnegative(&number) => DivOp::FloorDiv,
                DivOp::TruncRem if nonnegative(&number) => DivOp::FloorMod,
                other => other,
            };
            number.divide(op, divisor)
        })
    }

    /// Builds the expression anew from the bottom up.
    fn rebuild(
        &self,
        affine: &mut dyn FnMut(&Affine) -> Result<Quasi>,
        division: &mut dyn FnMut(DivOp, Quasi, i64) -> Result<Quasi>,
    ) -> Result<Quasi> {
        let mut sum = affine(&self.affine)?;
        for (d, c) in &self.divisions {
            let number = d.number.rebuild(affine, division)?;
            sum = sum.combine(1, &division(d.op, number, d.divisor)?, *c)?;
        }
        Ok(sum)
    }

    /// Calls `visit` for every variable, with repetitions.
    pub fn for_each_var(&self, visit: &mut dyn FnMut(Var)) {
        self.affine.vars().for_each(&mut *visit);
        self.divisions.iter().for_each(|(d, _)| d.number.for_each_var(visit));
    }

    /// True when `var` occurs.
    pub fn mentions(&self, var: Var) -> bool {
        let mut found = false;
        self.for_each_var(&mut |v| found |= v == var);
        found
    }

    /// The value at a point.
    pub fn eval(&self, value: &dyn Fn(Var) -> i64) -> Result<i128> {
        let mut sum = self.affine.eval(value)?;
        for (d, c) in &self.divisions {
            let quotient = d.op.apply(d.number.eval(value)?, d.divisor);
            let part = quotient.checked_mul((*c).into()).ok_or(GaveUp::Overflow)?;
            sum = sum.checked_add(part).ok_or(GaveUp::Overflow)?;
        }
        Ok(sum)
    }

    /// Prints with the names of `vars`, as `2*floor(i / 2) + n - 1`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, Quasi> {
        Named::new(self, vars)
    }
}

fn add_division(list: &mut Vec<(Division, i64)>, division: &Division, c: i64) -> Result<()> {
    match list.iter_mut().find(|d| d.0 == *division) {
        Some(known) => known.1 = linear(known.1, 1, c, 1)?,
        None => list.push((division.clone(), c)),
    }
    Ok(())
}
