//! How the segments of groups are shifted, and how many planes around them are kept.
//!
//! The segments of the sweeps are `[s K, (s + 1) K)`. A group runs over segments that are shifted by a
//! few planes, so that what it reads of other groups in its sweep is there, and so that the segments
//! of a sum begin where its pairs do. A tensor keeps, around a segment, what is written or read with
//! it.

use einlang_tir::module::Binding;
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::super::windows::is_total;
use super::place::{FARTHEST, Place};
use super::shape::Shape;
use super::stage::{Groups, Stage, Stages};
use crate::schedule::{
    Checkpoints, Keep, Layout, Replay, Schedule, Segment, SweepPart, TensorSchedule,
};

/// A read of a tensor of the sweeps at the reader's own time: by the time of both groups.
struct Near {
    reader: usize,
    home: usize,
    tensor: Ident,
    low: i64,
    high: i64,
}

/// The sweeps, if something is gained by them: a recurrence in the wanted one reads another whole.
pub(super) fn planes(
    groups: &Groups<'_>,
    stages: &Stages<'_, '_>,
    schedule: &Schedule,
    checkpoints: Checkpoints,
    wanted: Stage,
) -> Option<Replay> {
    let near = near_reads(groups, stages);
    // What goes along with an open axis has no memory of its own: that would take the length.
    let follows = |tensor: &Ident| {
        let home = groups.homes.get(tensor).map(|home| home.0);
        let is = |at: usize| {
            stages.stages[at] == Stage::Forward && groups.module.groups[at].until.is_none()
        };
        stages.open.is_some() && home.is_some_and(is) && stages.axis(tensor).is_some()
    };
    let stored = |tensor: &Ident| {
        let scheduled = schedule.tensor(tensor);
        let in_round = scheduled.is_none_or(|scheduled| is_of_one_round(scheduled, stages, &near));
        stages.anywhere.contains(tensor)
            || groups.observers.sees_all_of(tensor)
            || (in_round && !follows(tensor))
    };
    let all = || groups.module.bindings().map(|binding| &binding.name);
    if all().any(|tensor| follows(tensor) && stored(tensor)) {
        return None;
    }
    // Which points were stored is remembered for the segment of the round that is computed.
    let forward = || {
        let of = groups.module.groups.iter().zip(&stages.stages);
        of.filter(|(_, stage)| **stage == Stage::Forward).map(|(group, _)| group)
    };
    let mut bindings = forward().flat_map(|group| &group.bindings);
    let partial = |binding: &Binding| !is_total(binding, &groups.facts, &groups.observers);
    if stages.open.is_some() && forward().count() > 1 && bindings.any(partial) {
        return None;
    }
    let whole = |tensor: &Ident| {
        let axis = stages.axis(tensor);
        let scheduled = schedule.tensor(tensor).map(|tensor| &tensor.storage[..]);
        let layout = axis.and_then(|axis| scheduled.and_then(|storage| storage.get(axis)));
        !matches!(layout, Some(Layout::Mod(_)))
    };
    let is_loop = |at: usize| matches!(groups.shapes[at], Shape::Loop(..));
    let gained = near.iter().any(|read| {
        stages.stages[read.home] == Stage::Forward
            && stages.stages[read.reader] == wanted
            && read.home != read.reader
            && (is_loop(read.reader) && is_loop(read.home))
            && !stored(&read.tensor)
            && whole(&read.tensor)
    });
    if !gained {
        return None;
    }
    let shifts = shifts(groups, stages, &near);
    // An open axis changes segments by itself, so nothing that goes along with it reads ahead.
    let moved =
        |at: &usize| stages.stages[*at] == Stage::Forward && !stages.courses[*at].axes.is_empty();
    if stages.open.is_some() && shifts.iter().any(|(at, shift)| moved(at) && *shift != 0) {
        return None;
    }
    let again = again(groups, stages, &near, &stored);
    // A window that no checkpoint restores would be that of another segment.
    let is_ring = |tensor: &Ident| {
        let storage = schedule.tensor(tensor).map(|tensor| &tensor.storage[..]).unwrap_or_default();
        stages
            .axis(tensor)
            .and_then(|axis| storage.get(axis))
            .is_some_and(|layout| matches!(layout, Layout::Mod(width) if *width > 1))
    };
    let members = again.iter().flat_map(|at| &groups.module.groups[*at].bindings);
    if members.clone().any(|binding| stored(&binding.name) && is_ring(&binding.name)) {
        return None;
    }
    let mut tensors = Vec::new();
    for (at, group) in groups.module.groups.iter().enumerate() {
        let course = &stages.courses[at];
        let ways = course.axes.iter().zip(&course.leads);
        for (binding, (axis, lead)) in group.bindings.iter().zip(ways) {
            if !stages.stages[at].is_sweep() {
                continue;
            }
            let mut keep = Keep::Stored;
            if !stored(&binding.name) {
                let shift = *shifts.get(&at)? + lead;
                let reads = near.iter().filter(|read| read.tensor == binding.name);
                let (mut before, mut after) = ((-shift).max(0), shift.max(0));
                for read in reads {
                    let own = *shifts.get(&read.reader)? + lead;
                    before = before.max(-(own + read.low));
                    after = after.max(own + read.high);
                }
                let (first, last) = stages.ends.get(&binding.name).copied().unwrap_or_default();
                // When an open axis ends, its last planes are around the segment, or in it.
                if stages.open.is_some() && stages.stages[at] == Stage::Forward {
                    before = before.max(last - 1);
                }
                if before > FARTHEST || after > FARTHEST {
                    return None;
                }
                let state = match (again.contains(&at), stages.down) {
                    (false, _) => 0,
                    (true, false) => before + shift,
                    (true, true) => after - shift,
                };
                let clear = !is_total(binding, &groups.facts, &groups.observers);
                keep = Keep::Segment { before, after, state, first, last, clear };
            }
            let name = binding.name.clone();
            tensors.push(Segment { name, axis: *axis, lead: *lead, keep });
        }
    }
    let part = |at: usize| {
        let group = groups.module.groups[at].bindings.first()?.name.clone();
        Some(SweepPart { group, shift: *shifts.get(&at)?, again: again.contains(&at) })
    };
    let sweep = |stage: Stage| -> Option<Vec<SweepPart>> {
        let members = (0..stages.stages.len()).filter(|at| stages.stages[*at] == stage);
        members.map(part).collect()
    };
    let (forward, backward) = (sweep(Stage::Forward)?, sweep(Stage::Backward)?);
    Some(Replay { checkpoints, down: stages.down, forward, backward, tensors })
}

