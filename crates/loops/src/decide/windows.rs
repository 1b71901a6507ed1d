//! `fold_storage`: how many planes of a recurrence are kept under its schedule.
//!
//! This is the physical side of storage, and a proof goes with every modulus. A loop around the whole
//! group runs along a dimension of the tensor's memory (`along.rs`), so that plane `p` is written in
//! one round and what lies `W` planes on is written `W` rounds later, in the same round of the loops
//! around. The plane may be overwritten then, because
//!
//! - every read inside the group, the condition of an `until` included, is in the same round of the
//!   loops around and comes at most `h` rounds after the write, and `W > h`;
//! - every read after the group is of one of the last `s` planes, and `W >= s`;
//! - every point that is read has a clause without a guard, so that no read finds what an earlier
//!   plane left behind;
//! - nothing sees the tensor as a whole: it is no output and no size, and is passed on nowhere.
//!
//! What is not proved for all extents that the module allows is kept in full.

use std::collections::{HashMap, HashSet};

use einlang_index::{Domain, Facts, Map, Quasi};
use einlang_tir::module::{Axis, Binding, Group, Module, SymbolSource, box_of};
use einlang_tir::order::{Dependence, Form};
use einlang_tir::region::{InstKind, Read, Region, Subscript};
use einlang_tir::types::Ident;

use super::along::{Along, Forms, along};
use super::at_reads::whole_uses;
use super::distance::{distance, form_at, most};
use super::extremes::Extremes;
use crate::schedule::{GroupSchedule, Layout, TensorSchedule};

/// The reads of every tensor from outside its own group, and what is seen as a whole.
pub(super) struct Observers {
    reads: HashMap<Ident, Vec<(Read, Domain)>>,
    whole: HashSet<Ident>,
    extremes: Extremes,
}

impl Observers {
    pub(super) fn of(module: &Module) -> Observers {
        let mut whole: HashSet<Ident> = module.outputs.iter().cloned().collect();
        for symbol in &module.symbols {
            if let SymbolSource::Value(name) | SymbolSource::Shape(name, _) = &symbol.source {
                whole.insert(name.clone());
            }
        }
        let extremes = Extremes::of(module);
        let mut observers = Observers { reads: HashMap::new(), whole, extremes };
        for group in &module.groups {
            observers.group(group, &Domain::everything([]), &mut Vec::new());
        }
        observers
    }

    /// Whether something outside its group reads a tensor.
    pub(super) fn read_later(&self, name: &Ident) -> bool {
        self.whole.contains(name) || self.reads.contains_key(name)
    }

    /// Whether something sees a tensor as a whole.
    pub(super) fn sees_all_of(&self, name: &Ident) -> bool {
        self.whole.contains(name)
    }

    /// The smallest number that an expression never exceeds.
    pub(super) fn most(&self, facts: &Facts, over: &Domain, expr: &Quasi) -> Option<i64> {
        self.extremes.most(facts, over, expr)
    }

    fn group(&mut self, group: &Group, over: &Domain, around: &mut Vec<Ident>) {
        let n_around = around.len();
        around.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
            let inside = extended(over, &clause.domain);
            for region in clause.guard.iter().chain([&clause.body]) {
                self.region(region, &inside, around);
                self.whole.extend(whole_uses(region));
            }
        }
        if let Some(until) = &group.until {
            self.region(&until.condition, over, around);
            self.whole.extend(whole_uses(&until.condition));
        }
        around.truncate(n_around);
    }

    fn region(&mut self, region: &Region, over: &Domain, around: &mut Vec<Ident>) {
        for inst in &region.insts {
            match &inst.kind {
                InstKind::Read(read) => {
                    let name = &read.place.tensor;
                    if !around.contains(name) {
                        let list = self.reads.entry(name.clone()).or_default();
                        list.push((read.clone(), over.clone()));
                    }
                    read.default.iter().for_each(|region| self.region(region, over, around));
                }
                InstKind::Reduce(reduction) => {
                    let inside = extended(over, &reduction.domain);
                    for region in inst.regions() {
                        self.region(region, &inside, around);
                    }
                }
                InstKind::Group(group) => self.group(group, over, around),
                _ => {
                    for region in inst.regions() {
                        self.region(region, over, around);
                    }
                }
            }
        }
    }
}

/// Gives the tensors of a group their windows.
pub(super) fn fold_storage(
    group: &Group,
    schedule: &mut GroupSchedule,
    dependences: &[Dependence],
    observers: &Observers,
    facts: &Facts,
) {
    let windows = needed_windows(group, schedule, dependences, observers, facts);
    for ((tensor, windows), binding) in
        schedule.tensors.iter_mut().zip(windows).zip(&group.bindings)
    {
        let Some((axis, width)) = windows.first().copied() else { continue };
        let extent = binding.axes[axis].dim.extent.as_constant();
        if extent.is_none_or(|extent| extent > width)
            && let Some(layout) = tensor.storage.get_mut(axis)
        {
            *layout = Layout::Mod(width);
        }
    }
}

