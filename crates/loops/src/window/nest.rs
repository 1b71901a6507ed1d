//! The order in which the axes of a group run: as written, unless that is illegal.
//!
//! All clauses of a binding are computed in one sweep over its box. Bindings that read each other
//! share loops as long as they depend on each other; then each goes its own way, one after the
//! other. At each loop an axis is tried as written and ascending first, then descending, then the
//! next axis; bindings of one loop may be shifted against each other. An order is legal when no
//! known read runs forwards: the distance of a read, loop by loop from outside, is zero until it is
//! positive.

use std::collections::BTreeMap;

use einlang_index::{Affine, Domain, Facts, Quasi, Result};
use einlang_tir::graph::strong_parts;
use einlang_tir::module::{Binding, Group};
use einlang_tir::order::Dependence;

use super::report::ScheduledAxis;

/// The largest shift between bindings that is looked for.
const MAX_SHIFT: i64 = 8;

/// How many combinations of axes are tried in all.
const MAX_TRIES: usize = 500;

/// The loops around the points of one binding, outermost first.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Nest {
    /// The axis of each loop.
    pub(super) axes: Vec<ScheduledAxis>,
}

impl Nest {
    /// How many outer loops two bindings share.
    pub(super) fn shared(&self, other: &Nest) -> usize {
        let pairs = self.axes.iter().zip(&other.axes);
        pairs.take_while(|(a, b)| a.in_loop == b.in_loop).count()
    }
}

/// The nests of the bindings of a group; none if no order of axes is legal.
pub(super) fn order_axes(group: &Group, reads: &[Dependence], facts: &Facts) -> Option<Vec<Nest>> {
    let mut search = Search {
        group,
        facts,
        nests: vec![Nest::default(); group.bindings.len()],
        tries: 0,
        n_loops: 0,
    };
    let all: Vec<usize> = (0..group.bindings.len()).collect();
    let reads: Vec<Dependence> = reads.to_vec();
    let done = match &group.until {
        None => search.sweep(&all, reads),
        Some(until) => {
            let open = |binding: &Binding| {
                binding.axes.iter().position(|axis| axis.dim.extent.as_var() == Some(until.extent))
            };
            let axes: Option<Vec<usize>> = group.bindings.iter().map(open).collect();
            let choice: Choice =
                axes?.into_iter().enumerate().map(|(at, axis)| (at, (axis, false))).collect();
            search.step(&all, &choice, &reads, true)
        }
    };
    done.then_some(search.nests)
}

/// The axis of each binding for one loop, and whether it descends.
type Choice = BTreeMap<usize, (usize, bool)>;

struct Search<'a> {
    group: &'a Group,
    facts: &'a Facts,
    nests: Vec<Nest>,
    tries: usize,
    n_loops: usize,
}

