//! The box around a domain, axis by axis.

use super::Domain;
use crate::affine::Affine;
use crate::error::{GaveUp, Result};
use crate::minmax::MinMax;
use crate::quasi::Quasi;
use crate::set::Set;
use crate::var::Var;

/// Bounds on one axis that hold for all points, as functions of the parameters. They are exact for
/// a single part without congruences; for a union a part counts even where it is empty, and
/// [`Domain::lexmin`] of the projected axis is the exact answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisBounds {
    /// No point lies below; `None` when the axis is not bounded below.
    pub lower: Option<MinMax>,
    /// No point lies above (inclusive); `None` when the axis is not bounded above.
    pub upper: Option<MinMax>,
}

impl Domain {
    /// The bounds of every axis, in the order of the dimensions.
    pub fn bounding_box(&self) -> Result<Vec<AxisBounds>> {
        self.dims.iter().map(|dim| self.axis_bounds(*dim)).collect()
    }

    /// The bounds of one dimension: of all parts, the outermost; of each part, the innermost.
    pub fn axis_bounds(&self, dim: Var) -> Result<AxisBounds> {
        let axis = self.project(&[dim])?.simplified();
        if axis.sets.is_empty() {
            // No point: an interval that ends before it starts.
            return Ok(AxisBounds { lower: Some(0.into()), upper: Some((-1).into()) });
        }
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for set in &axis.sets {
            lower.push(one_side(set, dim, true)?);
            upper.push(one_side(set, dim, false)?);
        }
        let lower: Option<Vec<MinMax>> = lower.into_iter().collect();
        let upper: Option<Vec<MinMax>> = upper.into_iter().collect();
        Ok(AxisBounds {
            lower: lower.map(MinMax::min_of).transpose()?,
            upper: upper.map(MinMax::max_of).transpose()?,
        })
    }
}

/// The bounds a set puts on `dim` from one side.
fn one_side(set: &Set, dim: Var, lower: bool) -> Result<Option<MinMax>> {
    let bounds: Vec<MinMax> = side_bounds(set, dim, lower)?.into_iter().map(Into::into).collect();
    if bounds.is_empty() {
        return Ok(None);
    }
    let joined = if lower { MinMax::max_of(bounds) } else { MinMax::min_of(bounds) };
    joined.map(Some)
}

/// Each lower (or upper, inclusive) bound of `dim` in a set, rounded to an integer.
pub(super) fn side_bounds(set: &Set, dim: Var, lower: bool) -> Result<Vec<Quasi>> {
    let eqs = set.eqs().iter().filter(|a| a.mentions(dim));
    let ges = set.ges().iter().filter(|a| a.coeff(dim) != 0 && (a.coeff(dim) > 0) == lower);
    eqs.chain(ges).map(|a| bound(a, dim, lower)).collect()
}

/// The bound that `a >= 0` (or `a = 0`) puts on `dim`.
fn bound(a: &Affine, dim: Var, lower: bool) -> Result<Quasi> {
    let c = a.coeff(dim);
    let size = c.checked_abs().ok_or(GaveUp::Overflow)?;
    // |c| * dim is at least (or at most) this.
    let limit = Quasi::from(a.without(dim).scale(-c.signum())?);
    if lower { limit.ceil_div(size) } else { limit.floor_div(size) }
}
