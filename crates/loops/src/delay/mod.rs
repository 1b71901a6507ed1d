//! `delay_updates`: a recurrence that changes a whole plane in every step takes many steps at once.
//!
//! In `d[t, x] = min(d[t - 1, x], f(t, …))` a point waits for its own past and for a few rows and
//! columns that move with time, the pivots: `d[t - 1, x]` with some axes at `t + c`. Taken step by step,
//! the plane passes through memory once per step. Here the values of the pivots at every step of a block
//! of [`BLOCK`] steps are computed first, each from the plane before the block and the steps of the block
//! so far; then every point of the plane takes all steps of the block at once, as one reduction. Its
//! operands are the pivots, so it is a contraction like any other.
//!
//! Pivots of a plane with two axes cross each other in a corner of 64 by 64 elements, and each needs of the others only
//! what lies there. So the corners are tensors of their own, computed first: then no element of a pivot waits for
//! another one, and threads go through all steps of a block with what is theirs.
//!
//! Invariant: every value is the one that it was, to the bit: `min` and `max` keep the first of equal
//! elements however they are grouped. It is done only where nothing but the last plane is read later.

mod corners;
mod find;
mod rewrite;

use einlang_tir::module::Module;
use einlang_tir::types::Ident;

use self::find::find;
use self::rewrite::rewrite;

/// How many steps are taken at once.
const BLOCK: i64 = 64;

/// Delays the updates of all recurrences of a module for which that is right.
pub(crate) fn delay_updates(module: Module) -> Module {
    let mut module = module;
    let mut at = 0;
    while at < module.groups.len() {
        if let Some(delayed) = find(&module, at)
            && let Ok(changed) = rewrite(&module, at, &delayed)
        {
            module = changed;
        }
        at += 1;
    }
    module
}

/// What the names of pivots have in common.
const PIVOT: &str = ".pivot";

/// What the names of corners have in common.
const CORNER: &str = ".corner";

/// The name of a pivot of a tensor.
fn pivot_name(tensor: &Ident, number: usize) -> Ident {
    Ident::new(&format!("{}{PIVOT}{number}", tensor.as_str()))
}

/// The name of the corner of a pivot.
fn corner_name(tensor: &Ident, number: usize) -> Ident {
    Ident::new(&format!("{}{CORNER}{number}", tensor.as_str()))
}
