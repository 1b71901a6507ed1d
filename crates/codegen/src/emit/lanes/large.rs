//! Which bodies of lane loops are emitted once.
//!
//! Whole vectors without a mask and the rest with one are two copies of a body. Where the processor has
//! masks for every access, a mask that holds everywhere costs next to nothing, and compiling a large body
//! twice costs more than the mask ever does. Small bodies, whose loads become operands, stay apart, unless
//! there is at most one vector of them or code is made quickly.

use einlang_loops::ir::Block;

use crate::emit::Emit;
use crate::emit::estimate::weight;

/// How many operations on registers a body has that is emitted once.
const LARGE: usize = 96;

/// How many statements an elementary function counts for.
const FUNCTION: usize = 24;

/// How many lanes a register has, of four bytes each.
const LANES: usize = 16;

impl Emit<'_, '_> {
    /// Whether a body of so many lanes is emitted once, with a mask.
    pub(super) fn is_large(&self, body: &Block, width: u32) -> bool {
        let registers = (width as usize).div_ceil(LANES);
        crate::optimise::has_masks() && weight(body, FUNCTION).saturating_mul(registers) >= LARGE
    }

    /// Whether a body is emitted once in any case, which is noted.
    pub(super) fn spares_copy(&mut self, body: &Block) -> bool {
        let is_spared = crate::optimise::has_masks() && self.spared.masks_all;
        if is_spared {
            self.spared.note_lanes(weight(body, 1));
        }
        is_spared
    }
}
