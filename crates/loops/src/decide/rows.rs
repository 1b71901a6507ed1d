//! `join_rows`: what is computed row by row from whole rows stays in the nearest caches.
//!
//! A softmax needs the scores of a row three times, a layer norm its input: computed tensor by tensor,
//! everything passes through memory in between. If all reads between some tensors are of the same row,
//! that is, equal on some axes, then loops over those axes go around all of them, and what nobody else
//! reads has memory for the rows of one round only. Where rows share the operands of a contraction, a
//! round has several of them.
//!
//! [`join_rows`] decides which tensors belong together and makes them one group; [`run_rows`] puts the
//! loops around such a group. Invariant: what is proposed was proved like a schedule from a file.

use std::collections::{HashMap, HashSet};

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement};
use einlang_tir::region::{InstKind, Subscript};
use einlang_tir::types::Ident;

use super::cost::ROWS_TOGETHER;
use super::fuse::statements;
use super::legal::group_is_legal;
use super::tiles::rows_axis;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{GroupSchedule, Layout, Nest, Role};

/// The most tensors that are computed together.
const MOST_TENSORS: usize = 16;

/// For each tensor the axis that goes with each axis of the last one, where there is one.
type Alignment = HashMap<Ident, Vec<Option<usize>>>;

/// Makes one group of tensors that are computed row by row.
pub fn join_rows(module: Module) -> Module {
    let mut module = module;
    let mut sink = module.groups.len();
    while sink > 0 {
        sink -= 1;
        let Some(members) = members(&module, sink) else { continue };
        let mut bindings = Vec::new();
        for at in members.iter().rev() {
            bindings.splice(0..0, module.groups.remove(*at).bindings);
        }
        let last = members.len() - 1;
        module.groups.insert(sink - last, Group { bindings, until: None });
        sink -= last;
    }
    module
}

/// A tensor by itself that is no recurrence.
fn alone<'m>(module: &'m Module, group: &'m Group) -> Option<&'m Binding> {
    match &group.bindings[..] {
        [one] if group.until.is_none() && !module.is_recurrent(&one.name) => Some(one),
        _ => None,
    }
}

/// The groups that are computed together with one, which is the last of them.
fn members(module: &Module, sink: usize) -> Option<Vec<usize>> {
    let root = alone(module, &module.groups[sink])?;
    let observers = Observers::of(module);
    let mut inside: HashSet<&Ident> = HashSet::from([&root.name]);
    let mut candidates = vec![sink];
    for at in (0..sink).rev() {
        let Some(binding) = alone(module, &module.groups[at]) else { continue };
        let of = |group: &Group| group.bindings.iter().any(|b| inside.contains(&b.name));
        let readers = readers(module, &binding.name);
        let closed = !readers.is_empty() && readers.iter().all(|at| of(&module.groups[*at]));
        if closed && !observers.sees_all_of(&binding.name) {
            inside.insert(&binding.name);
            candidates.insert(0, at);
        }
    }
    let bindings = |list: &[usize]| -> Vec<&Binding> {
        list.iter().flat_map(|at| &module.groups[*at].bindings).collect()
    };
    let aligned = align(&bindings(&candidates));
    let rows = common(
        root,
        candidates.iter().rev().skip(1).filter_map(|at| {
            let binding = module.groups[*at].bindings.first()?;
            Some((binding, aligned.get(&binding.name)?))
        }),
    )?;
    let fits = |at: &usize| {
        let binding = module.groups[*at].bindings.first();
        let axes = binding.and_then(|binding| aligned.get(&binding.name));
        axes.is_some_and(|axes| rows.iter().all(|class| axes[*class].is_some()))
    };
    candidates.retain(fits);
    // What is read by something that does not belong to it is computed before.
    loop {
        let names: HashSet<&Ident> = bindings(&candidates).iter().map(|b| &b.name).collect();
        let is_inside = |at: &usize| {
            module.groups[*at].bindings.iter().any(|binding| names.contains(&binding.name))
        };
        let before = candidates.len();
        let keep: Vec<bool> = candidates
            .iter()
            .map(|at| {
                let name = &module.groups[*at].bindings[0].name;
                *at == sink || readers(module, name).iter().all(is_inside)
            })
            .collect();
        let mut keep = keep.into_iter();
        candidates.retain(|_| keep.next().unwrap_or(false));
        if candidates.len() == before {
            break;
        }
    }
    let all = bindings(&candidates);
    let worth = all.iter().any(|b| reduces(b)) && (2..=MOST_TENSORS).contains(&all.len());
    (worth && rows_of(&all).is_some()).then_some(candidates)
}

/// The groups that read a tensor.
fn readers(module: &Module, name: &Ident) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, group) in module.groups.iter().enumerate() {
        let mut reads = false;
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                reads |= matches!(&inst.kind, InstKind::Read(read) if read.place.tensor == *name);
            });
        }
        if reads {
            found.push(at);
        }
    }
    found
}

