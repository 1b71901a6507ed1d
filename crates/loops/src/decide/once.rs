//! `pass_on_once`: what a step only passes on is stored once for each plane of a window.
//!
//! The rim of a field is often fixed: each plane has there what the plane before has. Storing that in every step
//! crosses all rows of a plane for a few numbers, which takes as long as a good part of the step. But the memory of a
//! plane has these numbers already when it is used again, so only the first planes of a window need them.
//!
//! Invariant: what is proposed was proved like a schedule from a file. Nothing that is stored later comes before
//! what is stored earlier at the same place, because every loop goes forward along the axis of the window.

use einlang_index::{Affine, Constraint, Domain, Map, Quasi, Result, Set, Var};
use einlang_tir::module::{Binding, Clause, Group, Module};
use einlang_tir::region::{Arg, Def, InstKind, Subscript};

use super::legal::change_groups;
use crate::schedule::{Compute, Layout, Nest, Schedule, TensorSchedule, axis_of};

/// Finds the clauses that pass on what the plane before has.
pub(crate) fn pass_on_once(module: &Module, schedule: &mut Schedule) {
    change_groups(module, schedule, |group, decided, _| {
        for (at, binding) in group.bindings.iter().enumerate() {
            let fits = |clause: &usize| {
                may_be_once(group, &decided.nest, &decided.tensors[at], at, *clause)
            };
            let once: Vec<usize> = (0..binding.clauses.len()).filter(fits).collect();
            decided.tensors[at].once = once;
        }
    });
}

/// Whether a clause of a binding passes on what the plane before has, in a window that keeps it.
pub(super) fn may_be_once(
    group: &Group,
    nest: &Nest,
    tensor: &TensorSchedule,
    at: usize,
    clause: usize,
) -> bool {
    let Some(binding) = group.bindings.get(at) else { return false };
    let Some((axis, width)) = window(tensor) else { return false };
    let Some(clause) = binding.clauses.get(clause) else { return false };
    tensor.compute == Compute::Here
        && !tensor.stack
        && group.until.is_none()
        && passes_on(binding, clause, axis)
        && is_forward(nest, at, axis, true)
        && planes_stored(binding, clause, axis, width).is_some()
}

/// The axis of the only window of a tensor, and how many planes that has.
pub(crate) fn window(tensor: &TensorSchedule) -> Option<(usize, i64)> {
    let mut found = None;
    for (number, layout) in tensor.storage.iter().enumerate() {
        let axis = axis_of(&tensor.dimension(number))?;
        match (layout, found) {
            (Layout::Full, _) => {}
            (Layout::Mod(width), None) => found = Some((axis, *width)),
            _ => return None,
        }
    }
    found
}

/// The planes in which such a clause must store: those that come before it has passed on its numbers in all planes of
/// the window. None if they are not the first ones.
pub(crate) fn planes_stored(
    binding: &Binding,
    clause: &Clause,
    axis: usize,
    width: i64,
) -> Option<Set> {
    let dims = binding.dims();
    let time = *dims.get(axis)?;
    let mut planes = Vec::new();
    for set in clause.domain.sets() {
        let points = Domain::new(&dims[..], set.clone());
        let mut again = points.clone();
        for before in 1..width {
            let moved = |var: &Var| match *var == time {
                true => Quasi::from(Affine::var(*var)).add_constant(-before),
                false => Ok(Quasi::from(Affine::var(*var))),
            };
            let to: Vec<Quasi> = dims.iter().map(moved).collect::<Result<_>>().ok()?;
            again = again.intersect(&points.preimage(&Map::new(&dims[..], to)).ok()?).ok()?;
        }
        let stored = points.subtract(&again).ok()?.simplified();
        planes.extend(stored.project(&[time]).ok()?.sets().iter().cloned());
    }
    let Some(first) = planes.first() else { return Some(Set::nothing()) };
    let ends = first.constraints().filter_map(|constraint| end(&constraint, time));
    let mut common = ends.filter_map(|end| Set::new([end]).ok());
    common.find(|end| {
        let end = Domain::new([time], end.clone());
        planes.iter().all(|set| Domain::new([time], set.clone()).is_subset(&end).is_true())
    })
}

/// The last value of a variable that a constraint allows, as one.
fn end(constraint: &Constraint, var: Var) -> Option<Constraint> {
    match constraint {
        Constraint::Ge(expr) if expr.coeff(var) == -1 => Some(constraint.clone()),
        Constraint::Eq(expr) if expr.coeff(var) == -1 => Some(Constraint::Ge(expr.clone())),
        Constraint::Eq(expr) if expr.coeff(var) == 1 => Some(Constraint::Ge(expr.neg().ok()?)),
        _ => None,
    }
}

/// Whether a clause is a read of the plane before, at the same place.
fn passes_on(binding: &Binding, clause: &Clause, axis: usize) -> bool {
    let ([inst], [Arg::Value(result)]) = (&clause.body.insts[..], &clause.body.results[..]) else {
        return false;
    };
    let InstKind::Read(read) = &inst.kind else { return false };
    let is_before = |(at, (subscript, var)): (usize, (&Subscript, Var))| match subscript {
        Subscript::Index(index) => {
            let offset = index.as_affine().and_then(|affine| {
                let rest = affine.without(var);
                (affine.coeff(var) == 1).then(|| rest.as_constant()).flatten()
            });
            offset == Some(if at == axis { -1 } else { 0 })
        }
        Subscript::Value(_) => false,
    };
    clause.guard.is_none()
        && matches!(&inst.results[..], [Def::Scalar(value)] if value == result)
        && read.default.is_none()
        && read.proved
        && read.place.tensor == binding.name
        && read.place.at.iter().zip(binding.dims()).enumerate().all(is_before)
}

/// Whether every loop over a tensor goes forward along an axis, and the first one moves along it.
fn is_forward(nest: &Nest, binding: usize, axis: usize, first: bool) -> bool {
    match nest {
        Nest::Points { .. } => !first,
        Nest::Phases(phases) => {
            !first && phases.iter().all(|phase| is_forward(phase, binding, axis, false))
        }
        Nest::Loop { forms, inner, .. } => {
            let mut own = forms.iter().filter(|(statement, _)| statement.binding == binding);
            let along = own.all(|(_, form)| {
                form.coefficients.get(axis).is_some_and(|by| *by >= i64::from(first))
            });
            along && is_forward(inner, binding, axis, false)
        }
    }
}
