//! Proofs: what holds for all points and all parameters that the facts allow.
//!
//! [`Facts`] are what is known of the symbols (`n >= 0`, `m = n`). A statement `goal >= 0` over a
//! domain is proved by showing that the domain, the facts and `goal <= -1` have no common point;
//! that is a question about integers which elimination answers exactly.
//!
//! **What is always decided.** Linear integer arithmetic with floor and mod by constants is
//! decidable and the method is complete, so the answer is `Unknown` only when a number leaves
//! `i64` or the work exceeds [`crate::budget::WORK`]. Neither happens, whatever the constants
//! (below 2^31 in size), in these fragments; the property tests hold the implementation to them:
//!
//! 1. *Two variables per constraint with coefficients ±1* (`i < n`, `i + k <= c`, `m = n - 3`), up
//!    to 16 variables, any number of constraints. Elimination stays inside this form, in which a
//!    pair of variables has at most four tightest constraints.
//! 2. *One subscript*: up to 6 variables with constant or parametric ranges `0 <= x < n` each, and
//!    a goal that is affine in them with coefficients up to 16 in size, with at most one floor or
//!    mod by a constant up to 16.
//! 3. *Small systems*: up to 4 variables and 8 constraints with coefficients up to 4 in size.
//!
//! Far larger questions are usually decided too; nothing depends on their being so.

use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::domain::Domain;
use crate::eliminate::{feasible, near};
use crate::error::{Result, Truth};
use crate::minmax::MinMax;
use crate::quasi::Quasi;
use crate::quasi::lower::lower_all;
use crate::sample;
use crate::set::Set;
use crate::var::Var;

/// What is known of the parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    set: Set,
}

/// How a statement about all points of a domain turns out, depending on the parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It holds at every point, for all parameters.
    Holds,
    /// It fails at some point for all parameters for which there is a point at all.
    Fails,
    /// It fails for some parameters and not for others.
    Depends,
    /// Overflow or the budget kept it from being decided.
    Unknown,
}

impl Facts {
    /// Nothing is known.
    pub fn new() -> Facts {
        Facts::default()
    }

    /// Facts that are known at once, which is cheaper than one after the other. Those that cannot be
    /// represented are left out.
    pub fn of(constraints: Vec<Constraint>) -> Facts {
        match Set::new(constraints.iter().cloned()) {
            Ok(set) => Facts { set },
            Err(_) => {
                let mut facts = Facts::new();
                constraints.into_iter().for_each(|constraint| facts.assume(constraint));
                facts
            }
        }
    }

    /// The facts as constraints.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Adds a fact. A fact that cannot be represented is left out, which weakens proofs but never
    /// makes one wrong.
    pub fn assume(&mut self, constraint: Constraint) {
        if let Ok(set) = self.set.and(constraint) {
            self.set = set;
        }
    }

    /// Adds the fact that a symbol is not negative, as every extent is.
    pub fn assume_nonnegative(&mut self, var: Var) {
        self.assume(Constraint::Ge(Affine::var(var)));
    }

    /// Adds the fact that two expressions are equal, if it is a conjunction of constraints.
    pub fn assume_equal(&mut self, a: &Quasi, b: &Quasi) {
        let domain = a.sub(b).and_then(|gap| Domain::where_zero(Vec::new(), &gap));
        if let Ok([set]) = domain.as_ref().map(Domain::sets)
            && let Ok(set) = self.set.intersect(set)
        {
            self.set = set;
        }
    }

    /// Whether nothing satisfies the facts. Proofs take for granted that something does where a fact has nothing to
    /// do with the goal, so this is not the same as that they imply something wrong.
    pub fn are_impossible(&self) -> Truth {
        Truth::of(feasible(&self.set, &mut Budget::new())).negate()
    }

