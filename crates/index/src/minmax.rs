//! Bounds that are not one expression: minima and maxima of quasi-affine ones.
//!
//! The extent of `y[i] = a[i + 1] + b[i + 2]` is `min(n - 1, m - 2)`. Shifting, scaling by a
//! positive number and dividing with a floor all preserve order, so they move inside minima and
//! maxima; a negative factor exchanges the two. Hence every bound the solver computes is a
//! [`MinMax`].
//!
//! Invariant: a list inside `Min` or `Max` has at least two distinct entries, at most one of them a
//! number, and none of the same kind as the list.

use std::fmt;

use crate::budget::Budget;
use crate::error::{GaveUp, Result};
use crate::prove::Facts;
use crate::quasi::Quasi;
use crate::var::{Named, Var, Vars};

/// How many expressions one bound (and how many cases one symbolic answer) may hold.
pub(crate) const MAX_LEAVES: usize = 64;

/// A quasi-affine expression, or the smallest or largest of several.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MinMax {
    /// One expression.
    Value(Quasi),
    /// The smallest.
    Min(Vec<MinMax>),
    /// The largest.
    Max(Vec<MinMax>),
}

impl<T: Into<Quasi>> From<T> for MinMax {
    fn from(value: T) -> MinMax {
        MinMax::Value(value.into())
    }
}

impl MinMax {
    /// The smallest of the values. Gives up on an empty or overly long list.
    pub fn min_of(values: impl IntoIterator<Item = MinMax>) -> Result<MinMax> {
        MinMax::joined(values, false)
    }

    /// The largest of the values. Gives up on an empty or overly long list.
    pub fn max_of(values: impl IntoIterator<Item = MinMax>) -> Result<MinMax> {
        MinMax::joined(values, true)
    }

    fn joined(values: impl IntoIterator<Item = MinMax>, max: bool) -> Result<MinMax> {
        let mut list: Vec<MinMax> = Vec::new();
        for value in values {
            match value {
                MinMax::Min(inner) if !max => list.extend(inner),
                MinMax::Max(inner) if max => list.extend(inner),
                other => list.push(other),
            }
        }
        keep_one_number(&mut list, max);
        list.sort();
        list.dedup();
        if list.iter().map(MinMax::n_leaves).sum::<usize>() > MAX_LEAVES {
            return Err(GaveUp::Budget);
        }
        match (list.len(), max) {
            (0, _) => Err(GaveUp::Unbounded),
            (1, _) => Ok(list.remove(0)),
            (_, true) => Ok(MinMax::Max(list)),
            (_, false) => Ok(MinMax::Min(list)),
        }
    }

    fn n_leaves(&self) -> usize {
        match self {
            MinMax::Value(_) => 1,
            MinMax::Min(list) | MinMax::Max(list) => list.iter().map(MinMax::n_leaves).sum(),
        }
    }

    /// The expression, if there is only one.
    pub fn as_quasi(&self) -> Option<&Quasi> {
        match self {
            MinMax::Value(quasi) => Some(quasi),
            _ => None,
        }
    }

    /// The value, if it is a number.
    pub fn as_constant(&self) -> Option<i64> {
        self.as_quasi().and_then(Quasi::as_constant)
    }

    /// Applies a function that preserves order (`rising`) or reverses it to every expression.
    pub fn map(&self, rising: bool, f: &mut dyn FnMut(&Quasi) -> Result<MinMax>) -> Result<MinMax> {
        let (list, max) = match self {
            MinMax::Value(quasi) => return f(quasi),
            MinMax::Min(list) => (list, false),
            MinMax::Max(list) => (list, true),
        };
        let mapped: Result<Vec<MinMax>> = list.iter().map(|v| v.map(rising, f)).collect();
        MinMax::joined(mapped?, max == rising)
    }

    /// `self + k * other`.
    pub fn add_scaled(&self, other: &Quasi, k: i64) -> Result<MinMax> {
        self.map(true, &mut |q| Ok(q.combine(1, other, k)?.into()))
    }

    /// `self + k`.
    pub fn add_constant(&self, k: i64) -> Result<MinMax> {
        self.map(true, &mut |q| Ok(q.add_constant(k)?.into()))
    }

    /// `k * self`.
    pub fn scale(&self, k: i64) -> Result<MinMax> {
        self.map(k >= 0, &mut |q| Ok(q.scale(k)?.into()))
    }

    /// `self - other`.
    pub fn sub(&self, other: &MinMax) -> Result<MinMax> {
        self.map(true, &mut |a| other.map(false, &mut |b| Ok(a.sub(b)?.into())))
    }

