//! Conditions that indices decide, as part of the domain of a sum.
//!
//! The adjoint of `if t == 0 { x[1] } else { y[t] }` is a sum over all `t` of which one has a
//! summand. Said as a domain, the index is determined and the sum is gone; said as a condition, the
//! sum would ask every point, and within a recurrence seem to need points that it has not yet.

use einlang_index::{Domain, Var};

use super::context::{Ad, is_number};
use crate::order::Known;
use crate::region::{Arg, Def, Inst, InstKind, Region};

impl Ad<'_> {
    /// The domain of the summands that are not zero by a condition on indices alone, and the
    /// summand without that condition.
    pub(super) fn narrowed(&self, mut domain: Domain, mut body: Region) -> (Domain, Region) {
        while let Some((smaller, arm)) = self.narrower(&domain, &body) {
            domain = smaller;
            body = arm;
        }
        (domain, body)
    }

    fn narrower(&self, domain: &Domain, body: &Region) -> Option<(Domain, Region)> {
        let (Inst { results, kind: InstKind::If { condition, then, otherwise }, .. }, before) =
            body.insts.split_last()?
        else {
            return None;
        };
        let [Arg::Value(total)] = &body.results[..] else { return None };
        let is_total = |def: &Def| def.as_scalar().is_some_and(|v| v == *total);
        let which = results.iter().position(is_total)?;
        let (arm, holds) = match (&then.results[which], &otherwise.results[which]) {
            (_, zero) if is_number(zero, 0.0) => (then, true),
            (zero, _) if is_number(zero, 0.0) => (otherwise, false),
            _ => return None,
        };
        let mut known = Known::default();
        before.iter().for_each(|inst| known.learn(inst));
        let dims = domain.dims();
        let part = known.domain(condition, holds, dims)?;
        let is_known = |var: &Var| dims.contains(var) || self.is_global(&(*var).into());
        if !part.params().iter().all(is_known) {
            return None;
        }
        let both = domain.intersect(&part).ok()?;
        let lives = both
            .sets()
            .iter()
            .filter(|set| !Domain::new(dims, (*set).clone()).is_empty().is_true());
        let sets: Vec<_> = lives.cloned().collect();
        if sets.len() > domain.sets().len() {
            return None;
        }
        let insts = before.iter().chain(&arm.insts).cloned().collect();
        let results = vec![arm.results[which].clone()];
        Some((Domain::of_sets(dims, sets), Region { params: Vec::new(), insts, results }))
    }
}
