//! `choose_roles`: which loop runs in lanes, and which operands of a contraction stay in registers.
//!
//! The points of a clause may run in any order, so the axis that is cheapest as the innermost one is:
//! elements that lie next to each other are one vector, elements that do not change are loaded once,
//! and everything else is gathered. A clause with a reduction whose operands are shared by the rows of
//! another axis is a contraction (`tiles.rs`).
//!
//! Invariant: only the order of points that are free and the association of sums in lanes change, and
//! both depend on the module alone, never on the extents of a run.

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement, dependences};
use rustc_hash::FxHashSet as HashSet;

use super::batches::run_batches;
use super::columns::run_columns;
use super::cost::{
    FEWEST_LANES, GATHERED, IN_PARTS, LONE_VECTORS, MOST_LANES, MOST_TOGETHER, SCALAR, SLOW, TERMS,
    TILE_VECTORS, VECTOR, WAITING,
};
use super::ensembles::run_ensembles;
use super::join::has_loop;
use super::known::Sizes;
use super::points::run_points;
use super::rows::run_rows;
use super::steps::tile_steps;
use super::strips::{run_diagonals, run_strips};
use super::tiles::{Tiling, rows_axis, whole_tensors};
use super::windows::Observers;
use super::work::{Access, Step, Work, Works};
use super::{Storage, all_groups, is_order_seen};
use crate::lower::needs_marks;
use crate::schedule::{GroupSchedule, Nest, Role, Schedule};

/// Gives the loops of a schedule their roles.
pub(super) fn choose_roles(
    module: &Module,
    storage: Storage,
    sizes: &Sizes,
    schedule: &mut Schedule,
) {
    let works = Works::new(module, schedule);
    reorder_recurrences(module, storage, &works, sizes, schedule);
    if storage == Storage::Window {
        put_rows_outside(module, &works, schedule);
    }
    choose_lanes(module, &works, sizes, schedule);
}

/// Lanes for a schedule whose loops stay as they are: no tiles, no panels, no other order.
pub(super) fn choose_lanes_alone(module: &Module, schedule: &mut Schedule) {
    choose_lanes(module, &Works::new(module, schedule), &Sizes::default(), schedule);
    for group in &mut schedule.groups {
        group.packs.clear();
        group.nest = without_tiles(&group.nest);
    }
}

/// A nest without loops that only divide the points of a clause.
fn without_tiles(nest: &Nest) -> Nest {
    match nest {
        Nest::Points { .. } => nest.clone(),
        Nest::Phases(phases) => Nest::Phases(phases.iter().map(without_tiles).collect()),
        Nest::Loop { forms, tile: None, role: Role::Seq, inner } => {
            let inner = Box::new(without_tiles(inner));
            Nest::Loop { forms: forms.clone(), tile: None, role: Role::Seq, inner }
        }
        Nest::Loop { inner, .. } => without_tiles(inner),
    }
}

fn choose_lanes(module: &Module, works: &Works<'_>, sizes: &Sizes, schedule: &mut Schedule) {
    let top: HashSet<_> = module.groups.iter().flat_map(|g| &g.bindings).map(|b| &b.name).collect();
    let whole = whole_tensors(module, schedule);
    let mut chains = false;
    for group in all_groups(module) {
        let Some(first) = group.bindings.first().filter(|_| !is_order_seen(module, group)) else {
            continue;
        };
        let (is_top, tiling) = (top.contains(&first.name), Tiling::new(module, &whole, group));
        let Some(decided) = schedule.decided_mut(group) else { continue };
        let mut choosing = Choosing { group, works, sizes, tiling, is_top, chains: false };
        let mut nest = std::mem::replace(&mut decided.nest, Nest::Phases(Vec::new()));
        choosing.nest(&mut nest, &mut Vec::new(), decided);
        decided.nest = nest;
        chains |= choosing.chains;
    }
    schedule.chains = chains;
    leave_marked(module, schedule);
}

/// What has marks for the points that were stored is read where it lies.
fn leave_marked(module: &Module, schedule: &mut Schedule) {
    if schedule.groups.iter().all(|group| group.packs.is_empty()) {
        return;
    }
    let marked = needs_marks(module, &module.facts());
    for group in &mut schedule.groups {
        group.packs.retain(|pack| !marked.contains(&pack.tensor));
    }
}

