//! `fuse_products`: where a product that is added is rounded together with the sum.
//!
//! The steps of a recurrence wait for each other, operation by operation, and one operation instead of
//! two is what makes them short. Chains of products round once per term anyway; what a term is made of
//! does the same. Everything else keeps the rounding that is written.
//!
//! Invariant: this follows from the module alone.

use einlang_tir::module::{Group, Module};
use einlang_tir::types::Elem;

use super::all_groups;
use crate::schedule::{Fma, Nest, Role, Schedule};

/// Asks for fused products where there are steps or chains of floats.
pub(super) fn fuse_products(module: &Module, schedule: &mut Schedule) {
    let has_steps = |group: &&Group| {
        let first = group.bindings.first().and_then(|binding| schedule.group(&binding.name));
        first.is_some_and(|decided| waits(&decided.nest))
            && group.bindings.iter().any(|b| matches!(b.elem, Elem::F32 | Elem::F64))
    };
    if schedule.chains || all_groups(module).iter().any(has_steps) {
        schedule.fma = Fma::Steps;
    }
}

/// Whether some loop has rounds that wait for each other.
fn waits(nest: &Nest) -> bool {
    match nest {
        Nest::Points { .. } => false,
        Nest::Phases(phases) => phases.iter().any(waits),
        Nest::Loop { role, inner, .. } => *role == Role::Seq || waits(inner),
    }
}
