//! Which bodies of lane loops are emitted once.
//!
//! Whole vectors without a mask and the rest with one are two copies of a body. Where the processor has
//! masks for every access, a mask that holds everywhere costs next to nothing, and compiling a large body
//! twice costs more than the mask ever does. Small bodies, whose loads become operands, stay apart, unless
//! there is at most one vector of them.

use einlang_index::MinMax;
use einlang_loops::ir::{Block, Range};

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
}

/// Whether a range is known to have at most so many values.
pub(super) fn at_most(range: &Range, n: u32) -> bool {
    let ends = match &range.hi {
        MinMax::Min(list) => list.as_slice(),
        hi => std::slice::from_ref(hi),
    };
    let starts = match &range.lo {
        MinMax::Max(list) => list.as_slice(),
        lo => std::slice::from_ref(lo),
    };
    let is_near = |start: &MinMax, end: &MinMax| {
        let length = end.sub(start).ok().and_then(|length| length.as_constant());
        length.is_some_and(|length| length <= i64::from(n))
    };
    ends.iter().any(|end| starts.iter().any(|start| is_near(start, end)))
}

#[cfg(test)]
mod tests {
    use einlang_index::{Quasi, Vars};

    use super::*;

    #[test]
    fn tiles_have_at_most_one_vector() {
        let mut vars = Vars::new();
        let var = vars.index("j");
        let mut bound = |text: &str| MinMax::from(Quasi::parse(text, &mut vars).expect("it reads"));
        let min = |list: [MinMax; 2]| MinMax::min_of(list).expect("it is small");
        let (first, next, end) = (bound("32*T"), bound("32*T + 32"), bound("n"));
        let range = |lo: &MinMax, hi: MinMax| Range { var, lo: lo.clone(), hi, down: false };
        let tile = range(&first, min([next.clone(), end.clone()]));
        assert!(at_most(&tile, 32) && !at_most(&tile, 16));
        assert!(!at_most(&range(&first, end.clone()), 32));
        let later = MinMax::max_of([first, bound("m")]).expect("it is small");
        assert!(at_most(&range(&later, min([next, end])), 32));
    }
}
