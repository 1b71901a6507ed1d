//! Making a domain shorter without changing its points: what people read and what later steps
//! have to look at.

use super::Domain;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::eliminate::{feasible, near};
use crate::error::Result;
use crate::set::Set;

impl Domain {
    /// The same points with empty parts, parts inside other parts and constraints that follow
    /// from the others of their part left out. Whatever is too hard to decide stays.
    pub fn simplified(&self) -> Domain {
        self.simplified_given(&Set::everything())
    }

    /// A shorter domain that has the same points among those that satisfy `context`, such as the
    /// bounds of the loops around a test.
    pub fn simplified_given(&self, context: &Set) -> Domain {
        let mut budget = Budget::new();
        let mut domain = self.clone();
        drop_copies(&mut domain.sets);
        let context = &near(context, domain.sets.iter().flat_map(Set::vars));
        let has_points = |set: &Set, budget: &mut Budget| {
            budget.taste(|b| feasible(&set.intersect(context)?, b))
        };
        let mut known = Vec::with_capacity(domain.sets.len());
        domain.sets.retain(|set| {
            let found = has_points(set, &mut budget);
            known.extend((found != Ok(false)).then_some(found == Ok(true)));
            found != Ok(false)
        });
        for (set, has_points) in domain.sets.iter_mut().zip(known) {
            *set = without_redundant(set, context, has_points, &mut budget);
        }
        let mut at = 0;
        while at < domain.sets.len() {
            let set = domain.sets[at].clone();
            let others = domain.sets.iter().enumerate().filter(|(i, _)| *i != at);
            if others.into_iter().any(|(_, o)| implies(&set, o, &mut budget) == Ok(true)) {
                domain.sets.remove(at);
            } else {
                at += 1;
            }
        }
        domain
    }
}

/// Keeps the last of sets that are equal.
fn drop_copies(sets: &mut Vec<Set>) {
    let mut at = 0;
    while at < sets.len() {
        if sets[at + 1..].contains(&sets[at]) {
            sets.remove(at);
        } else {
            at += 1;
        }
    }
}

/// True when every point of `set` is in `other`.
fn implies(set: &Set, other: &Set, budget: &mut Budget) -> Result<bool> {
    for constraint in other.constraints() {
        if !follows(set, &constraint, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True when the constraint holds at every point of the set.
pub(super) fn follows(set: &Set, constraint: &Constraint, budget: &mut Budget) -> Result<bool> {
    for broken in constraint.negate()? {
        let outside = set.and(broken)?;
        if budget.taste(|b| feasible(&outside, b))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The set without the constraints that the context and the others imply. Whether both have a point in common is
/// known.
fn without_redundant(set: &Set, context: &Set, has_points: bool, budget: &mut Budget) -> Set {
    let mut kept: Vec<Constraint> = set.constraints().collect();
    let n_constraints = kept.len();
    let mut at = kept.len();
    while at > 0 {
        at -= 1;
        if has_points && is_only_bound(&kept, at, context) {
            continue;
        }
        let constraint = kept.remove(at);
        let rest = Set::new(kept.iter().cloned().chain(context.constraints()));
        if rest.and_then(|rest| follows(&rest, &constraint, budget)) != Ok(true) {
            kept.insert(at, constraint);
        }
    }
    if kept.len() == n_constraints {
        return set.clone();
    }
    Set::new(kept).unwrap_or_else(|_| set.clone())
}

/// True when a constraint is the only one that bounds some variable from its side. It does not follow from the
/// others then, if these have a point: that variable may go as far as one likes.
fn is_only_bound(constraints: &[Constraint], at: usize, context: &Set) -> bool {
    let Constraint::Ge(bound) = &constraints[at] else { return false };
    let others =
        || constraints.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, c)| c);
    bound.terms().iter().any(|(var, coeff)| {
        let same_side = |ge: &Affine| ge.coeff(*var).signum() == coeff.signum();
        let bounds = |other: &Constraint| match other {
            Constraint::Ge(ge) => same_side(ge),
            other => other.expr().mentions(*var),
        };
        let tied = |affine: &Affine| affine.mentions(*var);
        !others().any(bounds)
            && !context.ges().iter().any(same_side)
            && !context.eqs().iter().any(tied)
            && !context.mods().iter().any(|of| tied(of.expr()))
    })
}
