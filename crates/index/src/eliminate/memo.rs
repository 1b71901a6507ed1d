//! What was found about systems before.
//!
//! Whoever plans a program asks the same about many tensors: whether two accesses can meet, whether a
//! subscript stays inside. Such systems differ in the names of their variables alone. Invariant: an answer
//! from here costs the same units of the budget as finding it did, and renaming keeps the order of
//! variables, so no answer depends on what was asked before.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Congruence;
use crate::error::Result;
use crate::set::Set;
use crate::var::Var;

/// So many answers are remembered.
const MOST: usize = 1 << 14;

/// Sets with variables that are numbered as they come, what was found of each and what that cost, by what is the same
/// of all sets that differ in names.
#[derive(Default)]
struct Known {
    found: FxHashMap<u64, Vec<(Set, bool, u64)>>,
    n: usize,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Whether a set has a point, as `find` says of the same set with other names.
pub(super) fn recalled(
    set: &Set,
    budget: &mut Budget,
    find: impl FnOnce(&Set, &mut Budget) -> Result<bool>,
) -> Result<bool> {
    let vars = vars(set);
    let number = |var: Var| Var::local(vars.binary_search(&var).unwrap_or(vars.len()) as u32);
    let hash = hash(set, &number);
    let known = KNOWN.with_borrow(|known| {
        let alike = known.found.get(&hash)?;
        alike
            .iter()
            .find(|(of, ..)| is_renamed(set, of, &number))
            .map(|(_, known, cost)| (*known, *cost))
    });
    if let Some((answer, cost)) = known {
        budget.pay(cost as usize)?;
        return Ok(answer);
    }
    let set = set.renamed(&number);
    let before = budget.left();
    let answer = find(&set, budget)?;
    KNOWN.with_borrow_mut(|known| {
        if known.n >= MOST {
            *known = Known::default();
        }
        known.n += 1;
        known.found.entry(hash).or_default().push((set, answer, before - budget.left()));
    });
    Ok(answer)
}

/// The variables of a set, in order.
fn vars(set: &Set) -> SmallVec<[Var; 16]> {
    let mut vars = SmallVec::new();
    for var in set.affines().flat_map(Affine::vars) {
        if let Err(at) = vars.binary_search(&var) {
            vars.insert(at, var);
        }
    }
    vars
}

/// The hash of a set whose variables have other names.
fn hash(set: &Set, number: &dyn Fn(Var) -> Var) -> u64 {
    let mut hasher = FxHasher::default();
    (set.eqs().len(), set.ges().len()).hash(&mut hasher);
    for affine in set.affines() {
        (affine.terms().len(), affine.constant_part()).hash(&mut hasher);
        for (var, coefficient) in affine.terms() {
            (number(*var), coefficient).hash(&mut hasher);
        }
    }
    for congruence in set.mods() {
        (congruence.modulus(), congruence.at_most()).hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether a set is another one but for the names of its variables.
fn is_renamed(set: &Set, other: &Set, number: &dyn Fn(Var) -> Var) -> bool {
    let same = |(a, b): (&Affine, &Affine)| {
        let alike = a.constant_part() == b.constant_part() && a.terms().len() == b.terms().len();
        let mut terms = a.terms().iter().zip(b.terms());
        alike && terms.all(|(x, y)| x.1 == y.1 && number(x.0) == y.0)
    };
    let allows = |of: &Congruence| (of.modulus(), of.at_most());
    set.eqs().len() == other.eqs().len()
        && set.ges().len() == other.ges().len()
        && set.mods().iter().map(allows).eq(other.mods().iter().map(allows))
        && set.affines().zip(other.affines()).all(same)
}
