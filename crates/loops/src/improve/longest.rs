//! `hold_axis`: a kernel that cuts a grid into segments along one axis traps where another one is longer.
//!
//! Whoever runs it knows the site, and runs the kernel that cuts the other axis: segments of the longest axis
//! take least memory. Nothing is lost but what comes before the grid.

use einlang_index::Domain;
use einlang_tir::module::Module;
use einlang_tir::types::Ident;

use crate::checkpoint::SHORTER_AXIS;
use crate::ir::{Condition, Kernel, Stmt};

/// An axis of a tensor that is cut into segments, and one that could be instead.
pub(crate) struct LongestAxis {
    pub(crate) tensor: Ident,
    pub(crate) axis: usize,
    pub(crate) instead: usize,
}

/// Makes a kernel trap where the axis that it cuts is not the longest.
pub(crate) fn hold_axis(kernel: &mut Kernel, module: &Module, of: &LongestAxis) {
    let extent = |axis: usize| Some(&module.binding(&of.tensor)?.axes.get(axis)?.dim.extent);
    let (Some(own), Some(other)) = (extent(of.axis), extent(of.instead)) else { return };
    let Ok(longer) = own.sub(other) else { return };
    let Ok(holds) = Domain::where_nonnegative([], &[longer]) else { return };
    let is_it = |stmt: &Stmt| match stmt {
        Stmt::Alloc(buffer) => kernel.buffer(*buffer).is_some_and(|b| b.name == of.tensor),
        _ => false,
    };
    let Some(at) = kernel.body.stmts.iter().position(is_it) else { return };
    let site = kernel.add_site(SHORTER_AXIS, Default::default());
    kernel.body.stmts.insert(at, Stmt::Assert { condition: Condition::Within(holds), site });
}
