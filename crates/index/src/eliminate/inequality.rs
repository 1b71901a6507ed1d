//! Eliminating a doomed variable that only inequalities mention.
//!
//! A lower bound `c*x + l >= 0` and an upper bound `u - d*x >= 0` leave a rational `x` exactly when
//! `c*u + d*l >= 0` (the real shadow) and certainly an integer when `c*u + d*l >= (c-1)*(d-1)`
//! (the dark shadow). If all pairs agree on the two, elimination is exact. If not, an integer that
//! the dark shadow misses lies close above some lower bound (or close below some upper bound):
//! `c*x + l = i` for one of finitely many `i`, the splinters.

use super::System;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Congruence;
use crate::error::{GaveUp, Result};
use crate::var::Var;

/// How to eliminate the next variable.
pub(super) enum Choice {
    /// The variable is the quotient of one congruence and occurs nowhere else.
    Congruence(Var),
    /// By its shadows.
    Shadow(Var),
}

/// What a variable's occurrences look like.
struct Profile {
    n_lower: usize,
    n_upper: usize,
    max_lower: i64,
    max_upper: i64,
}

impl Profile {
    fn of(ges: &[Affine], var: Var) -> Profile {
        let mut profile = Profile { n_lower: 0, n_upper: 0, max_lower: 0, max_upper: 0 };
        for c in ges.iter().map(|a| a.coeff(var)).filter(|c| *c != 0) {
            if c > 0 {
                profile.n_lower += 1;
                profile.max_lower = profile.max_lower.max(c);
            } else {
                profile.n_upper += 1;
                profile.max_upper = profile.max_upper.max(c.saturating_neg());
            }
        }
        profile
    }

    /// Exact variables first, then those that leave the fewest constraints.
    fn cost(&self) -> (bool, i64) {
        let exact = self.max_lower <= 1 || self.max_upper <= 1;
        let (l, u) = (self.n_lower as i64, self.n_upper as i64);
        (!exact, l * u - l - u)
    }
}

impl System {
    /// The variable to eliminate next; `None` when no doomed variable is left. No equality
    /// mentions a doomed variable any more.
    pub(super) fn choose(&mut self) -> Option<Choice> {
        let ges = &self.ges;
        self.doomed.retain(|v| ges.iter().any(|a| a.mentions(*v)));
        let best = self.doomed.iter().copied().min_by_key(|v| Profile::of(ges, *v).cost())?;
        match self.doomed.iter().copied().find(|v| self.congruence_of(*v).is_some()) {
            Some(var) if Profile::of(ges, best).cost().0 => Some(Choice::Congruence(var)),
            _ => Some(Choice::Shadow(best)),
        }
    }

    /// The congruence that `var` is the quotient of: exactly one lower bound `m*x >= l` and one
    /// upper bound `m*x <= u` with a constant `u - l` and no other doomed variable.
    fn congruence_of(&self, var: Var) -> Option<Congruence> {
        let mut uses = self.ges.iter().filter(|a| a.mentions(var));
        let (a, b) = (uses.next()?, uses.next()?);
        let (lower, upper) = if a.coeff(var) > 0 { (a, b) } else { (b, a) };
        let modulus = lower.coeff(var);
        let sum = lower.add(upper).ok()?;
        let alone = !upper.vars().any(|v| v != var && self.is_doomed(v));
        if uses.next().is_some() || !alone || modulus <= 1 || upper.coeff(var) != -modulus {
            return None;
        }
        Some(Congruence { expr: upper.without(var), modulus, at_most: sum.as_constant()? })
    }

    /// Replaces the two uses of `var` by the congruence they amount to.
    pub(super) fn into_congruence(mut self, var: Var) -> Result<System> {
        if let Some(congruence) = self.congruence_of(var) {
            self.kept.push(congruence);
            self.ges.retain(|a| !a.mentions(var));
            self.forget(var);
        }
        Ok(self)
    }