/// Whether a tensor is made of reductions.
fn reduces(binding: &Binding) -> bool {
    let mut any = false;
    for clause in &binding.clauses {
        clause.body.for_each_inst(&mut |inst| any |= matches!(inst.kind, InstKind::Reduce(_)));
    }
    any
}

/// The axes of the root that most of what needs whole rows has in common with it.
fn common<'m>(
    root: &Binding,
    others: impl Iterator<Item = (&'m Binding, &'m Vec<Option<usize>>)>,
) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    for (_, axes) in others {
        let of: Vec<usize> = (0..axes.len()).filter(|class| axes[*class].is_some()).collect();
        let part = !of.is_empty() && of.len() < root.axes.len();
        if part && best.as_ref().is_none_or(|best| of.len() > best.len()) {
            best = Some(of);
        }
    }
    best
}

/// Which axes of tensors always have the same index as the axes of the last tensor.
fn align(bindings: &[&Binding]) -> Alignment {
    let mut aligned = Alignment::new();
    let Some(root) = bindings.last() else { return aligned };
    aligned.insert(root.name.clone(), (0..root.axes.len()).map(Some).collect());
    for reader in bindings.iter().rev() {
        let Some(own) = aligned.get(&reader.name).cloned() else { continue };
        for region in reader.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body])) {
            region.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                let name = &read.place.tensor;
                if *name == reader.name || !bindings.iter().any(|b| b.name == *name) {
                    return;
                }
                let with = |axis: &Option<usize>| {
                    let var = reader.axes.get((*axis)?)?.var;
                    let is = |at: &Subscript| {
                        matches!(at, Subscript::Index(expr) if expr.as_var() == Some(var))
                    };
                    read.place.at.iter().position(is)
                };
                let found: Vec<Option<usize>> = own.iter().map(with).collect();
                let known = aligned.entry(name.clone()).or_insert_with(|| found.clone());
                for (known, found) in known.iter_mut().zip(&found) {
                    if known != found {
                        *known = None;
                    }
                }
            });
        }
    }
    aligned
}

/// The rows that all tensors of a group have in common: an axis of each, one list per loop.
fn rows_of(bindings: &[&Binding]) -> Option<Vec<Vec<usize>>> {
    let root = bindings.last()?;
    let aligned = align(bindings);
    let mut rows = Vec::new();
    for class in 0..root.axes.len() {
        let axis = |b: &&Binding| aligned.get(&b.name).and_then(|axes| axes[class]);
        if let Some(axes) = bindings.iter().map(axis).collect::<Option<Vec<usize>>>() {
            rows.push(axes);
        }
    }
    (!rows.is_empty() && rows.len() < root.axes.len()).then_some(rows)
}

/// The schedule of a group that is computed row by row, if it is one.
pub(super) fn run_rows(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let is_flat = match &decided.nest {
        Nest::Phases(phases) => phases.iter().all(|p| matches!(p, Nest::Points { .. })),
        _ => false,
    };
    let bindings: Vec<&Binding> = group.bindings.iter().collect();
    if !is_flat || bindings.len() < 2 || group.until.is_some() {
        return None;
    }
    let mut rows = rows_of(&bindings)?;
    // Rows that share operands go innermost, several at a time.
    let together = rows.iter().position(|axes| shares_operands(&bindings, axes, works));
    if let Some(at) = together {
        let shared = rows.remove(at);
        rows.push(shared);
    }
    let of = statements(&decided.nest);
    let mut changed = decided.clone();
    for (at, axes) in rows.iter().enumerate().rev() {
        let tile = (at + 1 == rows.len() && together.is_some()).then_some(ROWS_TOGETHER);
        let form = |statement: &Statement| {
            let axis = axes[statement.binding];
            let rank = bindings[statement.binding].axes.len();
            let coefficients = (0..rank).map(|at| i64::from(at == axis)).collect();
            (*statement, Form { coefficients, offset: 0 })
        };
        let forms = of.iter().map(form).collect();
        let inner = Box::new(changed.nest);
        changed.nest = Nest::Loop { forms, tile, role: Role::Par, inner };
        for ((tensor, axis), binding) in changed.tensors.iter_mut().zip(axes).zip(&bindings) {
            if !observers.read_later(&binding.name) {
                tensor.storage[*axis] = Layout::Mod(tile.unwrap_or(1));
                tensor.stack = true;
            }
        }
    }
    group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
}

/// Whether rows along these axes share what is summed up in some tensor.
fn shares_operands(bindings: &[&Binding], axes: &[usize], works: &Works<'_>) -> bool {
    bindings.iter().zip(axes).any(|(binding, row)| {
        let all: Vec<usize> = (0..binding.axes.len()).collect();
        binding.clauses.iter().any(|clause| {
            let work = works.of(binding, clause);
            let mut lanes = all.iter().filter(|lanes| **lanes != *row);
            lanes.any(|lanes| rows_axis(binding, &work, *lanes, &[*row, *lanes]) == Some(*row))
        })
    })
}
