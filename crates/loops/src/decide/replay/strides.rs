//! Which indices go along a trajectory in larger steps: `k` in `sum[k](x[10 * k])`.
//!
//! An index that a trajectory is read by, some planes further for each of its own values, has that many
//! planes to a step; so has the index of whatever reads, value by value, a tensor along such an index, and the
//! axis of whatever is read by such an index. The adjoint of a recurrence over every tenth point may read no
//! trajectory at all; that of the trajectory reads it in every tenth step.

use einlang_index::{Affine, Quasi, Var};
use einlang_tir::module::{Binding, Group, Module, SymbolSource};
use einlang_tir::region::{InstKind, Read, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::super::at_reads::whole_uses;
use super::shape::{sum_of, sum_over};
use super::stage::is_in_one_segment;

/// How many planes of time each index that goes in larger steps has to a step, by what it reads or also by what
/// it is read by.
pub(super) fn find_strides(module: &Module, by_readers: bool) -> HashMap<Var, i64> {
    let axes = module.bindings().flat_map(|binding| &binding.axes);
    let short = axes.filter(|axis| is_in_one_segment(&axis.dim.extent)).map(|axis| axis.var);
    let mut finding = Finding {
        fixed: fixed(module),
        short: short.collect(),
        steps: HashMap::default(),
        moving: HashMap::default(),
    };
    loop {
        for group in &module.groups {
            finding.group(module, group);
        }
        let n_found = finding.steps.len();
        if !by_readers || n_found == 0 && !has_divisions(module) {
            break;
        }
        for group in module.groups.iter().rev() {
            finding.readers(group);
        }
        if finding.steps.len() == n_found {
            break;
        }
    }
    finding.steps
}

struct Finding {
    /// Tensors whose axes stay what they are.
    fixed: HashSet<Ident>,
    /// Axes that are never time.
    short: HashSet<Var>,
    steps: HashMap<Var, i64>,
    /// The axes of trajectories, and of what is computed from them.
    moving: HashMap<Ident, Vec<Var>>,
}

impl Finding {
    fn group(&mut self, module: &Module, group: &Group) {
        let mut moves = false;
        for binding in &group.bindings {
            let mut own =
                if self.fixed.contains(&binding.name) { Vec::new() } else { binding.dims() };
            let summed = sum_of(binding).filter(|sum| sum_over(sum).is_some());
            own.extend(summed.and_then(|sum| sum.domain.dims().first()));
            for region in binding.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body])) {
                region.for_each_inst(&mut |inst| {
                    if let InstKind::Read(read) = &inst.kind
                        && let Some(axes) = self.moving.get(&read.place.tensor)
                    {
                        moves = true;
                        for (index, step) in steps_of(read, axes, &self.steps) {
                            if own.contains(&index) {
                                self.steps.entry(index).or_insert(step);
                            }
                        }
                    }
                });
            }
        }
        let first = group.bindings.first();
        if moves || first.is_some_and(|binding| module.is_recurrent(&binding.name)) {
            let axes = group.bindings.iter().map(|b| (b.name.clone(), b.dims()));
            self.moving.extend(axes);
        }
    }

    /// The steps of what a group reads, by those of its own indices.
    fn readers(&mut self, group: &Group) {
        for binding in &group.bindings {
            let moves = self.moving.contains_key(&binding.name) || sum_of(binding).is_some();
            for region in binding.clauses.iter().map(|clause| &clause.body).filter(|_| moves) {
                let own = binding.dims().into_iter();
                let planes = own.map(|axis| (axis, self.steps.get(&axis).copied().unwrap_or(1)));
                self.read_by(region, &planes.collect());
            }
        }
    }

    /// The steps of what a region reads, given how many planes its indices have to a step.
    fn read_by(&mut self, region: &Region, planes: &HashMap<Var, i64>) {
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Read(read) if !self.fixed.contains(&read.place.tensor) => {
                    let axes = self.moving.get(&read.place.tensor).into_iter().flatten();
                    for (subscript, axis) in read.place.at.iter().zip(axes) {
                        if let Subscript::Index(at) = subscript
                            && !self.short.contains(axis)
                            && let Some(step) = step_by(at, planes).filter(|step| *step > 1)
                        {
                            self.steps.entry(*axis).or_insert(step);
                        }
                    }
                }
                InstKind::Reduce(reduction) => {
                    let mut inside = planes.clone();
                    let dims = reduction.domain.dims();
                    let known = |dim: &Var| Some((*dim, *self.steps.get(dim)?));
                    inside.extend(dims.iter().filter_map(known));
                    let sets = reduction.domain.sets().iter();
                    for equation in sets.flat_map(|set| set.eqs()) {
                        inside.extend(steps_in(equation, planes, dims));
                    }
                    inst.regions().into_iter().for_each(|region| self.read_by(region, &inside));
                }
                _ => inst.regions().into_iter().for_each(|region| self.read_by(region, planes)),
            }
        }
    }
}

