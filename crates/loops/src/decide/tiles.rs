//! Contractions: a tile of the result stays in registers while the terms pass by.
//!
//! Lanes run along one axis and several rows of another are computed together, so that every vector
//! that is loaded serves all of them. What changes with the lanes and not with the rows is copied into
//! panels first, where that makes its lanes lie next to each other; the copy costs each element once.

use einlang_index::{Facts, Quasi, Var, VarKind, Vars};
use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement};
use einlang_tir::types::Ident;
use rustc_hash::FxHashSet as HashSet;

use super::cost::{
    AHEAD, CACHED_ROWS, FEW_ROWS, FEWEST_PANELS, MANY_PANELS, MOST_FOLDS, ROWS_OF_PANELS,
    SHORT_ROW, TILE_ROWS, TILE_VECTORS, VECTOR, block_of_terms, cached_rows_of_blocks,
};
use super::known::Sizes;
use super::roles::{Lanes, fitting, part_used};
use super::work::{Access, Step, Work};
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Pack, Role, Schedule, TensorSchedule};

/// What is asked when a clause may become a contraction.
pub(super) struct Tiling<'m> {
    vars: &'m Vars,
    /// The tensors that lie in memory as a whole, those of the group among them.
    whole: &'m HashSet<Ident>,
    group: &'m Group,
    /// The loop over tiles around, if there is one: its forms, and how many values a tile has.
    pub(super) tiled_by: Option<(Vec<(Statement, Form)>, i64)>,
}

/// The tensors that lie in memory as a whole, wherever they come from.
pub(super) fn whole_tensors(module: &Module, schedule: &Schedule) -> HashSet<Ident> {
    let facts = module.facts();
    let plain = |tensor: &TensorSchedule| {
        let full = tensor.storage.iter().all(|layout| *layout == Layout::Full);
        full && tensor.compute == Compute::Here && tensor.map.is_empty() && !tensor.stack
    };
    let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
    let stored: HashSet<&Ident> = tensors.filter(|t| plain(t)).map(|t| &t.name).collect();
    let closed = module.groups.iter().filter(|group| group.until.is_none());
    let bindings = closed.flat_map(|group| &group.bindings);
    let total = bindings.filter(|b| stored.contains(&b.name) && is_total(b, &facts));
    let inputs = module.inputs.iter().map(|input| input.name.clone());
    inputs.chain(total.map(|binding| binding.name.clone())).collect()
}

