//! Making a domain shorter without changing its points: what people read and what later steps
//! have to look at.

use super::Domain;
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
        let context = &near(context, domain.sets.iter().flat_map(Set::vars));
        let empty = |set: &Set, budget: &mut Budget| {
            budget.taste(|b| feasible(&set.intersect(context)?, b)) == Ok(false)
        };
        domain.sets.retain(|set| !empty(set, &mut budget));
        for set in &mut domain.sets {
            *set = without_redundant(set, context, &mut budget);
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

/// The set without the constraints that the context and the others imply.
fn without_redundant(set: &Set, context: &Set, budget: &mut Budget) -> Set {
    let mut kept: Vec<Constraint> = set.constraints().collect();
    let mut at = kept.len();
    while at > 0 {
        at -= 1;
        let constraint = kept.remove(at);
        let rest = Set::new(kept.iter().cloned().chain(context.constraints()));
        if rest.and_then(|rest| follows(&rest, &constraint, budget)) != Ok(true) {
            kept.insert(at, constraint);
        }
    }
    Set::new(kept).unwrap_or_else(|_| set.clone())
}
