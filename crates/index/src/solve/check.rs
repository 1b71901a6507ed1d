//! Whether every subscript stays in bounds, given the ranges that were found.
//!
//! The points are those of the subscript's own indices, of the indices their ranges depend on and
//! of those its condition mentions. A verdict of `Fails` therefore means: whenever these indices
//! have a value at all, one of them is out of bounds.

use super::rounds::{Rounds, expand};
use super::{Obligation, Read};
use crate::domain::Domain;
use crate::error::{Result, Truth};
use crate::minmax::MinMax;
use crate::prove::Verdict;
use crate::quasi::Quasi;
use crate::set::Set;
use crate::var::Var;

impl<P: Clone> Rounds<'_, P> {
    /// The verdicts for all subscripts but those of default reads.
    pub(super) fn obligations(&self) -> Vec<Obligation> {
        let checked = |at: &usize| self.problem.subscripts[*at].read != Read::Default;
        (0..self.exprs.len()).filter(checked).map(|at| self.obligation(at)).collect()
    }

    fn obligation(&self, subscript: usize) -> Obligation {
        let unknown = Obligation { subscript, lower: Verdict::Unknown, upper: Verdict::Unknown };
        let Some(expr) = &self.exprs[subscript] else { return unknown };
        let extent = &self.problem.subscripts[subscript].extent;
        if self.is_within(expr, extent) {
            return Obligation { subscript, lower: Verdict::Holds, upper: Verdict::Holds };
        }
        let Ok(points) = self.points_of(subscript, expr) else { return unknown };
        let lower = self.facts.judge(&points, expr);
        let upper = self.judge_below(&points, expr, extent).unwrap_or(Verdict::Unknown);
        Obligation { subscript, lower, upper }
    }

    /// The plain case without any proof: a shifted index whose bounds, shifted too, are those of the
    /// axis.
    fn is_within(&self, expr: &Quasi, extent: &MinMax) -> bool {
        let Some(affine) = expr.as_affine() else { return false };
        let (&[(var, 1)], shift) = (affine.terms(), affine.constant_part()) else { return false };
        let Some(range) = self.range(var) else { return false };
        let moved = |value: &MinMax| value.add_constant(shift).ok();
        let above = range.lower.iter().filter_map(|bound| moved(&bound.value));
        let mut above = above.filter_map(|value| value.as_constant());
        above.any(|low| low >= 0)
            && range.upper.iter().any(|bound| match (moved(&bound.value), extent.as_constant()) {
                (Some(value), Some(extent)) => value.as_constant().is_some_and(|v| v <= extent),
                (value, None) => value.as_ref() == Some(extent),
                (None, _) => false,
            })
    }

    /// The points at which the subscript is evaluated.
    fn points_of(&self, subscript: usize, expr: &Quasi) -> Result<Domain> {
        let condition = match &self.problem.subscripts[subscript].read {
            Read::When(condition) => condition.sets(),
            _ => &[],
        };
        let mut found = vec![false; self.ranges.len()];
        expr.for_each_var(&mut |v| self.mark(v, &mut found));
        let bound = self.equation_vars(condition);
        condition.iter().flat_map(Set::vars).for_each(|v| self.mark(v, &mut found));
        let values: Result<Vec<(Var, Quasi)>> = bound.map(|(v, value)| Ok((v, value?))).collect();
        let values = values?;
        values.iter().for_each(|(_, q)| q.for_each_var(&mut |v| self.mark(v, &mut found)));
        let indices = (0..found.len()).filter(|at| found[*at]);
        let mut dims: Vec<Var> = indices.map(|at| self.problem.indices[at].var).collect();
        dims.extend(values.iter().map(|v| v.0));
        let mut points = self.index_domain(&dims)?;
        for (var, value) in values {
            let equal = Quasi::from(var).sub(&value)?;
            points = points.intersect(&Domain::where_zero(&*dims, &equal)?)?;
        }
        if let Read::When(condition) = &self.problem.subscripts[subscript].read {
            let condition = Domain::of_sets(&*dims, condition.sets().iter().cloned());
            points = points.intersect(&condition)?;
        }
        Ok(points)
    }

    /// The `where` variables a condition mentions, with their values.
    fn equation_vars(&self, sets: &[Set]) -> impl Iterator<Item = (Var, Result<Quasi>)> {
        let equations = &self.problem.equations;
        let mentioned = |v: Var| sets.iter().any(|s| s.mentions(v));
        let used = equations.iter().enumerate().filter(move |(_, e)| mentioned(e.0));
        used.map(|(at, (var, value))| (*var, expand(value, &equations[..at])))
    }

    /// Whether `expr < extent` at all points.
    fn judge_below(&self, points: &Domain, expr: &Quasi, extent: &MinMax) -> Result<Verdict> {
        if let Some(extent) = extent.as_quasi() {
            return Ok(self.facts.judge(points, &extent.sub(expr)?.add_constant(-1)?));
        }
        let broken = extent.at_most_domain(points.dims(), expr)?.intersect(points)?;
        match broken.always_empty_given(self.facts.set()) {
            Truth::True => return Ok(Verdict::Holds),
            Truth::Unknown => return Ok(Verdict::Unknown),
            Truth::False => {}
        }
        let used = points.restricted(self.facts.set())?.occupied()?;
        Ok(match used.is_subset(&broken.occupied()?) {
            Truth::True => Verdict::Fails,
            Truth::False => Verdict::Depends,
            Truth::Unknown => Verdict::Unknown,
        })
    }
}
