//! The largest value of an expression over the ranges of its indices.
//!
//! Indices are replaced one at a time, the innermost first because ranges may depend on indices
//! further out: where the expression rises with an index, by the index's last value, where it falls,
//! by its first. A sum in which an index goes up and down (a remainder) is taken as a whole and its
//! largest value computed by elimination; if that is not one formula, each remainder counts as its
//! largest conceivable value, which is on the safe side.

use super::rounds::Rounds;
use crate::domain::{Domain, Map};
use crate::error::Result;
use crate::minmax::MinMax;
use crate::quasi::{Direction, DivOp, Quasi};
use crate::var::Var;

impl<P: Clone> Rounds<'_, P> {
    /// The largest value over all indices but `target`, which is treated as a parameter; `None`
    /// when there is none or it cannot be expressed.
    pub(super) fn largest(&self, expr: &Quasi, target: Var) -> Result<Option<MinMax>> {
        let mut innermost: Option<usize> = None;
        expr.for_each_var(&mut |v| {
            if v != target {
                innermost = innermost.max(self.position(v));
            }
        });
        let Some(at) = innermost else { return Ok(Some(expr.clone().into())) };
        let var = self.problem.indices[at].var;
        let Some(range) = &self.ranges[at] else { return Ok(None) };
        let rising = match expr.direction(var) {
            Direction::Mixed => return self.largest_mixed(expr, var, target),
            direction => direction == Direction::Up,
        };
        let end = if rising { range.hi() } else { range.lo() };
        let Some(end) = end else { return Ok(None) };
        let end = if rising { end.add_constant(-1)? } else { end };
        let mut open = false;
        let value = end.map(rising, &mut |end| {
            let inner = self.largest(&expr.substitute(var, end)?, target)?;
            open |= inner.is_none();
            Ok(inner.unwrap_or(MinMax::Value(0.into())))
        })?;
        Ok((!open).then_some(value))
    }

    /// The case of a remainder: the terms connected with `var` are separated from the rest.
    fn largest_mixed(&self, expr: &Quasi, var: Var, target: Var) -> Result<Option<MinMax>> {
        let (tangled, rest) = self.separate(expr, var, target)?;
        if self.closure(&tangled).into_iter().any(|at| self.problem.indices[at].var == target) {
            return Ok(None);
        }
        let largest = match self.largest_by_elimination(&tangled, target) {
            Ok(Some(value)) => value.into(),
            _ => match self.largest(&without_remainders(&tangled)?, target)? {
                Some(value) => value,
                None => return Ok(None),
            },
        };
        let Some(rest) = self.largest(&rest, target)? else { return Ok(None) };
        rest.add(&largest).map(Some)
    }

    /// Splits a sum into the terms that share an index with `var`, directly or through other
    /// terms, and the rest.
    fn separate(&self, expr: &Quasi, var: Var, target: Var) -> Result<(Quasi, Quasi)> {
        let mut terms: Vec<Quasi> = Vec::new();
        for &(v, c) in expr.affine().terms() {
            terms.push(Quasi::from(v).scale(c)?);
        }
        for (division, c) in expr.divisions() {
            let number = division.number.clone();
            terms.push(number.divide(division.op, division.divisor)?.scale(*c)?);
        }
        let mut shared = vec![var];
        let mut tangled = Quasi::from(0);
        while let Some(at) = terms.iter().position(|t| shared.iter().any(|v| t.mentions(*v))) {
            let term = terms.swap_remove(at);
            let is_other_index = |v: &Var| *v != target && self.position(*v).is_some();
            term.for_each_var(&mut |v| shared.extend(Some(v).filter(is_other_index)));
            tangled = tangled.add(&term)?;
        }
        let rest = expr.sub(&tangled)?;
        Ok((tangled, rest))
    }

    /// The largest value by elimination, if it is one formula.
    fn largest_by_elimination(&self, expr: &Quasi, target: Var) -> Result<Option<Quasi>> {
        let indices = self.closure(expr).into_iter().map(|at| self.problem.indices[at].var);
        let indices: Vec<Var> = indices.filter(|v| *v != target).collect();
        let domain = self.index_domain(&indices)?.restricted(self.facts.set())?;
        // The first index lends its name to the value; the image renames its arguments anyway.
        let Some(value) = indices.first().copied() else { return Ok(Some(expr.clone())) };
        let image = domain.image(&Map::new(&*indices, [expr.clone()]), &[value])?;
        let pieces = image.lexmax()?;
        match &pieces[..] {
            [piece] => Ok(Some(piece.point[0].clone())),
            _ => Ok(None),
        }
    }

    /// The points of some indices, each within its range.
    pub(super) fn index_domain(&self, indices: &[Var]) -> Result<Domain> {
        let mut domain = Domain::everything(indices);
        for var in indices {
            if let Some(range) = self.range(*var) {
                domain = range.restrict(&domain, *var)?;
            }
        }
        Ok(domain)
    }

    /// The expression with flooring divisions wherever the dividend cannot be negative, given that
    /// the target is not.
    pub(super) fn with_floors(&self, expr: &Quasi, target: Var) -> Result<Quasi> {
        let truncates = |q: &Quasi| has_truncation(q);
        if !truncates(expr) {
            return Ok(expr.clone());
        }
        expr.with_floors(&mut |number| {
            let indices = self.closure(number).into_iter().map(|at| self.problem.indices[at].var);
            let indices: Vec<Var> = indices.collect();
            let natural = Domain::where_nonnegative(&*indices, &[target.into()]);
            let domain = natural.and_then(|n| self.index_domain(&indices)?.intersect(&n));
            domain.is_ok_and(|domain| self.facts.prove(&domain, number).is_true())
        })
    }
}

fn has_truncation(expr: &Quasi) -> bool {
    let truncating = |op| matches!(op, DivOp::TruncDiv | DivOp::TruncRem);
    expr.divisions().iter().any(|(d, _)| truncating(d.op) || has_truncation(&d.number))
}

/// The expression with every remainder replaced by the most it can contribute.
fn without_remainders(expr: &Quasi) -> Result<Quasi> {
    let mut sum = Quasi::from(expr.affine().clone());
    for (division, c) in expr.divisions() {
        let most = division.divisor - 1;
        let term = match division.op {
            DivOp::FloorMod if *c > 0 => Quasi::from(most).scale(*c)?,
            DivOp::FloorMod => Quasi::from(0),
            DivOp::TruncRem if *c > 0 => Quasi::from(most).scale(*c)?,
            DivOp::TruncRem => Quasi::from(-most).scale(*c)?,
            op => {
                let number = match *c > 0 {
                    true => without_remainders(&division.number)?,
                    false => without_remainders(&division.number.neg()?)?.neg()?,
                };
                number.divide(op, division.divisor)?.scale(*c)?
            }
        };
        sum = sum.add(&term)?;
    }
    Ok(sum)
}
