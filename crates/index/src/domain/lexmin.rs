//! The lexicographically first (or last) point of a domain, as a function of its parameters.
//!
//! The answer is piecewise: a list of conditions on the parameters, which exclude each other, each
//! with the point. Where no condition holds the domain is empty. The method is direct: in a set
//! over one dimension the minimum is a lower bound, rounded up and moved on by as many steps as
//! congruences make necessary, and a candidate that lies in the set is the minimum because every
//! point lies above the bound. Dimensions are taken one after the other, each seeing the earlier
//! ones as parameters.

use super::Domain;
use super::bounds::side_bounds;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::error::{GaveUp, Result, Truth};
use crate::int::gcd_positive;
use crate::minmax::MAX_LEAVES;
use crate::quasi::Quasi;
use crate::set::Set;
use crate::var::Var;

/// One case of a symbolic answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// For which parameters it is the answer; a domain without dimensions.
    pub when: Domain,
    /// The point, one coordinate for each dimension.
    pub point: Vec<Quasi>,
}

impl Domain {
    /// The lexicographically smallest point. [`GaveUp::Unbounded`] when a dimension has no lower
    /// bound for some parameters.
    pub fn lexmin(&self) -> Result<Vec<Piece>> {
        let mut budget = Budget::new();
        let mut pieces = vec![Piece { when: Domain::everything(Vec::new()), point: Vec::new() }];
        for depth in 0..self.dims.len() {
            let (prefix, rest) = self.dims.split_at(depth + 1);
            let prefix = self.eliminated(prefix, rest, &mut budget)?;
            let minima = minimum(&prefix.sets, self.dims[depth], &mut budget)?;
            pieces = extend(&pieces, &minima, &self.dims[..depth], &mut budget)?;
        }
        if self.dims.is_empty() {
            pieces[0].when = self.clone();
        }
        Ok(pieces)
    }

    /// The lexicographically largest point.
    pub fn lexmax(&self) -> Result<Vec<Piece>> {
        let mut mirror =
            |v: Var| self.dims.contains(&v).then(|| Affine::new(0, [(v, -1)]).unwrap_or_default());
        let sets: Result<Vec<Set>> = self.sets.iter().map(|s| s.replace(&mut mirror)).collect();
        let mut pieces = Domain::of_sets(&*self.dims, sets?).lexmin()?;
        for coordinate in pieces.iter_mut().flat_map(|p| &mut p.point) {
            *coordinate = coordinate.neg()?;
        }
        Ok(pieces)
    }
}

/// Adds one more coordinate to every piece: the minimum for the coordinates found so far.
fn extend(
    pieces: &[Piece],
    minima: &[Piece],
    earlier: &[Var],
    budget: &mut Budget,
) -> Result<Vec<Piece>> {
    let mut extended = Vec::new();
    for piece in pieces {
        for minimum in minima {
            let over_earlier = Domain::of_sets(earlier, minimum.when.sets.iter().cloned());
            let here = over_earlier.at_within(&piece.point, budget)?;
            let when = piece.when.intersect_within(&here, budget)?;
            let mut value = minimum.point[0].clone();
            // One at a time is enough: the values only mention parameters.
            for (var, known) in earlier.iter().zip(&piece.point) {
                value = value.substitute(*var, known)?;
            }
            let point = piece.point.iter().cloned().chain([value]).collect();
            push_piece(&mut extended, Piece { when, point }, budget)?;
        }
    }
    Ok(extended)
}

/// Adds a piece unless it never applies.
fn push_piece(pieces: &mut Vec<Piece>, piece: Piece, budget: &mut Budget) -> Result<()> {
    if never(&piece.when, budget) {
        return Ok(());
    }
    if pieces.len() >= MAX_LEAVES {
        return Err(GaveUp::Budget);
    }
    pieces.push(piece);
    Ok(())
}

/// The minimum of `dim` over a union of sets; every other variable is a parameter.
fn minimum(sets: &[Set], dim: Var, budget: &mut Budget) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    for set in sets {
        let next = minimum_of_set(set, dim, budget)?;
        pieces = smaller(&pieces, &next, budget)?;
    }
    Ok(pieces)
}

/// The minimum of `dim` over one set.
fn minimum_of_set(set: &Set, dim: Var, budget: &mut Budget) -> Result<Vec<Piece>> {
    let whole = Domain::new([dim], set.clone());
    let occupied = whole.eliminated(&[], &[dim], budget)?;
    let bounds = side_bounds(set, dim, true)?;
    let (mut pieces, mut covered) = (Vec::new(), Domain::nothing(Vec::new()));
    for step in 0..period(set, dim)? {
        for bound in &bounds {
            let candidate = bound.add_constant(step)?;
            let when = whole.at_within(std::slice::from_ref(&candidate), budget)?;
            let when = when.subtract_within(&covered, budget)?;
            covered = covered.union(&when)?;
            push_piece(&mut pieces, Piece { when, point: vec![candidate] }, budget)?;
        }
        match occupied.subset_within(&covered, budget) {
            Truth::True => return Ok(pieces),
            Truth::Unknown => return Err(GaveUp::Budget),
            Truth::False => {}
        }
    }
    Err(GaveUp::Unbounded)
}

/// After how many steps the congruences on `dim` repeat.
fn period(set: &Set, dim: Var) -> Result<i64> {
    let mods = set.mods().iter().filter(|c| c.expr.mentions(dim));
    let period =
        mods.map(|c| c.modulus).try_fold(1i64, |p, m| p.checked_mul(m / gcd_positive(m, p)));
    period.filter(|p| *p <= MAX_LEAVES as i64).ok_or(GaveUp::Budget)
}

/// The smaller of two piecewise values, where both exist, and the one that exists elsewhere.
fn smaller(old: &[Piece], new: &[Piece], budget: &mut Budget) -> Result<Vec<Piece>> {
    let mut result = Vec::new();
    for a in old {
        push_piece(&mut result, outside(a, new, budget)?, budget)?;
        for b in new {
            let both = a.when.intersect_within(&b.when, budget)?;
            if never(&both, budget) {
                continue;
            }
            let gap = [a.point[0].sub(&b.point[0])?.add_constant(-1)?];
            let b_is_less = Domain::lowered(Vec::new(), &gap, 0, Constraint::Ge, budget)?;
            let when = both.intersect_within(&b_is_less, budget)?;
            push_piece(&mut result, Piece { when, point: b.point.clone() }, budget)?;
            let when = both.subtract_within(&b_is_less, budget)?;
            push_piece(&mut result, Piece { when, point: a.point.clone() }, budget)?;
        }
    }
    for b in new {
        push_piece(&mut result, outside(b, old, budget)?, budget)?;
    }
    Ok(result)
}

/// The piece where none of the others applies.
fn outside(piece: &Piece, others: &[Piece], budget: &mut Budget) -> Result<Piece> {
    let mut when = piece.when.clone();
    for other in others {
        when = when.subtract_within(&other.when, budget)?;
    }
    Ok(Piece { when, point: piece.point.clone() })
}

/// True when a condition is seen to hold for no parameters.
fn never(when: &Domain, budget: &mut Budget) -> bool {
    when.empty_within(&Set::everything(), budget) == Truth::True
}
