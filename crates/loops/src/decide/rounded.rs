//! `round_windows`: a window of numbers has a power of two of places.
//!
//! The place of a step is its number modulo the width of the window. That takes several multiplications in each step,
//! as long as the step itself where that is one product and a sum; for a power of two it takes one operation. A few
//! numbers more cost nothing. Windows of a few steps are left as they are: what they keep goes from one step to the next
//! in registers.
//!
//! Invariant: what is proposed was proved like a schedule from a file.

use einlang_tir::module::Module;

use super::legal::change_groups;
use crate::schedule::{Layout, Nest, Role, Schedule, TensorSchedule};

/// The widest window that is left as it is.
const FEW_STEPS: i64 = 4;

/// Rounds the windows of recurrences of numbers.
pub(crate) fn round_windows(module: &Module, schedule: &mut Schedule) {
    change_groups(module, schedule, |_, decided, _| {
        let is_steps = matches!(&decided.nest, Nest::Loop { tile: None, role: Role::Seq, .. });
        let is_plain = |tensor: &&mut TensorSchedule| tensor.map.is_empty() && !tensor.stack;
        for tensor in decided.tensors.iter_mut().filter(|_| is_steps).filter(is_plain) {
            if let [Layout::Mod(width)] = &mut tensor.storage[..]
                && *width > FEW_STEPS
                && let Some(rounded) = width.cast_unsigned().checked_next_power_of_two()
            {
                *width = rounded.cast_signed();
            }
        }
    });
}
