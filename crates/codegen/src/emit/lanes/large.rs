//! Which bodies of lane loops are emitted once.
//!
//! Whole vectors without a mask and the rest with one are two copies of a body. Where the processor has
//! masks for every access, a mask that holds everywhere costs next to nothing, and compiling a large body
//! twice costs more than the mask ever does. Small bodies, whose loads become operands, stay apart.

use einlang_loops::ir::{Block, Combine, Stmt};
use einlang_tir::op::Op;

use crate::emit::Emit;
use crate::emit::estimate::is_function;

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
        crate::optimise::has_masks() && weight(body).saturating_mul(registers) >= LARGE
    }
}

/// How many operations a block has, each loop being run through once.
fn weight(block: &Block) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Op { op: Op::Exp | Op::Log, .. } => FUNCTION,
        Stmt::Op { op, .. } if is_function(*op) => FUNCTION,
        Stmt::Bind { .. } => 0,
        Stmt::If { then, otherwise, .. } => weight(then) + weight(otherwise),
        Stmt::Loop(of) => weight(&of.body),
        Stmt::Fold(fold) => {
            let combined = match &fold.combine {
                Combine::Block { block, .. } => weight(block),
                _ => 1,
            };
            weight(&fold.body) + combined
        }
        _ => 1,
    };
    block.stmts.iter().map(of).sum()
}
