//! `join_producers`: what a recurrence consumes step by step is computed step by step.
//!
//! A group whose points are read by one recurrence only, each within a few rounds of its loop, is
//! moved into that recurrence's group. The order of the joint group then has one loop for both, and
//! the producer keeps a window like any recurrence: a score that is computed per step is never
//! stored whole.
//!
//! Invariant: the bindings, their clauses and all values stay what they are; only which group a
//! binding belongs to changes, and only where windows for all its tensors were proved.

use std::borrow::Cow;
use std::collections::BTreeSet;

use einlang_index::{Facts, Set, Var};
use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::region::{InstKind, Region, Subscript};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::at_reads::needed_by_outputs;
use super::contractions::loses_tile;
use super::windows::Observers;
use super::work::Works;
use super::{Deciding, Storage, decide_order, reads_itself_by_data};
use crate::schedule::{Compute, GroupSchedule, Layout, Nest, Schedule};

/// A recurrence takes in producers until it has so many clauses: orders are searched for in time
/// that grows faster than their number.
const MOST_CLAUSES: usize = 24;

/// Moves producers into the groups of the recurrences that consume them. What nobody needs is left out
/// first: it would be a reader of what moves.
pub fn join_producers(mut module: Module) -> Module {
    let needed = needed_by_outputs(&module);
    let is_needed = |group: &Group| group.bindings.iter().any(|b| needed.contains(&b.name));
    module.groups.retain(is_needed);
    if module.groups.len() < 2 {
        return module;
    }
    let Ok(alone) = decide_order(&module, Storage::Window) else { return module };
    let stored: HashSet<Ident> = alone
        .groups
        .iter()
        .flat_map(|group| &group.tensors)
        .filter(|tensor| tensor.compute == Compute::Here)
        .map(|tensor| tensor.name.clone())
        .collect();
    let is_loop = |group: &&Group| {
        let first = group.bindings.first().and_then(|binding| alone.group(&binding.name));
        first.is_some_and(|schedule| has_loop(&schedule.nest))
    };
    let consumers: Vec<Ident> = module
        .groups
        .iter()
        .rev()
        .filter(|group| group.until.is_none() && !reads_itself_by_data(group))
        .filter(is_loop)
        .filter_map(|group| group.bindings.first().map(|binding| binding.name.clone()))
        .collect();
    let (readers, observers) = (readers(&module), Observers::of(&module));
    let mut joining = Joining { facts: module.facts(), module, alone, stored, readers, observers };
    consumers.iter().for_each(|consumer| joining.feed(consumer));
    joining.module
}

pub(super) fn has_loop(nest: &Nest) -> bool {
    match nest {
        Nest::Points { .. } => false,
        Nest::Phases(phases) => phases.iter().any(has_loop),
        Nest::Loop { .. } => true,
    }
}

struct Joining {
    module: Module,
    facts: Facts,
    /// The order of everything at the beginning.
    alone: Schedule,
    /// The tensors that have memory of their own.
    stored: HashSet<Ident>,
    /// For each tensor, the groups that read it, by the first tensor they had at the beginning.
    readers: HashMap<Ident, HashSet<Ident>>,
    /// Who sees what, at the beginning.
    observers: Observers,
}

impl Joining {
    /// Moves the producers of one recurrence into its group, nearest first.
    fn feed(&mut self, consumer: &Ident) {
        let Some(mut at) = self.position(consumer) else { return };
        let mut producer = at;
        while producer > 0 {
            producer -= 1;
            if let Some((joint, n_moved)) = self.joined(producer, at) {
                self.module = joint;
                at -= n_moved;
                producer = producer.min(at);
            }
        }
    }

    fn position(&self, name: &Ident) -> Option<usize> {
        self.module.groups.iter().position(|group| has(group, name))
    }

    /// The module with one group moved into another, together with what is computed at reads in
    /// between, and how many were moved. Every tensor that moves must get a window and none may
    /// lose its own, nor a contraction its tile.
    fn joined(&self, producer: usize, consumer: usize) -> Option<(Module, usize)> {
        let stored = |group: &Group| group.bindings.iter().all(|b| self.stored.contains(&b.name));
        if !stored(&self.module.groups[producer]) {
            return None;
        }
        let moving = self.moving(producer, consumer)?;
        let groups = moving.iter().chain([&consumer]).map(|at| &self.module.groups[*at]);
        let clauses = groups.flat_map(|group| &group.bindings).map(|binding| binding.clauses.len());
        if clauses.sum::<usize>() > MOST_CLAUSES {
            return None;
        }
        if moving.len() == 1 && !self.may_follow(producer, consumer) {
            return None;
        }
        let mut joint = self.module.clone();
        let mut bindings = Vec::new();
        for at in moving.iter().rev() {
            bindings.splice(0..0, joint.groups.remove(*at).bindings);
        }
        let names: Vec<Ident> = bindings.iter().map(|binding| binding.name.clone()).collect();
        let at = consumer - moving.len();
        joint.groups[at].bindings.splice(0..0, bindings);
        let together = self.decided(&joint, at)?;
        let after = windows(&together);
        let is_windowed = |name: &Ident| after.get(name) == Some(&true);
        if !names.iter().all(is_windowed) {
            return None;
        }
        let before = windows(&self.decided(&self.module, consumer)?);
        let windowed = before.iter().all(|(name, windowed)| !windowed || is_windowed(name));
        let works = Works::new(&joint, &self.alone);
        let moved = |name: &Ident| names.contains(name);
        let fits = windowed && !loses_tile(&works, &joint.groups[at], &together.nest, &moved);
        fits.then_some((joint, moving.len()))
    }

