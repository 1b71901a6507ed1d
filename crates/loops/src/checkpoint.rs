//! What is kept of a trajectory that is read in the opposite order, as a user says it.

use crate::schedule::Checkpoints;

/// How many bytes of trajectories are kept before they are computed again instead.
pub const BUDGET: u64 = 256 << 20;

/// What the site of a kernel says at which more than the budget would be kept.
pub const OVER_BUDGET: &str = "trajectories that take more than their budget";

/// What the site of a kernel says that cuts an axis into segments although another one is longer.
pub const SHORTER_AXIS: &str = "a grid that is cut along an axis which is not the longest";

/// What the site of a kernel says that is made for other sizes than those of the call.
pub const OTHER_SIZES: &str = "sizes for which there is other code";

/// What is kept of a trajectory that is read in the opposite order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// All of it.
    None,
    /// All of it while that is within so many bytes, otherwise checkpoints.
    Budget(u64),
    /// Checkpoints, from which segments are computed again.
    Segments(Checkpoints),
}

impl Default for Checkpoint {
    fn default() -> Checkpoint {
        Checkpoint::Budget(BUDGET)
    }
}

impl Checkpoint {
    /// Reads `none`, `sqrt`, `binomial:N` or `budget:BYTES`, with numbers of bytes as `bytes` reads
    /// them.
    pub fn parse(
        text: &str,
        bytes: impl Fn(&str) -> Result<u64, String>,
    ) -> Result<Checkpoint, String> {
        let wrong = || {
            "write `none`, `sqrt`, `binomial:N` with a number of checkpoints, or `budget:BYTES`"
                .to_owned()
        };
        match (text, text.split_once(':')) {
            ("none", _) => Ok(Checkpoint::None),
            ("sqrt", _) => Ok(Checkpoint::Segments(Checkpoints::Sqrt)),
            (_, Some(("binomial", number))) => match number.parse::<u32>() {
                Ok(number) if number > 0 => Ok(Checkpoint::Segments(Checkpoints::Binomial(number))),
                _ => Err(wrong()),
            },
            (_, Some(("budget", limit))) => bytes(limit).map(Checkpoint::Budget),
            _ => Err(wrong()),
        }
    }
}
