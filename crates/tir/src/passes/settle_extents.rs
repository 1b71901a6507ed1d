//! `settle_extents`: an extent that a check at entry compares with a number is that number.
//!
//! `fn f(p: [f64; N, 3])` tests once that the last axis of `p` has three points. What is said of that
//! extent afterwards, in domains, shapes, subscripts and in tests of the same at every point, is said of 3.
//! The checks themselves and the types of inputs keep the symbol.

use einlang_index::{Quasi, Var};
use einlang_source::Diagnostics;
use rustc_hash::FxHashMap as HashMap;

use super::Ctx;
use crate::module::{Condition, Module, Relation, SymbolSource};
use crate::substitute::Substitution;

/// Settles the extents of a module.
pub fn settle_extents(module: &mut Module, _: &Ctx) -> Result<(), Diagnostics> {
    let equal = module.checks.iter().filter_map(|check| number(&check.condition));
    let settled: HashMap<Var, Quasi> = equal
        .filter(|(var, _)| {
            matches!(module.source(*var), Some(SymbolSource::Argument | SymbolSource::Shape(..)))
        })
        .map(|(var, number)| (var, Quasi::from(number)))
        .collect();
    if settled.is_empty() {
        return Ok(());
    }
    let settled = Substitution { vars: settled, ..Substitution::default() };
    let mut groups = module.groups.clone();
    // Sums of numbers that do not fit an index leave everything as it was.
    if groups.iter_mut().try_for_each(|group| settled.group(group)).is_ok() {
        module.groups = groups;
    }
    Ok(())
}

/// The symbol that a condition makes equal to a number, and the number.
fn number(condition: &Condition) -> Option<(Var, i64)> {
    if condition.relation != Relation::Eq {
        return None;
    }
    let difference = condition.left.sub(&condition.right).ok()?;
    let affine = difference.as_affine()?;
    match affine.terms() {
        [(var, 1)] => Some((*var, affine.constant_part().checked_neg()?)),
        [(var, -1)] => Some((*var, affine.constant_part())),
        _ => None,
    }
}
