//! `find_replays`: which trajectories are computed again in segments, instead of being kept.
//!
//! A recurrence whose points are read later by one that runs the other way (its adjoint) needs all
//! of them at once, unless time is cut into segments. Then the forward sweep keeps a checkpoint per
//! segment, and the backward sweep computes a segment of the recurrence again before it reads it.
//! Everything that goes with either recurrence point by point along time runs in the same segments:
//! maps, and sums over time, whose terms are added up segment by segment. A recurrence that follows
//! another one in the same direction, such as its tangent, runs in the same segments and needs no second sweep.
//!
//! | file | finds |
//! |---|---|
//! | `isolate.rs` | sums, which become bindings of their own first |
//! | `order_sums.rs` | sums through short axes first, which come last then |
//! | `name_planes.rs` | numbered planes that are those of their readers |
//! | `strides.rs`, `stretch.rs` | what reads every so many planes, and is laid out plane by plane then |
//! | `reads.rs` | what a group reads |
//! | `shape.rs` | how a group can run along time |
//! | `place.rs` | which planes a read is of |
//! | `follow.rs` | what can run along with an open axis |
//! | `stage.rs` | in which sweep a group runs, or when else |
//! | `producers.rs` | what runs in a sweep because only the sweeps read it |
//! | `planes.rs` | how segments of groups are shifted, and how many planes around them are kept |
//!
//! Invariant: a group of a sweep reads tensors of the sweeps only at its own time, up to a few planes
//! that are there by then, or at the ends of time, which are kept apart. A tensor that anything reads
//! otherwise is stored as its schedule says.

mod follow;
mod isolate;
mod name_planes;
mod order_sums;
mod place;
mod planes;
mod producers;
mod reads;
mod shape;
mod stage;
mod stretch;
mod strides;

use einlang_tir::module::{Group, Module};
use einlang_tir::types::Ident;

use self::planes::planes;
use self::shape::outer_axes;
use self::stage::{Groups, Stage, Stages};
use super::at_reads::needed_by_outputs;
use crate::lower::order_of_sweeps;
use crate::schedule::{Checkpoints, Compute, Fma, Layout, Replay, Schedule, Segment};

pub(super) use isolate::with_what_it_needs;
pub(crate) use place::is_fixed;
pub(crate) use shape::{end_of_sum, is_about_terms, sum_of, sum_over};
pub(crate) use stage::is_in_one_segment;

/// A module whose groups can run along time.
pub(crate) struct Prepared {
    pub(crate) module: Module,
    /// Tensors with gaps, which are worth it only in segments.
    pub(crate) stretched: Vec<Ident>,
}

/// Makes a module one whose groups can run along time, in one way or in several.
pub(crate) fn prepare_sweeps(mut module: Module, along: Along) -> Vec<Prepared> {
    isolate::isolate_sums(&mut module);
    order_sums::order_sums(&mut module, along);
    let by_what_it_reads = strides::find_strides(&module, false);
    let by_readers = strides::find_strides(&module, true);
    let more = (by_readers != by_what_it_reads).then_some(by_readers);
    let by_time = [Some(by_what_it_reads), more].into_iter().flatten().filter_map(|steps| {
        let (module, stretched) = stretch::stretch_time(&module, &steps)?;
        Some(Prepared { module, stretched })
    });
    let by_time: Vec<Prepared> = by_time.collect();
    let mut forms = vec![Prepared { module, stretched: Vec::new() }];
    forms.extend(by_time);
    forms.iter_mut().for_each(|form| name_planes::name_planes(&mut form.module));
    forms
}

/// Decides what is computed again in segments, one trajectory after the other; whether there is
/// anything.
pub fn find_replays(
    module: &Module,
    schedule: &mut Schedule,
    checkpoints: Checkpoints,
    along: Along,
) -> bool {
    // Sums of fused products have another association.
    if !schedule.packs.is_empty() || schedule.fma == Fma::Everywhere {
        return false;
    }
    if along == Along::Other && !Groups::of(module, schedule).have_other_axes() {
        return false;
    }
    while find_replay(module, schedule, checkpoints, along) {}
    !schedule.replays.is_empty()
}