/// Loops over rows around what is computed from whole rows.
fn put_rows_outside(module: &Module, works: &Works<'_>, schedule: &mut Schedule) {
    let several = |group: &&Group| group.bindings.len() > 1;
    let groups: Vec<&Group> = module.groups.iter().filter(several).collect();
    if groups.is_empty() {
        return;
    }
    let observers = Observers::of(module);
    for group in groups {
        let Some(decided) = schedule.decided_mut(group) else { continue };
        let points = run_points(module, group, decided, works, &observers);
        let rows = || run_rows(module, group, decided, works, &observers);
        if let Some(changed) = points.or_else(rows) {
            *decided = changed;
        }
    }
}

/// Recurrences that run better in another order than the one that was found.
fn reorder_recurrences(
    module: &Module,
    storage: Storage,
    works: &Works<'_>,
    sizes: &Sizes,
    schedule: &mut Schedule,
) {
    let has_loop =
        |group: &Group| schedule.decided(group).is_some_and(|decided| has_loop(&decided.nest));
    let recurrences: Vec<&Group> = module.groups.iter().filter(|group| has_loop(group)).collect();
    if recurrences.is_empty() {
        return;
    }
    let observers = Observers::of(module);
    for group in recurrences.into_iter().filter(|group| !is_order_seen(module, group)) {
        let Some(decided) = schedule.decided_mut(group) else { continue };
        let diagonals = || {
            let dependences = dependences(module, group);
            let strips = run_strips(module, group, decided, works, &observers);
            strips
                .or_else(|| run_diagonals(module, group, decided, works, &observers, &dependences))
        };
        let grid = if storage == Storage::Window { diagonals() } else { None };
        let batch = || run_batches(module, group, decided, works, &observers);
        let ensemble = || run_ensembles(module, group, decided, works, &observers);
        let stencil = || tile_steps(module, group, decided, works, sizes, &observers);
        let columns = || {
            let dependences = dependences(module, group);
            run_columns(module, group, decided, works, &observers, &dependences)
        };
        let columns = || (storage == Storage::Window).then(columns).flatten();
        let others = || ensemble().or_else(batch).or_else(stencil).or_else(columns);
        let in_one_loop = matches!(decided.nest, Nest::Loop { .. });
        if let Some(changed) = grid.or_else(|| in_one_loop.then(others).flatten()) {
            *decided = changed;
        }
    }
}

struct Choosing<'m> {
    group: &'m Group,
    works: &'m Works<'m>,
    sizes: &'m Sizes,
    tiling: Tiling<'m>,
    /// Whether it is a group of the module, and not of a region.
    is_top: bool,
    /// Whether some sum of floats runs in lanes.
    chains: bool,
}

/// The forms of the loops around.
type Around = Vec<Vec<(Statement, Form)>>;

/// An axis for lanes, and how many.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Lanes {
    pub(super) axis: usize,
    pub(super) width: u32,
    cost: f64,
}