impl<'m> Tiling<'m> {
    pub(super) fn new(
        module: &'m Module,
        whole: &'m HashSet<Ident>,
        group: &'m Group,
    ) -> Tiling<'m> {
        Tiling { vars: module.vars.names(), whole, group, tiled_by: None }
    }

    /// Whether a tensor outside the group lies in memory as a whole.
    fn is_whole(&self, name: &Ident) -> bool {
        self.whole.contains(name) && !self.group.bindings.iter().any(|b| b.name == *name)
    }

    /// The nest of a contraction, whose operands are packed.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn tiled(
        &self,
        statement: Statement,
        (binding, sizes): (&Binding, &Sizes),
        work: &Work,
        lanes: Lanes,
        free: &[usize],
        around: &[Vec<(Statement, Form)>],
        decided: &mut GroupSchedule,
    ) -> Option<Nest> {
        if !(1..=MOST_FOLDS).contains(&work.n_folds) {
            return None;
        }
        let var = binding.axes[lanes.axis].var;
        let rows = rows_axis(binding, work, lanes.axis, free);
        let extent = binding.axes[lanes.axis].dim.extent.as_constant();
        let vector = VECTOR / work.bytes.max(1);
        let shape = rows.filter(|_| around.is_empty()).and_then(|rows| {
            let n_lanes = sizes.extent(&binding.axes[lanes.axis].dim.extent)?;
            Some(tile_for(sizes.extent(&binding.axes[rows].dim.extent)?, n_lanes, vector.into()))
        });
        let (most_rows, vectors) = shape.unwrap_or((TILE_ROWS, TILE_VECTORS));
        let width = match rows {
            Some(_) => fitting(vector * vectors, extent),
            None => lanes.width,
        };
        let row = rows.map(|axis| binding.axes[axis].var);
        let small = rows.is_some_and(|rows| {
            let n = |axis: usize| sizes.extent(&binding.axes[axis].dim.extent);
            let is_short = |n: i64| n.saturating_mul(work.bytes.into()) <= SHORT_ROW;
            let few = n(rows).is_some_and(|n| n <= FEW_ROWS) && n(lanes.axis).is_some_and(is_short);
            few && around.is_empty() && binding.axes.len() == 2
        });
        let n_rows = rows.and_then(|axis| binding.axes[axis].dim.extent.as_constant());
        // A long sum goes through its terms block by block; where nothing is around its points, outside of them.
        let in_blocks =
            self.tiled_by.is_none() && around.is_empty() && (1, 1) == (work.n_folds, work.n_long);
        let cached = if in_blocks { cached_rows_of_blocks(work.bytes) } else { CACHED_ROWS };
        let many = n_rows.is_none_or(|n| n > cached);
        // A few rows that share a tile go through all terms together.
        let in_blocks = in_blocks && n_rows.is_none_or(|n| n > most_rows);
        let blocks_outside = in_blocks && binding.axes.len() == 2;
        let mut packed = false;
        if row.is_some() || !around.is_empty() {
            let ahead = rows.map_or(0, |axis| self.ahead(statement, binding, axis));
            let batch = batch_axes(binding, [Some(var), row]);
            let of_next = !small && row.is_some();
            let how = Panels { width: width.into(), ahead, of_next, in_blocks: blocks_outside };
            packed = self.pack(work, (var, row), &batch, how, decided);
        }
        let axis = rows?;
        let n_axes = binding.axes.len();
        let along = |axis: usize| {
            let coefficients = (0..n_axes).map(|at| i64::from(at == axis)).collect();
            vec![(statement, Form { coefficients, offset: 0 })]
        };
        let nested = |axis: usize, tile: Option<i64>, role: Role, inner: Nest| {
            let inner = Box::new(inner);
            Nest::Loop { forms: along(axis), tile, role, inner }
        };
        let together = n_rows.map_or(most_rows, |n| n.clamp(1, most_rows));
        // Whole tiles, so that no part of one is left in the middle.
        let cached = (cached - cached % together).max(together);
        let mut order: Vec<usize> =
            (0..n_axes).filter(|a| ![axis, lanes.axis].contains(a)).collect();
        let others: Vec<usize> = order.iter().copied().filter(|a| free.contains(a)).collect();
        order.extend([axis, lanes.axis]);
        // Panels that other loops go through again and again are divided among threads, so that each
        // keeps to its own.
        let again = packed && !around.is_empty();
        let points = Nest::Points { statement, axes: order, role: Role::Lane(width) };
        let unroll = Role::Unroll(u32::try_from(together).unwrap_or(1));
        let mut nest = nested(axis, None, unroll, points);
        if n_rows.is_none_or(|n| n > most_rows) {
            nest = nested(axis, Some(together), Role::Par, nest);
            let row = binding.axes[axis].var;
            let of_rows = |of_next: bool, in_blocks: bool| Panels {
                width: together,
                ahead: 0,
                of_next,
                in_blocks,
            };
            if self.rows_around(statement, axis).is_some_and(|n| n % together == 0) {
                // All panels of lanes go through the rows of a tile around.
                let few = extent.is_some_and(|n| n < FEWEST_PANELS * i64::from(width));
                let batch = batch_axes(binding, [Some(var), Some(row)]);
                self.pack_rows(work, (row, var), &batch, of_rows(!few, true), !few, decided);
            } else if around.is_empty() {
                let others: Vec<Var> = others.iter().map(|a| binding.axes[*a].var).collect();
                let again =
                    !small && in_blocks && self.has_many_panels(binding, sizes, lanes.axis, width);
                let how = of_rows(!small, blocks_outside);
                self.pack_rows(work, (row, var), &others, how, again, decided);
            }
        }
        nest = nested(lanes.axis, Some(i64::from(width)), Role::Par, nest);
        let in_terms = |nest: Nest| {
            let forms = vec![(statement, Form { coefficients: vec![0; n_axes], offset: 0 })];
            let role = Role::Terms(block_of_terms(work.bytes) as u32);
            Nest::Loop { forms, tile: None, role, inner: Box::new(nest) }
        };
        if in_blocks && !blocks_outside {
            nest = in_terms(nest);
        }
        if self.tiled_by.is_none() && many && !again {
            nest = nested(axis, Some(cached), Role::Par, nest);
        }
        if blocks_outside {
            nest = in_terms(nest);
        }
        for other in others.into_iter().rev() {
            nest = nested(other, None, Role::Par, nest);
        }
        Some(nest)
    }

    /// In how many parts the next panel is fetched: tiles of rows that go through one panel fetch a part
    /// each. A power of two, so that finding the part is cheap.
    fn ahead(&self, statement: Statement, binding: &Binding, rows: usize) -> u32 {
        let most = self.rows_around(statement, rows).unwrap_or(CACHED_ROWS);
        let n_rows = binding.axes[rows].dim.extent.as_constant().map_or(most, |n| n.min(most));
        let tiles = n_rows.div_euclid(TILE_ROWS).clamp(1, AHEAD);
        1 << tiles.ilog2()
    }

    /// How many rows of a statement the tile around has, if it is one of rows.
    fn rows_around(&self, statement: Statement, rows: usize) -> Option<i64> {
        let (forms, width) = self.tiled_by.as_ref()?;
        let (_, form) = forms.iter().find(|(of, _)| *of == statement)?;
        (form.coefficients.get(rows) == Some(&1)).then_some(*width)
    }

    /// Whether there are known to be many panels of lanes.
    fn has_many_panels(&self, binding: &Binding, sizes: &Sizes, lanes: usize, width: u32) -> bool {
        let n_lanes = sizes.extent(&binding.axes[lanes].dim.extent);
        n_lanes.is_some_and(|n| n / i64::from(width) >= MANY_PANELS)
    }

    /// Packs what changes with the lanes and not with the rows, in panels of a width that are fetched
    /// ahead in so many parts; also what lies next to each other in any case, if that is asked for.
    fn pack(
        &self,
        work: &Work,
        (var, row): (Var, Option<Var>),
        batch: &[Var],
        how: Panels,
        decided: &mut GroupSchedule,
    ) -> bool {
        let mut any = false;
        for access in &work.reads {
            let worth = access.step(var) == Step::Far || how.of_next;
            let found = self.panels(access, var, row).filter(|_| worth);
            let Some((axis, from)) = found else { continue };
            add(how.of(access, axis, from, batch, false), decided);
            any = true;
        }
        any
    }

    /// Packs what changes with the rows and not with the lanes, where the next term lies far away or other
    /// loops go through it again: rows of a tile then lie next to each other, term after term. Rows that do so in
    /// any case are packed if that is asked for, and all if lanes alone go through them often enough.
    fn pack_rows(
        &self,
        work: &Work,
        (row, lanes): (Var, Var),
        others: &[Var],
        how: Panels,
        often: bool,
        decided: &mut GroupSchedule,
    ) {
        for access in &work.reads {
            let far = access.along.is_some_and(|along| access.step(along) == Step::Far);
            let again = others.iter().any(|other| access.step(*other) == Step::Same);
            let worth = (far || again || often) && (how.of_next || access.step(row) != Step::Next);
            let found = self.panels(access, row, Some(lanes)).filter(|_| worth);
            let Some((axis, from)) = found else { continue };
            let pack = how.of(access, axis, from, others, true);
            if pack.in_blocks || self.tiled_by.is_none() {
                add(pack, decided);
            }
        }
    }

    /// The axis along which what is read in a reduction can lie in panels, and from where on.
    pub(super) fn panels(
        &self,
        access: &Access,
        var: Var,
        row: Option<Var>,
    ) -> Option<(usize, Vec<(i64, String)>)> {
        let shared = row.is_none_or(|row| access.step(row) == Step::Same);
        let term = access.along.is_some() && access.at.len() > 1 && access.proved;
        if !shared || !term || !self.is_whole(&access.tensor) {
            return None;
        }
        let mut along = None;
        for (axis, at) in access.at.iter().enumerate() {
            let at = at.as_ref()?;
            if at.mentions(var) && along.replace((axis, at)).is_some() {
                return None;
            }
        }
        let (axis, at) = along?;
        let rest = at.sub(&Quasi::from(var)).ok()?;
        let (rest, mut from) = (rest.as_affine()?, Vec::new());
        for (size, times) in rest.terms() {
            let name = self.vars.name(*size).filter(|_| size.kind() == VarKind::Symbol)?;
            from.push((*times, name.to_owned()));
        }
        let fits = rest.constant_part() == 0 && from.iter().all(|(times, _)| *times > 0);
        fits.then_some((axis, from))
    }
}

