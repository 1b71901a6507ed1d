//! The range a subscript leaves to one index, for the worst case over the others.
//!
//! `0 <= e < extent` must hold for all values of the other indices. So `e`'s largest value over
//! them must stay below the extent and its smallest must not be negative; what remains is an
//! inequality `q <= b` between an expression of the target and a bound, which is inverted: a
//! coefficient divides the bound, a floor multiplies it. Where that is not possible the values that
//! break the inequality are computed by elimination; a range is left only if they are all the large
//! or all the small ones.

use super::rounds::Rounds;
use crate::affine::Affine;
use crate::constraint::Constraint;
use crate::domain::{Domain, Piece};
use crate::error::{GaveUp, Result};
use crate::minmax::MinMax;
use crate::prove::Facts;
use crate::quasi::{DivOp, Quasi};
use crate::range::{Bound, Range};
use crate::set::Set;
use crate::var::Var;

/// What an inequality leaves to the target: `lo <= target <= hi`.
#[derive(Clone, Debug, Default)]
struct Limits {
    lo: Option<MinMax>,
    hi: Option<MinMax>,
}

impl<P: Clone> Rounds<'_, P> {
    /// The bounds a subscript puts on an index; a side that cannot be expressed is missing.
    pub(super) fn bounds(&self, subscript: usize, target: usize) -> Range<P> {
        self.bounds_of(subscript, self.exprs[subscript].as_ref(), target)
    }

    /// The bounds that the subscript would give with another expression in its place.
    pub(super) fn bounds_of(
        &self,
        subscript: usize,
        expr: Option<&Quasi>,
        target: usize,
    ) -> Range<P> {
        let var = self.problem.indices[target].var;
        let mut range = Range { lower: Vec::new(), upper: Vec::new() };
        let Some(expr) = expr else { return range };
        let limits = self.limits(expr, &self.problem.subscripts[subscript].extent, var);
        let from = Some(self.problem.subscripts[subscript].from.clone());
        for limits in limits.into_iter().flatten() {
            let lower = limits.lo.map(|value| Bound { value, from: from.clone() });
            let end = limits.hi.and_then(|hi| hi.add_constant(1).ok());
            range.lower.extend(lower);
            range.upper.extend(end.map(|value| Bound { value, from: from.clone() }));
        }
        range
    }

    /// The limits from `e <= extent - 1` and from `-e <= 0`.
    fn limits(&self, expr: &Quasi, extent: &MinMax, target: Var) -> [Result<Limits>; 2] {
        let below = || {
            let expr = self.with_floors(expr, target)?;
            self.one_side(&expr, &extent.add_constant(-1)?, target)
        };
        let above = || {
            let expr = self.with_floors(expr, target)?;
            self.one_side(&expr.neg()?, &0.into(), target)
        };
        [below(), above()]
    }

    /// What `expr <= bound` for all other indices leaves to the target.
    fn one_side(&self, expr: &Quasi, bound: &MinMax, target: Var) -> Result<Limits> {
        match self.largest(expr, target)? {
            Some(largest) => at_most(&largest, bound, target, &self.facts),
            None => self.one_side_by_elimination(expr, bound, target),
        }
    }

    /// The same where the largest value cannot be expressed apart from the target. Nothing is
    /// concluded from an index that has no end.
    fn one_side_by_elimination(&self, expr: &Quasi, bound: &MinMax, target: Var) -> Result<Limits> {
        let Some(bound) = bound.as_quasi() else { return Ok(Limits::default()) };
        let indices = self.closure(expr).into_iter().map(|at| self.problem.indices[at].var);
        let others: Vec<Var> = indices.filter(|v| *v != target).collect();
        let closed = |v: &Var| self.range(*v).is_some_and(|r| r.hi().is_some());
        if !others.iter().all(closed) {
            return Ok(Limits::default());
        }
        first_failure(expr, bound, target, &self.index_domain(&others)?, &self.facts)
    }
}

/// What `value <= bound` leaves to the target: a maximum on the left and a minimum on the right
/// must hold for each of their members, a minimum on the left and a maximum on the right for one.
fn at_most(value: &MinMax, bound: &MinMax, target: Var, facts: &Facts) -> Result<Limits> {
    let (members, all): (Vec<Limits>, bool) = match (value, bound) {
        (MinMax::Value(q), MinMax::Value(b)) => return invert(q, b, target, facts),
        (MinMax::Max(list), _) => (each(list, |v| at_most(v, bound, target, facts))?, true),
        (_, MinMax::Min(list)) => (each(list, |b| at_most(value, b, target, facts))?, true),
        (MinMax::Min(list), _) => (each(list, |v| at_most(v, bound, target, facts))?, false),
        (_, MinMax::Max(list)) => (each(list, |b| at_most(value, b, target, facts))?, false),
    };
    if all { meet(members) } else { join(members) }
}

fn each(list: &[MinMax], f: impl Fn(&MinMax) -> Result<Limits>) -> Result<Vec<Limits>> {
    list.iter().map(f).collect()
}

/// The limits that hold when all of the members do.
fn meet(members: Vec<Limits>) -> Result<Limits> {
    let lo: Vec<MinMax> = members.iter().filter_map(|l| l.lo.clone()).collect();
    let hi: Vec<MinMax> = members.into_iter().filter_map(|l| l.hi).collect();
    let some = |list: &[MinMax]| !list.is_empty();
    Ok(Limits {
        lo: some(&lo).then(|| MinMax::max_of(lo)).transpose()?,
        hi: some(&hi).then(|| MinMax::min_of(hi)).transpose()?,
    })
}

