//! `find_replay`: which trajectories are computed again in segments, instead of being kept.
//!
//! A recurrence whose points are read later by one that runs the other way (its adjoint) needs all
//! of them at once, unless time is cut into segments. Then the forward sweep keeps a checkpoint per
//! segment, and the backward sweep computes a segment of the recurrence again before it reads it.
//! Everything that goes with either recurrence point by point along time runs in the same segments:
//! maps, and sums over time, whose terms are added up segment by segment.
//!
//! | file | finds |
//! |---|---|
//! | `reads.rs` | what a group reads |
//! | `shape.rs` | how a group can run along time |
//! | `place.rs` | which planes a read is of |
//! | `stage.rs` | in which sweep a group runs, or when else |
//! | `planes.rs` | how segments of groups are shifted, and how many planes around them are kept |
//!
//! Invariant: a group of a sweep reads tensors of the sweeps only at its own time, up to a few planes
//! that are there by then, or at the ends of time, which are kept apart. A tensor that anything reads
//! otherwise is stored as its schedule says.

mod place;
mod planes;
mod reads;
mod shape;
mod stage;

use einlang_tir::module::Module;

use self::planes::planes;
use self::stage::{Groups, Stages};
use crate::schedule::{Checkpoints, Replay, Schedule};

pub(crate) use place::is_fixed;
pub(crate) use shape::{sum_of, sum_over};

/// What can be computed again in segments under a schedule.
pub fn find_replay(
    module: &Module,
    schedule: &Schedule,
    checkpoints: Checkpoints,
) -> Option<Replay> {
    if !schedule.packs.is_empty() {
        return None;
    }
    let groups = Groups::of(module, schedule);
    (0..module.groups.len()).filter(|seed| !groups.skipped[*seed]).find_map(|seed| {
        let stages = Stages::from(&groups, seed)?;
        planes(&groups, &stages, schedule, checkpoints)
    })
}
