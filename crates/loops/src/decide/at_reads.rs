//! Bindings that are computed where they are read.
use einlang_tir::module::Module;

use crate::schedule::Schedule;

/// Marks the bindings that need no memory.
pub(super) fn compute_at_reads(_: &Module, _: &mut Schedule) {}
