//! Listing the points of a bounded domain without parameters, in lexicographic order.

use std::collections::BTreeSet;

use super::Domain;
use super::bounds::side_bounds;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::eliminate::eliminate;
use crate::error::{GaveUp, Result};
use crate::set::Set;
use crate::var::Var;

/// How many candidates may be tried for each point allowed.
const SPARSE: i128 = 64;

impl Domain {
    /// All points, sorted. Gives up when there are more than `limit`, when the domain is unbounded
    /// or when it depends on parameters.
    pub fn points(&self, limit: usize) -> Result<Vec<Vec<i64>>> {
        if !self.params().is_empty() {
            return Err(GaveUp::Symbolic);
        }
        let mut budget = Budget::new();
        let mut points = BTreeSet::new();
        for set in &self.sets {
            // The first k dimensions alone, for each k, so that no branch is a dead end.
            let prefixes = prefixes(set, &self.dims, &mut budget)?;
            walk(&prefixes, &self.dims, &mut Vec::new(), &mut points, limit)?;
        }
        Ok(points.into_iter().collect())
    }
}

/// For each length k, the parts of the projection onto the first k + 1 dimensions.
fn prefixes(set: &Set, dims: &[Var], budget: &mut Budget) -> Result<Vec<Vec<Set>>> {
    (1..=dims.len()).map(|k| eliminate(set, &dims[k..], budget)).collect()
}

fn walk(
    prefixes: &[Vec<Set>],
    dims: &[Var],
    point: &mut Vec<i64>,
    points: &mut BTreeSet<Vec<i64>>,
    limit: usize,
) -> Result<()> {
    let depth = point.len();
    if depth == dims.len() {
        points.insert(point.clone());
        return if points.len() > limit { Err(GaveUp::Budget) } else { Ok(()) };
    }
    for value in values(&prefixes[depth], dims, point, limit)? {
        point.push(value);
        walk(prefixes, dims, point, points, limit)?;
        point.pop();
    }
    Ok(())
}

/// The values the next dimension takes after `point`.
fn values(parts: &[Set], dims: &[Var], point: &[i64], limit: usize) -> Result<Vec<i64>> {
    let dim = dims[point.len()];
    let mut values = Vec::new();
    for part in parts {
        let fixed = |v: Var| dims.iter().position(|d| *d == v).and_then(|at| point.get(at));
        let part = part.replace(&mut |v| fixed(v).map(|value| Affine::constant(*value)))?;
        if part.is_nothing() {
            continue;
        }
        let Some((low, high)) = interval(&part, dim)? else { return Err(GaveUp::Unbounded) };
        // Congruences thin an interval out, so a sparse one may be longer than the limit.
        if i128::from(high) - i128::from(low) > SPARSE * (limit as i128 + 1) {
            return Err(GaveUp::Budget);
        }
        for value in low..=high {
            if part.contains(&|_| value)? {
                values.push(value);
            }
        }
    }
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

/// The smallest interval that the inequalities and equalities of a set over the single variable
/// `dim` allow, ends included; `None` when it is not bounded on both sides.
pub(super) fn interval(set: &Set, dim: Var) -> Result<Option<(i64, i64)>> {
    let side = |lower| -> Result<Vec<i64>> {
        let bounds = side_bounds(set, dim, lower)?;
        bounds.iter().map(|b| b.as_constant().ok_or(GaveUp::Symbolic)).collect()
    };
    Ok(side(true)?.into_iter().max().zip(side(false)?.into_iter().min()))
}
