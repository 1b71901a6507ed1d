//! `unify_sizes`: sizes that are the same are one symbol, or a number.
//!
//! Every axis of every input has a symbol of its own, and the checks at entry say which of them are equal: to
//! each other where axes share a name, and to numbers where the program has them. Whatever looks at sizes later,
//! such as whether two domains are the same or whether an axis is short, sees it at once if there is one symbol for
//! all of them, and none for a number.
//!
//! Invariant: the checks stay, and nothing but checks is done before they hold. Only shapes of inputs are
//! replaced, for other sizes may not be known that early.

use einlang_index::{Quasi, Var};
use einlang_tir::module::{Module, Relation, SymbolSource};
use einlang_tir::substitute::Substitution;
use rustc_hash::FxHashMap as HashMap;

/// Replaces sizes by those that checks say they are.
pub(crate) fn unify_sizes(module: &mut Module) {
    let same = Substitution { vars: same_sizes(module), ..Substitution::default() };
    if same.is_empty() {
        return;
    }
    let mut unified = module.clone();
    let mut done = unified.groups.iter_mut().try_for_each(|group| same.group(group));
    for dim in unified.inputs.iter_mut().flat_map(|input| &mut input.ty.dims) {
        done = done.and_then(|()| same.quasi(&dim.extent).map(|extent| dim.extent = extent));
    }
    // Numbers that are too large for index expressions stay symbols.
    if done.is_ok() {
        *module = unified;
    }
}

/// What stands for each size that is not its own representative: a number, or the first symbol that equals it.
fn same_sizes(module: &Module) -> HashMap<Var, Quasi> {
    let of_shape = |var: &Var| matches!(module.source(*var), Some(SymbolSource::Shape(..)));
    let mut same: HashMap<Var, Quasi> = HashMap::default();
    let find = |same: &HashMap<Var, Quasi>, size: &Quasi| {
        let known = size.as_var().and_then(|var| same.get(&var));
        known.cloned().unwrap_or_else(|| size.clone())
    };
    for check in &module.checks {
        let condition = &check.condition;
        let is_size = |size: &Quasi| {
            size.as_constant().is_some() || size.as_var().as_ref().is_some_and(of_shape)
        };
        let (left, right) = (&condition.left, &condition.right);
        if condition.relation != Relation::Eq || !is_size(left) || !is_size(right) {
            continue;
        }
        let (left, right) = (find(&same, left), find(&same, right));
        let (gone, stays) = match (left.as_var(), right.as_var()) {
            (Some(left), Some(right)) if left == right => continue,
            (Some(left), Some(right)) => (left.max(right), Quasi::from(left.min(right))),
            (Some(left), None) => (left, right),
            (None, Some(right)) => (right, left),
            // Two numbers: the check fails, or says nothing.
            (None, None) => continue,
        };
        for size in same.values_mut().filter(|size| size.as_var() == Some(gone)) {
            *size = stays.clone();
        }
        same.insert(gone, stays);
    }
    same
}
