//! `run_ensembles`: many small recurrences side by side, each to its end before the next.
//!
//! If nothing depends on its neighbours along an axis, tiles of that axis go outside of time: the state
//! of a tile stays in the nearest cache or in registers while time passes, and its points are lanes.
//! All clauses of a step run in one loop over the lanes, so that what they share is computed once.
//!
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Form, Statement};

use super::cost::{SHORT_STEP, STATES_TOGETHER, TILE_OF_STATES, VECTOR};
use super::fuse::statements;
use super::legal::group_is_legal;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{GroupSchedule, Nest, Role};

/// The schedule of an ensemble, if the group is one.
pub(super) fn run_ensembles(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let Nest::Loop { forms: time, tile: None, role: Role::Seq, inner } = &decided.nest else {
        return None;
    };
    let of = statements(inner);
    if group.until.is_some() || !is_flat(inner) || of.len() > MOST_CLAUSES {
        return None;
    }
    let (mut bytes, mut n_ops, mut n_slow) = (4, 0, 0);
    let mut along: Vec<(Statement, Form)> = Vec::with_capacity(of.len());
    for statement in &of {
        let binding = &group.bindings[statement.binding];
        let work = works.of(binding, binding.clauses.get(statement.clause)?);
        if work.scalar || work.n_folds > 0 || binding.axes.len() != 2 {
            return None;
        }
        bytes = bytes.max(work.bytes);
        n_ops += work.n_ops[0];
        n_slow += work.n_slow[0];
        let (_, form) = time.iter().find(|(s, _)| s == statement)?;
        let coefficients = match form.coefficients[..] {
            [t, 0] if t != 0 => vec![0, 1],
            [0, t] if t != 0 => vec![1, 0],
            _ => return None,
        };
        along.push((*statement, Form { coefficients, offset: 0 }));
    }
    // A step is a chain: where the registers suffice, that of another vector runs meanwhile.
    let is_short = n_slow == 0 && n_ops <= SHORT_STEP;
    let vectors = if is_short { STATES_TOGETHER } else { 1 };
    let width = VECTOR / bytes;
    let points = |statement: &Statement| Nest::Points {
        statement: *statement,
        axes: vec![0, 1],
        role: Role::Par,
    };
    let looped = |forms: &[(Statement, Form)], tile, role, inner| {
        let inner = Box::new(inner);
        Nest::Loop { forms: forms.to_vec(), tile, role, inner }
    };
    let step = Nest::Phases(of.iter().map(points).collect());
    let step = looped(&along, None, Role::Lane(vectors * width), step);
    let steps = looped(time, None, Role::Seq, step);
    let tile = Some(i64::from(width) * TILE_OF_STATES);
    let mut changed = decided.clone();
    changed.nest = looped(&along, tile, Role::Par, steps);
    group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
}

/// The most clauses of an ensemble.
const MOST_CLAUSES: usize = 64;

/// Whether nothing but points, one after the other, is inside.
fn is_flat(nest: &Nest) -> bool {
    match nest {
        Nest::Points { role, .. } => role.is_free(),
        Nest::Phases(phases) => phases.iter().all(is_flat),
        Nest::Loop { .. } => false,
    }
}