impl Search<'_> {
    /// Orders what is left of some bindings: those that read each other go on together.
    fn sweep(&mut self, bindings: &[usize], reads: Vec<Dependence>) -> bool {
        let place: BTreeMap<usize, usize> =
            bindings.iter().enumerate().map(|(at, binding)| (*binding, at)).collect();
        let mut edges = vec![Vec::new(); bindings.len()];
        for read in &reads {
            edges[place[&read.reader.binding]].push(place[&read.writer.binding]);
        }
        for part in strong_parts(&edges) {
            let part: Vec<usize> = part.into_iter().map(|at| bindings[at]).collect();
            let has = |binding: &usize| part.contains(binding);
            let inside = |d: &&Dependence| has(&d.reader.binding) && has(&d.writer.binding);
            let inside: Vec<Dependence> = reads.iter().filter(inside).cloned().collect();
            if !self.part(&part, &inside) {
                return false;
            }
        }
        true
    }

    fn part(&mut self, bindings: &[usize], reads: &[Dependence]) -> bool {
        if reads.is_empty() {
            bindings.iter().for_each(|binding| self.rest_as_written(*binding));
            return true;
        }
        let Some(choices) = self.choices(bindings, reads) else { return false };
        for choice in choices {
            self.tries += 1;
            if self.tries > MAX_TRIES {
                return false;
            }
            if self.step(bindings, &choice, reads, false) {
                return true;
            }
        }
        false
    }

    /// The axes that are not yet loops run as written.
    fn rest_as_written(&mut self, binding: usize) {
        for axis in self.left(binding) {
            self.n_loops += 1;
            let level = ScheduledAxis { axis, descending: false, shift: 0, in_loop: self.n_loops };
            self.nests[binding].axes.push(level);
        }
    }

    fn left(&self, binding: usize) -> Vec<usize> {
        let used = |axis: &usize| self.nests[binding].axes.iter().any(|level| level.axis == *axis);
        (0..self.group.bindings[binding].axes.len()).filter(|axis| !used(axis)).collect()
    }

    /// The axes that a loop may run over without turning a read of the binding by itself around.
    fn candidates(&self, binding: usize, reads: &[Dependence]) -> Vec<(usize, bool)> {
        let own =
            |read: &&Dependence| (read.reader.binding, read.writer.binding) == (binding, binding);
        let own: Vec<&Dependence> = reads.iter().filter(own).collect();
        let suits = |(axis, descending): &(usize, bool)| {
            let level =
                ScheduledAxis { axis: *axis, descending: *descending, shift: 0, in_loop: 0 };
            own.iter().all(|read| {
                let gap = distance(self.group, read, level, level);
                gap.is_ok_and(|gap| self.facts.prove(&read.domain, &gap).is_true())
            })
        };
        let left = self.left(binding).into_iter();
        left.flat_map(|axis| [(axis, false), (axis, true)]).filter(suits).collect()
    }

    /// All ways to choose an axis for each binding; none if one of them has no axis left.
    fn choices(&self, bindings: &[usize], reads: &[Dependence]) -> Option<Vec<Choice>> {
        let left: Vec<Vec<(usize, bool)>> =
            bindings.iter().map(|binding| self.candidates(*binding, reads)).collect();
        if left.iter().any(Vec::is_empty) {
            return None;
        }
        // The same axis for all, in the same direction, is what a large group is likely to need.
        let alike = left[0].iter().filter(|way| left.iter().all(|left| left.contains(way)));
        let alike = alike.map(|way| bindings.iter().map(|binding| (*binding, *way)).collect());
        let mut all: Vec<Choice> = alike.collect();
        if bindings.len() == 1 {
            return Some(all);
        }
        let mut choices = vec![Choice::new()];
        for (binding, left) in bindings.iter().zip(&left) {
            let mut next = Vec::new();
            for choice in &choices {
                for (axis, descending) in left {
                    let mut choice = choice.clone();
                    choice.insert(*binding, (*axis, *descending));
                    next.push(choice);
                }
            }
            next.truncate(MAX_TRIES);
            choices = next;
        }
        all.extend(choices);
        Some(all)
    }

    /// Tries a loop over the chosen axes and orders what is inside it.
    fn step(
        &mut self,
        bindings: &[usize],
        choice: &Choice,
        reads: &[Dependence],
        lockstep: bool,
    ) -> bool {
        let Some((shifts, rest)) = self.carry(choice, reads) else { return false };
        if lockstep && shifts.values().any(|shift| *shift != 0) {
            return false;
        }
        let before = (self.nests.clone(), self.n_loops);
        self.n_loops += 1;
        for (binding, (axis, descending)) in choice {
            let (axis, descending) = (*axis, *descending);
            let level =
                ScheduledAxis { axis, descending, shift: shifts[binding], in_loop: self.n_loops };
            self.nests[*binding].axes.push(level);
        }
        if self.sweep(bindings, rest) {
            return true;
        }
        (self.nests, self.n_loops) = before;
        false
    }

    /// The shifts of the bindings and the reads that happen within one step of the loop; none if a
    /// read would run forwards.
    fn carry(
        &self,
        choice: &Choice,
        reads: &[Dependence],
    ) -> Option<(BTreeMap<usize, i64>, Vec<Dependence>)> {
        let mut distances = Vec::with_capacity(reads.len());
        for read in reads {
            let (reader, writer) = (read.reader.binding, read.writer.binding);
            let reader_axis = level(choice, reader)?;
            let distance = distance(self.group, read, reader_axis, level(choice, writer)?).ok()?;
            let least = self.least(&read.domain, &distance)?;
            if reader == writer && least < 0 {
                return None;
            }
            distances.push((read, distance, least));
        }
        let slacks: Vec<(usize, usize, i64)> = distances
            .iter()
            .map(|(read, _, least)| (read.reader.binding, read.writer.binding, *least))
            .collect();
        let shifts = shifts(choice.keys().copied(), &slacks)?;
        let mut rest = Vec::new();
        for (read, distance, least) in distances {
            let shift = shifts[&read.reader.binding] - shifts[&read.writer.binding];
            if least + shift >= 1 {
                continue;
            }
            let at_once = distance.add_constant(shift).ok();
            let at_once = at_once.and_then(|gap| Domain::where_zero(read.domain.dims(), &gap).ok());
            let part = at_once.and_then(|part| read.domain.intersect(&part).ok());
            let domain = part.unwrap_or_else(|| read.domain.clone());
            if !domain.always_empty_given(self.facts.set()).is_true() {
                rest.push(Dependence { domain, ..read.clone() });
            }
        }
        Some((shifts, rest))
    }

    /// The largest number, within limits, that the expression never falls below.
    fn least(&self, domain: &Domain, expr: &Quasi) -> Option<i64> {
        let at_least = |bound: i64| {
            expr.add_constant(-bound).is_ok_and(|slack| self.facts.prove(domain, &slack).is_true())
        };
        if let Some(constant) = expr.as_constant() {
            return (constant >= -MAX_SHIFT).then_some(constant.min(MAX_SHIFT));
        }
        if !at_least(-MAX_SHIFT) {
            return None;
        }
        let (mut low, mut high) = (-MAX_SHIFT, MAX_SHIFT + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if at_least(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }
}

fn level(choice: &Choice, binding: usize) -> Option<ScheduledAxis> {
    let (axis, descending) = *choice.get(&binding)?;
    Some(ScheduledAxis { axis, descending, shift: 0, in_loop: 0 })
}

/// How many steps of a loop after what it reads a point comes, shifts included.
pub(super) fn distance(
    group: &Group,
    read: &Dependence,
    reader: ScheduledAxis,
    writer: ScheduledAxis,
) -> Result<Quasi> {
    let sign = |level: ScheduledAxis| if level.descending { -1 } else { 1 };
    let own = group.bindings[read.reader.binding].axes[reader.axis].var;
    let own = Quasi::from(Affine::var(own));
    let gap = own.combine(sign(reader), &read.at[writer.axis], -sign(writer))?;
    gap.add_constant(reader.shift - writer.shift)
}

/// Shifts with `shift(reader) - shift(writer) + slack >= 0` for all: longest paths, which exist
/// unless a cycle of slacks is negative (Bellman and Ford).
fn shifts(
    bindings: impl Iterator<Item = usize>,
    slacks: &[(usize, usize, i64)],
) -> Option<BTreeMap<usize, i64>> {
    let mut shifts: BTreeMap<usize, i64> = bindings.map(|binding| (binding, 0)).collect();
    for _ in 0..=shifts.len() {
        let mut changed = false;
        for (reader, writer, slack) in slacks {
            let needed = shifts[writer] - slack;
            if shifts[reader] < needed {
                shifts.insert(*reader, needed);
                changed = true;
            }
        }
        if !changed {
            return Some(shifts);
        }
    }
    None
}
