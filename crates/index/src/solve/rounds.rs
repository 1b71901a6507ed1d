//! The rounds themselves: which subscript acts on which index, and when.

use super::{Equality, Problem, Read};
use crate::error::Result;
use crate::prove::Facts;
use crate::quasi::Quasi;
use crate::range::{Bound, Range};
use crate::var::Var;

/// The state of solving one problem.
pub(super) struct Rounds<'a, P> {
    pub(super) problem: &'a Problem<P>,
    /// The subscripts with `where` variables replaced; `None` where that overflows.
    pub(super) exprs: Vec<Option<Quasi>>,
    /// The range of each index, as far as known.
    pub(super) ranges: Vec<Option<Range<P>>>,
    pub(super) equalities: Vec<Equality>,
    /// The facts, with the equalities that are checked at entry.
    pub(super) facts: Facts,
    /// The subscripts that may still act.
    pending: Vec<bool>,
}

impl<'a, P: Clone> Rounds<'a, P> {
    /// The first round: explicit ranges.
    pub(super) fn new(problem: &'a Problem<P>) -> Rounds<'a, P> {
        let expand = |expr: &Quasi| expand(expr, &problem.equations).ok();
        let exprs: Vec<_> = problem.subscripts.iter().map(|s| expand(&s.expr)).collect();
        let ranges = problem.indices.iter().map(|i| i.explicit.clone()).collect();
        let pending = vec![true; exprs.len()];
        let (equalities, facts) = (Vec::new(), problem.facts.clone());
        let mut rounds = Rounds { problem, exprs, ranges, equalities, facts, pending };
        for at in 0..rounds.exprs.len() {
            // Only reads that always happen constrain by their offsets.
            let settled =
                rounds.bare_index(at).is_some_and(|i| problem.indices[i].explicit.is_none());
            rounds.pending[at] = problem.subscripts[at].read == Read::Always
                && rounds.exprs[at].is_some()
                && !settled;
        }
        rounds
    }

    /// The place of an index in the nesting order.
    pub(super) fn position(&self, var: Var) -> Option<usize> {
        self.problem.indices.iter().position(|i| i.var == var)
    }

    /// The range of an index, if it is one and is solved.
    pub(super) fn range(&self, var: Var) -> Option<&Range<P>> {
        self.position(var).and_then(|at| self.ranges[at].as_ref())
    }

    /// The index that a subscript consists of, if it is bare.
    pub(super) fn bare_index(&self, subscript: usize) -> Option<usize> {
        self.exprs[subscript].as_ref()?.as_var().and_then(|v| self.position(v))
    }

    /// The indices of an expression, and those their ranges depend on, as places in the nesting
    /// order.
    pub(super) fn closure(&self, expr: &Quasi) -> Vec<usize> {
        let mut found = vec![false; self.ranges.len()];
        expr.for_each_var(&mut |v| self.mark(v, &mut found));
        (0..found.len()).filter(|at| found[*at]).collect()
    }

    pub(super) fn mark(&self, var: Var, found: &mut [bool]) {
        let Some(at) = self.position(var).filter(|at| !found[*at]) else { return };
        found[at] = true;
        if let Some(range) = &self.ranges[at] {
            range.for_each_var(&mut |v| self.mark(v, found));
        }
    }

    /// The second round: each bare use gives the extent of its axis.
    pub(super) fn bare_uses(&mut self) {
        for at in 0..self.ranges.len() {
            if self.problem.indices[at].explicit.is_some() {
                continue;
            }
            let subscripts = &self.problem.subscripts;
            let reads = |s: &usize| subscripts[*s].read != Read::Default;
            let uses = (0..subscripts.len()).filter(|s| self.bare_index(*s) == Some(at));
            let uses: Vec<usize> = uses.filter(reads).collect();
            if uses.is_empty() {
                continue;
            }
            self.require_equal(at, &uses);
            let mut range = Range::natural();
            for s in uses {
                let (value, from) = (subscripts[s].extent.clone(), subscripts[s].from.clone());
                range.upper.push(Bound { value, from: Some(from) });
            }
            self.ranges[at] = Some(range.simplified(&self.facts));
        }
    }

    /// One further round; false when it made no progress.
    pub(super) fn shrink_and_solve(&mut self) -> bool {
        for target in (0..self.ranges.len()).rev() {
            self.shrink(target);
        }
        let mut found: Vec<(usize, Range<P>)> = Vec::new();
        for subscript in 0..self.exprs.len() {
            let Some(target) = self.only_unsolved(subscript) else { continue };
            let bounds = self.bounds(subscript, target);
            if !bounds.upper.is_empty() {
                self.pending[subscript] = false;
                found.push((target, bounds));
            }
        }
        let progress = !found.is_empty();
        for (target, bounds) in found {
            let known = self.ranges[target].take().unwrap_or_else(Range::natural);
            self.ranges[target] = Some(known.intersect(&bounds).simplified(&self.facts));
        }
        progress
    }

    /// The one index of a pending subscript that has no range yet. It occurs in the subscript, or
    /// in the written range of an index that does: `x[k]` with `k in 0..=i` limits `i`.
    fn only_unsolved(&self, subscript: usize) -> Option<usize> {
        let expr = self.exprs[subscript].as_ref().filter(|_| self.pending[subscript])?;
        let unsolved: Vec<usize> =
            self.closure(expr).into_iter().filter(|at| self.ranges[*at].is_none()).collect();
        match unsolved[..] {
            [target] => Some(target),
            _ => None,
        }
    }

    /// Applies every pending subscript with solved indices whose outermost index without an
    /// explicit range is `target`.
    fn shrink(&mut self, target: usize) {
        for subscript in 0..self.exprs.len() {
            if !self.pending[subscript] || self.outermost_inferred(subscript) != Some(target) {
                continue;
            }
            self.pending[subscript] = false;
            let bounds = self.bounds(subscript, target);
            if let Some(range) = &self.ranges[target] {
                self.ranges[target] = Some(range.intersect(&bounds).simplified(&self.facts));
            }
        }
    }

    /// The outermost index of a subscript without an explicit range, if all are solved.
    fn outermost_inferred(&self, subscript: usize) -> Option<usize> {
        let expr = self.exprs[subscript].as_ref()?;
        if self.closure(expr).iter().any(|at| self.ranges[*at].is_none()) {
            return None;
        }
        let mut own = Vec::new();
        expr.for_each_var(&mut |v| own.extend(self.position(v)));
        own.into_iter().filter(|at| self.problem.indices[*at].explicit.is_none()).min()
    }
}

/// The expression with the variables of `where` equations replaced, the last equation first,
/// because an equation may use the ones before it.
pub(super) fn expand(expr: &Quasi, equations: &[(Var, Quasi)]) -> Result<Quasi> {
    equations.iter().rev().try_fold(expr.clone(), |expr, (var, value)| expr.substitute(*var, value))
}
