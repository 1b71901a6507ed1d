//! Memory that belongs to one round of a loop over tiles or rows.
//!
//! If everything that reads a tensor does so in the round of a tile that wrote it, the next tile may
//! use the same memory: along the axis of the tile only so many planes are kept as a tile has. The
//! proof asks that every read is in the same round of the loop and of all loops around it, that every
//! point that is read was stored, and that nothing outside the group reads the tensor.

use einlang_index::Facts;
use einlang_tir::module::Group;
use einlang_tir::order::Dependence;

use super::along::{Forms, own_form};
use super::legal::stays;
use super::windows::Observers;
use crate::schedule::{GroupSchedule, Nest, Role};

/// For each tensor of a group, the dimensions that may be private to tiles and their least widths.
pub(super) fn private_dimensions(
    group: &Group,
    schedule: &GroupSchedule,
    dependences: &[Dependence],
    observers: &Observers,
    facts: &Facts,
) -> Vec<Vec<(usize, i64)>> {
    let mut found = vec![Vec::new(); group.bindings.len()];
    let (mut nest, mut around) = (&schedule.nest, Vec::<&Forms>::new());
    while let Nest::Loop { forms, tile, role, inner } = nest {
        around.push(forms);
        for (number, (binding, tensor)) in group.bindings.iter().zip(&schedule.tensors).enumerate()
        {
            let width = tile.or((*role == Role::Par).then_some(1));
            let (Some(width), Some(form)) = (width, own_form(forms, number)) else { continue };
            let is = (0..tensor.storage.len()).find(|d| tensor.dimension(*d) == form.coefficients);
            let Some(dimension) = is.filter(|_| !observers.read_later(&binding.name)) else {
                continue;
            };
            let in_round = |dependence: &Dependence| {
                around.iter().all(|forms| {
                    let form = |s| forms.iter().find(|f| f.0 == s).map(|f| &f.1);
                    let (reader, writer) = (form(dependence.reader), form(dependence.writer));
                    stays(group, dependence, reader, writer, facts)
                })
            };
            let own = dependences.iter().filter(|d| d.writer.binding == number);
            if own.into_iter().all(in_round) {
                found[number].push((dimension, width));
            }
        }
        nest = inner;
    }
    found
}
