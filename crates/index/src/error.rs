//! What an answer can be when the question is hard: [`Truth`] for yes-or-no questions and
//! [`GaveUp`] for everything that builds a value.
//!
//! Invariant: this crate never guesses. Arithmetic that leaves `i64` is [`GaveUp::Overflow`], work
//! beyond the budget is [`GaveUp::Budget`], and either becomes [`Truth::Unknown`] at the border of
//! a yes-or-no question. `True` and `False` are always proofs.

use std::fmt;

/// Why an operation has no result. None of these is a panic and none is a wrong answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GaveUp {
    /// A coefficient or constant left the range of `i64`.
    Overflow,
    /// The operation would need more steps than [`crate::budget`] allows.
    Budget,
    /// The answer does not exist because the set is unbounded in the direction asked for.
    Unbounded,
    /// A division or remainder by a constant that is not positive.
    Divisor,
    /// Two things of different dimension were combined.
    Arity,
    /// A number was asked for, but the answer depends on symbols.
    Symbolic,
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GaveUp::Overflow => "an index expression leaves the range of 64-bit integers",
            GaveUp::Budget => "the index problem is too large to be decided",
            GaveUp::Unbounded => "the set is unbounded",
            GaveUp::Divisor => "the divisor is not a positive constant",
            GaveUp::Arity => "the numbers of dimensions differ",
            GaveUp::Symbolic => "the answer depends on a symbol",
        })
    }
}

impl std::error::Error for GaveUp {}

/// The result of an operation that may give up.
pub type Result<T> = std::result::Result<T, GaveUp>;

/// The answer to a yes-or-no question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Truth {
    /// Proved.
    True,
    /// Disproved.
    False,
    /// Neither, because of overflow or the budget.
    Unknown,
}

impl Truth {
    /// A decided answer, or `Unknown` when the decision procedure gave up.
    pub fn of(answer: Result<bool>) -> Truth {
        match answer {
            Ok(true) => Truth::True,
            Ok(false) => Truth::False,
            Err(_) => Truth::Unknown,
        }
    }

    /// True only for `True`: what may be relied upon.
    pub fn is_true(self) -> bool {
        self == Truth::True
    }

    /// True only for `False`.
    pub fn is_false(self) -> bool {
        self == Truth::False
    }

    /// Conjunction: one `False` decides it.
    pub fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Unknown,
        }
    }

    /// Negation; `Unknown` stays unknown.
    pub fn negate(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        }
    }
}
