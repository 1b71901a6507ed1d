//! The range solver: from the subscripts of a clause to the range of each index.
//!
//! It follows the rounds of the language reference, section 4:
//!
//! 1. explicit ranges are taken as they are and never shrunk;
//! 2. bare uses `T[i]` give `0..extent`; several axes must have equal extents;
//! 3. then, as long as something is found: a subscript whose indices are all solved shrinks the
//!    outermost of them that has no explicit range, and a subscript with exactly one unsolved index
//!    solves it, both for the worst case over the other indices.
//!
//! Where the reference leaves the order open, the solver is independent of the order of reads: all
//! subscripts of a round that solve an index see the ranges from before the round, and shrinking
//! works from the innermost index outwards before the next index is solved, so that the worst case
//! is taken over ranges that are final as far as the round goes. Reads under a condition take part
//! only with bare uses; default reads not at all. Inferred ranges start at 0 or above. A read of the
//! binding that is being defined belongs into the problem only once the extent of that axis is
//! known from the clauses that fix it without such reads; that order is the caller's.
//!
//! A subscript limits an index only where the values that would leave the axis are all the large
//! or all the small ones. `x[i % 3]` therefore never determines `i`; whether it is in bounds is an
//! obligation.
//!
//! An index whose range is empty still counts with its end points `lo` and `hi - 1`, so that the
//! result for symbolic extents is one formula: a kernel of extent `k` over `n` points leaves
//! `n - k + 1`, whatever `k` is.
//!
//! Invariant: whatever the ranges, [`Solution::obligations`] states for every subscript whether it
//! is in bounds, by a proof that does not rely on how the ranges were found. A range that is too
//! large because the solver gave up somewhere shows as an obligation that is not proved.

use crate::domain::Domain;
use crate::error::Truth;
use crate::minmax::MinMax;
use crate::prove::{Facts, Verdict};
use crate::quasi::Quasi;
use crate::range::Range;
use crate::var::Var;

mod check;
mod equal;
mod extreme;
mod rounds;
mod suggest;
mod worst;

#[cfg(test)]
mod tests;

/// An index of a clause or reduction.
#[derive(Clone, Debug)]
pub struct Index<P> {
    /// Its variable.
    pub var: Var,
    /// The range written for it. Bounds may mention indices further out.
    pub explicit: Option<Range<P>>,
    /// True for an index on the left side, whose inferred range must start at 0.
    pub output: bool,
}

/// The axis of a tensor; equal numbers mean the same axis of the same tensor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AxisId(pub u32);

/// When a read happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Read {
    /// At every point of the indices.
    Always,
    /// Only where a condition holds: the points of the domain, whose variables are the problem's
    /// own. A condition that is not affine is the domain of everything.
    When(Domain),
    /// With a default value outside the box: never constrains anything.
    Default,
}

/// One subscript of a read.
#[derive(Clone, Debug)]
pub struct Subscript<P> {
    /// The index expression.
    pub expr: Quasi,
    /// The extent of the axis; valid values are `0..extent`.
    pub extent: MinMax,
    /// Which axis it is.
    pub axis: AxisId,
    /// When it is read.
    pub read: Read,
    /// The provenance of the bounds it gives.
    pub from: P,
}

/// Everything the ranges of one clause depend on.
#[derive(Clone, Debug)]
pub struct Problem<P> {
    /// The indices in nesting order, outermost first.
    pub indices: Vec<Index<P>>,
    /// The subscripts in source order.
    pub subscripts: Vec<Subscript<P>>,
    /// `where` equations in order; each may use the variables before it.
    pub equations: Vec<(Var, Quasi)>,
    /// What is known of the symbols.
    pub facts: Facts,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Solution<P> {
    /// The solved indices in nesting order; all of them unless `unsolved` says otherwise.
    pub solved: Vec<Solved<P>>,
    /// The indices without a range (E0302).
    pub unsolved: Vec<Unsolved<P>>,
    /// What bare uses of one index on several axes require.
    pub equalities: Vec<Equality>,
    /// Whether each subscript is in bounds; empty when an index is unsolved, and without the
    /// default reads.
    pub obligations: Vec<Obligation>,
    /// The facts of the problem and the equalities that are checked at entry.
    pub facts: Facts,
}

/// The range of an index.
#[derive(Clone, Debug)]
pub struct Solved<P> {
    /// The index.
    pub var: Var,
    /// Its range.
    pub range: Range<P>,
    /// False when the range was written by the user.
    pub inferred: bool,
    /// Whether an inferred output range starts at 0, which it must (E0304); `True` for others.
    pub starts_at_zero: Truth,
}

/// An index that no subscript determines.
#[derive(Clone, Debug)]
pub struct Unsolved<P> {
    /// The index.
    pub var: Var,
    /// A range that would do, if some read suggests one.
    pub suggestion: Option<Range<P>>,
}

/// Two axes that one bare index runs over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equality {
    /// The index.
    pub var: Var,
    /// The position of the subscript that fixed the range.
    pub first: usize,
    /// The position of the other subscript.
    pub second: usize,
    /// Whether their extents are equal.
    pub status: EqualityStatus,
}

/// How a required equality of extents turned out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EqualityStatus {
    /// Equal for all parameters.
    Proved,
    /// Different for all parameters (E0301).
    Refuted,
    /// Different for all parameters, but by exactly what the offset reads of the same index on the
    /// same axes take off: `b[i] * (a[i + 1] - a[i])` with one element more in `a`.
    Offset,
    /// To be checked at entry (E0705).
    Unproved,
}

/// Whether a subscript stays in bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Obligation {
    /// The position of the subscript.
    pub subscript: usize,
    /// Whether it is never negative.
    pub lower: Verdict,
    /// Whether it is always below the extent.
    pub upper: Verdict,
}

impl<P: Clone> Problem<P> {
    /// Runs the rounds and checks the result.
    pub fn solve(&self) -> Solution<P> {
        self.solve_as_far(true)
    }

    /// Runs the rounds only: the solution has no obligations.
    pub fn solve_ranges(&self) -> Solution<P> {
        self.solve_as_far(false)
    }

    fn solve_as_far(&self, judge: bool) -> Solution<P> {
        let mut rounds = rounds::Rounds::new(self);
        rounds.bare_uses();
        while rounds.shrink_and_solve() {}
        let mut unsolved = Vec::new();
        let mut solved = Vec::new();
        for (at, index) in self.indices.iter().enumerate() {
            match rounds.ranges[at].clone() {
                Some(range) => solved.push(solved_index(index, range, &rounds.facts)),
                None => unsolved.push(rounds.suggest(index.var)),
            }
        }
        let judge = judge && unsolved.is_empty();
        let obligations = if judge { rounds.obligations() } else { Vec::new() };
        let (equalities, facts) = (rounds.equalities, rounds.facts);
        Solution { solved, unsolved, equalities, obligations, facts }
    }
}

fn solved_index<P: Clone>(index: &Index<P>, range: Range<P>, facts: &Facts) -> Solved<P> {
    let inferred = index.explicit.is_none();
    let must_start = inferred && index.output;
    let starts_at_zero = if must_start { range.starts_at_zero(facts) } else { Truth::True };
    Solved { var: index.var, range, inferred, starts_at_zero }
}
