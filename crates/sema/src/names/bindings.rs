//! The bindings of one scope in the order they were made, and the latest of each name at hand.
//!
//! A module with many thousand bindings is one scope, so look-up must not search a list.

use einlang_source::map::HashMap;

use einlang_source::Name;

use crate::hir::LocalId;

#[derive(Debug, Default)]
pub(super) struct Bindings {
    list: Vec<(Name, LocalId)>,
    /// The bindings of each name, the latest last.
    by_name: HashMap<Name, Vec<LocalId>>,
}

impl Bindings {
    pub(super) fn push(&mut self, name: Name, local: LocalId) {
        self.list.push((name, local));
        self.by_name.entry(name).or_default().push(local);
    }

    /// The latest binding of a name.
    pub(super) fn get(&self, name: Name) -> Option<LocalId> {
        self.by_name.get(&name)?.last().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The bindings made since there were `n`.
    pub(super) fn since(&self, n: usize) -> &[(Name, LocalId)] {
        &self.list[n.min(self.list.len())..]
    }

    /// Forgets all bindings but the first `n`.
    pub(super) fn truncate(&mut self, n: usize) {
        while self.list.len() > n {
            if let Some((name, _)) = self.list.pop()
                && let Some(locals) = self.by_name.get_mut(&name)
            {
                locals.pop();
            }
        }
    }

    /// The names, the latest first.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.list.iter().rev().map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use einlang_source::{Id, Interner};

    use super::*;

    #[test]
    fn later_bindings_shadow_until_they_are_forgotten() {
        let mut interner = Interner::new();
        let (x, y) = (interner.intern("x"), interner.intern("y"));
        let mut bindings = Bindings::default();
        bindings.push(x, Id::from_index(0));
        bindings.push(y, Id::from_index(1));
        bindings.push(x, Id::from_index(2));
        assert_eq!(bindings.get(x), Some(Id::from_index(2)));
        assert_eq!(bindings.since(1).len(), 2);
        bindings.truncate(1);
        assert_eq!((bindings.get(x), bindings.get(y)), (Some(Id::from_index(0)), None));
    }
}