impl Choosing<'_> {
    fn nest(&mut self, nest: &mut Nest, around: &mut Around, decided: &mut GroupSchedule) {
        match nest {
            Nest::Points { statement, axes, role: Role::Par } => {
                let (statement, axes) = (*statement, axes.clone());
                if let Some(chosen) = self.points(statement, &axes, around, decided) {
                    *nest = chosen;
                }
            }
            Nest::Points { .. } | Nest::Loop { role: Role::Lane(_), .. } => {}
            Nest::Phases(phases) => {
                phases.iter_mut().for_each(|phase| self.nest(phase, around, decided));
            }
            // A loop over tiles leaves the order inside them open.
            Nest::Loop { tile: Some(width), forms, inner, .. } => {
                let outer = self.tiling.tiled_by.replace((forms.clone(), *width));
                self.nest(inner, around, decided);
                self.tiling.tiled_by = outer;
            }
            Nest::Loop { forms, inner, .. } => {
                around.push(forms.clone());
                self.nest(inner, around, decided);
                around.pop();
            }
        }
    }

    fn points(
        &mut self,
        statement: Statement,
        axes: &[usize],
        around: &Around,
        decided: &mut GroupSchedule,
    ) -> Option<Nest> {
        let binding = self.group.bindings.get(statement.binding)?;
        let clause = binding.clauses.get(statement.clause)?;
        let free = free_axes(statement, binding, around)?;
        let work = self.works.of(binding, clause);
        if work.scalar || free.is_empty() {
            return None;
        }
        let lanes = self.best_lanes(binding, &work, &free, around)?;
        self.chains |= work.n_sums > 0;
        if self.is_top
            && let Some(nest) = self.tiling.tiled(
                statement,
                (binding, self.sizes),
                &work,
                lanes,
                &free,
                around,
                decided,
            )
        {
            return Some(nest);
        }
        let mut order: Vec<usize> = axes.iter().copied().filter(|a| *a != lanes.axis).collect();
        let together = self.together(binding, &work, &free, lanes.axis);
        let Some((axis, n)) = together.filter(|_| self.is_top) else {
            order.push(lanes.axis);
            return Some(Nest::Points { statement, axes: order, role: Role::Lane(lanes.width) });
        };
        order.retain(|a| *a != axis);
        order.extend([axis, lanes.axis]);
        let width = lanes.width.min(VECTOR / work.bytes.max(1));
        let points = Nest::Points { statement, axes: order, role: Role::Lane(width) };
        let coefficients = (0..binding.axes.len()).map(|at| i64::from(at == axis)).collect();
        let forms = vec![(statement, Form { coefficients, offset: 0 })];
        Some(Nest::Loop { forms, tile: None, role: Role::Unroll(n), inner: Box::new(points) })
    }

    /// A short axis along which a reduction is the same but for a little, so that its points are computed together and
    /// share what is.
    fn together(
        &self,
        binding: &Binding,
        work: &Work,
        free: &[usize],
        lanes: usize,
    ) -> Option<(usize, u32)> {
        let shares = |axis: &usize| {
            let var = binding.axes[*axis].var;
            let terms = work.reads.iter().filter(|access| access.along.is_some());
            let (same, other): (Vec<_>, Vec<_>) =
                terms.partition(|access| access.step(var) == Step::Same);
            same.len() > other.len()
        };
        let number = |axis: usize| {
            let n = binding.axes[axis].dim.extent.as_constant();
            n.filter(|n| (2..=MOST_TOGETHER).contains(n)).and_then(|n| u32::try_from(n).ok())
        };
        let mut found = free.iter().copied().filter(|axis| *axis != lanes && work.n_folds > 1);
        found.find_map(|axis| number(axis).filter(|_| shares(&axis)).map(|n| (axis, n)))
    }

    /// The axis whose points are cheapest as lanes, if that is cheaper than one point after the other.
    fn best_lanes(
        &self,
        binding: &Binding,
        work: &Work,
        free: &[usize],
        around: &Around,
    ) -> Option<Lanes> {
        let lanes_of = |axis: &usize| {
            let var = binding.axes.get(*axis)?.var;
            let rows = rows_axis(binding, work, *axis, free);
            let shared = rows.is_some() || !around.is_empty();
            let row = rows.map(|axis| binding.axes[axis].var);
            let packed = |access: &Access| {
                shared && self.is_top && self.tiling.panels(access, var, row).is_some()
            };
            lanes_of(binding, work, *axis, &packed)
        };
        let candidates = free.iter().filter_map(lanes_of);
        let best = candidates.reduce(|a, b| if b.cost <= a.cost { b } else { a })?;
        let best = Some(best).filter(|best| best.cost < scalar_cost(work))?;
        if !self.is_top || !around.is_empty() || work.n_folds == 0 {
            return Some(best);
        }
        // Where only the store finds its elements somewhere else, the sizes of the call decide.
        let rows = |lanes: &Lanes| rows_axis(binding, work, lanes.axis, free).is_some();
        let fair: Vec<Lanes> = free
            .iter()
            .filter_map(lanes_of)
            .filter(|lanes| lanes.cost <= best.cost + GATHERED && rows(lanes))
            .collect();
        if fair.len() < 2 || !rows(&best) {
            return Some(best);
        }
        let used = |lanes: &Lanes| {
            let extent = &binding.axes[lanes.axis].dim.extent;
            let width = i64::from(VECTOR / work.bytes.max(1) * TILE_VECTORS);
            self.sizes.extent(extent).map(|n| lanes.cost / part_used(n, width))
        };
        let costs: Option<Vec<f64>> = fair.iter().map(used).collect();
        let Some(costs) = costs else { return Some(best) };
        let each = fair.into_iter().zip(costs);
        each.reduce(|a, b| if b.1 <= a.1 { b } else { a }).map(|(lanes, _)| lanes)
    }
}

/// The part of lanes with work, where so many points go through so many of them at a time.
pub(super) fn part_used(points: i64, lanes: i64) -> f64 {
    let rounds = points.max(1).saturating_add(lanes - 1).div_euclid(lanes);
    points.max(1) as f64 / (rounds.saturating_mul(lanes)) as f64
}

/// The axis along which the points of a clause would run in lanes if nothing were around it.
pub(super) fn axis_of_lanes(binding: &Binding, work: &Work) -> Option<usize> {
    let all: Vec<usize> = (0..binding.axes.len()).collect();
    let candidates = all.iter().filter_map(|axis| {
        let (var, rows) = (binding.axes[*axis].var, rows_axis(binding, work, *axis, &all));
        lanes_of(binding, work, *axis, &|access| {
            rows.is_some() && access.along.is_some() && access.step(var) != Step::Same
        })
    });
    let best = candidates.reduce(|a, b| if b.cost <= a.cost { b } else { a })?;
    (!work.scalar && best.cost < scalar_cost(work)).then_some(best.axis)
}

