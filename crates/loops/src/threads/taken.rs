//! `let_take`: loops whose rounds threads take while they run.
//!
//! Equal parts of a loop take equal times only while nothing else runs on the machine. A thread that has to
//! share its processor with another program would keep all others waiting at the end of a long loop. Where it
//! is not known who runs which round, every thread begins with its own part, and takes rounds of others when
//! it has finished. In return there must be barriers where a thread met only its own stores, and what a thread
//! just stored may lie in the cache of another, so loops inside steps keep their parts.
//!
//! Contract: the team has barriers before and afterwards wherever threads could meet (`fence`), the same
//! statements, and no other order of rounds within a thread's part.

use super::apart::Apart;
use super::estimate::WAIT;
use super::fence::{check_barriers, insert_barriers};
use super::places::Scope;
use super::worth::Around;
use crate::ir::{Block, Loop, Own, Role, Stmt};

/// A loop is long if it has so much work that a barrier more costs less than a hundredth of it.
const LONG: f64 = 100.0 * WAIT;

/// Lets threads take the rounds of a team's long loops. Where the amount of work is not known, they do only if
/// that costs nothing.
pub(super) fn let_take(block: &mut Block, apart: &mut Apart<'_>, scope: &Scope, around: &Around) {
    let as_it_was = block.clone();
    let is_long = |of: &Loop| around.work_of_loop(of).map(|work| work >= LONG);
    let n = mark(block, &|of| is_long(of) != Some(false));
    if n == 0 || check_barriers(block, apart, scope).is_empty() {
        return;
    }
    *block = as_it_was.clone();
    let n = mark(block, &|of| is_long(of) == Some(true));
    if n > 0 && !insert_barriers(block, apart, scope) {
        *block = as_it_was;
    }
}

/// Marks loops of a team outside of other loops; how many there are.
fn mark(block: &mut Block, is_meant: &dyn Fn(&Loop) -> bool) -> usize {
    let mut n = 0;
    for stmt in &mut block.stmts {
        match stmt {
            Stmt::Loop(of) if of.own == Own::Part && of.role == Role::Par && is_meant(of) => {
                of.own = Own::Taken;
                n += 1;
            }
            Stmt::If { then, otherwise, .. } => {
                n += mark(then, is_meant) + mark(otherwise, is_meant)
            }
            _ => {}
        }
    }
    n
}
