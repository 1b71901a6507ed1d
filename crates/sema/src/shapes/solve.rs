//! From the questions of a frame to ranges, with the solver of [`einlang_index::solve`].

use einlang_index::solve::{Index, Problem, Read, Solution, Subscript};
use einlang_index::{Direction, MinMax, Range, Var, VarKind};
use einlang_source::Span;

use super::Analyser;
use super::frame::{FrameIndex, Mark};
use super::symbols::substituted;

/// A solution, and which reads of the frame took part.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) solution: Solution<Span>,
    pub(super) reads: Vec<usize>,
}

impl Attempt {
    /// The range that was found for an index.
    pub(super) fn range(&self, var: Var) -> Option<&Range<Span>> {
        self.solution.solved.iter().find(|solved| solved.var == var).map(|solved| &solved.range)
    }
}

impl Analyser<'_> {
    /// Solves what the frame collected between two moments. Reads of extents that are still to be
    /// found are left out. Whether subscripts are in bounds is asked only if `judge` says so.
    pub(super) fn attempt(&self, from: Mark, to: Mark, judge: bool) -> Attempt {
        let indices = &self.frame.indices[from.indices..to.indices];
        let dims: Vec<Var> = indices.iter().map(|index| index.var).collect();
        let mut vars: Vec<Var> = Vec::new();
        let mut reads = Vec::new();
        let mut subscripts = Vec::new();
        for number in from.reads..to.reads {
            let read = &self.frame.reads[number];
            let extent = self.symbols.resolved(&read.extent);
            let MinMax::Value(expr) = self.symbols.resolved(&MinMax::from(read.value.clone()))
            else {
                continue;
            };
            if self.waits_for(&extent) || self.waits_for(&expr.clone().into()) {
                continue;
            }
            let condition = read.condition.resolved(&self.symbols);
            expr.for_each_var(&mut |var| vars.push(var));
            extent.for_each_var(&mut |var| vars.push(var));
            condition.for_each_var(&mut |var| vars.push(var));
            let when = match condition.is_true() {
                true => Read::Always,
                false => match condition.domain(&dims) {
                    Ok(domain) => Read::When(domain),
                    Err(_) => Read::When(einlang_index::Domain::everything(&dims[..])),
                },
            };
            reads.push(number);
            subscripts.push(Subscript {
                expr,
                extent,
                axis: read.axis,
                read: when,
                from: read.span,
            });
        }
        let problem_indices: Vec<Index<Span>> = indices
            .iter()
            .map(|index| {
                let explicit = index.range.as_ref().map(|range| self.resolved_range(range));
                if let Some(range) = &explicit {
                    range.for_each_var(&mut |var| vars.push(var));
                }
                Index { var: index.var, explicit, output: index.output }
            })
            .collect();
        let outside: Vec<Var> = vars
            .iter()
            .copied()
            .filter(|var| var.kind() == VarKind::Index && !dims.contains(var))
            .collect();
        let mut facts = self.facts.about(vars);
        for index in self.frame.indices.iter().filter(|index| outside.contains(&index.var)) {
            if index.range.is_none() {
                facts.assume_nonnegative(index.var);
            }
        }
        let problem =
            Problem { indices: problem_indices, subscripts, equations: Vec::new(), facts };
        let solution = if judge { problem.solve() } else { problem.solve_ranges() };
        Attempt { solution, reads }
    }

    /// Whether a value depends on an extent that the group being solved is still looking for. Those
    /// of groups around it are symbols like others: they are found later.
    fn waits_for(&self, value: &MinMax) -> bool {
        let Some(own) = self.placeholders.last() else { return false };
        let mut waits = false;
        value.for_each_var(&mut |var| waits |= own.contains(&var) && self.symbols.is_open(var));
        waits
    }

    pub(super) fn resolved_range(&self, range: &Range<Span>) -> Range<Span> {
        let mut range = range.clone();
        for bound in range.lower.iter_mut().chain(&mut range.upper) {
            bound.value = self.symbols.resolved(&bound.value);
        }
        range
    }

    /// The largest value over the ranges of some indices, innermost last.
    pub(super) fn widest(&self, value: &MinMax, indices: &[FrameIndex]) -> MinMax {
        let mut value = value.clone();
        for index in indices.iter().rev() {
            let mut mentions = false;
            value.for_each_var(&mut |var| mentions |= var == index.var);
            let Some(range) = index.range.as_ref().filter(|_| mentions) else { continue };
            let first = range.lo();
            let last = range.hi().and_then(|hi| hi.add_constant(-1).ok());
            let widened = value.map(true, &mut |quasi| {
                let end = match quasi.direction(index.var) {
                    Direction::Up => last.clone(),
                    Direction::Down => first.clone(),
                    _ => None,
                };
                let all = MinMax::from(quasi.clone());
                let replaced = end.and_then(|end| {
                    substituted(&all, &|var| (var == index.var).then(|| end.clone()))
                });
                Ok(replaced.unwrap_or(all))
            });
            if let Ok(widened) = widened {
                value = widened;
            }
        }
        value
    }
}