    /// `self + other`.
    pub fn add(&self, other: &MinMax) -> Result<MinMax> {
        self.map(true, &mut |a| other.add_scaled(a, 1))
    }

    /// The quotient by a positive number, rounded down.
    pub fn floor_div(&self, divisor: i64) -> Result<MinMax> {
        self.map(true, &mut |q| Ok(q.floor_div(divisor)?.into()))
    }

    /// The quotient by a positive number, rounded up.
    pub fn ceil_div(&self, divisor: i64) -> Result<MinMax> {
        self.map(true, &mut |q| Ok(q.ceil_div(divisor)?.into()))
    }

    /// The value at a point.
    pub fn eval(&self, value: &dyn Fn(Var) -> i64) -> Result<i128> {
        let (list, max) = match self {
            MinMax::Value(quasi) => return quasi.eval(value),
            MinMax::Min(list) => (list, false),
            MinMax::Max(list) => (list, true),
        };
        let values: Result<Vec<i128>> = list.iter().map(|v| v.eval(value)).collect();
        let values = values?.into_iter();
        if max { values.max() } else { values.min() }.ok_or(GaveUp::Unbounded)
    }

    /// Calls `visit` for every variable, with repetitions.
    pub fn for_each_var(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            MinMax::Value(quasi) => quasi.for_each_var(visit),
            MinMax::Min(list) | MinMax::Max(list) => {
                list.iter().for_each(|v| v.for_each_var(visit));
            }
        }
    }

    /// The same value without the alternatives that the facts show never to matter.
    pub fn simplified(&self, facts: &Facts) -> MinMax {
        self.simplified_within(facts, &mut Budget::new())
    }

    pub(crate) fn simplified_within(&self, facts: &Facts, budget: &mut Budget) -> MinMax {
        let (list, max) = match self {
            MinMax::Value(_) => return self.clone(),
            MinMax::Min(list) => (list, false),
            MinMax::Max(list) => (list, true),
        };
        let list = list.iter().map(|v| v.simplified_within(facts, budget));
        let mut list: Vec<MinMax> = list.collect();
        let mut at = 0;
        while at < list.len() {
            let value = &list[at];
            let mut others = list.iter().enumerate().filter(|(i, _)| *i != at);
            let useless = others.any(|(_, other)| {
                let (low, high) = if max { (value, other) } else { (other, value) };
                low.at_most_within(high, facts, budget)
            });
            if useless { drop(list.remove(at)) } else { at += 1 }
        }
        MinMax::joined(list, max).unwrap_or_else(|_| self.clone())
    }

    /// True when the facts prove `self <= other`.
    pub fn at_most(&self, other: &MinMax, facts: &Facts) -> bool {
        self.at_most_within(other, facts, &mut Budget::new())
    }

    pub(crate) fn at_most_within(
        &self,
        other: &MinMax,
        facts: &Facts,
        budget: &mut Budget,
    ) -> bool {
        match (self, other) {
            (MinMax::Max(list), _) => list.iter().all(|v| v.at_most_within(other, facts, budget)),
            (_, MinMax::Min(list)) => list.iter().all(|v| self.at_most_within(v, facts, budget)),
            (MinMax::Min(list), _) => list.iter().any(|v| v.at_most_within(other, facts, budget)),
            (_, MinMax::Max(list)) => list.iter().any(|v| self.at_most_within(v, facts, budget)),
            (MinMax::Value(a), MinMax::Value(b)) => {
                b.sub(a).is_ok_and(|gap| facts.implies_within(&gap, budget).is_true())
            }
        }
    }

    /// Prints with the names of `vars`, as `min(n - 1, m)`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, MinMax> {
        Named::new(self, vars)
    }
}

/// Of several numbers only the extreme one matters.
fn keep_one_number(list: &mut Vec<MinMax>, max: bool) {
    let numbers = list.iter().filter_map(MinMax::as_constant);
    let best = if max { numbers.max() } else { numbers.min() };
    list.retain(|v| v.as_constant().is_none() || v.as_constant() == best);
}

impl fmt::Display for Named<'_, MinMax> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (list, name) = match self.item {
            MinMax::Value(quasi) => return write!(f, "{}", self.part(quasi)),
            MinMax::Min(list) => (list, "min"),
            MinMax::Max(list) => (list, "max"),
        };
        for (at, value) in list.iter().enumerate() {
            let before = if at == 0 { format!("{name}(") } else { ", ".to_owned() };
            write!(f, "{before}{}", self.part(value))?;
        }
        f.write_str(")")
    }
}
