//! What was found about systems before.
//!
//! Whoever plans a program asks the same about many tensors: whether two accesses can meet, whether a
//! subscript stays inside. Such systems differ in the names of their variables alone. Invariant: an answer
//! from here costs the same units of the budget as finding it did, and renaming keeps the order of
//! variables, so no answer depends on what was asked before.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::budget::Budget;
use crate::error::Result;
use crate::set::Set;
use crate::var::Var;

/// So many answers are remembered.
const MOST: usize = 1 << 14;

/// Answers and what they cost.
type Known = FxHashMap<Set, (bool, u64)>;

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Whether a set has a point, as `find` says of the same set with other names.
pub(super) fn recalled(
    set: &Set,
    budget: &mut Budget,
    find: impl FnOnce(&Set, &mut Budget) -> Result<bool>,
) -> Result<bool> {
    let set = renamed(set);
    if let Some((answer, cost)) = KNOWN.with_borrow(|known| known.get(&set).copied()) {
        budget.pay(cost as usize)?;
        return Ok(answer);
    }
    let before = budget.left();
    let answer = find(&set, budget)?;
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(set, (answer, before - budget.left()));
    });
    Ok(answer)
}

/// The set with variables that are numbered as they come.
fn renamed(set: &Set) -> Set {
    let vars = set.vars();
    let rename = |var: Var| Var::local(vars.binary_search(&var).unwrap_or(vars.len()) as u32);
    set.renamed(&rename)
}
