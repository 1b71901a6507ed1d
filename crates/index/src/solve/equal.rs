//! One index, several axes: their extents must be equal.
//!
//! An equality that is proved needs nothing; one that is refuted is an error; one that is neither
//! is checked at entry, so everything after may rely on it. Taking the smaller extent instead is
//! never an option.

use super::rounds::Rounds;
use super::{Equality, EqualityStatus, Read};
use crate::error::Truth;
use crate::minmax::MinMax;

impl<P: Clone> Rounds<'_, P> {
    /// Records what bare uses of one index require of the axes, each compared with the first.
    pub(super) fn require_equal(&mut self, index: usize, uses: &[usize]) {
        let subscripts = &self.problem.subscripts;
        let mut seen = vec![subscripts[uses[0]].axis];
        for &second in &uses[1..] {
            if seen.contains(&subscripts[second].axis) {
                continue;
            }
            seen.push(subscripts[second].axis);
            let status = self.equality(index, uses[0], second);
            let var = self.problem.indices[index].var;
            self.equalities.push(Equality { var, first: uses[0], second, status });
            if status == EqualityStatus::Unproved {
                let (a, b) = (&subscripts[uses[0]].extent, &subscripts[second].extent);
                if let (Some(a), Some(b)) = (a.as_quasi(), b.as_quasi()) {
                    self.facts.assume_equal(a, b);
                }
            }
        }
    }

    fn equality(&self, index: usize, first: usize, second: usize) -> EqualityStatus {
        let subscripts = &self.problem.subscripts;
        match self.facts.equal(&subscripts[first].extent, &subscripts[second].extent) {
            Truth::True => EqualityStatus::Proved,
            Truth::Unknown => EqualityStatus::Unproved,
            Truth::False => {
                let effective = self.effective(index, first).zip(self.effective(index, second));
                match effective.is_some_and(|(a, b)| self.facts.equal(&a, &b).is_true()) {
                    true => EqualityStatus::Offset,
                    false => EqualityStatus::Refuted,
                }
            }
        }
    }

    /// How far the index can run on the axis of a subscript, given all the reads of that axis that
    /// use this index alone.
    fn effective(&self, index: usize, subscript: usize) -> Option<MinMax> {
        let subscripts = &self.problem.subscripts;
        let axis = subscripts[subscript].axis;
        let var = self.problem.indices[index].var;
        let mut ends = vec![subscripts[subscript].extent.clone()];
        for (at, other) in subscripts.iter().enumerate() {
            let Some(expr) = &self.exprs[at] else { continue };
            let mut alone = expr.as_var().is_none() && expr.mentions(var);
            expr.for_each_var(&mut |v| alone &= v == var || self.position(v).is_none());
            if other.axis == axis && other.read == Read::Always && alone {
                ends.extend(self.bounds(at, index).upper.into_iter().map(|b| b.value));
            }
        }
        MinMax::min_of(ends).ok().map(|end| end.simplified(&self.facts))
    }
}
