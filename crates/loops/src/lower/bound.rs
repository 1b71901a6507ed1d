//! The variables that have a value at the place that is being lowered.

use einlang_index::Var;
use rustc_hash::FxHashMap as HashMap;

/// Variables, innermost last.
#[derive(Debug, Default)]
pub(super) struct Bound {
    list: Vec<Var>,
    /// Where each was bound first.
    first: HashMap<Var, usize>,
}

impl Bound {
    pub(super) fn push(&mut self, var: Var) {
        self.first.entry(var).or_insert(self.list.len());
        self.list.push(var);
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn contains(&self, var: Var) -> bool {
        self.first.contains_key(&var)
    }

    /// Whether a variable is one of the first `n`.
    pub(super) fn is_among_first(&self, n: usize, var: Var) -> bool {
        self.first.get(&var).is_some_and(|at| *at < n)
    }

    /// Forgets all but the first `n`.
    pub(super) fn truncate(&mut self, n: usize) {
        for var in self.list.drain(n.min(self.list.len())..) {
            if self.first.get(&var).is_some_and(|at| *at >= n) {
                self.first.remove(&var);
            }
        }
    }
}