/// The rows and the vectors of a tile for so many rows and lanes, of vectors of so many lanes: with most of what a
/// tile has in use.
fn tile_for(n_rows: i64, n_lanes: i64, vector: i64) -> (i64, u32) {
    let mut best = ((TILE_ROWS, TILE_VECTORS), f64::INFINITY);
    for (most_rows, vectors) in [(TILE_ROWS, TILE_VECTORS), (TILE_ROWS / 2, 2 * TILE_VECTORS)] {
        for rows in (most_rows / 2 + 1..=most_rows).rev() {
            let (left, small) =
                (n_rows.rem_euclid(rows), 24.0 / (rows * i64::from(vectors)) as f64);
            // What is left of the rows runs four at a time, and then one by one.
            let (fours, ones) = (left - left % 4, left % 4);
            let time = (n_rows - left) as f64 + 1.3 * fours as f64 + 3.0 * ones as f64;
            // With few rows the second cache cannot give panels as fast as they are used.
            let waiting = (ROWS_OF_PANELS / rows as f64).max(1.0);
            let each = (0.9 + 0.1 * small) * waiting;
            let time = time * each / part_used(n_lanes, vector * i64::from(vectors));
            if time < best.1 {
                best = ((rows, vectors), time);
            }
        }
    }
    best.0
}

