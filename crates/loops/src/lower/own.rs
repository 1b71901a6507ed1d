//! Memory of one round: it is given inside the loop, so that rounds may run on different threads.
//!
//! A tensor on the stack that keeps as much along an axis as a round of a free loop along that axis
//! computes is not seen by any other round.

use crate::decide::own_form;
use crate::ir::{BufferId, Layout, Role, Stmt};
use crate::schedule::{GroupSchedule, Nest};

use super::Lower;

impl Lower<'_> {
    /// Gives memory to what belongs to a round of the loop at a depth.
    pub(super) fn give_own_memory(&self, depth: usize, out: &mut Vec<Stmt>) {
        let here = self.own_memory.iter().filter(|(at, _)| *at == depth);
        out.extend(here.map(|(_, buffer)| Stmt::Alloc(*buffer)));
    }

    /// Whether a buffer gets its memory inside a loop of its group, which is then noted.
    pub(super) fn is_of_round(
        &mut self,
        schedule: &GroupSchedule,
        number: usize,
        buffer: BufferId,
    ) -> bool {
        let depth = depth_of_own(schedule, number);
        self.own_memory.extend(depth.map(|depth| (self.loops.len() + depth, buffer)));
        depth.is_some()
    }
}

/// The innermost loop of a nest, counted from 1, to whose rounds a tensor belongs.
fn depth_of_own(schedule: &GroupSchedule, number: usize) -> Option<usize> {
    let tensor = schedule.tensors.get(number)?;
    // A dimension that mixes axes belongs to no loop along one of them.
    let is_axis = |form: &Vec<i64>| form.iter().filter(|c| **c != 0).eq([&1]);
    if !tensor.stack || !tensor.map.iter().all(is_axis) {
        return None;
    }
    let (mut nest, mut depth, mut found) = (&schedule.nest, 0, None);
    while let Nest::Loop { forms, tile, role, inner } = nest {
        depth += 1;
        let form = own_form(forms, number)?;
        let along = (0..tensor.storage.len()).find(|d| tensor.dimension(*d) == form.coefficients);
        let kept = along.map(|dimension| tensor.storage[dimension]);
        if *role == Role::Par && kept == Some(Layout::Mod(tile.unwrap_or(1))) {
            found = Some(depth);
        }
        nest = inner;
    }
    found
}
