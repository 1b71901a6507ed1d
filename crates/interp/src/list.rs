//! Elements of a tensor: a list of its own, or memory that somebody lends.
//!
//! An embedder lends the memory of its arrays so that inputs need not be copied. Lent memory is only
//! read: whatever changes a list first makes it the list's own.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Memory that somebody lends. It stays where it is, and as it is, as long as this lives.
pub trait Lend<T>: Send + Sync {
    /// The elements.
    fn elements(&self) -> &[T];
}

/// A list of elements.
#[derive(Clone)]
pub enum List<T> {
    /// Elements of its own.
    Own(Vec<T>),
    /// Elements of somebody else.
    Lent(Arc<dyn Lend<T>>),
}

impl<T: Clone> List<T> {
    /// The list to be changed, which is its own from now on.
    pub fn own(&mut self) -> &mut Vec<T> {
        if let List::Lent(lent) = self {
            *self = List::Own(lent.elements().to_vec());
        }
        match self {
            List::Own(list) => list,
            List::Lent(_) => unreachable!("invariant: a lent list was just copied"),
        }
    }

    /// The elements as a list of their own.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            List::Own(list) => list,
            List::Lent(lent) => lent.elements().to_vec(),
        }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match self {
            List::Own(list) => list,
            List::Lent(lent) => lent.elements(),
        }
    }
}

impl<T: Clone> DerefMut for List<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        self.own()
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(list: Vec<T>) -> List<T> {
        List::Own(list)
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &List<T>) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<i32>);

    impl Lend<i32> for Fixed {
        fn elements(&self) -> &[i32] {
            &self.0
        }
    }

    #[test]
    fn lent_elements_are_read_in_place_and_copied_before_a_change() {
        let lender = Arc::new(Fixed(vec![1, 2, 3]));
        let mut list: List<i32> = List::Lent(lender.clone());
        assert_eq!(list.as_ptr(), lender.0.as_ptr());
        assert_eq!(list, List::from(vec![1, 2, 3]));
        list[0] = 7;
        assert_eq!((list.into_vec(), lender.0[0]), (vec![7, 2, 3], 1));
    }
}