    /// Whether `goal >= 0` at all points of `over`. `False` means that a point and parameters
    /// exist that satisfy everything assumed and break the goal.
    pub fn prove(&self, over: &Domain, goal: &Quasi) -> Truth {
        if goal.as_constant().is_some_and(|c| c >= 0) {
            return Truth::True;
        }
        if sample::breaks(&self.set, over, goal) {
            return Truth::False;
        }
        let budget = &mut Budget::new();
        Truth::of(self.counterexample(over.sets(), over.free_local(), goal, budget)).negate()
    }

    /// Whether `goal >= 0` for all parameters.
    pub fn implies(&self, goal: &Quasi) -> Truth {
        self.implies_within(goal, &mut Budget::new())
    }

    pub(crate) fn implies_within(&self, goal: &Quasi, budget: &mut Budget) -> Truth {
        if let Some(constant) = goal.as_constant()
            && (constant >= 0 || self.set.is_everything())
        {
            return Truth::of(Ok(constant >= 0));
        }
        let everything = [Set::everything()];
        Truth::of(self.counterexample(&everything, 0, goal, budget)).negate()
    }

    /// True when some point of the sets breaks `goal >= 0`.
    fn counterexample(
        &self,
        sets: &[Set],
        free_local: u32,
        goal: &Quasi,
        budget: &mut Budget,
    ) -> Result<bool> {
        for case in lower_all([goal], free_local)? {
            let broken = case.values[0].scale(-1)?.add_constant(-1)?;
            let ges = case.ges.into_iter().chain([broken]).map(Constraint::Ge);
            let broken = Set::new(ges)?;
            let vars = sets.iter().chain([&broken]).flat_map(Set::vars);
            let broken = near(&self.set, vars).intersect(&broken)?;
            for set in sets {
                if feasible(&broken.intersect(set)?, budget)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether `goal >= 0` holds at all points of `over`, and if not, whether it is bound to fail.
    pub fn judge(&self, over: &Domain, goal: &Quasi) -> Verdict {
        match self.prove(over, goal) {
            Truth::True => Verdict::Holds,
            Truth::Unknown => Verdict::Unknown,
            Truth::False => match self.bound_to_fail(over, goal) {
                Ok(Truth::True) => Verdict::Fails,
                Ok(Truth::False) => Verdict::Depends,
                _ => Verdict::Unknown,
            },
        }
    }

    /// Whether all parameters for which `over` has a point have one that breaks the goal.
    fn bound_to_fail(&self, over: &Domain, goal: &Quasi) -> Result<Truth> {
        let broken = goal.scale(-1)?.add_constant(-1)?;
        let broken = over.intersect(&Domain::where_nonnegative(over.dims(), &[broken])?)?;
        let used = Domain::of_sets(over.dims(), over.sets().iter().cloned());
        Ok(used.restricted(&self.set)?.occupied()?.is_subset(&broken.occupied()?))
    }

    /// Whether two values are equal: `True` for all parameters, `False` for none, `Unknown`
    /// when it depends on them (or could not be decided).
    pub fn equal(&self, a: &MinMax, b: &MinMax) -> Truth {
        if a == b || (a.at_most(b, self) && b.at_most(a, self)) {
            return Truth::True;
        }
        let apart = |x: &MinMax, y: &MinMax| x.add_constant(1).is_ok_and(|x| x.at_most(y, self));
        if apart(a, b) || apart(b, a) || self.never_equal(a, b) {
            return Truth::False;
        }
        Truth::Unknown
    }

    /// True when two single expressions differ for all parameters, though neither is always the
    /// larger one, as `2*n` and `2*m + 1`.
    fn never_equal(&self, a: &MinMax, b: &MinMax) -> bool {
        let (Some(a), Some(b)) = (a.as_quasi(), b.as_quasi()) else { return false };
        let equal = a.sub(b).and_then(|gap| Domain::where_zero(Vec::new(), &gap));
        equal.is_ok_and(|domain| domain.always_empty_given(&self.set).is_true())
    }
}
