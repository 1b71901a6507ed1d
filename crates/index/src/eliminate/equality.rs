//! Eliminating a doomed variable with the help of an equality.
//!
//! If a doomed variable has coefficient ±1 the equality is its value. Otherwise Euclid's algorithm
//! runs on the doomed coefficients: `t = v + Σ q·w` is a unimodular change of variables that
//! replaces them by remainders, until a unit appears or a single doomed variable is left. In the
//! second case `c*v + r = 0` says that `c` divides `r`, a congruence without doomed variables, and
//! that `c*v` is `-r` wherever a multiple of `v` occurs.

use super::System;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Congruence;
use crate::error::Result;
use crate::int::{narrow, round_div};
use crate::var::Var;

impl System {
    /// Uses up one equality with doomed variables; `false` when there is none.
    pub(super) fn solve_equality(&mut self, budget: &mut Budget) -> Result<bool> {
        let Some(at) = self.best_equality() else { return Ok(false) };
        let mut equality = self.eqs.swap_remove(at);
        loop {
            budget.pay(1)?;
            let doomed: Vec<(Var, i64)> =
                equality.terms().iter().copied().filter(|t| self.is_doomed(t.0)).collect();
            let Some(&(var, c)) = doomed.iter().min_by_key(|t| t.1.unsigned_abs()) else {
                self.eqs.push(equality);
                return Ok(true);
            };
            if c.unsigned_abs() == 1 {
                let value = equality.without(var).scale(-c)?;
                self.substitute(var, &value)?;
                self.forget(var);
                return Ok(true);
            }
            if doomed.len() == 1 {
                self.divide_out(var, c, &equality.without(var))?;
                return Ok(true);
            }
            equality = self.reduce_coefficients(&equality, var, c, &doomed)?;
        }
    }

    /// The equality to use first: one with a unit coefficient, else any with a doomed variable.
    fn best_equality(&self) -> Option<usize> {
        let smallest = |a: &Affine| {
            let doomed = a.terms().iter().filter(|t| self.is_doomed(t.0));
            doomed.map(|t| t.1.unsigned_abs()).min()
        };
        let candidates = self.eqs.iter().enumerate().filter_map(|(at, a)| Some((smallest(a)?, at)));
        candidates.min().map(|c| c.1)
    }

    /// One step of Euclid's algorithm: replaces `var` by `t - Σ q·w` so that the coefficients of
    /// the other doomed variables `w` become remainders of division by `c`.
    fn reduce_coefficients(
        &mut self,
        equality: &Affine,
        var: Var,
        c: i64,
        doomed: &[(Var, i64)],
    ) -> Result<Affine> {
        let fresh = self.fresh();
        let mut terms = vec![(fresh, 1)];
        for &(other, k) in doomed.iter().filter(|t| t.0 != var) {
            terms.push((other, narrow(-i128::from(round_div(k, c)?))?));
        }
        let value = Affine::new(0, terms)?;
        self.substitute(var, &value)?;
        self.forget(var);
        equality.substitute(var, &value)
    }

    /// Replaces `var` everywhere.
    fn substitute(&mut self, var: Var, value: &Affine) -> Result<()> {
        for a in self.eqs.iter_mut().chain(&mut self.ges).filter(|a| a.mentions(var)) {
            *a = a.substitute(var, value)?;
        }
        Ok(())
    }

    /// Uses `c*var + rest = 0`, where `rest` has no doomed variable: constraints with `k*var` are
    /// multiplied by `|c|`, and `|c|*k*var` becomes `-sign(c)*k*rest`.
    fn divide_out(&mut self, var: Var, c: i64, rest: &Affine) -> Result<()> {
        let size = narrow(i128::from(c).abs())?;
        for a in self.eqs.iter_mut().chain(&mut self.ges).filter(|a| a.mentions(var)) {
            let k = narrow(-i128::from(a.coeff(var)) * i128::from(c.signum()))?;
            *a = a.without(var).combine(size, rest, k)?;
        }
        self.kept.push(Congruence { expr: rest.clone(), modulus: size, at_most: 0 });
        self.forget(var);
        Ok(())
    }
}
