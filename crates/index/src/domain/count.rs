//! Counting the points of a bounded domain without parameters.
//!
//! Parts are made disjoint first. Within a part, a variable that an equality determines adds
//! nothing, groups of variables that share no constraint multiply, and a single variable is counted
//! in closed form; only what is left is enumerated, one value of one variable at a time. So a box
//! costs nothing and a triangle costs its side.

use super::Domain;
use super::points::interval;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Congruence;
use crate::eliminate::eliminate;
use crate::error::{GaveUp, Result};
use crate::int::gcd_positive;
use crate::set::Set;
use crate::var::Var;

/// Congruences repeat after the least common multiple of their moduli; longer periods give up.
const MAX_PERIOD: i64 = 1 << 16;

impl Domain {
    /// The number of points. Gives up when the domain is unbounded or depends on parameters, and
    /// when counting would have to visit too many slices.
    pub fn count(&self) -> Result<u128> {
        if !self.params().is_empty() {
            return Err(GaveUp::Symbolic);
        }
        let mut budget = Budget::new();
        let mut total: u128 = 0;
        for set in &self.disjoint()?.sets {
            let n = count_set(set, &self.dims, &mut budget)?;
            total = total.checked_add(n).ok_or(GaveUp::Overflow)?;
        }
        Ok(total)
    }
}

fn count_set(set: &Set, dims: &[Var], budget: &mut Budget) -> Result<u128> {
    budget.pay(1)?;
    if set.is_nothing() {
        return Ok(0);
    }
    if let Some((set, var)) = solve_unit(set)? {
        let rest: Vec<Var> = dims.iter().copied().filter(|d| *d != var).collect();
        return count_set(&set, &rest, budget);
    }
    let mut product: u128 = 1;
    let mut unbounded = false;
    for (group, part) in components(set, dims)? {
        // An empty factor decides even when another one is infinite.
        match count_group(&part, &group, budget) {
            Ok(n) => product = product.checked_mul(n).ok_or(GaveUp::Overflow)?,
            Err(GaveUp::Unbounded) => unbounded = true,
            Err(other) => return Err(other),
        }
    }
    if unbounded && product != 0 { Err(GaveUp::Unbounded) } else { Ok(product) }
}

/// Uses an equality with a unit coefficient to remove the variable it determines.
fn solve_unit(set: &Set) -> Result<Option<(Set, Var)>> {
    for eq in set.eqs() {
        if let Some(&(var, c)) = eq.terms().iter().find(|t| t.1.unsigned_abs() == 1) {
            let value = eq.without(var).scale(-c)?;
            return Ok(Some((set.substitute(var, &value)?, var)));
        }
    }
    Ok(None)
}

/// The groups of dimensions that constraints connect, each with its constraints.
fn components(set: &Set, dims: &[Var]) -> Result<Vec<(Vec<Var>, Set)>> {
    let mut groups: Vec<Vec<Var>> = dims.iter().map(|d| vec![*d]).collect();
    for constraint in set.constraints() {
        let touched = |g: &Vec<Var>| g.iter().any(|v| constraint.expr().mentions(*v));
        let (together, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(touched);
        let merged = together.concat();
        if !merged.is_empty() {
            apart.push(merged);
        }
        groups = apart;
    }
    let with_part = |group: Vec<Var>| {
        let part = set.constraints().filter(|c| c.expr().vars().any(|v| group.contains(&v)));
        let part = Set::new(part)?;
        Ok((group, part))
    };
    groups.into_iter().map(with_part).collect()
}

fn count_group(set: &Set, group: &[Var], budget: &mut Budget) -> Result<u128> {
    if let [var] = group {
        let Some((low, high)) = interval(set, *var)? else { return Err(GaveUp::Unbounded) };
        return count_interval(set, low, high, budget);
    }
    let (var, low, high) = narrowest(set, group, budget)?;
    let rest: Vec<Var> = group.iter().copied().filter(|v| *v != var).collect();
    let mut total: u128 = 0;
    for value in low..=high {
        let slice = set.substitute(var, &Affine::constant(value))?;
        let n = count_set(&slice, &rest, budget)?;
        total = total.checked_add(n).ok_or(GaveUp::Overflow)?;
    }
    Ok(total)
}

/// The variable of the group with the fewest values, and an interval they lie in. Constraints on
/// one variable alone are looked at first, because elimination is much more work.
fn narrowest(set: &Set, group: &[Var], budget: &mut Budget) -> Result<(Var, i64, i64)> {
    let direct = |var: &Var| {
        let alone = set.constraints().filter(|c| c.expr().vars().eq([*var]));
        let ends = Set::new(alone).and_then(|s| interval(&s, *var)).ok().flatten();
        ends.map(|(low, high)| (*var, low, high))
    };
    let length = |(_, low, high): &(Var, i64, i64)| i128::from(*high) - i128::from(*low);
    if let Some(best) = group.iter().filter_map(direct).min_by_key(length) {
        return Ok(best);
    }
    let mut best: Option<(Var, i64, i64)> = None;
    for var in group {
        if let Some((low, high)) = hull(set, group, *var, budget)? {
            best = best.into_iter().chain([(*var, low, high)]).min_by_key(length);
        }
    }
    best.ok_or(GaveUp::Unbounded)
}

/// The interval of the values of `var`; reversed for an empty set, `None` for an unbounded one.
fn hull(set: &Set, group: &[Var], var: Var, budget: &mut Budget) -> Result<Option<(i64, i64)>> {
    let others: Vec<Var> = group.iter().copied().filter(|v| *v != var).collect();
    let mut hull = Some((i64::MAX, i64::MIN));
    for part in eliminate(set, &others, budget)? {
        let ends = interval(&part, var)?;
        hull = hull.zip(ends).map(|(h, e)| (h.0.min(e.0), h.1.max(e.1)));
    }
    Ok(hull)
}

/// The points of `low..=high` that satisfy the congruences of a set over one variable.
fn count_interval(set: &Set, low: i64, high: i64, budget: &mut Budget) -> Result<u128> {
    if high < low {
        return Ok(0);
    }
    let length = (i128::from(high) - i128::from(low) + 1) as u128;
    if set.mods().is_empty() {
        return Ok(length);
    }
    let period = set.mods().iter().try_fold(1, period_with)?;
    let rest = (length % period as u128) as i64;
    budget.pay(period as usize / 4)?;
    let (mut in_period, mut in_rest): (u128, u128) = (0, 0);
    for step in 0..period {
        // Congruences repeat, so the residue of the value stands for it; it cannot overflow.
        let value = low.rem_euclid(period) + step;
        let holds = |c: &Congruence| {
            Ok(c.expr.eval(&|_| value)?.rem_euclid(c.modulus.into()) <= c.at_most.into())
        };
        if set.mods().iter().map(holds).collect::<Result<Vec<_>>>()?.into_iter().all(|h| h) {
            in_period += 1;
            in_rest += u128::from(step < rest);
        }
    }
    (length / period as u128)
        .checked_mul(in_period)
        .and_then(|n| n.checked_add(in_rest))
        .ok_or(GaveUp::Overflow)
}

fn period_with(period: i64, congruence: &Congruence) -> Result<i64> {
    let product = period.checked_mul(congruence.modulus / gcd_positive(congruence.modulus, period));
    product.filter(|p| *p <= MAX_PERIOD).ok_or(GaveUp::Budget)
}
