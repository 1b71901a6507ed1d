//! Loops over tiles that run as waves.
//!
//! The tiles of a stencil over time and a skewed axis depend on those before them in both loops. Threads that
//! divide each step of a tile wait for each other at every step, and hand each other what they just stored. As
//! a wave every thread takes whole rounds of the outer loop, and stays behind the thread that runs the round
//! before: it waits once per tile, and what a tile reads again is in its own cache.
//!
//! That a tile depends on none of a round before that lies behind it in the loop inside, and overwrites nothing
//! that such a one reads, was proved with the schedule (`decide::legal`).

use einlang_index::{Domain, MinMax};

use super::estimate::is_for_wave;
use crate::improve::{Copy, blocks, next_value_of};
use crate::ir::{Block, Condition, Kernel, Loop, Own, Range, Role, Stmt};

/// Fewer rounds leave threads with nothing to do.
const LEAST_ROUNDS: i64 = 4;

/// Whether a loop is a wave that threads can follow each other through: nothing stands beside the loop inside.
pub(super) fn is_wave(of: &Loop) -> bool {
    let [Stmt::Loop(inner)] = &of.body.stmts[..] else { return false };
    let is_plain = |of: &Loop| of.until.is_none() && !of.range.down;
    of.role == Role::Wave && inner.role == Role::Seq && is_plain(of) && is_plain(inner)
}

/// The loop as a wave where it has enough rounds, and divided in another way where not.
pub(super) fn wave_or(of: &Loop, otherwise: Stmt) -> Option<Stmt> {
    let wave = Stmt::Loop(Box::new(Loop { own: Own::Part, ..of.clone() }));
    let block = |stmt| Block { stmts: vec![stmt], results: Vec::new() };
    Some(Stmt::If {
        results: Vec::new(),
        condition: Condition::Within(has_many_rounds(&of.range)?),
        then: block(wave),
        otherwise: block(otherwise),
    })
}

/// Where a range is long enough for a wave; nothing if that is not known as a domain.
fn has_many_rounds(range: &Range) -> Option<Domain> {
    let first = range.lo.as_quasi()?;
    let ends = match &range.hi {
        MinMax::Max(list) => &list[..],
        hi => std::slice::from_ref(hi),
    };
    let mut many = Domain::nothing([]);
    for end in ends {
        let beyond = end.as_quasi()?.sub(first).ok()?.add_constant(-LEAST_ROUNDS).ok()?;
        many = many.union(&Domain::where_nonnegative([], &[beyond]).ok()?).ok()?;
    }
    Some(many.simplified())
}

/// Gives what is done instead of waves values of its own, for both stand in the kernel.
pub(super) fn number_apart(kernel: &mut Kernel) {
    let next = next_value_of(kernel);
    let nothing = Block { stmts: Vec::new(), results: Vec::new() };
    let mut body = std::mem::replace(&mut kernel.body, nothing);
    number_block(&mut body, &mut Copy::new(next, &mut kernel.vars).with_memory());
    kernel.body = body;
}

fn number_block(block: &mut Block, copy: &mut Copy<'_>) {
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::If { then, otherwise, .. } if is_for_wave(then) => {
                if let Some(own) = copy.block_as_it_is(otherwise) {
                    *otherwise = own;
                }
            }
            other => blocks(other, &mut |block| number_block(block, copy)),
        }
    }
}
