//! Typed arenas: values that live as long as their arena and are named by small numbers.
//!
//! Trees and graphs of the compiler hold [`Id`]s instead of references, so they can be copied,
//! compared, printed and stored beside the data they describe. Invariant: an arena only grows, so
//! an id stays valid, and ids order by allocation.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of a `T` in the [`Arena`] that holds it.
pub struct Id<T> {
    number: u32,
    /// An id mentions `T` but owns none, so it is `Send`, `Sync` and `Copy` whatever `T` is.
    of: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// The id of the value allocated as number `index`, counting from 0.
    pub fn from_index(index: usize) -> Id<T> {
        let number = u32::try_from(index).expect("invariant: fewer than 2^32 values in an arena");
        Id { number, of: PhantomData }
    }

    /// The position in the order of allocation.
    pub fn index(self) -> usize {
        self.number as usize
    }
}

// Derived implementations would demand the same of `T`.
impl<T> Clone for Id<T> {
    fn clone(&self) -> Id<T> {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Id<T>) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Id<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Id<T>) -> Ordering {
        self.number.cmp(&other.number)
    }
}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}

/// A growing list of values, indexed by their [`Id`]s.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arena<T> {
    values: Vec<T>,
}

impl<T> Arena<T> {
    /// An arena without values.
    pub fn new() -> Arena<T> {
        Arena { values: Vec::new() }
    }

    /// Stores a value and names it.
    pub fn alloc(&mut self, value: T) -> Id<T> {
        let id = Id::from_index(self.values.len());
        self.values.push(value);
        id
    }

    /// The value, or nothing for an id of another, larger arena.
    pub fn get(&self, id: Id<T>) -> Option<&T> {
        self.values.get(id.index())
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True when nothing has been stored.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every id, in order of allocation. The arena is not borrowed, so it may change meanwhile.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = Id<T>> + ExactSizeIterator + use<T> {
        (0..self.values.len()).map(Id::from_index)
    }

    /// Every value with its id, in order of allocation.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Id<T>, &T)> + ExactSizeIterator {
        self.values.iter().enumerate().map(|(index, value)| (Id::from_index(index), value))
    }

    /// Every value with its id, to be changed in place.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (Id<T>, &mut T)> {
        self.values.iter_mut().enumerate().map(|(index, value)| (Id::from_index(index), value))
    }

    /// Every value, in order of allocation.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.values.iter()
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Arena<T> {
        Arena::new()
    }
}

impl<T> Index<Id<T>> for Arena<T> {
    type Output = T;

    fn index(&self, id: Id<T>) -> &T {
        &self.values[id.index()]
    }
}

impl<T> IndexMut<Id<T>> for Arena<T> {
    fn index_mut(&mut self, id: Id<T>) -> &mut T {
        &mut self.values[id.index()]
    }
}

impl<T> FromIterator<T> for Arena<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arena<T> {
        Arena { values: values.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Implements nothing, so that a bound on `T` would not compile.
    struct Opaque;

    #[test]
    fn ids_need_nothing_of_their_values() {
        let mut arena = Arena::new();
        let (first, second) = (arena.alloc(Opaque), arena.alloc(Opaque));
        let copy = first;
        assert_eq!(first, copy);
        assert!(first < second);
        assert_eq!(format!("{second:?}"), "#1");
        assert_eq!(HashSet::from([first, second, copy]).len(), 2);
    }

    #[test]
    fn values_are_read_and_changed_through_their_ids() {
        let mut arena = Arena::default();
        let (a, b) = (arena.alloc("a"), arena.alloc("b"));
        arena[b] = "c";
        assert_eq!((arena[a], arena[b], arena.get(Id::from_index(9))), ("a", "c", None));
        for (_, value) in arena.iter_mut() {
            *value = "d";
        }
        assert!(arena.values().all(|value| *value == "d"));
    }

    #[test]
    fn iteration_follows_allocation() {
        let arena: Arena<i32> = [3, 1, 2].into_iter().collect();
        let pairs: Vec<_> = arena.iter().map(|(id, value)| (id.index(), *value)).collect();
        assert_eq!(pairs, [(0, 3), (1, 1), (2, 2)]);
        assert_eq!(arena.ids().rev().map(|id| arena[id]).collect::<Vec<_>>(), [2, 1, 3]);
        assert_eq!((arena.len(), arena.is_empty()), (3, false));
    }
}
