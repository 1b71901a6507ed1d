//! How much work there is, where that is known.

use einlang_index::MinMax;

use crate::ir::{Block, Combine, Loop, Range, Stmt};

/// Whether a loop certainly has less to do than so many operations.
pub(super) fn is_small(of: &Loop, least: u64) -> bool {
    rounds(&of.range).and_then(|n| n.checked_mul(work(&of.body)?)).is_some_and(|n| n < least)
}

/// How many rounds a range has, if that is known.
fn rounds(range: &Range) -> Option<u64> {
    let constant = |bound: &MinMax| bound.as_constant();
    let n = constant(&range.hi)?.checked_sub(constant(&range.lo)?)?;
    u64::try_from(n.max(0)).ok()
}

/// How many statements a block executes, if that is known.
fn work(block: &Block) -> Option<u64> {
    let mut sum = 0_u64;
    for stmt in &block.stmts {
        let inside = match stmt {
            Stmt::If { then, otherwise, .. } => work(then)?.checked_add(work(otherwise)?)?,
            Stmt::Loop(of) => rounds(&of.range)?.checked_mul(work(&of.body)?)?,
            Stmt::Fold(fold) => {
                let combined = match &fold.combine {
                    Combine::Block { block, .. } => work(block)?,
                    _ => 1,
                };
                let term = work(&fold.body)?.checked_add(combined)?;
                fold.ranges.iter().try_fold(term, |n, range| n.checked_mul(rounds(range)?))?
            }
            _ => 1,
        };
        sum = sum.checked_add(inside)?;
    }
    Some(sum)
}
