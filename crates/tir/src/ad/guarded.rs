//! What is lifted out of a clause with a guard.
//!
//! A guard keeps a clause from points at which its body may not be evaluated: a subscript is out of bounds there, or a
//! point of the recurrence around is not defined. A binding that is lifted out of such a clause is evaluated at all of
//! its own points, so it gets the guard too. Where nothing can go wrong it gets none: then it often depends on
//! fewer indices than the guard does.

use einlang_index::{Domain, Var};

use super::lift::{Around, Lifter};
use crate::module::Binding;
use crate::region::{InstKind, Region};

impl Lifter<'_, '_> {
    /// Whether code reads what its guard may protect: at subscripts that are not proved, or of a binding that is
    /// not defined everywhere itself.
    pub(super) fn needs_guard(&self, body: &Region) -> bool {
        let has_guard = |binding: &Binding| binding.clauses.iter().any(|c| c.guard.is_some());
        let mut needs = false;
        body.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                needs |= !read.proved || self.ad.binding(&read.place.tensor).is_some_and(has_guard);
            }
        });
        needs
    }

    /// Takes the guard of the clause as a condition around its body.
    pub(super) fn under(&mut self, guard: &Region) {
        for inst in &guard.insts {
            self.known.learn(inst);
            self.before.push(inst.clone());
        }
        let Some(condition) = guard.results.first() else { return };
        let part = self.known.domain(condition, true, self.domain.dims());
        let part = part.and_then(|part| self.domain.intersect(&part).ok());
        let is_known = |part: &Domain| {
            let known = |var: &Var| self.ad.is_global(&(*var).into());
            part.sets().len() <= 4 && part.params().iter().all(known)
        };
        match part.filter(is_known) {
            Some(part) => self.domain = part,
            None => self.conditions.push(Around {
                n_before: self.before.len(),
                condition: condition.clone(),
                holds: true,
            }),
        }
    }
}
