//! Differences of domains, and what is built from them: complements and disjoint decompositions.

use super::Domain;
use crate::budget::Budget;
use crate::eliminate::feasible;
use crate::error::Result;
use crate::set::Set;

impl Domain {
    /// The points of `self` that are not in `other`.
    pub fn subtract(&self, other: &Domain) -> Result<Domain> {
        self.subtract_within(other, &mut Budget::new())
    }

    /// The points that are not in the domain.
    pub fn complement(&self) -> Result<Domain> {
        Domain::everything(&*self.dims).subtract(self)
    }

    pub(crate) fn subtract_within(&self, other: &Domain, budget: &mut Budget) -> Result<Domain> {
        let other = other.renamed(&self.dims)?;
        let mut rest = self.clone();
        for hole in &other.sets {
            let mut next = Domain::nothing(&*self.dims);
            for set in &rest.sets {
                subtract_set(set, hole, &mut next, budget)?;
            }
            rest = next;
        }
        Ok(rest)
    }

    /// The clause rule of the language: where several domains of a list cover a point, the last
    /// one wins. The results have no point in common and the same union.
    pub fn make_disjoint(clauses: &[Domain]) -> Result<Vec<Domain>> {
        let mut result = Vec::with_capacity(clauses.len());
        for (at, clause) in clauses.iter().enumerate() {
            let mut visible = clause.clone();
            for later in &clauses[at + 1..] {
                visible = visible.subtract(later)?;
            }
            result.push(visible);
        }
        Ok(result)
    }

    /// The same points in parts that do not overlap.
    pub fn disjoint(&self) -> Result<Domain> {
        let mut budget = Budget::new();
        let mut result = Domain::nothing(&*self.dims);
        for set in &self.sets {
            let part = Domain::new(&*self.dims, set.clone());
            let part = part.subtract_within(&result, &mut budget)?;
            part.sets.into_iter().for_each(|s| result.push(s));
        }
        Ok(result)
    }
}

/// Adds `set` without `hole` to `out`, in disjoint parts: the points that satisfy the first
/// constraints of the hole and break the next one.
fn subtract_set(set: &Set, hole: &Set, out: &mut Domain, budget: &mut Budget) -> Result<()> {
    let overlap = set.intersect(hole)?;
    budget.pay(1 + hole.size())?;
    if overlap.is_nothing() || budget.taste(|b| feasible(&overlap, b)) == Ok(false) {
        out.push(set.clone());
        return Ok(());
    }
    let mut inside = set.clone();
    for constraint in hole.constraints() {
        for broken in constraint.negate()? {
            let part = inside.and(broken)?;
            if !part.is_nothing() && budget.taste(|b| feasible(&part, b)) != Ok(false) {
                out.push(part);
            }
        }
        inside = inside.and(constraint)?;
    }
    Ok(())
}
