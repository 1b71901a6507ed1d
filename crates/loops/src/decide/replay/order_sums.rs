//! `order_sums`: sums go through axes that are no longer than a segment last.
//!
//! A sum over time is cut along its first index. One that its axis shows to be short is never time, so the
//! others come before it: in `sum[layer in 0..4, t](h[layer, t])`, time comes first. Invariant: the terms
//! stay what they are, and only sums that may be reassociated change their order.

use einlang_index::{Domain, Set, Var, VarKind};
use einlang_tir::module::Module;
use einlang_tir::region::{InstKind, Over, Reduction};

use super::shape::sum_over;
use super::stage::is_in_one_segment;
use crate::ir::Range;
use crate::lower::ranges_of;

/// Orders the indices of sums.
pub(super) fn order_sums(module: &mut Module) {
    for binding in module.groups.iter_mut().flat_map(|group| &mut group.bindings) {
        for clause in &mut binding.clauses {
            for inst in &mut clause.body.insts {
                if let InstKind::Reduce(reduction) = &mut inst.kind
                    && reduction.flags.commutative
                    && let Some(domain) = ordered(reduction)
                {
                    reduction.domain = Over(domain);
                }
            }
        }
    }
}

/// The domain of a sum with its short axes last, if that is another order.
fn ordered(reduction: &Reduction) -> Option<Domain> {
    sum_over(reduction)?;
    let (ranges, _) = ranges_of(&reduction.domain, &Set::everything()).ok()?;
    let mut is_box = true;
    for bound in ranges.iter().flat_map(|range| [&range.lo, &range.hi]) {
        bound.for_each_var(&mut |var| is_box &= var.kind() == VarKind::Symbol);
    }
    let (short, long): (Vec<&Range>, Vec<&Range>) =
        ranges.iter().partition(|range| is_short(range));
    let dims: Vec<Var> = long.into_iter().chain(short).map(|range| range.var).collect();
    let moved = is_box && dims != reduction.domain.dims();
    moved.then(|| Domain::of_sets(dims, reduction.domain.sets().iter().cloned()))
}

fn is_short(range: &Range) -> bool {
    let length = range.hi.sub(&range.lo).ok();
    length.is_some_and(|length| length.as_quasi().is_some_and(is_in_one_segment))
}
