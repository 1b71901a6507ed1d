//! `turn_windows`: what runs in lanes lies side by side, and the planes of a window one after the other.
//!
//! The sensitivities of a recurrence have an axis for the parameters before the one of time. Lanes go along
//! the parameters, and with the axes in the order of the program every load and store of them would gather
//! and scatter. Nobody outside sees the memory of a window, so its axis comes first there.
//!
//! Invariant: what is proposed was proved like a schedule from a file.

use std::collections::HashSet;

use einlang_tir::module::{Group, Module};
use einlang_tir::region::{InstKind, Subscript};
use einlang_tir::types::Ident;

use super::legal::group_is_legal;
use super::windows::Observers;
use crate::lower::needs_marks;
use crate::schedule::{GroupSchedule, Layout, Nest, Role, Schedule};

/// Turns the windows of a schedule whose loops have their roles.
pub(super) fn turn_windows(module: &Module, schedule: &mut Schedule) {
    let turned: Vec<Ident> = schedule
        .groups
        .iter()
        .flat_map(|group| group.tensors.iter().enumerate().map(move |(n, t)| (group, n, t)))
        .filter(|(group, number, tensor)| {
            tensor.map.is_empty() && order(group, *number, &tensor.storage).is_some()
        })
        .map(|(_, _, tensor)| tensor.name.clone())
        .collect();
    if turned.is_empty() {
        return;
    }
    let (facts, observers) = (module.facts(), Observers::of(module));
    let tested = tested(module, &turned, needs_marks(module, &facts));
    for group in &module.groups {
        let Some(first) = group.bindings.first() else { continue };
        let mut place = schedule.groups.iter_mut();
        let mut place = place.find(|decided| {
            decided.tensors.first().is_some_and(|tensor| tensor.name == first.name)
        });
        let Some(decided) = place.as_deref_mut().filter(|_| group.until.is_none()) else {
            continue;
        };
        for number in 0..decided.tensors.len() {
            let tensor = &decided.tensors[number];
            let name = &tensor.name;
            if !turned.contains(name) || tested.contains(name) || observers.read_later(name) {
                continue;
            }
            let Some(order) = order(decided, number, &tensor.storage) else { continue };
            let mut changed = decided.clone();
            turn(&mut changed, number, &order);
            if group_is_legal(module, group, &changed, &observers, &facts) {
                *decided = changed;
            }
        }
    }
}

/// The axes with those of windows first, if that puts the axis of lanes last and it was not.
fn order(group: &GroupSchedule, number: usize, storage: &[Layout]) -> Option<Vec<usize>> {
    let is_window = |axis: &usize| matches!(storage[*axis], Layout::Mod(_));
    let (windows, others): (Vec<usize>, Vec<usize>) = (0..storage.len()).partition(is_window);
    let last = *others.last()?;
    let mut lanes = Vec::new();
    lane_axes(&group.nest, number, &mut lanes);
    let turns = is_window(&(storage.len() - 1)) && !lanes.is_empty();
    let order = windows.into_iter().chain(others);
    (turns && lanes.iter().all(|axis| *axis == last)).then(|| order.collect())
}

/// The axes along which the clauses of a tensor run in lanes.
fn lane_axes(nest: &Nest, number: usize, found: &mut Vec<usize>) {
    match nest {
        Nest::Points { statement, axes, role: Role::Lane(_) } if statement.binding == number => {
            found.extend(axes.last());
        }
        Nest::Points { .. } => {}
        Nest::Phases(phases) => phases.iter().for_each(|phase| lane_axes(phase, number, found)),
        Nest::Loop { inner, .. } => lane_axes(inner, number, found),
    }
}

fn turn(group: &mut GroupSchedule, number: usize, order: &[usize]) {
    let tensor = &mut group.tensors[number];
    let rank = order.len();
    let row = |axis: &usize| (0..rank).map(|at| i64::from(at == *axis)).collect();
    tensor.map = order.iter().map(row).collect();
    tensor.storage = order.iter().map(|axis| tensor.storage[*axis]).collect();
}

/// Those of some tensors that are read where a point may be missing.
fn tested(module: &Module, of: &[Ident], marked: HashSet<Ident>) -> HashSet<Ident> {
    let mut tested = marked;
    let mut look = |group: &Group| {
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                let InstKind::Read(read) = &inst.kind else { return };
                let known = |at: &Subscript| matches!(at, Subscript::Index(_));
                let plain = read.proved && read.default.is_none();
                if of.contains(&read.place.tensor) && !(plain && read.place.at.iter().all(known)) {
                    tested.insert(read.place.tensor.clone());
                }
            });
        }
    };
    module.groups.iter().for_each(&mut look);
    tested
}
