//! Index expressions with ordinary operators.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use einlang_index::{GaveUp, Quasi};

use crate::module::{Condition, Relation};

/// An index expression under construction. Arithmetic that leaves 64 bits is remembered and
/// reported when the module is finished.
#[derive(Clone, Debug)]
pub struct Ix(pub(super) Result<Quasi, GaveUp>);

/// `lo <= index < hi`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first value.
    pub lo: Ix,
    /// One past the last value.
    pub hi: Ix,
}

impl From<i64> for Ix {
    fn from(number: i64) -> Ix {
        Ix(Ok(number.into()))
    }
}

impl From<&Ix> for Ix {
    fn from(ix: &Ix) -> Ix {
        ix.clone()
    }
}

impl From<Quasi> for Ix {
    fn from(expr: Quasi) -> Ix {
        Ix(Ok(expr))
    }
}

impl<T: Into<Ix>> From<T> for Range {
    fn from(hi: T) -> Range {
        Range { lo: 0.into(), hi: hi.into() }
    }
}

impl<T: Into<Ix>> From<std::ops::Range<T>> for Range {
    fn from(range: std::ops::Range<T>) -> Range {
        Range { lo: range.start.into(), hi: range.end.into() }
    }
}

impl Ix {
    fn combine(&self, a: i64, other: &Ix, b: i64) -> Ix {
        match (&self.0, &other.0) {
            (Ok(left), Ok(right)) => Ix(left.combine(a, right, b)),
            (Err(error), _) | (_, Err(error)) => Ix(Err(*error)),
        }
    }

    fn map(&self, f: impl FnOnce(&Quasi) -> Result<Quasi, GaveUp>) -> Ix {
        Ix(self.0.as_ref().map_err(|error| *error).and_then(f))
    }

    /// The quotient rounded down; `/` truncates as the language does.
    #[must_use]
    pub fn floor_div(&self, divisor: i64) -> Ix {
        self.map(|expr| expr.floor_div(divisor))
    }

    /// The condition `self relation other`.
    pub fn compare(&self, relation: Relation, other: impl Into<Ix>) -> Result<Condition, GaveUp> {
        Ok(Condition { left: self.0.clone()?, relation, right: other.into().0? })
    }

    /// The condition `self = other`.
    pub fn equals(&self, other: impl Into<Ix>) -> Result<Condition, GaveUp> {
        self.compare(Relation::Eq, other)
    }

    /// The condition `self >= other`.
    pub fn at_least(&self, other: impl Into<Ix>) -> Result<Condition, GaveUp> {
        self.compare(Relation::Ge, other)
    }

    /// The condition `self < other`.
    pub fn below(&self, other: impl Into<Ix>) -> Result<Condition, GaveUp> {
        self.compare(Relation::Lt, other)
    }
}

macro_rules! ix_ops {
    ($($ty:ty),*) => {$(
        impl<T: Into<Ix>> Add<T> for $ty {
            type Output = Ix;
            fn add(self, other: T) -> Ix {
                self.combine(1, &other.into(), 1)
            }
        }

        impl<T: Into<Ix>> Sub<T> for $ty {
            type Output = Ix;
            fn sub(self, other: T) -> Ix {
                self.combine(1, &other.into(), -1)
            }
        }

        impl Mul<i64> for $ty {
            type Output = Ix;
            fn mul(self, factor: i64) -> Ix {
                self.map(|expr| expr.scale(factor))
            }
        }

        impl Div<i64> for $ty {
            type Output = Ix;
            fn div(self, divisor: i64) -> Ix {
                self.map(|expr| expr.trunc_div(divisor))
            }
        }

        impl Rem<i64> for $ty {
            type Output = Ix;
            fn rem(self, divisor: i64) -> Ix {
                self.map(|expr| expr.trunc_rem(divisor))
            }
        }

        impl Neg for $ty {
            type Output = Ix;
            fn neg(self) -> Ix {
                self.map(Quasi::neg)
            }
        }
    )*};
}

ix_ops!(Ix, &Ix);
