//! How an expression moves when one variable grows. Quotients follow their dividend; remainders
//! go up and down.

use super::{DivOp, Quasi};
use crate::var::Var;

/// How an expression depends on one variable, the others being fixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The variable does not occur.
    Fixed,
    /// Never falls when the variable grows.
    Up,
    /// Never rises when the variable grows.
    Down,
    /// Not known to do either.
    Mixed,
}

impl Direction {
    /// The direction of a multiple.
    fn times(self, c: i64) -> Direction {
        match self {
            Direction::Up if c < 0 => Direction::Down,
            Direction::Down if c < 0 => Direction::Up,
            other => other,
        }
    }

    /// The direction of a sum.
    fn plus(self, other: Direction) -> Direction {
        match (self, other) {
            (Direction::Fixed, d) | (d, Direction::Fixed) => d,
            (a, b) if a == b => a,
            _ => Direction::Mixed,
        }
    }
}

impl Quasi {
    /// How the expression moves when `var` grows.
    pub fn direction(&self, var: Var) -> Direction {
        let own = match self.affine.coeff(var) {
            0 => Direction::Fixed,
            c => Direction::Up.times(c),
        };
        self.divisions.iter().fold(own, |sum, (d, c)| {
            let number = d.number.direction(var);
            sum.plus(match d.op {
                DivOp::FloorDiv | DivOp::TruncDiv => number.times(*c),
                _ if number == Direction::Fixed => Direction::Fixed,
                DivOp::FloorMod | DivOp::TruncRem => Direction::Mixed,
            })
        })
    }
}
