//! Exact elimination of integer variables: from the points of a set to the points that are left
//! when some coordinates are forgotten.
//!
//! This is Pugh's Omega test ("The Omega test: a fast and practical integer programming algorithm
//! for dependence analysis", 1991), with congruences kept as constraints instead of wildcard
//! variables. One step removes one *doomed* variable:
//!
//! 1. from an equality, by a unimodular change of variables ([`equality`]);
//! 2. from inequalities, by Fourier–Motzkin when that is exact over the integers, otherwise as the
//!    union of the dark shadow and finitely many splinters ([`inequality`]).
//!
//! Invariant: the union of the results holds at a point exactly when the input holds there for
//! some integer values of the doomed variables. Every step lowers the number of doomed variables,
//! so the process ends; how much it may cost is bounded by the budget.

use crate::affine::Affine;
use crate::budget::Budget;
use crate::conj::normalise;
use crate::constraint::Congruence;
use crate::error::Result;
use crate::set::Set;
use crate::var::{Var, VarKind};

mod equality;
mod inequality;
mod memo;
mod parts;

pub(crate) use parts::near;

use inequality::Choice;

/// A conjunction on its way to losing its doomed variables.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// What is zero.
    eqs: Vec<Affine>,
    /// What is not negative.
    ges: Vec<Affine>,
    /// Congruences without doomed variables: they only wait for the end.
    kept: Vec<Congruence>,
    /// The variables to eliminate.
    doomed: Vec<Var>,
    /// The number of the next fresh local.
    next_local: u32,
}

impl System {
    /// The system of a set. A congruence with a doomed variable becomes inequalities over one
    /// more doomed variable, the quotient.
    fn new(set: &Set, doomed: &[Var]) -> Result<System> {
        let locals = set.vars().into_iter().chain(doomed.iter().copied());
        let next_local = locals
            .filter(|v| v.kind() == VarKind::Local)
            .map(|v| v.number() as u32 + 1)
            .max()
            .unwrap_or(0);
        let (eqs, ges) = (set.eqs().to_vec(), set.ges().to_vec());
        let mut system = System { eqs, ges, kept: Vec::new(), doomed: doomed.to_vec(), next_local };
        for congruence in set.mods() {
            if congruence.expr().vars().any(|v| system.is_doomed(v)) {
                system.expand(congruence)?;
            } else {
                system.kept.push(congruence.clone());
            }
        }
        Ok(system)
    }

    /// `expr mod m <= k` as `0 <= expr - m*q <= k` for a fresh doomed `q`.
    fn expand(&mut self, congruence: &Congruence) -> Result<()> {
        let quotient = Affine::var(self.fresh());
        let rest = congruence.expr().combine(1, &quotient, -congruence.modulus())?;
        if congruence.at_most() == 0 {
            self.eqs.push(rest);
        } else {
            self.ges.push(rest.neg()?.add_constant(congruence.at_most())?);
            self.ges.push(rest);
        }
        Ok(())
    }

    /// A new doomed variable.
    fn fresh(&mut self) -> Var {
        let var = Var::local(self.next_local);
        self.next_local += 1;
        self.doomed.push(var);
        var
    }

    fn is_doomed(&self, var: Var) -> bool {
        self.doomed.contains(&var)
    }

    fn forget(&mut self, var: Var) {
        self.doomed.retain(|v| *v != var);
    }

    /// Normalises and uses up all equalities with doomed variables. `false`: contradiction.
    fn settle(&mut self, budget: &mut Budget) -> Result<bool> {
        loop {
            budget.pay(1 + (self.eqs.len() + self.ges.len()) / 8)?;
            if !normalise(&mut self.eqs, &mut self.ges)? {
                return Ok(false);
            }
            if !self.solve_equality(budget)? {
                return Ok(true);
            }
        }
    }

    fn into_set(self) -> Result<Set> {
        Set::from_parts(self.eqs, self.ges, self.kept)
    }
}

/// The sets whose union is `set` with the doomed variables quantified away.
pub(crate) fn eliminate(set: &Set, doomed: &[Var], budget: &mut Budget) -> Result<Vec<Set>> {
    if !doomed.iter().any(|v| set.mentions(*v)) {
        return Ok(if set.is_nothing() { Vec::new() } else { vec![set.clone()] });
    }
    let (touched, rest) = parts::touched(set, doomed);
    let mut results: Vec<Set> = Vec::new();
    let mut work = vec![System::new(&touched, doomed)?];
    while let Some(mut system) = work.pop() {
        if !system.settle(budget)? {
            continue;
        }
        match system.choose() {
            None => push_new(&mut results, system.into_set()?.intersect(&rest)?),
            Some(Choice::Congruence(var)) => work.push(system.into_congruence(var)?),
            Some(Choice::Shadow(var)) => match system.shadows(var, budget)? {
                (dark, None) => work.push(dark),
                (dark, Some(_)) => {
                    work.push(dark);
                    work.extend(system.splinters(var, budget)?);
                }
            },
        }
    }
    Ok(results)
}

/// Adds a set unless it is plainly empty or already there.
fn push_new(results: &mut Vec<Set>, set: Set) {
    if !set.is_nothing() && !results.contains(&set) {
        results.push(set);
    }
}

/// True when the set has a point for some values of all its variables.
pub(crate) fn feasible(set: &Set, budget: &mut Budget) -> Result<bool> {
    if set.is_nothing() || set.is_box() {
        return Ok(!set.is_nothing());
    }
    memo::recalled(set, budget, feasible_in_groups)
}

/// The same, part by part.
fn feasible_in_groups(set: &Set, budget: &mut Budget) -> Result<bool> {
    let parts = parts::parts(set);
    let alone =
        |part: &Set, budget: &mut Budget| feasible_system(System::new(part, &part.vars())?, budget);
    for part in parts.iter().filter(|part| !part.is_box()) {
        let holds = match parts.len() {
            1 => alone(part, budget)?,
            _ => memo::recalled(part, budget, alone)?,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

fn feasible_system(mut system: System, budget: &mut Budget) -> Result<bool> {
    loop {
        if !system.settle(budget)? {
            return Ok(false);
        }
        match system.choose() {
            None => return Ok(!system.into_set()?.is_nothing()),
            Some(Choice::Congruence(var)) => system = system.into_congruence(var)?,
            Some(Choice::Shadow(var)) => match system.shadows(var, budget)? {
                (exact, None) => system = exact,
                (dark, Some(real)) => {
                    return feasible_in_parts(system, var, dark, real, budget);
                }
            },
        }
    }
}

/// The inexact case: no real shadow means no point, a dark shadow means a point, and otherwise
/// the splinters decide.
fn feasible_in_parts(
    system: System,
    var: Var,
    dark: System,
    real: System,
    budget: &mut Budget,
) -> Result<bool> {
    if !feasible_system(real, budget)? {
        return Ok(false);
    }
    if feasible_system(dark, budget)? {
        return Ok(true);
    }
    for splinter in system.splinters(var, budget)? {
        if feasible_system(splinter, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}
