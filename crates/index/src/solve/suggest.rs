//! What to write where no range can be inferred.

use super::rounds::Rounds;
use super::{Read, Unsolved};
use crate::quasi::Quasi;
use crate::range::Range;
use crate::var::Var;

impl<P: Clone> Rounds<'_, P> {
    /// The unsolved index with a range that would keep its reads in bounds: that of the reads that
    /// always happen, taking other unsolved indices as 0, or else the whole axis of another read.
    pub(super) fn suggest(&self, var: Var) -> Unsolved<P> {
        let mentions = |at: &usize| self.exprs[*at].as_ref().is_some_and(|e| e.mentions(var));
        let uses: Vec<usize> = (0..self.exprs.len()).filter(mentions).collect();
        let mut range = Range::natural();
        for &at in &uses {
            if self.problem.subscripts[at].read == Read::Always {
                range = range.intersect(&self.bounds_alone(at, var));
            }
        }
        if range.upper.is_empty()
            && let Some(at) = uses.first()
        {
            let subscript = &self.problem.subscripts[*at];
            range = Range::new(0, subscript.extent.clone(), subscript.from.clone());
        }
        let suggestion = (!range.upper.is_empty()).then(|| range.simplified(&self.facts));
        Unsolved { var, suggestion }
    }

    /// The bounds a subscript would give if every other unsolved index were 0.
    fn bounds_alone(&self, subscript: usize, var: Var) -> Range<P> {
        let nothing = Range { lower: Vec::new(), upper: Vec::new() };
        let Some(target) = self.position(var) else { return nothing };
        let mut expr = self.exprs[subscript].clone();
        for (at, index) in self.problem.indices.iter().enumerate() {
            if at != target && self.ranges[at].is_none() {
                expr = expr.and_then(|e| e.substitute(index.var, &Quasi::from(0)).ok());
            }
        }
        self.bounds_of(subscript, expr.as_ref(), target)
    }
}
