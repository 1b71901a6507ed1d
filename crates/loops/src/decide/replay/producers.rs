//! What only the sweeps read, at their own time, is computed in a sweep as well: in the forward one, or
//! in the backward one if that only waits for the other.
//!
//! Sums over such a tensor that nobody waits for go along with it.

use einlang_tir::module::Binding;
use einlang_tir::types::Ident;

use super::place::Place;
use super::reads::Reads;
use super::shape::{Course, Shape};
use super::stage::{Stage, Stages};

/// Shorter axes are not taken for time only because something reads along them.
const SHORT: i64 = 32;

/// What else becomes part of a sweep with a group.
#[derive(Default)]
struct Joined {
    /// How many planes at both ends are read of its tensors.
    ends: Vec<(Ident, (i64, i64))>,
    /// The sums over it.
    sums: Vec<usize>,
}

impl Stages<'_, '_> {
    /// The stages in which what only the sweeps read, at their own time, is computed in a sweep as well: in
    /// the forward one, or in the backward one if that only waits for the other.
    pub(super) fn with_producers(mut self) -> Self {
        for group in (0..self.stages.len()).rev().filter(|at| !self.groups.skipped[*at]) {
            match self.stages[group] {
                Stage::Before if self.open.is_none() => self.take_in(group, Stage::Forward),
                Stage::Between => {
                    self.take_in(group, Stage::Backward);
                    // What only comes after the sweeps need not come between them.
                    if self.stages[group] == Stage::Between && self.is_read_after(group) {
                        self.stages[group] = Stage::After;
                    }
                }
                _ => {}
            }
        }
        self
    }

    /// Whether nothing reads a group before the sweeps are complete.
    fn is_read_after(&self, group: usize) -> bool {
        let of_group = |tensor: &Ident| self.groups.homes.get(tensor).is_some_and(|h| h.0 == group);
        let mut readers = self.groups.reads.iter().enumerate();
        readers.all(|(reader, reads)| {
            let mut tensors = reads.list.iter().map(|seen| &seen.tensor).chain(&reads.whole);
            let apart = reader == group || self.groups.skipped[reader];
            apart || self.stages[reader] == Stage::After || !tensors.any(of_group)
        })
    }

    fn take_in(&mut self, group: usize, sweep: Stage) {
        // How long an open axis is, is known when it ends.
        if self.groups.module.groups[group].until.is_some() {
            return;
        }
        let bindings = &self.groups.module.groups[group].bindings;
        let whole = |binding: &Binding| {
            let by = |reads: &Reads| reads.whole.contains(&binding.name);
            self.groups.observers.sees_all_of(&binding.name) || self.groups.reads.iter().any(by)
        };
        if bindings.iter().any(whole) {
            return;
        }
        let candidates = self.candidates(group);
        let is_long = |axes: &[usize]| {
            let mut own = bindings.iter().zip(axes);
            let short = |extent: i64| extent < SHORT;
            own.all(|(binding, axis)| {
                !binding.axes[*axis].dim.extent.as_constant().is_some_and(short)
            })
        };
        let down = (sweep == Stage::Forward) == self.down;
        let runs = |course: &&Course| {
            course.runs(down)
                && course.axes.len() == bindings.len()
                && self.ends_in_time(group, &course.axes)
                && is_long(&course.axes)
        };
        let courses: Vec<Course> = candidates.iter().filter(runs).cloned().collect();
        for course in courses {
            let before = (self.stages[group], self.courses[group].clone());
            (self.stages[group], self.courses[group]) = (sweep, course);
            match self.joined(group, sweep) {
                Some(joined) => return self.join(joined),
                None => (self.stages[group], self.courses[group]) = before,
            }
        }
    }

    fn join(&mut self, Joined { ends, sums }: Joined) {
        for (tensor, (first, last)) in ends {
            let kept = self.ends.entry(tensor).or_default();
            *kept = (kept.0.max(first), kept.1.max(last));
        }
        for sum in sums {
            (self.stages[sum], self.courses[sum]) = (Stage::Backward, Course::default());
        }
    }

    /// What becomes part of the sweep of a group with it, if everything else that reads it is in the sweeps and
    /// reads it at its own time, or reads its ends later.
    fn joined(&self, group: usize, sweep: Stage) -> Option<Joined> {
        let (mut found, mut joined) = (false, Joined::default());
        for (reader, reads) in self.groups.reads.iter().enumerate() {
            if reader == group || self.groups.skipped[reader] {
                continue;
            }
            let stage = self.stages[reader];
            let mut own = |seen: &super::reads::Seen| -> Option<()> {
                let home = self.groups.homes.get(&seen.tensor).copied();
                let Some(home) = home.filter(|home| home.0 == group) else { return Some(()) };
                let axis = self.axis(&seen.tensor)?;
                let time = self.groups.time(reader, seen.binding, &self.courses[reader].axes);
                let later = stage >= sweep.complete();
                let tensor = || seen.tensor.clone();
                match self.groups.place(seen, home, axis, time) {
                    // Only what is read at one distance goes along with its readers.
                    Place::Near(low, high) if low == high && stage.is_sweep() => found = true,
                    Place::Near(low, high) if low == high && self.is_late_sum(reader, sweep) => {
                        joined.sums.push(reader);
                    }
                    Place::First(n) if later => joined.ends.push((tensor(), (n, 0))),
                    Place::Last(n) if later => joined.ends.push((tensor(), (0, n))),
                    _ => return None,
                }
                Some(())
            };
            reads.list.iter().try_for_each(&mut own)?;
        }
        found.then_some(joined)
    }

    /// Whether a group is a sum that the backward sweep can add up, since nothing in it waits for the sum.
    fn is_late_sum(&self, group: usize, sweep: Stage) -> bool {
        sweep == Stage::Backward
            && self.stages[group] == Stage::After
            && matches!(self.groups.shapes[group], Shape::Sum(..))
            && self.sweep(group, &Course::default()) == Some(Stage::Backward)
    }
}
