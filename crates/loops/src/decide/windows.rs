//! `fold_storage`: how many planes of a recurrence are kept under its schedule.
//!
//! This is the physical side of storage, and a proof goes with every modulus. A loop around the whole
//! group runs along a dimension of the tensor's memory (`along.rs`), so that plane `p` is written in
//! one round and what lies `W` planes on is written `W` rounds later, in the same round of the loops
//! around. The plane may be overwritten then, because
//!
//! - every read inside the group, the condition of an `until` included, is in the same round of the
//!   loops around and comes at most `h` rounds after the write, and `W > h`; or `W = h` where all that
//!   reads comes in an earlier phase of the round than all that writes (`phases.rs`), or where a clause reads,
//!   at each of its points, the very element that its own result replaces;
//! - every read after the group is of one of the last `s` planes that have a point at its place, and
//!   `W >= s`;
//! - every point that is read has a clause without a guard, so that no read finds what an earlier
//!   plane left behind;
//! - nothing sees the tensor as a whole: it is no output and no size, and is passed on nowhere.
//!
//! What is not proved for all extents that the module allows is kept in full.

use std::borrow::Cow;
use std::cell::OnceCell;

use einlang_index::{Domain, Facts, Map, Quasi};
use einlang_tir::module::{Axis, Binding, Group, box_of};
use einlang_tir::order::{Dependence, Form, Statement};
use einlang_tir::region::{InstKind, Read, Region, Subscript};
use einlang_tir::types::Ident;

use super::along::{Along, Forms, along};
use super::distance::{distance, form_at, most};
pub(super) use super::observers::Observers;
use super::observers::extended;
use super::phases::{comes_before, is_stored_once};
use crate::schedule::{GroupSchedule, Layout, Nest, TensorSchedule};

/// Gives the tensors of a group their windows.
pub(super) fn fold_storage(
    group: &Group,
    schedule: &mut GroupSchedule,
    dependences: &[Dependence],
    observers: &Observers,
    facts: &Facts,
) {
    let folding = Folding::new(group, dependences, observers, facts, None);
    let windows = folding.windows(schedule);
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
    Folding::new(group, dependences, observers, facts, Some(&schedule.nest)).windows(schedule)
}

pub(super) struct Folding<'a> {
    pub(super) group: &'a Group,
    pub(super) dependences: &'a [Dependence],
    observers: &'a Observers,
    pub(super) facts: &'a Facts,
    /// The nest, if what is read before it is written again may be overwritten also in the same round or in
    /// another round of the loops around.
    pub(super) nest: Option<&'a Nest>,
    /// For each tensor whether every point of it that is read is certain to be stored, once somebody has asked.
    stored: Vec<OnceCell<bool>>,
}