/// For each tensor of a group, the dimensions of its memory that may have a window under the nest,
/// each alone, and their least widths.
pub(super) fn needed_windows(
    group: &Group,
    schedule: &GroupSchedule,
    dependences: &[Dependence],
    observers: &Observers,
    facts: &Facts,
) -> Vec<Vec<(usize, i64)>> {
    let folding = Folding { group, dependences, observers, facts };
    let tensors = group.bindings.iter().zip(&schedule.tensors).enumerate();
    let windows = |(at, (binding, tensor)): (usize, (&Binding, &TensorSchedule))| {
        let all = along(&schedule.nest, at, tensor);
        all.iter().filter_map(|along| folding.window(at, binding, tensor, along)).collect()
    };
    tensors.map(windows).collect()
}

/// Whether every point of a tensor that is read is certain to be stored.
pub(super) fn is_stored(
    group: &Group,
    binding: &Binding,
    observers: &Observers,
    facts: &Facts,
) -> bool {
    let folding = Folding { group, dependences: &[], observers, facts };
    is_total(binding, facts, observers) || folding.reads_are_stored(binding)
}

struct Folding<'a> {
    group: &'a Group,
    dependences: &'a [Dependence],
    observers: &'a Observers,
    facts: &'a Facts,
}

impl Folding<'_> {
    /// The width of the window along a dimension of a binding's memory.
    fn window(
        &self,
        at: usize,
        binding: &Binding,
        tensor: &TensorSchedule,
        along: &Along<'_>,
    ) -> Option<(usize, i64)> {
        let stays = is_total(binding, self.facts, self.observers) || self.reads_are_stored(binding);
        if self.observers.whole.contains(&binding.name) || !stays {
            return None;
        }
        let mut width = 1;
        for dependence in self.dependences.iter().filter(|d| d.writer.binding == at) {
            let form = |forms: &'_ Forms, s| forms.iter().find(|f| f.0 == s).map(|f| f.1.clone());
            let later = match form(along.forms, dependence.reader) {
                Some(reader) => {
                    let later = distance(self.group, dependence, &reader, along.form).ok()?;
                    most(self.facts, &dependence.domain, &later)?
                }
                // It comes after the loop, in the same round of those around.
                None => {
                    let left = self.planes_left(binding, tensor, along, &dependence.at)?;
                    self.observers.extremes.most(self.facts, &dependence.domain, &left)?
                }
            };
            width = width.max(later.checked_add(1)?);
            for outer in &along.around {
                let (r, w) = (form(outer, dependence.reader), form(outer, dependence.writer));
                if !super::legal::stays(self.group, dependence, r.as_ref(), w.as_ref(), self.facts)
                {
                    return None;
                }
            }
        }
        if self.group.until.is_some() && !along.around.is_empty() {
            return None;
        }
        width = width.max(self.of_condition(binding, along.form)?);
        let dimension = tensor.dimension(along.dimension);
        for (read, over) in self.observers.reads.get(&binding.name).into_iter().flatten() {
            let mut over = over.clone();
            let mut at = Vec::with_capacity(dimension.len());
            for (axis, c) in dimension.iter().enumerate() {
                at.push(match (read.place.at.get(axis)?, c) {
                    (Subscript::Index(at), _) => at.clone(),
                    (Subscript::Value(_), 0) => Quasi::from(0),
                    (Subscript::Value(_), _) => return None,
                });
                if *c != 0 {
                    over = self.inside(read, &over, &binding.axes[axis], axis)?;
                }
            }
            let left = self.planes_left(binding, tensor, along, &at)?;
            let far = self.observers.extremes.most(self.facts, &over, &left)?;
            width = width.max(far.checked_add(1)?);
        }
        Some((along.dimension, width))
    }

    /// How many planes a point is away from the last one.
    fn planes_left(
        &self,
        binding: &Binding,
        tensor: &TensorSchedule,
        along: &Along<'_>,
        at: &[Quasi],
    ) -> Option<Quasi> {
        let mut from_end = Quasi::from(0);
        let dimension = tensor.dimension(along.dimension);
        for ((axis, at), c) in binding.axes.iter().zip(at).zip(&dimension) {
            let left = match along.down {
                false => axis.dim.extent.add_constant(-1).and_then(|last| last.sub(at)).ok()?,
                true => at.clone(),
            };
            from_end = from_end.combine(1, &left, *c).ok()?;
        }
        Some(from_end)
    }

    /// The reading points whose target is on the axis: others are tested and read nothing.
    fn inside(&self, read: &Read, over: &Domain, axis: &Axis, number: usize) -> Option<Domain> {
        let Subscript::Index(at) = read.place.at.get(number)? else { return None };
        let bounds = [at.clone(), axis.dim.extent.sub(at).and_then(|d| d.add_constant(-1)).ok()?];
        let part = Domain::where_nonnegative(over.dims(), &bounds).ok()?;
        over.intersect(&part).ok()
    }

    /// Whether every read of the tensor is of points that clauses without guards cover.
    fn reads_are_stored(&self, binding: &Binding) -> bool {
        let mut stored = Domain::nothing(binding.dims());
        for clause in binding.clauses.iter().filter(|clause| clause.guard.is_none()) {
            match stored.union(&clause.domain) {
                Ok(more) => stored = more,
                Err(_) => return false,
            }
        }
        let mut reads = Vec::new();
        for clause in self.group.bindings.iter().flat_map(|binding| &binding.clauses) {
            for region in clause.guard.iter().chain([&clause.body]) {
                reads_of(region, &clause.domain, &binding.name, &mut reads);
            }
        }
        if let Some(until) = &self.group.until {
            let over = Domain::everything([until.index]);
            reads_of(&until.condition, &over, &binding.name, &mut reads);
        }
        let outside = self.observers.reads.get(&binding.name).into_iter().flatten();
        let mut all = reads.iter().chain(outside);
        let Ok(whole) = box_of(&binding.axes) else { return false };
        all.all(|(read, over)| {
            let index = |subscript: &Subscript| match subscript {
                Subscript::Index(expr) => Some(expr.clone()),
                Subscript::Value(_) => None,
            };
            let at: Option<Vec<Quasi>> = read.place.at.iter().map(index).collect();
            let Some(at) = at else { return false };
            let map = Map::new(over.dims(), at);
            let inside = whole.preimage(&map).and_then(|part| over.intersect(&part));
            let missing = stored.preimage(&map).and_then(|part| inside?.subtract(&part));
            missing.is_ok_and(|rest| self.observers.extremes.is_empty(self.facts, &rest))
        })
    }

    /// How many planes the condition of an `until` needs.
    fn of_condition(&self, binding: &Binding, form: &Form) -> Option<i64> {
        let Some(until) = &self.group.until else { return Some(1) };
        let mut reads = Vec::new();
        reads_of(&until.condition, &Domain::everything([until.index]), &binding.name, &mut reads);
        let mut width = 1;
        for (read, over) in reads {
            let index = |subscript: &Subscript| match subscript {
                Subscript::Index(expr) => Some(expr.clone()),
                // Any point along the axis; harmless unless it is the axis of the loop.
                Subscript::Value(_) => None,
            };
            let zero = Quasi::from(0);
            let at: Option<Vec<Quasi>> = read
                .place
                .at
                .iter()
                .zip(&form.coefficients)
                .map(|(s, c)| if *c == 0 { Some(zero.clone()) } else { index(s) })
                .collect();
            let later = Quasi::from(until.index).sub(&form_at(form, &at?).ok()?).ok()?;
            width = width.max(most(self.facts, &over, &later)?.checked_add(1)?);
        }
        Some(width)
    }
}

