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
    let private = Private { group, schedule, dependences, observers, facts };
    private.collect(&schedule.nest, &mut Vec::new(), &mut found);
    found
}

struct Private<'a> {
    group: &'a Group,
    schedule: &'a GroupSchedule,
    dependences: &'a [Dependence],
    observers: &'a Observers,
    facts: &'a Facts,
}

impl Private<'_> {
    /// Adds what is private to the rounds of the loops of a nest that stands inside of others.
    fn collect<'n>(
        &self,
        nest: &'n Nest,
        around: &mut Vec<&'n Forms>,
        found: &mut [Vec<(usize, i64)>],
    ) {
        match nest {
            Nest::Points { .. } => {}
            Nest::Phases(phases) => {
                phases.iter().for_each(|phase| self.collect(phase, around, found));
            }
            Nest::Loop { forms, tile, role, inner } => {
                around.push(forms);
                if let Some(width) = tile.or((*role == Role::Par).then_some(1)) {
                    for (number, found) in found.iter_mut().enumerate() {
                        found.extend(self.dimension(number, around).map(|at| (at, width)));
                    }
                }
                self.collect(inner, around, found);
                around.pop();
            }
        }
    }

    /// The dimension of a tensor along which the innermost of some loops runs, if nothing outside of its rounds reads
    /// the tensor.
    fn dimension(&self, number: usize, loops: &[&Forms]) -> Option<usize> {
        let (binding, tensor) = (&self.group.bindings[number], &self.schedule.tensors[number]);
        let forms = loops.last()?;
        let form = own_form(forms, number)?;
        let n_inside = forms.iter().filter(|(s, _)| s.binding == number).count();
        let mut dimensions = 0..tensor.storage.len();
        let is = dimensions.find(|d| tensor.dimension(*d) == form.coefficients)?;
        if n_inside < binding.clauses.len() || self.observers.read_later(&binding.name) {
            return None;
        }
        let in_round = |dependence: &Dependence| {
            loops.iter().all(|forms| {
                let form = |s| forms.iter().find(|f| f.0 == s).map(|f| &f.1);
                let (reader, writer) = (form(dependence.reader), form(dependence.writer));
                stays(self.group, dependence, reader, writer, self.facts)
            })
        };
        let mut own = self.dependences.iter().filter(|d| d.writer.binding == number);
        own.all(in_round).then_some(is)
    }
}
