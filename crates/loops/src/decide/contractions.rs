//! `store_contractions`: a long contraction that a recurrence consumes is computed before it.
//!
//! Whole, it runs in tiles: every vector that is loaded serves several rows. Computed step by step in the
//! loop of a recurrence it may have no rows left, and then an operand passes by once for every row. The
//! memory for its result costs less than that.
//!
//! Invariant: only where something is computed changes, and what is kept of it.

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::region::InstKind;
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::fuse::statements;
use super::roles::free_axes_in;
use super::tiles::rows_axis;
use super::work::{Work, Works};
use crate::schedule::{Compute, Nest, Schedule};

/// Gives contractions that would be computed inside of recurrences memory of their own.
pub(super) fn store_contractions(module: &Module, schedule: &mut Schedule) {
    let works = Works::new(module, schedule);
    let inline = |name: &Ident| {
        schedule.tensor(name).is_some_and(|tensor| tensor.compute == Compute::AtReads)
    };
    let is_contraction = |binding: &Binding| {
        let [clause] = &binding.clauses[..] else { return false };
        let all: Vec<usize> = (0..binding.axes.len()).collect();
        is_long_contraction(binding, &works.of(binding, clause), &all)
    };
    let found = module.bindings().filter(|b| inline(&b.name) && is_contraction(b));
    let stored: Vec<Ident> = found
        .map(|binding| binding.name.clone())
        .filter(|name| is_read_by_narrow_steps(module, schedule, name))
        .collect();
    for tensor in schedule.groups.iter_mut().flat_map(|group| &mut group.tensors) {
        if stored.contains(&tensor.name) {
            tensor.compute = Compute::Here;
        }
    }
}

/// Whether a clause reads a tensor, or something that is computed at reads from it, in a loop that leaves
/// less than two axes for a tile.
fn is_read_by_narrow_steps(module: &Module, schedule: &Schedule, name: &Ident) -> bool {
    let mut waiting = vec![name.clone()];
    let mut seen = HashSet::from_iter([name.clone()]);
    while let Some(name) = waiting.pop() {
        for group in &module.groups {
            for binding in group.bindings.iter().filter(|b| reads(b, &name)) {
                let Some(decided) = schedule.group(&binding.name) else { continue };
                let tensor = schedule.tensor(&binding.name);
                if tensor.is_some_and(|tensor| tensor.compute == Compute::AtReads) {
                    waiting.extend(seen.insert(binding.name.clone()).then(|| binding.name.clone()));
                } else if has_narrow_steps(group, binding, &decided.nest) {
                    return true;
                }
            }
        }
    }
    false
}

fn has_narrow_steps(group: &Group, binding: &Binding, nest: &Nest) -> bool {
    statements(nest).into_iter().any(|statement| {
        let of = |statement: usize| group.bindings.get(statement);
        let free = free_axes_in(nest, statement, binding);
        of(statement.binding).is_some_and(|b| b.name == binding.name)
            && free.is_some_and(|free| free.len() < 2.min(binding.axes.len()))
    })
}

fn reads(binding: &Binding, name: &Ident) -> bool {
    let mut found = false;
    for clause in &binding.clauses {
        clause.body.for_each_inst(&mut |inst| {
            found |= matches!(&inst.kind, InstKind::Read(read) if read.place.tensor == *name);
        });
    }
    found
}

/// Whether a contraction among some tensors of a group has rows as a whole and none in a nest.
pub(super) fn loses_tile(
    works: &Works<'_>,
    group: &Group,
    nest: &Nest,
    is_asked: &dyn Fn(&Ident) -> bool,
) -> bool {
    statements(nest).into_iter().any(|statement| {
        let binding = &group.bindings[statement.binding];
        let work = works.of(binding, &binding.clauses[statement.clause]);
        let all: Vec<usize> = (0..binding.axes.len()).collect();
        let left = free_axes_in(nest, statement, binding);
        is_asked(&binding.name)
            && is_long_contraction(binding, &work, &all)
            && left.is_some_and(|free| !is_long_contraction(binding, &work, &free))
    })
}

/// Whether many terms are summed of which rows of some axis share what changes along another.
fn is_long_contraction(binding: &Binding, work: &Work, free: &[usize]) -> bool {
    work.n_long > 0 && free.iter().any(|axis| rows_axis(binding, work, *axis, free).is_some())
}
