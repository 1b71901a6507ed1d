//! Which groups come before, between and after the sweeps.

use std::collections::HashMap;

use einlang_tir::free::Free;
use einlang_tir::module::{Group, Module};
use einlang_tir::types::Ident;

use crate::regroup::reads;
use crate::schedule::{Replay, SweepPart};

/// When a group runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Time {
    Before,
    Forward,
    Between,
    Backward,
    After,
}

/// When each group of a module runs, given its sweeps: as early as what it reads is complete.
pub(super) fn times(module: &Module, replay: &Replay) -> Vec<Time> {
    let mut known: HashMap<&Ident, Time> = HashMap::new();
    let mut times = Vec::with_capacity(module.groups.len());
    for group in &module.groups {
        let is_in = |parts: &[SweepPart]| {
            let first = group.bindings.first();
            parts.iter().any(|part| first.is_some_and(|binding| binding.name == part.group))
        };
        let time = if is_in(&replay.forward) {
            Time::Forward
        } else if is_in(&replay.backward) {
            Time::Backward
        } else {
            let read = reads(group);
            let vars = Free::of_group(group).vars;
            let sized = |other: &Group| {
                other.until.as_ref().is_some_and(|until| vars.contains(&until.extent))
            };
            let lengths = module.groups.iter().filter(|other| sized(other));
            let lengths = lengths.flat_map(|other| &other.bindings).map(|b| b.name.clone());
            let read: Vec<Ident> = read.into_iter().chain(lengths).collect();
            let complete = read.iter().map(|name| match known.get(name) {
                None | Some(Time::Before) => Time::Before,
                Some(Time::Forward | Time::Between) => Time::Between,
                Some(Time::Backward | Time::After) => Time::After,
            });
            complete.max().unwrap_or(Time::Before)
        };
        known.extend(group.bindings.iter().map(|binding| (&binding.name, time)));
        times.push(time);
    }
    times
}