impl<'a> Folding<'a> {
    pub(super) fn new(
        group: &'a Group,
        dependences: &'a [Dependence],
        observers: &'a Observers,
        facts: &'a Facts,
        nest: Option<&'a Nest>,
    ) -> Folding<'a> {
        let stored = vec![OnceCell::new(); group.bindings.len()];
        Folding { group, dependences, observers, facts, nest, stored }
    }

    /// Whether every point of a tensor that is read is certain to be stored.
    pub(super) fn is_stored(&self, at: usize) -> bool {
        *self.stored[at].get_or_init(|| {
            let binding = &self.group.bindings[at];
            is_total(binding, self.facts, self.observers) || self.reads_are_stored(binding)
        })
    }

    pub(super) fn windows(&self, schedule: &GroupSchedule) -> Vec<Vec<(usize, i64)>> {
        let tensors = self.group.bindings.iter().zip(&schedule.tensors).enumerate();
        let windows = |(at, (binding, tensor)): (usize, (&Binding, &TensorSchedule))| {
            let all = along(&schedule.nest, at, tensor);
            let reused = self.may_be_reused(tensor);
            if (all.is_empty() && !reused) || !self.may_be_window(at) {
                return Vec::new();
            }
            let found = all.iter().filter_map(|along| self.window(at, binding, tensor, along));
            let reused = reused.then(|| self.reused(at, binding, tensor));
            found.chain(reused.into_iter().flatten()).collect()
        };
        tensors.map(windows).collect()
    }

    /// Whether nothing sees a tensor as a whole, and all that is read of it was stored.
    fn may_be_window(&self, at: usize) -> bool {
        !self.observers.whole.contains(&self.group.bindings[at].name) && self.is_stored(at)
    }

    /// The width of the window along a dimension of the memory of a binding that may have one.
    fn window(
        &self,
        at: usize,
        binding: &Binding,
        tensor: &TensorSchedule,
        along: &Along<'_>,
    ) -> Option<(usize, i64)> {
        let mut width = 1;
        for dependence in self.dependences.iter().filter(|d| d.writer.binding == at) {
            let form = |forms: &'_ Forms, s| forms.iter().find(|f| f.0 == s).map(|f| f.1.clone());
            let later = match form(along.forms, dependence.reader) {
                Some(reader) => {
                    let later = distance(self.group, dependence, &reader, along.form).ok()?;
                    let later = most(self.facts, &dependence.domain, &later)?;
                    let writes = |s: &Statement| {
                        s.binding == at
                            && !self.is_in_first(binding, s.clause, tensor, along, later)
                    };
                    let first = |nest| comes_before(nest, along.forms, dependence.reader, &writes);
                    let replaced = self.is_replaced(at, tensor, along, dependence);
                    later - i64::from(replaced || self.nest.is_some_and(first))
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
        Some((along.dimension, width.max(self.read_later(binding, tensor, along)?)))
    }

    /// Whether a read is of the element at its own point in another plane, whose place its own result gets: it is
    /// read before that is stored.
    fn is_replaced(
        &self,
        at: usize,
        tensor: &TensorSchedule,
        along: &Along<'_>,
        dependence: &Dependence,
    ) -> bool {
        let Some(nest) = self.nest.filter(|_| self.group.until.is_none()) else { return false };
        let own = dependence.domain.dims().iter();
        let mut own = dependence.at.iter().zip(own).enumerate();
        dependence.reader.binding == at
            && !dependence.by_data
            && tensor.map.is_empty()
            && own.all(|(axis, (at, own))| axis == along.dimension || at.as_var() == Some(*own))
            && is_stored_once(nest, along.forms, dependence.reader)
    }

    /// How many of the last planes something reads after the group.
    pub(super) fn read_later(
        &self,
        binding: &Binding,
        tensor: &TensorSchedule,
        along: &Along<'_>,
    ) -> Option<i64> {
        let mut width = 1;
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
        Some(width)
    }

    /// Whether a clause stores to the first so many planes only, so that it overwrites nothing.
    fn is_in_first(
        &self,
        binding: &Binding,
        clause: usize,
        tensor: &TensorSchedule,
        along: &Along<'_>,
        n_planes: i64,
    ) -> bool {
        let (Some(axis), Some(clause)) =
            (binding.axes.get(along.dimension), binding.clauses.get(clause))
        else {
            return false;
        };
        let at = Quasi::from(axis.var);
        let most = self.observers.extremes.most(self.facts, &clause.domain, &at);
        tensor.map.is_empty() && !along.down && most.is_some_and(|most| most < n_planes)
    }

    /// How many planes a point is away from the last one that has a point at the same place.
    fn planes_left(
        &self,
        binding: &Binding,
        tensor: &TensorSchedule,
        along: &Along<'_>,
        at: &[Quasi],
    ) -> Option<Quasi> {
        let mut from_end = Quasi::from(0);
        let dimension = tensor.dimension(along.dimension);
        for (number, ((axis, at), c)) in binding.axes.iter().zip(at).zip(&dimension).enumerate() {
            if is_apart(tensor, along.dimension, number) {
                continue;
            }
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

/// Whether points that differ along an axis never share a place, whatever a dimension keeps: another dimension
/// is that axis.
fn is_apart(tensor: &TensorSchedule, dimension: usize, axis: usize) -> bool {
    let is = |form: &Vec<i64>| form.iter().enumerate().all(|(at, c)| (*c != 0) == (at == axis));
    tensor.map.iter().enumerate().any(|(at, form)| at != dimension && is(form))
}

/// The reads of one tensor in a region, with the points at which they happen.
fn reads_of(region: &Region, over: &Domain, name: &Ident, found: &mut Vec<(Read, Domain)>) {
    for inst in &region.insts {
        let inside = match &inst.kind {
            InstKind::Read(read) => {
                if read.place.tensor == *name {
                    found.push((read.clone(), over.clone()));
                }
                Cow::Borrowed(over)
            }
            InstKind::Reduce(reduction) => Cow::Owned(extended(over, &reduction.domain)),
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
            _ => Cow::Borrowed(over),
        };
        inst.regions().into_iter().for_each(|region| reads_of(region, &inside, name, found));
    }
}

/// Whether clauses without guards cover the whole box.
pub(super) fn is_total(binding: &Binding, facts: &Facts, observers: &Observers) -> bool {
    binding.uncovered().is_ok_and(|rest| observers.extremes.is_empty(facts, &rest))
}
