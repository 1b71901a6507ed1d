//! `tile_steps`: several steps of a stencil for a part of the plane before the next part.
//!
//! A step of a stencil reads and writes whole planes, which are larger than caches, and does little with
//! each element. Tiles over time and over the first axis of the plane, skewed by how far a step looks, take
//! several steps for each band of rows while these are in a cache. Inside a tile steps follow each other as
//! before.
//!
//! Where planes have two axes, threads take whole rounds of time as a wave, each behind the one before; where there are
//! few rounds, they divide each step. A band of larger planes fills the cache of a thread, and the next one would
//! fetch all of it from there; threads divide every step of those, and each keeps its part of all planes.
//! Planes that stay in the cache in any case gain nothing by tiles.
//!
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement};

use super::fuse::statements;
use super::known::Sizes;
use super::legal::group_is_legal;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{GroupSchedule, Layout, Nest, Role};
use crate::threads::MOST_ON_STACK;

/// The steps of a tile.
const STEPS: i64 = 8;

/// The rows of a band of a plane with two axes, and of one with more.
const ROWS: i64 = 32;
const PLANES: i64 = 8;

/// The bytes of a plane that stays in the cache of one thread, together with the one before.
const SMALL: i64 = 1 << 20;

/// The farthest that a step looks.
const FARTHEST: i64 = 2;

/// The most clauses of a stencil.
const MOST_CLAUSES: usize = 8;

/// The schedule of a stencil, if the group is one.
pub(super) fn tile_steps(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    sizes: &Sizes,
    observers: &Observers,
) -> Option<GroupSchedule> {
    let Nest::Loop { forms: time, tile: None, role: Role::Seq, inner } = &decided.nest else {
        return None;
    };
    let ([binding], [tensor]) = (&group.bindings[..], &decided.tensors[..]) else { return None };
    let of = statements(inner);
    let rank = binding.axes.len();
    let along_time = |(_, form): &(Statement, Form)| {
        form.offset == 0
            && form.coefficients.iter().enumerate().all(|(a, c)| *c == i64::from(a == 0))
    };
    let works = binding.clauses.iter().map(|clause| works.of(binding, clause));
    let fits = rank >= 3
        && of.len() <= MOST_CLAUSES
        && group.until.is_none()
        && time.iter().all(along_time)
        && is_flat(inner)
        && matches!(tensor.storage[..], [Layout::Mod(_), ..])
        && works.clone().all(|work| work.n_folds == 0)
        && works.clone().any(|work| !work.scalar);
    let bytes = works.map(|work| work.bytes).max().unwrap_or(0);
    if !fits || is_small(binding, bytes.into(), sizes) {
        return None;
    }
    let (rows, role) = if rank == 3 { (ROWS, Role::Wave) } else { (PLANES, Role::Seq) };
    let looped = |forms: Vec<(Statement, Form)>, tile, role, inner| Nest::Loop {
        forms,
        tile,
        role,
        inner: Box::new(inner),
    };
    (1..=FARTHEST).find_map(|skew| {
        let mut coefficients = vec![0; rank];
        (coefficients[0], coefficients[1]) = (skew, 1);
        let form = Form { coefficients, offset: 0 };
        let skewed = of.iter().map(|statement| (*statement, form.clone())).collect();
        let steps = looped(time.clone(), None, Role::Seq, (**inner).clone());
        let band = looped(skewed, Some(rows), Role::Seq, steps);
        let mut changed = decided.clone();
        changed.nest = looped(time.clone(), Some(STEPS), role, band);
        group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
    })
}

/// Whether the planes of a stencil are known to be small. Longer axes are not told apart.
fn is_small(binding: &Binding, bytes: i64, sizes: &Sizes) -> bool {
    let plane = binding.axes.iter().skip(1).try_fold(bytes, |bytes, axis| {
        let extent = sizes.extent(&axis.dim.extent).filter(|extent| *extent <= MOST_ON_STACK);
        bytes.checked_mul(extent?)
    });
    plane.is_some_and(|plane| plane <= SMALL)
}

/// Whether nothing but free points, one after the other, is inside.
fn is_flat(nest: &Nest) -> bool {
    match nest {
        Nest::Points { role, .. } => role.is_free(),
        Nest::Phases(phases) => phases.iter().all(is_flat),
        Nest::Loop { .. } => false,
    }
}
