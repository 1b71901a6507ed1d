//! `run_diagonals`: a grid in which every point waits for its neighbours runs diagonal by diagonal.
//!
//! The points of a diagonal wait for earlier diagonals only, so they are lanes. Memory keeps the last
//! few diagonals, each in one piece; without such a window lanes would lie apart, and the grid stays as
//! it is. Several tensors may make one grid, such as the scores of an alignment with gaps.
//!
//! Invariant: what is proposed was proved like a schedule from a file.

mod cut;
mod wave;

use einlang_tir::module::{Group, Module};
use einlang_tir::order::{Dependence, Form};
use einlang_tir::region::{InstKind, Subscript};
use einlang_tir::types::Ident;

use super::all_groups;
use super::cost::{LONE_VECTORS, MOST_LANES, VECTOR};
use super::fuse::statements;
use super::legal::group_is_legal;
use super::windows::{Observers, fold_storage};
use super::work::Works;

pub use cut::cut_strips;
pub(super) use wave::run_strips;

use crate::schedule::{GroupSchedule, Layout, Nest, Role, TensorSchedule};

/// The schedule of a grid by its diagonals, if that is one and they fit in a window.
pub(super) fn run_diagonals(
    module: &Module,
    group: &Group,
    decided: &GroupSchedule,
    works: &Works<'_>,
    observers: &Observers,
    dependences: &[Dependence],
) -> Option<GroupSchedule> {
    let flat = group.bindings.iter().all(|binding| binding.axes.len() == 2);
    if !flat || group.until.is_some() || !is_grid(&decided.nest, 0) {
        return None;
    }
    let clauses = group.bindings.iter().flat_map(|b| b.clauses.iter().map(move |c| (b, c)));
    let works: Vec<_> = clauses.map(|(binding, clause)| works.of(binding, clause)).collect();
    let fits = works.iter().all(|work| !work.scalar && work.n_folds == 0);
    if !fits || !group.bindings.iter().all(|b| is_read_plainly(module, &b.name)) {
        return None;
    }
    let width = lanes(works.iter().map(|work| work.bytes));
    let facts = module.facts();
    [1, -1].into_iter().find_map(|sign| {
        let of = statements(&decided.nest);
        let form = Form { coefficients: vec![sign, sign], offset: 0 };
        let forms = of.iter().map(|statement| (*statement, form.clone())).collect();
        let points =
            |statement| Nest::Points { statement, axes: vec![0, 1], role: Role::Lane(width) };
        let inner = Box::new(Nest::Phases(of.into_iter().map(points).collect()));
        let mut changed = decided.clone();
        changed.nest = Nest::Loop { forms, tile: None, role: Role::Seq, inner };
        for tensor in &mut changed.tensors {
            tensor.storage = vec![Layout::Full; 2];
            tensor.map = vec![vec![1, 1], vec![1, 0]];
        }
        fold_storage(group, &mut changed, dependences, observers, &facts);
        let in_window =
            |tensor: &TensorSchedule| matches!(tensor.storage[..], [Layout::Mod(_), Layout::Full]);
        let window = changed.tensors.iter().all(in_window);
        let legal = || group_is_legal(module, group, &changed, observers, &facts);
        (window && legal()).then_some(changed)
    })
}

/// So many lanes of elements of these sizes run side by side.
fn lanes(bytes: impl Iterator<Item = u32>) -> u32 {
    (VECTOR / bytes.max().unwrap_or(8).max(1) * LONE_VECTORS).min(MOST_LANES)
}

/// In how many lanes the diagonals of a group run.
fn lanes_of_diagonals(group: &Group, works: &Works<'_>) -> u32 {
    let clauses = group.bindings.iter().flat_map(|b| b.clauses.iter().map(move |c| (b, c)));
    lanes(clauses.map(|(binding, clause)| works.of(binding, clause).bytes))
}

/// The diagonals of a strip that are kept have so many bytes at most: they stay in the first cache.
const BYTES_OF_STRIP: i64 = 16 << 10;

/// So many diagonals of a tensor are kept.
const DIAGONALS_KEPT: i64 = 3;

/// How many rows a strip of a grid has: a power of two.
fn rows_of_strip(group: &Group) -> i64 {
    let bytes: i64 =
        group.bindings.iter().map(|binding| i64::from(binding.elem.bits().max(8) / 8)).sum();
    let most = BYTES_OF_STRIP / (DIAGONALS_KEPT * bytes.max(1));
    1 << most.clamp(64, 2048).ilog2()
}

/// Whether some clause has no axis left that is free of the loops around.
fn is_grid(nest: &Nest, n_loops: usize) -> bool {
    match nest {
        Nest::Points { .. } => n_loops >= 2,
        Nest::Phases(phases) => phases.iter().any(|phase| is_grid(phase, n_loops)),
        Nest::Loop { inner, role, tile, .. } => {
            *role == Role::Seq && tile.is_none() && is_grid(inner, n_loops + 1)
        }
    }
}

/// Whether all reads of a tensor are certain to lie inside, at subscripts that are no data: what is
/// kept by diagonals cannot be tested.
fn is_read_plainly(module: &Module, name: &Ident) -> bool {
    let mut plain = true;
    for group in all_groups(module) {
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                if let InstKind::Read(read) = &inst.kind
                    && read.place.tensor == *name
                {
                    let data = |at: &Subscript| matches!(at, Subscript::Value(_));
                    plain &= read.proved && read.default.is_none();
                    plain &= !read.place.at.iter().any(data);
                }
            });
        }
    }
    plain
}
