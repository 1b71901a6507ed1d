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

use einlang_index::Var;
use einlang_tir::module::{Axis, Binding, Group, Module, SymbolSource};
use einlang_tir::order::{Form, Statement};
use einlang_tir::region::{InstKind, Place, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::at_reads::{compute_at_reads, whole_uses};
use super::components::run_components;
use super::cost::ROWS_TOGETHER;
use super::fuse::statements;
use super::legal::group_is_legal;
use super::points::SHORT;
use super::roles::axis_of_lanes;
use super::tiles::rows_axis;
use super::windows::Observers;
use super::work::Works;
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Role, Schedule, TensorSchedule};

/// The most tensors that are computed together.
const MOST_TENSORS: usize = 16;

/// For each tensor the axis that goes with each axis of the last one, where there is one.
type Alignment = HashMap<Ident, Vec<Option<usize>>>;

/// Makes one group of tensors that are computed row by row.
pub fn join_rows(module: Module) -> Module {
    let mut module = module;
    let mut sink = module.groups.len();
    let alone = where_computed(&module);
    while sink > 1 {
        let seen = Seen::of(&module, &alone);
        let found = (1..sink).rev().find_map(|at| Some((at, seen.members(at)?)));
        let Some((at, members)) = found else { break };
        let mut bindings = Vec::new();
        for member in members.iter().rev() {
            bindings.splice(0..0, module.groups.remove(*member).bindings);
        }
        sink = at + 1 - members.len();
        module.groups.insert(sink, Group { bindings, until: None });
    }
    module
}

/// A schedule that says no more than what is computed where it is read.
pub(super) fn where_computed(module: &Module) -> Schedule {
    let here = |binding: &Binding| TensorSchedule {
        name: binding.name.clone(),
        compute: Compute::Here,
        storage: Vec::new(),
        map: Vec::new(),
        stack: false,
        once: Vec::new(),
    };
    let groups = module.groups.iter().map(|group| GroupSchedule {
        packs: Vec::new(),
        tensors: group.bindings.iter().map(here).collect(),
        nest: Nest::Phases(Vec::new()),
    });
    let mut schedule = Schedule { groups: groups.collect(), ..Schedule::default() };
    compute_at_reads(module, &mut schedule);
    schedule
}

/// What is asked of a module.
struct Seen<'m> {
    module: &'m Module,
    /// The groups that read each tensor.
    readers: HashMap<&'m Ident, Vec<usize>>,
    /// Which groups are one tensor that is no recurrence and that nothing sees as a whole.
    inside: Vec<bool>,
    works: Works<'m>,
}

impl<'m> Seen<'m> {
    fn of(module: &'m Module, alone: &Schedule) -> Seen<'m> {
        let mut readers: HashMap<&Ident, Vec<usize>> = HashMap::default();
        let mut whole: HashSet<Ident> = module.outputs.iter().cloned().collect();
        for symbol in &module.symbols {
            if let SymbolSource::Value(name) | SymbolSource::Shape(name, _) = &symbol.source {
                whole.insert(name.clone());
            }
        }
        let mut recurrent = vec![false; module.groups.len()];
        for (at, group) in module.groups.iter().enumerate() {
            for region in group.regions() {
                whole.extend(whole_uses(region));
                region.for_each_inst(&mut |inst| recurrent[at] |= is_nested(&inst.kind));
            }
            for name in names_read(group) {
                recurrent[at] |= group.bindings.iter().any(|binding| binding.name == *name);
                let of = readers.entry(name).or_default();
                if of.last() != Some(&at) {
                    of.push(at);
                }
            }
        }
        let inside = module.groups.iter().zip(recurrent).map(|(group, recurrent)| {
            let one = group.bindings.len() == 1 && group.until.is_none() && !recurrent;
            one && !whole.contains(&group.bindings[0].name)
        });
        let inside = inside.collect();
        let works = Works::new(module, alone);
        Seen { module, readers, inside, works }
    }

    fn binding(&self, at: usize) -> &'m Binding {
        &self.module.groups[at].bindings[0]
    }

    /// Whether a group is one tensor that can be the last of some.
    fn is_sink(&self, at: usize) -> bool {
        let group = &self.module.groups[at];
        let reads_itself = || names_read(group).any(|name| group.bindings[0].name == *name);
        group.bindings.len() == 1 && group.until.is_none() && !reads_itself()
    }

    /// Whether everything that reads a tensor is one of these groups, and something does.
    fn is_read_by(&self, at: usize, groups: &[usize]) -> bool {
        let readers = self.readers.get(&self.binding(at).name);
        readers.is_some_and(|readers| readers.iter().all(|reader| groups.contains(reader)))
    }

    /// The groups that are computed together with one, which is the last of them.
    fn members(&self, sink: usize) -> Option<Vec<usize>> {
        if !self.is_sink(sink) {
            return None;
        }
        let mut candidates = vec![sink];
        for at in (0..sink).rev() {
            if candidates.len() < MOST_TENSORS
                && self.inside[at]
                && self.is_read_by(at, &candidates)
            {
                candidates.insert(0, at);
            }
        }
        let bindings =
            |list: &[usize]| -> Vec<&Binding> { list.iter().map(|at| self.binding(*at)).collect() };
        let aligned = align(&bindings(&candidates));
        let of = |at: &usize| aligned.get(&self.binding(*at).name);
        let others = candidates.iter().rev().skip(1).filter_map(of);
        let rows = common(self.binding(sink).axes.len(), others)?;
        candidates.retain(|at| of(at).is_some_and(|axes| rows.iter().all(|c| axes[*c].is_some())));
        // What is read by something that does not belong to it is computed before.
        loop {
            let all = candidates.clone();
            candidates.retain(|at| *at == sink || self.is_read_by(*at, &all));
            if candidates.len() == all.len() {
                break;
            }
        }
        let all = bindings(&candidates);
        let rows = rows_of(&all).filter(|_| all.len() > 1)?;
        if has_short_rows(self.binding(sink), rows.len()) {
            return None;
        }
        let fits = needs_rows(&all, &rows) && !runs_across(&all, &rows, &self.works);
        fits.then_some(candidates)
    }
}