/// How operands are packed.
#[derive(Clone, Copy)]
struct Panels {
    /// How many planes a panel has.
    width: i64,
    /// In how many parts the next panel is fetched.
    ahead: u32,
    /// Whether what lies next to each other in any case is packed too.
    of_next: bool,
    /// Whether blocks of terms are outside of the points.
    in_blocks: bool,
}

impl Panels {
    /// The panels of what is read; in blocks of terms if each term is read at its own plane of one axis.
    fn of(
        self,
        access: &Access,
        axis: usize,
        from: Vec<(i64, String)>,
        around: &[Var],
        rows: bool,
    ) -> Pack {
        let term = |at: &&Option<Quasi>| {
            at.as_ref().zip(access.along).is_some_and(|(at, along)| at.mentions(along))
        };
        let mut terms = access.at.iter().filter(term);
        let (is_plane, is_lone) = (
            terms.next().and_then(|at| at.as_ref()?.as_var()) == access.along,
            terms.next().is_none(),
        );
        Pack {
            tensor: access.tensor.clone(),
            axis,
            under: n_around(access, axis, around),
            from,
            width: self.width,
            ahead: self.ahead,
            rows,
            in_blocks: self.in_blocks && is_plane && is_lone,
        }
    }
}

/// The axes of a binding that are neither lanes nor rows.
fn batch_axes(binding: &Binding, others: [Option<Var>; 2]) -> Vec<Var> {
    let vars = binding.axes.iter().map(|axis| axis.var);
    vars.filter(|var| !others.contains(&Some(*var))).collect()
}

/// How many of the first axes that something is read at are those of a batch.
fn n_around(access: &Access, axis: usize, batch: &[Var]) -> usize {
    let is_batch = |at: &Option<Quasi>| {
        at.as_ref().and_then(Quasi::as_var).is_some_and(|var| batch.contains(&var))
    };
    access.at.iter().take(axis).take_while(|at| is_batch(at)).count()
}

/// Takes note of panels, once.
fn add(pack: Pack, decided: &mut GroupSchedule) {
    if !decided.packs.contains(&pack) {
        decided.packs.push(pack);
    }
}

/// Whether every point of a binding has a clause without a guard.
fn is_total(binding: &Binding, facts: &Facts) -> bool {
    binding.uncovered().is_ok_and(|rest| rest.always_empty_given(facts.set()).is_true())
}

/// The axis whose rows share what changes with the lanes.
pub(super) fn rows_axis(
    binding: &Binding,
    work: &Work,
    lanes: usize,
    free: &[usize],
) -> Option<usize> {
    let var = binding.axes[lanes].var;
    let terms = || work.reads.iter().filter(|access| access.along.is_some());
    let fits = |axis: &usize| {
        let row = binding.axes[*axis].var;
        let short = binding.axes[*axis].dim.extent.as_constant().is_some_and(|n| n < 2);
        let shared = |a: &Access| a.step(var) != Step::Same && a.step(row) == Step::Same;
        let mixed = |a: &Access| a.step(var) != Step::Same && a.step(row) != Step::Same;
        *axis != lanes
            && !short
            && !work.bounds.contains(&row)
            && terms().any(shared)
            && !terms().any(mixed)
    };
    free.iter().copied().rfind(fits)
}
