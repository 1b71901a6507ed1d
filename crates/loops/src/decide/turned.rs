//! `turn_windows`: the planes of a window lie one after the other.
//!
//! A window along the last axis of a tensor puts the planes of an element side by side: lanes along another
//! axis would find every element somewhere else, in each step. So the axis of the window goes first in
//! memory, and that of the lanes is the last one.
//!
//! Invariant: only places in memory change; what is proposed was proved like a schedule from a file.

use einlang_tir::module::Module;

use super::legal::change_groups;
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule, TensorSchedule};

/// Turns the windows of a schedule whose lanes go along the axis before the last one.
pub(crate) fn turn_windows(module: &Module, schedule: &mut Schedule) {
    let packs = schedule.groups.iter().flat_map(|group| &group.packs);
    let packed: Vec<_> = packs.map(|pack| pack.tensor.clone()).collect();
    change_groups(module, schedule, |_, decided, _| {
        let GroupSchedule { nest, tensors, .. } = decided;
        for (number, tensor) in tensors.iter_mut().enumerate() {
            if is_sideways(tensor, number, nest) && !packed.contains(&tensor.name) {
                turn(tensor);
            }
        }
    });
}

/// Whether a tensor has a window along its last axis, and all its lanes go along the one before.
fn is_sideways(tensor: &TensorSchedule, number: usize, nest: &Nest) -> bool {
    let [others @ .., Layout::Mod(width)] = &tensor.storage[..] else { return false };
    let is_plain = tensor.compute == Compute::Here
        && tensor.map.is_empty()
        && *width > 1
        && others.iter().all(|layout| *layout == Layout::Full);
    let mut lanes = Vec::new();
    collect_lanes(nest, number, &mut lanes);
    let before_last = tensor.storage.len().checked_sub(2);
    is_plain && !lanes.is_empty() && lanes.iter().all(|lane| *lane == before_last)
}

/// The axes along which clauses of a tensor run in lanes.
fn collect_lanes(nest: &Nest, number: usize, found: &mut Vec<Option<usize>>) {
    match nest {
        Nest::Points { statement, axes, role: Role::Lane(_) } if statement.binding == number => {
            found.push(axes.last().copied());
        }
        Nest::Points { .. } => {}
        Nest::Phases(phases) => phases.iter().for_each(|nest| collect_lanes(nest, number, found)),
        Nest::Loop { inner, .. } => collect_lanes(inner, number, found),
    }
}

/// Puts the last axis of a tensor first in memory.
fn turn(tensor: &mut TensorSchedule) {
    let rank = tensor.storage.len();
    tensor.storage.rotate_right(1);
    let mut order: Vec<usize> = (0..rank).collect();
    order.rotate_right(1);
    let form = |axis: usize| (0..rank).map(|at| i64::from(at == axis)).collect();
    tensor.map = order.into_iter().map(form).collect();
}
