//! `stream_sums`: what is only summed over a long axis is computed block by block.
//!
//! A gradient over many points has tensors with a plane for each point that nobody reads but sums over all
//! points. They become tensors over blocks of [`BLOCK`] points, and a sum becomes a recurrence over blocks:
//! the sum of a block is added to that of the blocks before. All of them are one group then, whose loop over
//! blocks keeps one block of everything in the caches. There are [`PARTS`] such recurrences, each over its
//! share of the blocks, so that threads need not wait for each other; the sum is that of all parts.
//!
//! Invariant: every value stays what it was but for the association of these sums, which depends on positions
//! alone. If some tensor would not get a window, the module stays as it is.
//!
//! | file | does |
//! |---|---|
//! | `members.rs` | finds the tensors and the sums |
//! | `blocks.rs` | writes them over blocks |

mod blocks;
mod members;

use einlang_tir::module::{Axis, Binding, Module};

use self::blocks::in_blocks;
use self::members::{Stream, find_stream};
use super::at_reads::needed_by_outputs;
use super::windows::Observers;
use super::{Deciding, Storage, decide_order};
use crate::schedule::{Compute, Layout};

/// The points of a block: rows of tiles, and few enough for the second cache.
pub(super) const BLOCK: i64 = 96;

/// The parts of a stream: each is a recurrence over every so manyth block, and threads divide them. The
/// sums of all parts have memory.
pub(super) const PARTS: i64 = 8;

/// A stream of fewer axes than that is not larger than what it is computed from.
const FEWEST_AXES: usize = 3;

/// Axes that are known to be no longer than that make a tensor hardly larger.
const SHORT: i64 = 4;

/// Computes what is only summed block by block.
pub fn stream_sums(module: Module) -> Module {
    if find_stream(&module, FEWEST_AXES).is_none() {
        return module;
    }
    let (mut alive, needed) = (module.clone(), needed_by_outputs(&module));
    alive.groups.retain(|group| group.bindings.iter().any(|b| needed.contains(&b.name)));
    let stream = find_stream(&alive, FEWEST_AXES).filter(|stream| is_stored(&alive, stream));
    let made = stream.and_then(|stream| in_blocks(&alive, &stream));
    let Some((made, joint)) = made else { return module };
    let (observers, facts) = (Some(Observers::of(&made)), made.facts());
    let deciding = Deciding { module: &made, facts, observers };
    let Ok(decided) = deciding.alone(&made.groups[joint]) else { return module };
    let windowed = |layouts: &[Layout]| layouts.iter().any(|l| matches!(l, Layout::Mod(_)));
    match decided.tensors.iter().all(|tensor| windowed(&tensor.storage)) {
        true => made,
        false => module,
    }
}

/// How many axes of a tensor are not known to be short.
pub(super) fn n_long_axes(binding: &Binding) -> usize {
    let short = |axis: &&Axis| axis.dim.extent.as_constant().is_some_and(|n| n <= SHORT);
    binding.axes.len() - binding.axes.iter().filter(short).count()
}

/// Whether some tensor of a stream would be stored and has many axes.
fn is_stored(module: &Module, stream: &Stream) -> bool {
    let Ok(alone) = decide_order(module, Storage::Window) else { return false };
    let here = |name| alone.tensor(name).is_some_and(|t| t.compute == Compute::Here);
    let many = |name| module.binding(name).is_some_and(|b| n_long_axes(b) >= FEWEST_AXES);
    stream.members.keys().any(|name| here(name) && many(name))
}