/// The limits that hold when one of the members does: only if all limit the same single side.
fn join(members: Vec<Limits>) -> Result<Limits> {
    if members.iter().any(|l| l.lo.is_some() == l.hi.is_some()) {
        return Ok(Limits::default());
    }
    let lo: Option<Vec<MinMax>> = members.iter().map(|l| l.lo.clone()).collect();
    let hi: Option<Vec<MinMax>> = members.into_iter().map(|l| l.hi).collect();
    Ok(Limits { lo: lo.map(MinMax::min_of).transpose()?, hi: hi.map(MinMax::max_of).transpose()? })
}

/// What `expr <= bound` leaves to the target, the only index in `expr`.
fn invert(expr: &Quasi, bound: &Quasi, target: Var, facts: &Facts) -> Result<Limits> {
    let c = expr.affine().coeff(target);
    let mut dividing = expr.divisions().iter().filter(|(d, _)| d.number.mentions(target));
    match (c, dividing.next(), dividing.next()) {
        (0, None, _) => Ok(Limits::default()),
        (c, None, _) => divide_bound(expr, bound, target, c),
        (0, Some((division, c)), None) if division.op == DivOp::FloorDiv => {
            let term = Quasi::from(0).add(&division.number.floor_div(division.divisor)?)?;
            let rest = bound.sub(&expr.combine(1, &term, -*c)?)?;
            invert_floor(&division.number, division.divisor, *c, &rest, target, facts)
        }
        _ => first_failure(expr, bound, target, &Domain::everything(Vec::new()), facts),
    }
}

/// `c*target + rest <= bound`.
fn divide_bound(expr: &Quasi, bound: &Quasi, target: Var, c: i64) -> Result<Limits> {
    let term = Quasi::from(target).scale(c)?;
    let room = bound.sub(&expr.sub(&term)?)?;
    if c > 0 {
        return Ok(Limits { lo: None, hi: Some(room.floor_div(c)?.into()) });
    }
    let size = c.checked_neg().ok_or(GaveUp::Overflow)?;
    Ok(Limits { lo: Some(room.neg()?.ceil_div(size)?.into()), hi: None })
}

/// `c*floor(number / d) <= room`: the quotient is at most `room / c`, so the number is less than
/// `d` above `d` times that; or, for negative `c`, the quotient is at least that.
fn invert_floor(
    number: &Quasi,
    d: i64,
    c: i64,
    room: &Quasi,
    target: Var,
    facts: &Facts,
) -> Result<Limits> {
    if c > 0 {
        let most = room.floor_div(c)?.scale(d)?.add_constant(d - 1)?;
        return invert(number, &most, target, facts);
    }
    let size = c.checked_neg().ok_or(GaveUp::Overflow)?;
    let least = room.neg()?.ceil_div(size)?.scale(d)?;
    invert(&number.neg()?, &least.neg()?, target, facts)
}

/// The general case: the natural numbers for which `expr <= bound` fails at some point of `others`.
/// If they are all the large ones the first of them is the end, if they are all the small ones the
/// number after the last is the start, provided that is one formula for all parameters.
fn first_failure(
    expr: &Quasi,
    bound: &Quasi,
    target: Var,
    others: &Domain,
    facts: &Facts,
) -> Result<Limits> {
    let dims: Vec<Var> = [target].into_iter().chain(others.dims().iter().copied()).collect();
    let fails = expr.sub(bound)?.add_constant(-1)?;
    let fails = Domain::where_nonnegative(&*dims, &[fails, target.into()])?;
    let others = Domain::of_sets(dims, others.sets().iter().cloned());
    let fails = fails.restricted(facts.set())?.intersect(&others)?.project(&[target])?;
    let only = |pieces: Vec<Piece>| match &pieces[..] {
        [piece] => Some(piece.point[0].clone()),
        _ => None,
    };
    if closed_towards(&fails, true)? {
        let end = only(fails.lexmin()?).map(|first| first.add_constant(-1)).transpose()?;
        return Ok(Limits { lo: None, hi: end.map(MinMax::Value) });
    }
    if closed_towards(&fails, false)? {
        let start = only(fails.lexmax()?).map(|last| last.add_constant(1)).transpose()?;
        return Ok(Limits { lo: start.map(MinMax::Value), hi: None });
    }
    Ok(Limits::default())
}

/// Whether every natural number above (or below) one of the domain's is in the domain too.
fn closed_towards(domain: &Domain, above: bool) -> Result<bool> {
    let (moved, member) = (domain.dims()[0], Var::local(domain.free_local()));
    let member_in = domain.renamed(&[member])?;
    let member_in = Domain::of_sets([moved, member], member_in.sets().iter().cloned());
    let (low, high) = if above { (member, moved) } else { (moved, member) };
    let apart = Affine::var(high).sub(&Affine::var(low))?;
    let reach = [Constraint::Ge(apart), Constraint::Ge(Affine::var(moved))];
    let reached = member_in.restricted(&Set::new(reach)?)?.project(&[moved])?;
    Ok(reached.is_subset(domain).is_true())
}
