//! Schedules near a schedule: one number, role, order or place changed at a time.
//!
//! Contract: what comes out differs from what went in and from each other, and reads and computes the same
//! clauses; whether it is legal, and whether it is any faster, is for others to find out. What decides the
//! rounding of products (`fma`, `chains`), what is kept (windows, segments) and sizes with code of their own
//! are never changed. Numbers that belong together change together: the rows of a tile and the loop
//! that is written out inside it, the lanes of a loop and the panels that are packed for them.

mod nests;

use crate::schedule::{Compute, Layout, Role, Schedule};

/// A schedule, and what was changed to get it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Neighbour {
    /// What was changed, in a few words.
    pub change: String,
    /// The schedule.
    pub schedule: Schedule,
}

/// The rows of a tile in registers.
const ROWS: [i64; 7] = [2, 4, 6, 8, 12, 14, 16];

/// The rounds of a tile that stays in a cache.
const BLOCKS: [i64; 7] = [16, 32, 48, 64, 96, 192, 384];

/// A tile of at most so many rows is one in registers.
const MOST_ROWS: i64 = 16;

/// The widths of lanes.
const WIDTHS: [u32; 5] = [4, 8, 16, 32, 64];

/// The schedules near a schedule. One with segments has none.
pub fn neighbours(schedule: &Schedule) -> Vec<Neighbour> {
    let mut found = Vec::new();
    if !schedule.replays.is_empty() {
        return found;
    }
    for group in 0..schedule.groups.len() {
        change_widths(schedule, group, &mut found);
        change_places(schedule, group, &mut found);
        remove_packs(schedule, group, &mut found);
        for (change, nest) in nests::changed(&schedule.groups[group].nest) {
            let change = format!("{}: {change}", name(schedule, group));
            add(schedule, change, &mut found, |new| new.groups[group].nest = nest);
        }
    }
    found
}

/// What a group is called in words.
fn name(schedule: &Schedule, group: usize) -> String {
    let tensors = &schedule.groups[group].tensors;
    tensors.last().map_or(String::new(), |tensor| format!("`{}`", tensor.name.as_str()))
}

/// Adds what a change makes of a schedule, if that is something new.
fn add(
    schedule: &Schedule,
    change: String,
    found: &mut Vec<Neighbour>,
    edit: impl FnOnce(&mut Schedule),
) {
    let mut new = schedule.clone();
    edit(&mut new);
    if new != *schedule && found.iter().all(|other| other.schedule != new) {
        found.push(Neighbour { change, schedule: new });
    }
}

/// The lanes of a group, with the tiles and panels that are as wide.
fn change_widths(schedule: &Schedule, group: usize, found: &mut Vec<Neighbour>) {
    let mut widths = Vec::new();
    nests::visit(&schedule.groups[group].nest, &mut |_, role, _| {
        if let Role::Lane(width) = role
            && !widths.contains(width)
        {
            widths.push(*width);
        }
    });
    for old in widths {
        for new in WIDTHS.into_iter().filter(|new| *new != old) {
            let change = format!("{}: lanes {old} to {new}", name(schedule, group));
            add(schedule, change, found, |schedule| {
                let group = &mut schedule.groups[group];
                nests::widen(&mut group.nest, old, new);
                for pack in group.packs.iter_mut().filter(|pack| pack.width == i64::from(old)) {
                    pack.width = i64::from(new);
                }
            });
        }
    }
}

/// Where each tensor of a group is computed and kept.
fn change_places(schedule: &Schedule, group: usize, found: &mut Vec<Neighbour>) {
    for (at, tensor) in schedule.groups[group].tensors.iter().enumerate() {
        let named = |what: &str| format!("`{}`: {what}", tensor.name.as_str());
        let (change, other) = match tensor.compute {
            Compute::Here => (named("computed where it is read"), Compute::AtReads),
            Compute::AtReads => (named("stored"), Compute::Here),
        };
        let is_whole = tensor.storage.iter().all(|layout| *layout == Layout::Full);
        if tensor.compute == Compute::AtReads || (is_whole && !tensor.stack) {
            add(schedule, change, found, |new| new.groups[group].tensors[at].compute = other);
        }
        if tensor.compute == Compute::Here {
            let change = named(if tensor.stack { "on the heap" } else { "on the stack" });
            let stack = !tensor.stack;
            add(schedule, change, found, |new| new.groups[group].tensors[at].stack = stack);
        }
    }
}

/// Operands that are read as they lie.
fn remove_packs(schedule: &Schedule, group: usize, found: &mut Vec<Neighbour>) {
    for (at, pack) in schedule.groups[group].packs.iter().enumerate() {
        let change = format!("`{}`: not packed", pack.tensor.as_str());
        add(schedule, change, found, |new| drop(new.groups[group].packs.remove(at)));
    }
    for (at, pack) in schedule.packs.iter().enumerate().filter(|_| group == 0) {
        let change = format!("`{}`: not packed", pack.tensor.as_str());
        add(schedule, change, found, |new| drop(new.packs.remove(at)));
    }
}