/// Whether the rows of a tensor are so short that its points are better lanes.
fn has_short_rows(binding: &Binding, n_loops: usize) -> bool {
    let short = |axis: &&Axis| axis.dim.extent.as_constant().is_some_and(|n| n <= SHORT);
    binding.axes.iter().filter(short).count() + n_loops >= binding.axes.len()
}

/// The tensors that a group reads point by point.
fn names_read(group: &Group) -> impl Iterator<Item = &Ident> {
    let mut found = Vec::new();
    for region in group.regions() {
        reads_of(region, &mut found);
    }
    found.into_iter()
}

fn reads_of<'r>(region: &'r Region, found: &mut Vec<&'r Ident>) {
    for inst in &region.insts {
        if let InstKind::Read(read) = &inst.kind {
            found.push(&read.place.tensor);
        }
        inst.regions().into_iter().for_each(|region| reads_of(region, found));
        if let InstKind::Group(group) = &inst.kind {
            group.regions().into_iter().for_each(|region| reads_of(region, found));
        }
    }
}

/// Whether an instruction has tensors of its own, or asks the surroundings.
pub(super) fn is_nested(kind: &InstKind) -> bool {
    matches!(kind, InstKind::Group(_) | InstKind::HostCall { .. } | InstKind::Param { .. })
}

/// Whether some tensor has its elements next to each other in different rows, or is better computed for
/// many rows at a time.
fn runs_across(bindings: &[&Binding], rows: &[Vec<usize>], works: &Works<'_>) -> bool {
    bindings.iter().enumerate().any(|(number, binding)| {
        let is_row = |axis: usize| rows.iter().any(|axes| axes[number] == axis);
        let last = binding.axes.len().saturating_sub(1);
        let turned = binding.axes.len() > rows.len() && is_row(last);
        turned
            || binding.clauses.iter().any(|clause| {
                let work = works.of(binding, clause);
                work.n_folds > 0 && axis_of_lanes(binding, &work).is_some_and(is_row)
            })
    })
}

/// Whether some tensor sums up or compares a row that another one needs, too, or makes.
fn needs_rows(bindings: &[&Binding], rows: &[Vec<usize>]) -> bool {
    bindings.iter().enumerate().any(|(number, binding)| {
        let of_row: Vec<Var> = rows.iter().map(|axes| binding.axes[axes[number]].var).collect();
        let mut found: Vec<Ident> = Vec::new();
        for clause in &binding.clauses {
            clause.body.for_each_inst(&mut |inst| {
                if let InstKind::Reduce(reduction) = &inst.kind {
                    let dims = reduction.domain.dims();
                    reduction.body.for_each_inst(&mut |inst| {
                        if let InstKind::Read(read) = &inst.kind
                            && is_of_row(&read.place, &of_row, dims)
                        {
                            found.push(read.place.tensor.clone());
                        }
                    });
                }
            });
        }
        found.iter().any(|name| {
            let others = || bindings.iter().filter(|other| other.name != binding.name);
            others().any(|other| other.name == *name || reads(other, name))
        })
    })
}

/// Whether a place lies in the row of a point, along an index of a reduction.
fn is_of_row(place: &Place, row: &[Var], along: &[Var]) -> bool {
    let is = |at: &Subscript, var: Var| matches!(at, Subscript::Index(expr) if expr.as_var() == Some(var));
    let has = |var: &Var| place.at.iter().any(|at| is(at, *var));
    row.iter().all(has) && along.iter().any(has)
}

/// Whether a tensor is computed from another.
fn reads(binding: &Binding, name: &Ident) -> bool {
    let mut any = false;
    for region in binding.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body])) {
        region.for_each_inst(&mut |inst| {
            any |= matches!(&inst.kind, InstKind::Read(read) if read.place.tensor == *name);
        });
    }
    any
}

/// The most axes of the last tensor, of so many, that another one has in common with it, but not all.
fn common<'a>(
    rank: usize,
    others: impl Iterator<Item = &'a Vec<Option<usize>>>,
) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    for axes in others {
        let of: Vec<usize> = (0..axes.len()).filter(|class| axes[*class].is_some()).collect();
        let part = !of.is_empty() && of.len() < rank;
        if part && best.as_ref().is_none_or(|best| of.len() > best.len()) {
            best = Some(of);
        }
    }
    best
}

/// Which axes of tensors always have the same index as the axes of the last tensor.
fn align(bindings: &[&Binding]) -> Alignment {
    let mut aligned = Alignment::default();
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
    // What is proved with loops over components holds without them.
    let components = run_components(module, group, &changed, works, observers);
    components.or_else(|| {
        group_is_legal(module, group, &changed, observers, &module.facts()).then_some(changed)
    })
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