/// The reads of one tensor in a region, with the points at which they happen.
fn reads_of(region: &Region, over: &Domain, name: &Ident, found: &mut Vec<(Read, Domain)>) {
    for inst in &region.insts {
        let inside = match &inst.kind {
            InstKind::Read(read) => {
                if read.place.tensor == *name {
                    found.push((read.clone(), over.clone()));
                }
                over.clone()
            }
            InstKind::Reduce(reduction) => extended(over, &reduction.domain),
            InstKind::Group(group) => {
                for clause in group.bindings.iter().flat_map(|binding| &binding.clauses) {
                    let inside = extended(over, &clause.domain);
                    for region in clause.guard.iter().chain([&clause.body]) {
                        reads_of(region, &inside, name, found);
                    }
                }
                if let Some(until) = &group.until {
                    reads_of(&until.condition, over, name, found);
                }
                continue;
            }
            _ => over.clone(),
        };
        inst.regions().into_iter().for_each(|region| reads_of(region, &inside, name, found));
    }
}

/// Whether clauses without guards cover the whole box.
pub(super) fn is_total(binding: &Binding, facts: &Facts, observers: &Observers) -> bool {
    let mut rest = box_of(&binding.axes);
    for clause in binding.clauses.iter().filter(|clause| clause.guard.is_none()) {
        rest = rest.and_then(|rest| rest.subtract(&clause.domain));
    }
    rest.is_ok_and(|rest| observers.extremes.is_empty(facts, &rest))
}

/// The points of `outer` with further dimensions; where that gives up, more points.
pub(super) fn extended(outer: &Domain, inner: &Domain) -> Domain {
    let dims: Vec<_> = outer.dims().iter().chain(inner.dims()).copied().collect();
    let mut sets = Vec::new();
    for a in outer.sets() {
        for b in inner.sets() {
            sets.push(a.intersect(b).unwrap_or_else(|_| a.clone()));
        }
    }
    Domain::of_sets(dims, sets)
}