/// Whether a tensor keeps one plane, which nothing reads in another round.
fn is_of_one_round(tensor: &TensorSchedule, stages: &Stages<'_, '_>, near: &[Near]) -> bool {
    let Some(axis) = stages.axis(&tensor.name) else { return true };
    let mut reads = near.iter().filter(|read| read.tensor == tensor.name);
    let ends = stages.ends.get(&tensor.name).is_some_and(|ends| *ends != (0, 0));
    tensor.storage.get(axis) == Some(&Layout::Mod(1))
        && !ends
        && reads.all(|read| read.reader == read.home && (read.low, read.high) == (0, 0))
}

fn near_reads(groups: &Groups<'_>, stages: &Stages<'_, '_>) -> Vec<Near> {
    let mut found = Vec::new();
    let in_sweep = |at: &usize| stages.stages[*at].is_sweep();
    for reader in (0..stages.stages.len()).filter(in_sweep) {
        for seen in &groups.reads[reader].list {
            let Some(home) = groups.homes.get(&seen.tensor).copied() else { continue };
            let Some(axis) = stages.axis(&seen.tensor).filter(|_| in_sweep(&home.0)) else {
                continue;
            };
            let time = groups.time(reader, seen.binding, &stages.courses[reader].axes);
            if let Place::Near(low, high) = groups.place(seen, home, axis, time) {
                let tensor = seen.tensor.clone();
                let lead = |(group, binding): (usize, usize)| {
                    stages.courses[group].leads.get(binding).copied().unwrap_or(0)
                };
                let ahead = lead((reader, seen.binding)) - lead(home);
                let (low, high) = (low + ahead, high + ahead);
                found.push(Near { reader, home: home.0, tensor, low, high });
            }
        }
    }
    found
}

/// The shift of each group: in its sweep, whatever it reads comes before it.
fn shifts(groups: &Groups<'_>, stages: &Stages<'_, '_>, near: &[Near]) -> HashMap<usize, i64> {
    let mut shifts = HashMap::default();
    for at in (0..stages.stages.len()).rev().filter(|at| stages.stages[*at].is_sweep()) {
        let down = (stages.stages[at] == Stage::Forward) == stages.down;
        let mut shift = 0;
        let same = |read: &&Near| {
            read.home == at && read.reader != at && stages.stages[read.reader] == stages.stages[at]
        };
        for read in near.iter().filter(same) {
            let own: i64 = shifts.get(&read.reader).copied().unwrap_or(0);
            shift = if down { shift.min(own + read.low) } else { shift.max(own + read.high) };
        }
        if let (Shape::Sum(_, first), true) =
            (&groups.shapes[at], stages.courses[at].axes.is_empty())
        {
            shift = *first;
        }
        shifts.insert(at, shift);
    }
    shifts
}

/// The groups of the forward sweep that the backward sweep needs again.
fn again(
    groups: &Groups<'_>,
    stages: &Stages<'_, '_>,
    near: &[Near],
    stored: &dyn Fn(&Ident) -> bool,
) -> HashSet<usize> {
    let mut again = HashSet::default();
    // Groups read earlier ones only.
    for at in (0..groups.module.groups.len()).rev() {
        let needed = stages.stages[at] == Stage::Forward
            && near.iter().any(|read| {
                let backward = stages.stages[read.reader] == Stage::Backward;
                read.home == at
                    && !stored(&read.tensor)
                    && (backward || again.contains(&read.reader))
            });
        if needed {
            again.insert(at);
        }
    }
    again
}
