//! `order_sums`: sums go through axes that are no longer than a segment last.
//!
//! A sum over time is cut along its first index. One that its axis shows to be short is never time, so the
//! others come before it: in `sum[layer in 0..4, t](h[layer, t])`, time comes first. Where the axes of a grid
//! other than its outermost one are to be time, so does an index that reads a recurrence along one of them.
//! Invariant: the terms stay what they are, and only sums that may be reassociated change their order.

use einlang_index::{Domain, Set, Var, VarKind};
use einlang_tir::module::{Binding, Module};
use einlang_tir::region::{InstKind, Over, Reduction, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::Along;
use super::shape::sum_over;
use super::stage::is_in_one_segment;
use crate::ir::Range;
use crate::lower::ranges_of;

/// Orders the indices of sums.
pub(super) fn order_sums(module: &mut Module, along: Along) {
    let is_wanted =
        |binding: &&Binding| along == Along::Other && module.is_recurrent(&binding.name);
    let recurrences: HashSet<Ident> =
        module.bindings().filter(is_wanted).map(|binding| binding.name.clone()).collect();
    for binding in module.groups.iter_mut().flat_map(|group| &mut group.bindings) {
        for clause in &mut binding.clauses {
            for inst in &mut clause.body.insts {
                if let InstKind::Reduce(reduction) = &mut inst.kind
                    && reduction.flags.commutative
                    && let Some(domain) = ordered(reduction, &recurrences)
                {
                    reduction.domain = Over(domain);
                }
            }
        }
    }
}

/// The domain of a sum with its short axes last, and those that read the inner axes of recurrences first, if
/// that is another order.
fn ordered(reduction: &Reduction, recurrences: &HashSet<Ident>) -> Option<Domain> {
    sum_over(reduction)?;
    let (ranges, _) = ranges_of(&reduction.domain, &Set::everything()).ok()?;
    let mut is_box = true;
    for bound in ranges.iter().flat_map(|range| [&range.lo, &range.hi]) {
        bound.for_each_var(&mut |var| is_box &= var.kind() == VarKind::Symbol);
    }
    let (short, mut long): (Vec<&Range>, Vec<&Range>) =
        ranges.iter().partition(|range| is_short(range));
    let inner = inner_indices(reduction, recurrences);
    long.sort_by_key(|range| !inner.contains(&range.var));
    let dims: Vec<Var> = long.into_iter().chain(short).map(|range| range.var).collect();
    let moved = is_box && dims != reduction.domain.dims();
    moved.then(|| Domain::of_sets(dims, reduction.domain.sets().iter().cloned()))
}

/// The indices that recurrences are read by along an axis that is not their first.
fn inner_indices(reduction: &Reduction, recurrences: &HashSet<Ident>) -> HashSet<Var> {
    let mut found = HashSet::default();
    reduction.body.for_each_inst(&mut |inst| {
        if let InstKind::Read(read) = &inst.kind
            && recurrences.contains(&read.place.tensor)
        {
            let indices = read.place.at.iter().skip(1).filter_map(|at| match at {
                Subscript::Index(at) => Some(at.affine().terms()),
                Subscript::Value(_) => None,
            });
            found.extend(indices.flatten().map(|(var, _)| *var));
        }
    });
    found
}

fn is_short(range: &Range) -> bool {
    let length = range.hi.sub(&range.lo).ok();
    length.is_some_and(|length| length.as_quasi().is_some_and(is_in_one_segment))
}
