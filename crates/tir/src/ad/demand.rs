//! Which mode computes an entry.
//!
//! What is bound around an entry says what is wanted of the Jacobian. An index that target and
//! parameter share selects a block, and costs the same either way. Of the rest, a fixed target is a
//! row (reverse), a fixed parameter a column (forward), and for a whole Jacobian the side with fewer
//! points is the seed. A single entry is computed forward, which needs no trajectory, unless the
//! same target is asked about several parameters: then one reverse sweep serves all. What the steps of an
//! open recurrence ask about itself is computed forward in any case.

use super::context::Ad;
use super::contract::Side;
use super::fault::R;
use super::request::{Entry, Plan};
use super::seed::{Coord, Seed};
use crate::module::SymbolSource;
use crate::passes::Mode;
use crate::region::{Place, Subscript};
use crate::types::Ident;

impl Ad<'_> {
    /// Forward or reverse.
    pub(super) fn choose(&self, home: &Ident, entry: &Entry, leaf: bool) -> R<Plan> {
        let weighted = |place: &Place, vector: &Ident| Seed {
            tensor: place.tensor.clone(),
            at: vec![Coord::Axis; place.at.len()],
            vector: Some(vector.clone()),
            leaf: false,
        };
        match self.sides.get(&entry.number) {
            Some(Side::Parameter(vector)) => {
                let seed = weighted(&entry.by, vector);
                return Ok(Plan::Forward(Seed { leaf, ..seed }));
            }
            Some(Side::Target(vector)) => {
                return Ok(Plan::Reverse(weighted(&entry.of, vector)));
            }
            None => {}
        }
        let forward = match self.mode {
            Mode::Forward => true,
            Mode::Reverse => false,
            Mode::Cheaper => self.is_forward_cheaper(entry)?,
        };
        let forward = forward || self.is_asked_within(home, &entry.of.tensor)?;
        let forward = forward && !(leaf && self.is_open(&entry.by.tensor)?);
        Ok(match forward {
            true => Plan::Forward(Seed { leaf, ..self.seed_at(&entry.by) }),
            false => Plan::Reverse(self.seed_at(&entry.of)),
        })
    }

    /// Whether a tensor grows along its first axis until a condition holds. A slice of it is a leaf of what one step
    /// asks, and a seed there would stand for the next step too, of which nobody knows whether there is one.
    fn is_open(&self, tensor: &Ident) -> R<bool> {
        let first = self.tensor_type(tensor)?.dims.into_iter().next();
        let extent = first.and_then(|dim| dim.extent.as_var());
        Ok(extent.is_some_and(|var| self.module.source(var) == Some(&SymbolSource::Until)))
    }

    /// Whether the steps of an open tensor, or the condition that ends them, ask how it follows something:
    /// what runs backwards would begin at its end.
    fn is_asked_within(&self, home: &Ident, target: &Ident) -> R<bool> {
        let group = |name: &Ident| self.places.get(name).map(|place| place.0);
        let mut homes = std::iter::successors(Some(home), |name| self.lifted_from.get(*name));
        Ok(self.is_open(target)? && homes.any(|home| group(home) == group(target)))
    }

    fn is_forward_cheaper(&self, entry: &Entry) -> R<bool> {
        let of = self.left(&entry.of, &entry.by)?;
        let by = self.left(&entry.by, &entry.of)?;
        Ok(match (of.n_axes, by.n_axes) {
            (0, 0) => {
                let parameters = self.asked.get(&entry.of.tensor);
                parameters.is_none_or(|parameters| parameters.len() <= 1)
            }
            (0, _) => false,
            (_, 0) => true,
            (n_of, n_by) => match (of.n_points, by.n_points) {
                (Some(of), Some(by)) => by <= of,
                _ => n_by <= n_of,
            },
        })
    }

    /// The axes of a place that are neither fixed nor shared with the other place.
    pub(super) fn left(&self, place: &Place, other: &Place) -> R<Left> {
        let Seed { at, .. } = self.seed_at(place);
        let ty = self.tensor_type(&place.tensor)?;
        let mut left = Left { n_axes: 0, n_points: Some(1) };
        for ((coord, dim), subscript) in at.iter().zip(&ty.dims).zip(&place.at) {
            let shared = matches!(subscript, Subscript::Index(_)) && other.at.contains(subscript);
            if *coord != Coord::Axis || shared {
                continue;
            }
            left.n_axes += 1;
            let extent = dim.extent.as_constant().and_then(|n| u128::try_from(n).ok());
            left.n_points =
                left.n_points.zip(extent).and_then(|(all, extent)| all.checked_mul(extent));
        }
        Ok(left)
    }
}

/// What is left of a place.
pub(super) struct Left {
    pub(super) n_axes: usize,
    n_points: Option<u128>,
}
