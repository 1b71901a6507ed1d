//! Interned names: each distinct spelling is stored once and stands for itself as a small number.
//!
//! Invariant: within one [`Interner`], two names are equal exactly when their spellings are; names
//! order by first appearance, so anything sorted by name is the same in every run.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A spelling, by its number in the [`Interner`] that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

impl Name {
    /// The position of this name in the order of first appearance.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.0)
    }
}

/// The spellings seen so far.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    numbers: HashMap<Arc<str>, Name>,
    spellings: Vec<Arc<str>>,
}

impl Interner {
    /// An interner that has seen nothing.
    pub fn new() -> Interner {
        Interner::default()
    }

    /// The name with this spelling, made on first sight.
    pub fn intern(&mut self, spelling: &str) -> Name {
        if let Some(name) = self.get(spelling) {
            return name;
        }
        let number = u32::try_from(self.spellings.len());
        let name = Name(number.expect("invariant: fewer than 2^32 distinct names"));
        let spelling: Arc<str> = Arc::from(spelling);
        self.spellings.push(Arc::clone(&spelling));
        self.numbers.insert(spelling, name);
        name
    }

    /// The name with this spelling, if it has been seen.
    pub fn get(&self, spelling: &str) -> Option<Name> {
        self.numbers.get(spelling).copied()
    }

    /// The spelling of a name that this interner made.
    pub fn resolve(&self, name: Name) -> &str {
        let spelling = self.spellings.get(name.index());
        spelling.expect("invariant: a name is resolved by the interner that made it")
    }

    /// The number of distinct spellings.
    pub fn len(&self) -> usize {
        self.spellings.len()
    }

    /// True before the first name.
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_spellings_are_one_name() {
        let mut names = Interner::new();
        assert!(names.is_empty());
        let (x, y, again) = (names.intern("x"), names.intern("ŷ"), names.intern("x"));
        assert_eq!(x, again);
        assert_ne!(x, y);
        assert_eq!((names.resolve(x), names.resolve(y)), ("x", "ŷ"));
        assert_eq!(names.len(), 2);
    }

    #[test]
    fn names_order_by_first_appearance() {
        let mut names = Interner::new();
        let (z, a) = (names.intern("z"), names.intern("a"));
        assert!(z < a);
        assert_eq!((names.get("a"), names.get("b")), (Some(a), None));
        assert_eq!(format!("{a:?}"), "Name(1)");
    }
}
