//! How much work one public operation may do.
//!
//! Integer elimination is exponential in the worst case. Every public operation starts with a full
//! budget and pays for each constraint it builds; when nothing is left it stops with
//! [`GaveUp::Budget`]. Ordinary questions (a few variables with unit coefficients) need a few dozen
//! units. The count depends on the input alone, never on time, so answers are the same on every
//! machine.

use crate::error::{GaveUp, Result};

/// Units one public operation may spend: some ten milliseconds of work in a release build.
pub const WORK: u64 = 40_000;

/// The units that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    /// A full budget for one public operation.
    pub(crate) fn new() -> Budget {
        Budget { left: WORK }
    }

    /// How many units are left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Pays `units`, or gives up.
    pub(crate) fn pay(&mut self, units: usize) -> Result<()> {
        match self.left.checked_sub(units as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(GaveUp::Budget)
            }
        }
    }

    /// Runs `work` on at most an eighth of what is left, for work that is only worth doing when
    /// it is cheap, such as throwing out empty parts of a union.
    pub(crate) fn taste<T>(&mut self, work: impl FnOnce(&mut Budget) -> Result<T>) -> Result<T> {
        let mut part = Budget { left: self.left / 8 };
        let result = work(&mut part);
        self.left -= self.left / 8 - part.left;
        result
    }
}
