//! Where the pivots of a plane with two axes cross each other.
//!
//! Such a pivot moves along one axis and has the other one to itself. At a step it needs of a pivot that moves along the
//! other axis the element at its own place, which is in the corner of the block: at places that are a constant more than
//! the steps of the block.

use super::find::Delayed;

/// For each of the two axes of the plane, how much more than a step the places of the corner are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Corners(pub(super) [i64; 2]);

impl Corners {
    /// The corners of a recurrence, if its pivots have any: all that move along an axis are at the same place of it.
    pub(super) fn of(delayed: &Delayed) -> Option<Corners> {
        let mut more = [None, None];
        for pivot in &delayed.pivots {
            let axis = match pivot.at[..] {
                [Some(_), None] => 0,
                [None, Some(_)] => 1,
                _ => return None,
            };
            if more[axis].is_some_and(|more| Some(more) != pivot.at[axis]) {
                return None;
            }
            more[axis] = pivot.at[axis];
        }
        let [Some(first), Some(second)] = more else { return None };
        Some(Corners([first, second]))
    }
}
