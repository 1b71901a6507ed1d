//! Windows under tiles of time: planes that are overwritten in another round of the loops around.
//!
//! Tiles take several steps of a part of a plane before the next part, so a plane is not read and written
//! in one round of the loops around. The place of a point is overwritten by the point `W` planes on, and may
//! be if that comes after everything that reads it: along every loop from the outermost on, until one
//! carries it, the overwriting point is never before the reading one. The same holds of the points that
//! store to a place one after the other.

use einlang_index::{Domain, Quasi};
use einlang_tir::module::Binding;
use einlang_tir::order::{Dependence, Form};

use super::along::{Along, own_form};
use super::distance::{distance, never_negative};
use super::windows::Folding;
use crate::schedule::{Nest, Role, TensorSchedule};

/// The widest window that is looked for.
const WIDEST: i64 = 4;

impl Folding<'_> {
    /// Whether the memory of a tensor could be reused under tiles.
    pub(super) fn may_be_reused(&self, tensor: &TensorSchedule) -> bool {
        matches!(self.nest, Some(Nest::Loop { tile: Some(_), .. }))
            && tensor.map.is_empty()
            && self.group.until.is_none()
    }

    /// The dimensions along which the innermost of the loops around everything runs, under tiles, each with the
    /// least width of its window, of a binding that may have one.
    pub(super) fn reused(
        &self,
        at: usize,
        binding: &Binding,
        tensor: &TensorSchedule,
    ) -> Vec<(usize, i64)> {
        let time = self.nest.and_then(|nest| Some((nest, time_of(nest, at)?)));
        let Some((nest, (forms, form))) = time else { return Vec::new() };
        let moved = form.coefficients.iter().enumerate().filter(|(_, steps)| **steps >= 1);
        let windows = moved.filter_map(|(dimension, _)| {
            let along = Along { around: Vec::new(), forms, form, dimension, down: false };
            let least = self.read_later(binding, tensor, &along)?;
            (least..=WIDEST).find_map(|width| {
                let place = Place { at, dimension, width };
                let mut readers = self.dependences.iter().filter(|d| d.writer.binding == at);
                let kept = is_stored_again(nest, &place)
                    && readers.all(|dependence| self.comes_after(nest, dependence, &place));
                kept.then_some((dimension, width))
            })
        });
        windows.collect()
    }

    /// Whether the point that overwrites what is read always comes after the reader.
    fn comes_after(&self, nest: &Nest, dependence: &Dependence, place: &Place) -> bool {
        let Nest::Loop { forms, tile, role, inner } = nest else { return false };
        let reader = forms.iter().find(|(s, _)| *s == dependence.reader).map(|(_, form)| form);
        let (Some(reader), Some(writer)) = (reader, own_form(forms, place.at)) else {
            return false;
        };
        let Some(steps) = writer.coefficients.get(place.dimension) else { return false };
        let later = distance(self.group, dependence, reader, writer)
            .and_then(|distance| Quasi::from(steps * place.width).sub(&distance));
        let Ok(later) = later else { return false };
        let (facts, over) = (self.facts, &dependence.domain);
        if !never_negative(facts, over, &later) {
            return false;
        }
        if role.is_free() {
            let same = later.neg().is_ok_and(|earlier| never_negative(facts, over, &earlier));
            return same && self.comes_after(inner, dependence, place);
        }
        if tile.is_some() {
            return self.comes_after(inner, dependence, place);
        }
        if later.add_constant(-1).is_ok_and(|strictly| never_negative(facts, over, &strictly)) {
            return true;
        }
        let same = Domain::where_zero(over.dims(), &later).and_then(|same| over.intersect(&same));
        let domain = same.unwrap_or_else(|_| over.clone());
        self.comes_after(inner, &Dependence { domain, ..dependence.clone() }, place)
    }
}

/// Where the planes of a tensor lie.
struct Place {
    /// The tensor.
    at: usize,
    dimension: usize,
    width: i64,
}

/// The innermost of the loops around everything, and its form for a tensor, if it is no loop over tiles.
fn time_of(nest: &Nest, at: usize) -> Option<(&super::along::Forms, &Form)> {
    match nest {
        Nest::Loop { tile: Some(_), inner, .. } => time_of(inner, at),
        Nest::Loop { forms, tile: None, role: Role::Seq, .. } => {
            Some((forms, own_form(forms, at)?))
        }
        _ => None,
    }
}

/// Whether what is stored to a place is stored in the order of planes.
fn is_stored_again(nest: &Nest, place: &Place) -> bool {
    let Nest::Loop { forms, tile, role, inner } = nest else { return false };
    let steps = own_form(forms, place.at).and_then(|form| form.coefficients.get(place.dimension));
    match steps {
        Some(0) => is_stored_again(inner, place),
        Some(1..) if !role.is_free() => tile.is_none() || is_stored_again(inner, place),
        _ => false,
    }
}
