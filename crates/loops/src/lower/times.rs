//! The order of sweeps and of the groups around them.

use std::collections::BTreeSet;

use einlang_index::Var;
use einlang_tir::free::Free;
use einlang_tir::module::Module;
use einlang_tir::types::Ident;
use rustc_hash::FxHashMap as HashMap;

use crate::regroup::reads;
use crate::schedule::{Compute, Replay, Schedule};

/// What runs as a whole. Groups come first, so that everything runs as early as what it reads is
/// complete.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Step {
    /// A group that is in no sweep.
    Group(usize),
    /// The forward sweep of a replay.
    Forward(usize),
    /// Its backward sweep.
    Backward(usize),
}

/// The order in which sweeps and other groups run; none if they wait for each other.
pub(crate) fn order_of_sweeps(
    module: &Module,
    schedule: &Schedule,
    replays: &[&Replay],
) -> Option<Vec<Step>> {
    let steps = steps(module, replays);
    let mut before: HashMap<Step, BTreeSet<Step>> = HashMap::default();
    for (at, _) in replays.iter().enumerate().filter(|(_, replay)| !replay.backward.is_empty()) {
        before.entry(Step::Backward(at)).or_default().insert(Step::Forward(at));
    }
    // Whoever reads what is computed where it is read waits for what that waits for.
    let mut known: HashMap<&Ident, BTreeSet<Step>> = HashMap::default();
    let mut lengths: HashMap<Var, Step> = HashMap::default();
    for (group, step) in module.groups.iter().zip(&steps) {
        let mut needed: BTreeSet<Step> = BTreeSet::new();
        for name in reads(group) {
            needed.extend(known.get(&name).into_iter().flatten());
        }
        // The length of an open axis is known when it is complete.
        let vars = Free::of_group(group).vars;
        needed.extend(vars.iter().filter_map(|var| lengths.get(var)));
        lengths.extend(group.until.as_ref().map(|until| (until.extent, *step)));
        for binding in &group.bindings {
            let of = schedule.tensor(&binding.name);
            let inline = of.is_some_and(|tensor| tensor.compute == Compute::AtReads);
            let complete = if inline { needed.clone() } else { BTreeSet::from([*step]) };
            known.insert(&binding.name, complete);
        }
        needed.remove(step);
        before.entry(*step).or_default().extend(needed);
    }
    sorted(before)
}

/// In which step each group runs.
fn steps(module: &Module, replays: &[&Replay]) -> Vec<Step> {
    let mut sweeps: HashMap<&Ident, Step> = HashMap::default();
    for (at, replay) in replays.iter().enumerate() {
        sweeps.extend(replay.forward.iter().map(|part| (&part.group, Step::Forward(at))));
        sweeps.extend(replay.backward.iter().map(|part| (&part.group, Step::Backward(at))));
    }
    let step = |(at, group): (usize, &einlang_tir::module::Group)| {
        let first = group.bindings.first();
        let sweep = first.and_then(|binding| sweeps.get(&binding.name)).copied();
        sweep.unwrap_or(Step::Group(at))
    };
    module.groups.iter().enumerate().map(step).collect()
}

/// The steps, each after those before it, groups as early as they can be.
fn sorted(mut before: HashMap<Step, BTreeSet<Step>>) -> Option<Vec<Step>> {
    let mut after: HashMap<Step, Vec<Step>> = HashMap::default();
    for (step, needed) in &before {
        needed.iter().for_each(|needed| after.entry(*needed).or_default().push(*step));
    }
    let is_free = |(_, needed): &(&Step, &BTreeSet<Step>)| needed.is_empty();
    let mut ready: BTreeSet<Step> = before.iter().filter(is_free).map(|(step, _)| *step).collect();
    let mut order = Vec::with_capacity(before.len());
    while let Some(next) = ready.pop_first() {
        order.push(next);
        for later in after.remove(&next).unwrap_or_default() {
            let Some(needed) = before.get_mut(&later) else { continue };
            needed.remove(&next);
            if needed.is_empty() {
                ready.insert(later);
            }
        }
    }
    (order.len() == before.len()).then_some(order)
}
