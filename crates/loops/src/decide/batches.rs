//! `run_batches`: several recurrences side by side, each of many tensors, go their own ways.
//!
//! If nothing in a group depends on its neighbours along the first axis of every tensor, a loop over that
//! axis goes outside of time, and threads divide it: each runs whole recurrences, without waiting for others
//! in every step. What nobody else reads has memory for one of them, which is the thread's.
//!
//! Recurrences that share the operands of a contraction stay together, for they compute it together.
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement};
use einlang_tir::region::{InstKind, Subscript};

use super::components::run_components;
use super::fuse::statements;
use super::legal::group_is_legal;
use super::tiles::rows_axis;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{GroupSchedule, Layout, Nest, Role};

/// A batch of tensors with fewer axes than that is better off in lanes.
const FEWEST_AXES: usize = 3;

/// The schedule of a batch, if the group is one.
pub(super) fn run_batches(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let Nest::Loop { forms: time, tile: None, role: Role::Seq, .. } = &decided.nest else {
        return None;
    };
    let bindings: Vec<&Binding> = group.bindings.iter().collect();
    let along_first = |(_, form): &(Statement, Form)| form.coefficients.first() != Some(&0);
    let fits = group.until.is_none()
        && bindings.iter().any(|binding| binding.axes.len() > FEWEST_AXES)
        && !time.iter().any(along_first)
        && is_batch(&bindings)
        && !need_each_other(&bindings, time, works);
    if !fits {
        return None;
    }
    let mut changed = decided.clone();
    for (tensor, binding) in changed.tensors.iter_mut().zip(&bindings) {
        if !observers.read_later(&binding.name) && tensor.map.is_empty() {
            tensor.storage[0] = Layout::Mod(1);
            tensor.stack = true;
        }
    }
    let form = |statement: &Statement| {
        let rank = bindings[statement.binding].axes.len();
        let coefficients = (0..rank).map(|axis| i64::from(axis == 0)).collect();
        (*statement, Form { coefficients, offset: 0 })
    };
    let forms = statements(&decided.nest).iter().map(form).collect();
    let inner = Box::new(changed.nest);
    changed.nest = Nest::Loop { forms, tile: None, role: Role::Par, inner };
    // What is proved with loops over components holds without them.
    let components = run_components(module, group, &changed, works, observers);
    components.or_else(|| {
        group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
    })
}

/// Whether neighbours share the operands of some contraction, and nothing else that is computed in the same
/// step does.
fn need_each_other(bindings: &[&Binding], time: &[(Statement, Form)], works: &Works<'_>) -> bool {
    time.iter().any(|(statement, form)| {
        let binding = bindings[statement.binding];
        let Some(clause) = binding.clauses.get(statement.clause) else { return true };
        let work = works.of(binding, clause);
        let of_step = |axis: &usize| form.coefficients[*axis] == 0;
        (1..binding.axes.len()).any(|lanes| {
            let share = |row: usize| rows_axis(binding, &work, lanes, &[row, lanes]) == Some(row);
            let mut others = (1..binding.axes.len()).filter(of_step).filter(|row| *row != lanes);
            share(0) && !others.any(share)
        })
    })
}

/// Whether all tensors have the same extent along their first axes, and are read by each other only with
/// the index they have there themselves.
fn is_batch(bindings: &[&Binding]) -> bool {
    let Some(extent) = bindings.first().and_then(|b| b.axes.first()).map(|axis| &axis.dim.extent)
    else {
        return false;
    };
    bindings.iter().all(|binding| {
        let Some(own) = binding.axes.first().filter(|axis| axis.dim.extent == *extent) else {
            return false;
        };
        let mut fits = true;
        for region in binding.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body])) {
            region.for_each_inst(&mut |inst| {
                if let InstKind::Read(read) = &inst.kind
                    && bindings.iter().any(|b| b.name == read.place.tensor)
                {
                    let first = read.place.at.first();
                    fits &=
                        matches!(first, Some(Subscript::Index(at)) if at.as_var() == Some(own.var));
                }
            });
        }
        fits
    })
}
