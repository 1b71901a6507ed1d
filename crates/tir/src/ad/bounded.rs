//! Reductions over ranges that are computed at each point, as ones over the largest of these ranges with a
//! condition.
//!
//! Where the index reads a tensor as it is, `range` finds a bound for sums and extrema there; reductions by other
//! operators are recurrences, and an index that reads nothing says nothing about its bound. Then the bound is the
//! largest that the range has at any point (`sizes`). Terms outside of the range proper are not evaluated.

use einlang_index::{Domain, Var};

use super::fault::R;
use super::lift::{Lifter, extended};
use crate::module::SymbolSource;
use crate::op::Op;
use crate::region::{Combiner, Inst, InstKind};

impl Lifter<'_, '_> {
    /// The reduction over a range that is known outside, if it is over one that is not.
    pub(super) fn bound_range(&mut self, mut inst: Inst) -> R<Inst> {
        let InstKind::Reduce(reduction) = &mut inst.kind else { return Ok(inst) };
        let is_sized = |var: &Var| self.ad.module.source(*var) == Some(&SymbolSource::Local);
        let vars: Vec<Var> = reduction.domain.params().into_iter().filter(is_sized).collect();
        let is_read = matches!(reduction.combine, Combiner::Op(Op::Add | Op::Max | Op::Min))
            && self.ad.reads_at_each(&reduction.body, reduction.domain.dims());
        let [set] = reduction.domain.sets() else { return Ok(inst) };
        if vars.is_empty() || is_read {
            return Ok(inst);
        }
        let set = set.clone();
        let sizes = self.sizes_of(vars)?;
        let whole = extended(&sizes.over(&Domain::everything([]))?, &reduction.domain)?;
        reduction.domain = whole.project(reduction.domain.dims())?.into();
        self.ad.inline_exports(&mut reduction.guard, &mut reduction.body)?;
        reduction.guard = self.within(&set, &sizes, reduction.guard.take())?;
        Ok(inst)
    }
}