    /// The dark shadow of eliminating `var`, and the real one where it is larger.
    pub(super) fn shadows(
        &self,
        var: Var,
        budget: &mut Budget,
    ) -> Result<(System, Option<System>)> {
        let (mut dark, mut real, mut exact) = (Vec::new(), Vec::new(), true);
        for lower in self.ges.iter().filter(|a| a.coeff(var) > 0) {
            for upper in self.ges.iter().filter(|a| a.coeff(var) < 0) {
                budget.pay(1 + upper.terms().len() / 8)?;
                let (c, d) = (lower.coeff(var), upper.coeff(var).checked_neg());
                let d = d.ok_or(GaveUp::Overflow)?;
                let shadow = upper.combine(c, lower, d)?;
                let gap = (i128::from(c) - 1) * (i128::from(d) - 1);
                let Some(darker) = darken(&shadow, gap)? else { continue };
                exact &= darker == shadow;
                dark.push(darker);
                real.push(shadow);
            }
        }
        let real = if exact { None } else { Some(self.without(var, real)) };
        Ok((self.without(var, dark), real))
    }

    /// The system with `shadow` in place of the inequalities that mention `var`.
    fn without(&self, var: Var, mut shadow: Vec<Affine>) -> System {
        shadow.extend(self.ges.iter().filter(|a| !a.mentions(var)).cloned());
        let mut system = System {
            eqs: self.eqs.clone(),
            ges: shadow,
            kept: self.kept.clone(),
            doomed: self.doomed.clone(),
            next_local: self.next_local,
        };
        system.forget(var);
        system
    }

    /// The systems that hold what the dark shadow misses, from the side that has fewer of them.
    pub(super) fn splinters(&self, var: Var, budget: &mut Budget) -> Result<Vec<System>> {
        let profile = Profile::of(&self.ges, var);
        let (below, above) = (
            self.splinter_counts(var, true, profile.max_upper),
            self.splinter_counts(var, false, profile.max_lower),
        );
        let total = |counts: &[(usize, i128)]| counts.iter().map(|c| c.1).sum::<i128>();
        let counts = if total(&below) <= total(&above) { below } else { above };
        let n = usize::try_from(total(&counts)).map_err(|_| GaveUp::Budget)?;
        budget.pay(n.saturating_mul(1 + self.ges.len()))?;
        let mut splinters = Vec::with_capacity(n);
        for (at, count) in counts {
            for i in 0..count as i64 {
                let mut splinter = self.clone();
                splinter.eqs.push(self.ges[at].add_constant(-i)?);
                splinters.push(splinter);
            }
        }
        Ok(splinters)
    }

    /// For each bound on one side, how many distances from it must be tried: with the largest
    /// coefficient `a` on the other side and `b` on this, those up to `(a*b - a - b) / a`.
    fn splinter_counts(&self, var: Var, lower: bool, a: i64) -> Vec<(usize, i128)> {
        let a = i128::from(a.max(1));
        let bounds = self.ges.iter().enumerate();
        let side = bounds.filter(|(_, g)| g.coeff(var) != 0 && (g.coeff(var) > 0) == lower);
        side.map(|(at, g)| {
            let b = i128::from(g.coeff(var)).abs();
            (at, (a * b - a - b).div_euclid(a) + 1)
        })
        .collect()
    }
}

/// The shadow moved in by `gap`, or `None` if both hold everywhere. Where the linear part has a
/// common factor, moving by less than it takes to change the reduced constraint moves nothing.
fn darken(shadow: &Affine, gap: i128) -> Result<Option<Affine>> {
    let constant = i128::from(shadow.constant_part()) - gap;
    match shadow.content() {
        0 if constant >= 0 => Ok(None),
        0 if shadow.constant_part() < 0 => Ok(Some(shadow.clone())),
        g => {
            let g = i128::from(g.max(1));
            let same = constant.div_euclid(g) == i128::from(shadow.constant_part()).div_euclid(g);
            let constant = i64::try_from(constant).map_err(|_| GaveUp::Overflow)?;
            if same {
                Ok(Some(shadow.clone()))
            } else {
                Ok(Some(shadow.clone().with_constant(constant)))
            }
        }
    }
}