/// The axes of a statement that no loop around moves along. `None` if some loop moves along several.
fn free_axes(statement: Statement, binding: &Binding, around: &Around) -> Option<Vec<usize>> {
    let mut free: Vec<usize> = (0..binding.axes.len()).collect();
    for forms in around {
        let (_, form) = forms.iter().find(|(of, _)| *of == statement)?;
        let mut moved = (0..form.coefficients.len()).filter(|at| form.coefficients[*at] != 0);
        let axis = moved.next()?;
        if moved.next().is_some() {
            return None;
        }
        free.retain(|at| *at != axis);
    }
    Some(free)
}

/// The same for a statement of a nest, wherever it stands there.
pub(super) fn free_axes_in(
    nest: &Nest,
    statement: Statement,
    binding: &Binding,
) -> Option<Vec<usize>> {
    fn around(nest: &Nest, of: Statement) -> Option<Around> {
        match nest {
            Nest::Points { statement, .. } => (*statement == of).then(Vec::new),
            Nest::Phases(phases) => phases.iter().find_map(|phase| around(phase, of)),
            Nest::Loop { forms, inner, .. } => around(inner, of).map(|mut found| {
                found.push(forms.clone());
                found
            }),
        }
    }
    free_axes(statement, binding, &around(nest, statement)?)
}

/// Lanes along an axis, and what a point costs then.
fn lanes_of(
    binding: &Binding,
    work: &Work,
    axis: usize,
    packed: &dyn Fn(&Access) -> bool,
) -> Option<Lanes> {
    let var = binding.axes.get(axis)?.var;
    let extent = binding.axes[axis].dim.extent.as_constant();
    if work.bounds.contains(&var) || extent.is_some_and(|extent| extent < FEWEST_LANES) {
        return None;
    }
    let vectors = if work.n_folds > 0 { LONE_VECTORS } else { 1 };
    let width = fitting((VECTOR / work.bytes.max(1) * vectors).min(MOST_LANES), extent);
    let lanes = f64::from(fitting(VECTOR / work.bytes.max(1), extent));
    let of = |access: &Access| {
        let often = if access.along.is_some() { TERMS } else { 1.0 };
        let gathered = access.step(var) == Step::Far && !packed(access);
        often * if gathered { GATHERED } else { 1.0 / lanes }
    };
    let reads: f64 = work.reads.iter().map(of).sum();
    let slow = SLOW * (work.n_slow[0] as f64 + TERMS * work.n_slow[1] as f64);
    let ops = slow + work.n_ops[0] as f64 + TERMS * (work.n_ops[1] + work.n_folds) as f64;
    let store = if axis + 1 == binding.axes.len() { 1.0 / lanes } else { GATHERED };
    Some(Lanes { axis, width, cost: reads + store + ops / lanes })
}

/// As many lanes as there are points, if that is known.
pub(super) fn fitting(width: u32, extent: Option<i64>) -> u32 {
    let enough =
        extent.and_then(|e| u32::try_from(e).ok()).and_then(u32::checked_next_power_of_two);
    enough.map_or(width, |enough| enough.min(width)).max(1)
}

/// What a point costs if they come one after the other.
fn scalar_cost(work: &Work) -> f64 {
    let in_parts =
        |access: &&Access| access.along.is_none_or(|along| access.step(along) != Step::Far);
    let fast = work.n_slow[1] == 0 && work.n_folds == work.n_sums + work.n_extremes;
    let parts = fast && work.n_short == 0 && work.reads.iter().all(|access| in_parts(&access));
    let term = if parts { IN_PARTS } else { SCALAR };
    let reads: f64 = work
        .reads
        .iter()
        .map(|access| if access.along.is_some() { TERMS * term } else { SCALAR })
        .sum();
    let ops = work.n_ops[0] as f64 * SCALAR + work.n_ops[1] as f64 * TERMS * term;
    let n_parts = work.n_sums + if parts { work.n_extremes } else { 0 };
    let waiting = work.n_folds.saturating_sub(n_parts) as f64 * TERMS * WAITING;
    let sums = n_parts as f64 * TERMS * term;
    let slow = SLOW * (work.n_slow[0] as f64 + TERMS * work.n_slow[1] as f64);
    reads + ops + slow + waiting + sums + SCALAR
}
