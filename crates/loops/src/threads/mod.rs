//! `divide_work`: which loops of a kernel are divided among threads, and where threads wait.
//!
//! A kernel whose free loops are worth it gets teams: statements that every thread of a pool runs, with
//! barriers inside, so that a recurrence over time is one team and not one per step. A thread owns the
//! same part of a loop wherever a loop has the same bounds; where it only meets its own stores, there is
//! no barrier. Long loops that stand alone are divided while they run, so that a thread that is slowed down
//! by other programs leaves rounds to the others. Reductions are never divided, so nothing that is computed depends on how many threads
//! there are.
//! Waves, whose order was proved with the schedule, need no barriers inside: threads follow each other.
//!
//! | file | does |
//! |---|---|
//! | `form.rs` | `form_teams`: what runs together, and which loops are divided |
//! | `fence.rs` | `fence`: barriers, inserted and checked |
//! | `places.rs`, `apart.rs`, `span.rs` | which places are touched, and whether two accesses can meet |
//! | `fewer.rs` | less to ask about places |
//! | `taken.rs` | loops whose rounds any thread may take |
//! | `waves.rs` | loops over tiles that threads follow each other through |
//! | `memory.rs`, `work.rs` | memory of one thread, and loops that are too small |
//! | `estimate.rs`, `worth.rs` | what statements cost, and whether threads are worth it for them |
//!
//! Invariant ([`check_teams`], part of `ir::verify`): between two barriers a place that one thread stores
//! to is touched by no other; only loops that are divided store.

mod apart;
mod estimate;
mod fence;
mod fewer;
mod form;
mod memory;
mod places;
mod span;
mod taken;
mod waves;
mod work;
mod worth;

use einlang_index::Var;

use self::apart::Apart;
pub use self::estimate::{
    EXPONENTIAL, FOLLOW, FUNCTION, MOST_WORK, WAIT, at_once, is_for_wave, is_function,
};
use self::fence::check_barriers;
use self::form::{Form, last_uses};
pub use self::memory::{MOST_ON_STACK, is_private as is_of_thread};
use self::places::{Scope, Walk};
use self::waves::number_apart;
use self::worth::Around;
pub use self::worth::{Left, Worth, is_bounded, sizes_of, work_of};
use crate::ir::{Kernel, Stmt, each_stmt};

/// Divides the free loops of a kernel among threads, where that is worth it,
/// given the shapes of the inputs if they are known. What is left
/// to one thread because of sizes that may change.
pub fn divide_work(kernel: &mut Kernel, worth: Worth, shapes: &[Vec<i64>]) -> Vec<Left> {
    let (around, least_work) = (Around::of(kernel, shapes, worth), worth.least);
    if least_work > 0 && around.is_small(&kernel.body, least_work) {
        return around.judge(&kernel.body, least_work).err().into_iter().collect();
    }
    let once = fresh(kernel, "once");
    let (body, left) = {
        let (apart, scope) = (Apart::new(Walk::new(kernel)), Scope::of(kernel));
        let mut form = Form { apart, scope, once, least_work, around, left: Vec::new() };
        let last = last_uses(&kernel.body);
        let body = form.block(&kernel.body, Some(&last));
        (body, form.left)
    };
    kernel.body = body;
    number_apart(kernel);
    left
}

/// Whether a kernel has teams.
pub fn has_teams(kernel: &Kernel) -> bool {
    let mut any = false;
    each_stmt(&kernel.body, &mut |stmt| any |= matches!(stmt, Stmt::Team(_)));
    any
}

/// What is wrong with the teams of a kernel; nothing if they are fine.
pub fn check_teams(kernel: &Kernel) -> Vec<String> {
    let mut problems = Vec::new();
    each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Team(block) = stmt {
            let mut apart = Apart::new(Walk::new(kernel));
            problems.extend(check_barriers(block, &mut apart, &Scope::of(kernel)));
        }
    });
    problems
}

fn fresh(kernel: &mut Kernel, name: &str) -> Var {
    let mut name = name.to_owned();
    while kernel.vars.lookup(&name).is_some() {
        name.push('\'');
    }
    kernel.vars.index(&name)
}