    /// The groups that move with a producer, in order: itself and those between it and the consumer
    /// that are computed where they are read. `None` if anything else reads one of them.
    fn moving(&self, producer: usize, consumer: usize) -> Option<BTreeSet<usize>> {
        let (mut moving, mut waiting) = (BTreeSet::new(), vec![producer]);
        while let Some(at) = waiting.pop() {
            if at == consumer || !moving.insert(at) {
                continue;
            }
            let group = &self.module.groups[at];
            let bindings = &group.bindings;
            let inline = |b: &Binding| !self.stored.contains(&b.name);
            let fits = at < consumer && (at == producer || bindings.iter().all(inline));
            let whole = bindings.iter().any(|binding| self.observers.sees_all_of(&binding.name));
            if !fits || whole || group.until.is_some() || reads_itself_by_data(group) {
                return None;
            }
            let readers = bindings.iter().filter_map(|binding| self.readers.get(&binding.name));
            for reader in readers.flatten() {
                waiting.push(self.position(reader)?);
            }
        }
        Some(moving)
    }

    /// Whether some read of a producer may move along with the loops of a recurrence; without one no window does,
    /// and nobody needs to look for an order.
    fn may_follow(&self, producer: usize, consumer: usize) -> bool {
        let (from, to) = (&self.module.groups[producer], &self.module.groups[consumer]);
        let loops = |binding: &Binding| {
            let is = |group: &&GroupSchedule| group.tensors.iter().any(|t| t.name == binding.name);
            let group = self.alone.groups.iter().find(is)?;
            let at = group.tensors.iter().position(|t| t.name == binding.name)?;
            let mut axes = BTreeSet::new();
            looped_axes(&group.nest, at, &mut axes);
            let vars = axes.into_iter().filter_map(|at| Some(binding.axes.get(at)?.var));
            Some(vars.collect::<Vec<Var>>()).filter(|vars| !vars.is_empty())
        };
        to.bindings.iter().any(|binding| {
            let regions = binding.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body]));
            match loops(binding) {
                Some(tied) => regions.into_iter().any(|region| follows(region, from, &tied)),
                None => true,
            }
        })
    }

    /// The order of a group and its windows.
    fn decided(&self, module: &Module, group: usize) -> Option<GroupSchedule> {
        let observers = Some(Observers::of(module));
        let deciding = Deciding { module, facts: self.facts.clone(), observers };
        deciding.alone(&module.groups[group]).ok()
    }
}

/// The axes of a binding that loops run along.
fn looped_axes(nest: &Nest, binding: usize, found: &mut BTreeSet<usize>) {
    match nest {
        Nest::Points { .. } => {}
        Nest::Phases(phases) => phases.iter().for_each(|nest| looped_axes(nest, binding, found)),
        Nest::Loop { forms, inner, .. } => {
            for (_, form) in forms.iter().filter(|(statement, _)| statement.binding == binding) {
                let along = form.coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
                found.extend(along.map(|(axis, _)| axis));
            }
            looped_axes(inner, binding, found);
        }
    }
}

/// Whether a read of a group in a region depends on indices that are tied to a loop.
fn follows(region: &Region, of: &Group, tied: &[Var]) -> bool {
    region.insts.iter().any(|inst| {
        let mut inside = Cow::Borrowed(tied);
        match &inst.kind {
            InstKind::Read(read) if has(of, &read.place.tensor) => {
                let depends = |at: &Subscript| match at {
                    Subscript::Index(at) => tied.iter().any(|var| at.mentions(*var)),
                    Subscript::Value(_) => false,
                };
                if read.place.at.iter().any(depends) {
                    return true;
                }
            }
            InstKind::Reduce(reduction) => {
                let sets = reduction.domain.sets().iter();
                if sets.flat_map(Set::vars).any(|var| tied.contains(&var)) {
                    inside.to_mut().extend(reduction.domain.dims());
                }
            }
            InstKind::Group(_) => return true,
            _ => {}
        }
        inst.regions().into_iter().any(|region| follows(region, of, &inside))
    })
}

/// Which tensors of a group have a window.
fn windows(decided: &GroupSchedule) -> HashMap<Ident, bool> {
    let windowed = |layouts: &[Layout]| layouts.iter().any(|l| matches!(l, Layout::Mod(_)));
    let tensors = decided.tensors.iter();
    tensors.map(|tensor| (tensor.name.clone(), windowed(&tensor.storage))).collect()
}

fn has(group: &Group, name: &Ident) -> bool {
    group.bindings.iter().any(|binding| binding.name == *name)
}

/// The tensors whose clauses read a tensor, by its name.
fn readers(module: &Module) -> HashMap<Ident, HashSet<Ident>> {
    let mut found: HashMap<Ident, HashSet<Ident>> = HashMap::default();
    for group in &module.groups {
        let Some(name) = group.bindings.first().map(|binding| &binding.name) else { continue };
        for region in group.regions() {
            region.for_each_inst(&mut |inst| {
                if let InstKind::Read(read) = &inst.kind {
                    found.entry(read.place.tensor.clone()).or_default().insert(name.clone());
                }
            });
        }
    }
    found
}