/// Which axis of a grid is time, where it may be several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Along {
    /// That of the outermost loop.
    Outermost,
    /// Another one.
    Other,
}

/// Finds one more, among groups that are in no sweep yet.
fn find_replay(
    module: &Module,
    schedule: &mut Schedule,
    checkpoints: Checkpoints,
    along: Along,
) -> bool {
    let mut sums = sums_at_reads(module, schedule);
    let replay = loop {
        let mut stored = schedule.clone();
        store(&mut stored, &sums);
        let groups = Groups::of(module, &stored);
        let find = |wanted: Stage| {
            let seeds = (0..module.groups.len()).filter(|seed| !groups.skipped[*seed]);
            let mut ways = seeds.flat_map(|seed| {
                let open = module.groups[seed].until.is_some();
                let alone = [true, false].into_iter().filter(move |follow| open || !follow);
                let courses = groups.courses(seed, along).into_iter();
                courses.flat_map(move |way| alone.clone().map(move |follow| (seed, way, follow)))
            });
            ways.find_map(|(seed, course, follow)| {
                let stages = Stages::from(&groups, seed, course, follow)?.with_producers();
                let replay = planes(&groups, &stages, &stored, checkpoints, wanted)?;
                let all: Vec<&Replay> = schedule.replays.iter().chain([&replay]).collect();
                order_of_sweeps(module, &stored, &all).is_some().then_some(replay)
            })
        };
        // Recurrences that follow another one in its direction need no second sweep.
        let found = find(Stage::Backward).or_else(|| find(Stage::Forward));
        let Some(replay) = found else { return false };
        // What is no sum over time is computed where it is read after all.
        let over_time = |name: &Ident| replay.tensor(name).is_none() && replay.has(name);
        let left: Vec<Ident> = sums.iter().filter(|name| over_time(name)).cloned().collect();
        if left.len() == sums.len() {
            break replay;
        }
        sums = left;
    };
    store(schedule, &sums);
    keep_other_axes(module, schedule, &replay);
    schedule.replays.push(replay);
    true
}

/// The sums that would be computed where they are read.
fn sums_at_reads(module: &Module, schedule: &Schedule) -> Vec<Ident> {
    let needed = needed_by_outputs(module);
    let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
    let is_sum = |name: &Ident| module.binding(name).and_then(sum_of).and_then(sum_over).is_some();
    let found = tensors.filter(|tensor| {
        tensor.compute == Compute::AtReads && needed.contains(&tensor.name) && is_sum(&tensor.name)
    });
    found.map(|tensor| tensor.name.clone()).collect()
}

/// Keeps all of the other axes where time is not the outermost one: a window along an axis is one for the
/// order of the loops, and the segments of time run around them.
fn keep_other_axes(module: &Module, schedule: &mut Schedule, replay: &Replay) {
    let in_sweeps = |group: &&Group| group.bindings.first().is_some_and(|b| replay.has(&b.name));
    for group in module.groups.iter().filter(in_sweeps) {
        let first = group.bindings.first().and_then(|first| schedule.group(&first.name));
        let outer = first.and_then(|first| outer_axes(group, &first.nest));
        for (number, binding) in group.bindings.iter().enumerate() {
            let Some(Segment { axis, .. }) = replay.tensor(&binding.name) else { continue };
            if outer.as_ref().and_then(|axes| axes.get(number)) == Some(axis) {
                continue;
            }
            let tensors = schedule.groups.iter_mut().flat_map(|group| &mut group.tensors);
            for tensor in tensors.filter(|tensor| tensor.name == binding.name) {
                let layouts = tensor.storage.iter_mut().enumerate();
                layouts.filter(|(at, _)| at != axis).for_each(|(_, kept)| *kept = Layout::Full);
            }
        }
    }
}

/// Gives tensors memory.
fn store(schedule: &mut Schedule, names: &[Ident]) {
    for tensor in schedule.groups.iter_mut().flat_map(|group| &mut group.tensors) {
        if names.contains(&tensor.name) {
            tensor.compute = Compute::Here;
        }
    }
}
