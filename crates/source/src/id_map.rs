//! Tables that say something of most values of an arena.
//!
//! A slot per id, so that a look-up is an index and neighbours lie together. A table that knows
//! of few ids of a large arena is better a [`crate::map::HashMap`]. Invariant: iteration follows
//! the order of allocation.

use std::fmt;

use crate::arena::Id;

/// What is known of the values of an [`crate::Arena`] of `T`.
pub struct IdMap<T, V> {
    slots: Vec<Option<V>>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T, V> IdMap<T, V> {
    /// What is known of a value.
    pub fn get(&self, id: &Id<T>) -> Option<&V> {
        self.slots.get(id.index())?.as_ref()
    }

    /// What is known of a value, to be changed in place.
    pub fn get_mut(&mut self, id: &Id<T>) -> Option<&mut V> {
        self.slots.get_mut(id.index())?.as_mut()
    }

    /// Notes what is known of a value and returns what was known before.
    pub fn insert(&mut self, id: Id<T>, value: V) -> Option<V> {
        let index = id.index();
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index].replace(value)
    }

    /// Forgets what is known of a value.
    pub fn remove(&mut self, id: &Id<T>) -> Option<V> {
        self.slots.get_mut(id.index())?.take()
    }

    /// Whether something is known of a value.
    pub fn contains_key(&self, id: &Id<T>) -> bool {
        self.get(id).is_some()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.clear();
    }

    /// All that is known, in order of allocation.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Id<T>, &V)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(index, slot)| Some((Id::from_index(index), slot.as_ref()?)))
    }

    /// The values of which something is known.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = Id<T>> {
        self.iter().map(|(id, _)| id)
    }

    /// What is known, in order of allocation.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.slots.iter().flatten()
    }

    /// What is known, to be changed in place.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.slots.iter_mut().flatten()
    }
}

// Derived implementations would demand the same of `T`.
impl<T, V> Default for IdMap<T, V> {
    fn default() -> IdMap<T, V> {
        IdMap { slots: Vec::new(), of: std::marker::PhantomData }
    }
}

impl<T, V: Clone> Clone for IdMap<T, V> {
    fn clone(&self) -> IdMap<T, V> {
        IdMap { slots: self.slots.clone(), of: std::marker::PhantomData }
    }
}

impl<T, V: fmt::Debug> fmt::Debug for IdMap<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<T, V> FromIterator<(Id<T>, V)> for IdMap<T, V> {
    fn from_iter<I: IntoIterator<Item = (Id<T>, V)>>(entries: I) -> IdMap<T, V> {
        let mut map = IdMap::default();
        for (id, value) in entries {
            map.insert(id, value);
        }
        map
    }
}

impl<T, V> std::ops::Index<&Id<T>> for IdMap<T, V> {
    type Output = V;

    fn index(&self, id: &Id<T>) -> &V {
        self.get(id).expect("invariant: something is known of the value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_changed_and_forgotten() {
        let id = Id::<u8>::from_index;
        let mut map: IdMap<u8, &str> = [(id(3), "d"), (id(1), "b")].into_iter().collect();
        assert_eq!(map.insert(id(3), "e"), Some("d"));
        assert_eq!(map.keys().map(|id| id.index()).collect::<Vec<_>>(), [1, 3]);
        assert_eq!((map.get(&id(3)), map.get(&id(0)), map.get(&id(9))), (Some(&"e"), None, None));
        assert_eq!((map.remove(&id(1)), map.contains_key(&id(1))), (Some("b"), false));
        for value in map.values_mut() {
            *value = "f";
        }
        assert_eq!(map.values().collect::<Vec<_>>(), [&"f"]);
        map.clear();
        assert_eq!(map.iter().count(), 0);
    }
}