/// How many planes further a subscript is in each step, if that is a whole number of its own.
fn step_by(at: &Quasi, planes: &HashMap<Var, i64>) -> Option<i64> {
    match (at.affine().terms(), at.divisions()) {
        ([(index, 1)], []) => planes.get(index).copied(),
        ([], [(division, 1)]) => {
            let index = division.number.affine().terms().first()?.0;
            planes.get(&index)?.checked_mul(division.divisor)
        }
        _ => None,
    }
}

/// The planes that summed indices have to a step where an equation with an index of known ones, such as
/// `t = 10 k + r`, says so.
fn steps_in(equation: &Affine, planes: &HashMap<Var, i64>, dims: &[Var]) -> Vec<(Var, i64)> {
    let terms = equation.terms();
    let time = terms.iter().find(|(var, c)| c.abs() == 1 && planes.contains_key(var));
    let Some(of) = time.and_then(|(var, _)| planes.get(var)) else { return Vec::new() };
    let summed = terms.iter().filter(|(var, _)| dims.contains(var));
    summed.filter_map(|(var, c)| Some((*var, c.abs().checked_mul(*of)?))).collect()
}

/// Whether anything is read by a quotient.
fn has_divisions(module: &Module) -> bool {
    let mut found = false;
    module.for_each_inst(&mut |inst| {
        if let InstKind::Read(read) = &inst.kind {
            found |= read
                .place
                .at
                .iter()
                .any(|at| matches!(at, Subscript::Index(at) if !at.divisions().is_empty()));
        }
    });
    found
}

/// The indices of a read of a tensor with these axes that go in steps of several planes.
fn steps_of(read: &Read, axes: &[Var], steps: &HashMap<Var, i64>) -> Vec<(Var, i64)> {
    let mut found = Vec::new();
    for (subscript, axis) in read.place.at.iter().zip(axes) {
        let Subscript::Index(at) = subscript else { continue };
        let planes = steps.get(axis).copied().unwrap_or(1);
        // Among the indices of one subscript, time is the one with the largest steps.
        let longest = at.affine().terms().iter().max_by_key(|(_, step)| *step);
        if let Some((index, step)) = longest
            && let Some(step) = step.checked_mul(planes).filter(|step| *step > 1)
        {
            found.push((*index, step));
        }
    }
    found
}

/// Tensors whose axes stay what they are: those that are seen as a whole or at points that are data, open
/// ones, and those with tensors inside.
fn fixed(module: &Module) -> HashSet<Ident> {
    let mut fixed: HashSet<Ident> = module.outputs.iter().cloned().collect();
    for symbol in &module.symbols {
        if let SymbolSource::Value(name) | SymbolSource::Shape(name, _) = &symbol.source {
            fixed.insert(name.clone());
        }
    }
    module.for_each_region(&mut |region| fixed.extend(whole_uses(region)));
    module.for_each_inst(&mut |inst| {
        if let InstKind::Read(read) = &inst.kind
            && read.place.at.iter().any(|at| matches!(at, Subscript::Value(_)))
        {
            fixed.insert(read.place.tensor.clone());
        }
    });
    for group in &module.groups {
        let stays = |binding: &&Binding| group.until.is_some() || has_tensors(binding);
        fixed.extend(group.bindings.iter().filter(stays).map(|binding| binding.name.clone()));
    }
    fixed
}

fn has_tensors(binding: &Binding) -> bool {
    let mut found = false;
    let regions = binding.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body]));
    let mut visit = |region: &Region| {
        region.for_each_inst(&mut |inst| {
            found |= matches!(inst.kind, InstKind::Group(_) | InstKind::Param { .. });
        });
    };
    regions.for_each(&mut visit);
    found
}

/// An expression by the time of an index instead of its own value.
pub(super) fn by_time(expr: &Quasi, (index, time, step): (Var, Var, i64)) -> Option<Quasi> {
    if !expr.mentions(index) {
        return Some(expr.clone());
    }
    let times = expr.affine().coeff(index);
    let mut sum = Quasi::from(expr.affine().without(index));
    sum = match times % step {
        0 => sum.combine(1, &Quasi::from(time), times / step).ok()?,
        _ => sum.combine(1, &Quasi::from(time).floor_div(step).ok()?, times).ok()?,
    };
    for (division, coefficient) in expr.divisions() {
        let number = by_time(&division.number, (index, time, step))?;
        let quotient = number.divide(division.op, division.divisor).ok()?;
        sum = sum.combine(1, &quotient, *coefficient).ok()?;
    }
    Some(sum)
}
