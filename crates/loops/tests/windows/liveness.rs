//! Liveness by brute force: the points of the box in the order of the schedule, and which of them
//! are overwritten while somebody still wants to read them.

use std::collections::{HashMap, HashSet};

use einlang_loops::window::ScheduledAxis;

use crate::case::{Case, Guard, MASK, Read};

/// A point of a binding.
type At = (usize, Vec<i64>);

/// When a point is computed: by which group, loop and coordinate, level by level, and then which
/// binding.
type Time = (usize, Vec<(usize, i64)>, usize);

/// The group and the order of the axes of a binding.
pub(crate) type Placed = (usize, Vec<ScheduledAxis>);

/// A case with the order of its points and all reads.
pub(crate) struct Simulation<'a> {
    case: &'a Case,
    orders: &'a [Placed],
    time: HashMap<At, Time>,
    /// Who reads what inside the group.
    reads: Vec<(At, At)>,
    /// The points that are read later.
    observed: Vec<At>,
    /// The axes of bindings along which some point is read by data.
    data: HashSet<(usize, usize)>,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(case: &'a Case, orders: &'a [Placed]) -> Simulation<'a> {
        let mut simulation = Simulation {
            case,
            orders,
            time: HashMap::new(),
            reads: Vec::new(),
            observed: Vec::new(),
            data: HashSet::new(),
        };
        for (binding, order) in orders.iter().enumerate() {
            for point in points(&case.extents) {
                let time = (order.0, simulation.coordinates(binding, &point), 0);
                simulation.time.insert((binding, point.clone()), time);
                simulation.reads_of(binding, &point);
                let observers = case.observers.iter().filter(|observer| observer.of() == binding);
                if observers.into_iter().any(|observer| observer.reads(&point, case)) {
                    simulation.observed.push((binding, point));
                }
            }
        }
        // Within one step a binding comes after the one that it reads there.
        let at_once = |(reader, target): &&(At, At)| {
            reader.0 != target.0 && simulation.time[reader] == simulation.time[target]
        };
        if let Some(((late, _), _)) = simulation.reads.iter().find(at_once) {
            let late = *late;
            let all = simulation.time.iter_mut().filter(|(at, _)| at.0 == late);
            all.for_each(|(_, time)| time.2 = 1);
        }
        simulation
    }

    /// The coordinates of a point, one for each loop.
    fn coordinates(&self, binding: usize, point: &[i64]) -> Vec<(usize, i64)> {
        let level = |level: &ScheduledAxis| {
            let x = point[level.axis];
            (level.in_loop, if level.descending { -x } else { x } + level.shift)
        };
        self.orders[binding].1.iter().map(level).collect()
    }

    fn reads_of(&mut self, binding: usize, point: &[i64]) {
        let Some(clause) = self.case.bindings[binding].iter().rev().find(|clause| {
            let inside = clause.ranges.iter().zip(point).all(|((lo, hi), x)| lo <= x && x < hi);
            inside
                && match clause.guard {
                    Guard::None => true,
                    Guard::Ordered => point[0] <= point[point.len() - 1],
                    Guard::Data => MASK[point[0].rem_euclid(3) as usize] > 0,
                }
        }) else {
            return;
        };
        for read in &clause.reads {
            if let Read::Data { of, axis } = read {
                self.data.insert((*of, *axis));
            }
            for target in read.targets(point, &self.case.descending) {
                let inside = target.iter().zip(&self.case.extents).all(|(x, n)| 0 <= *x && x < n);
                if inside && self.orders[binding].0 == self.orders[read.of()].0 {
                    self.reads.push(((binding, point.to_vec()), (read.of(), target)));
                } else if inside {
                    // Another group is computed when this one is complete.
                    self.observed.push((read.of(), target));
                }
            }
        }
    }

    /// Whether an axis runs from its last point to its first.
    pub(crate) fn descends(&self, binding: usize, axis: usize) -> bool {
        self.orders[binding].1.iter().any(|level| level.axis == axis && level.descending)
    }

    /// Whether data decides which points along an axis are read.
    pub(crate) fn is_data(&self, binding: usize, axis: usize) -> bool {
        self.data.contains(&(binding, axis))
    }

    /// A read of a point that is not yet computed, if the order is wrong.
    pub(crate) fn too_early(&self) -> Option<String> {
        let wrong =
            self.reads.iter().find(|(reader, target)| self.time[target] >= self.time[reader]);
        wrong.map(|(reader, target)| format!("{reader:?} reads {target:?}"))
    }

    /// A live point that is overwritten if these windows are kept of a binding.
    pub(crate) fn overwritten(&self, binding: usize, windows: &[Option<u64>]) -> Option<String> {
        let cell = |point: &[i64]| -> Vec<i64> {
            let kept = |(x, w): (&i64, &Option<u64>)| w.map_or(*x, |w| x.rem_euclid(w as i64));
            point.iter().zip(windows).map(kept).collect()
        };
        let mut cells: HashMap<Vec<i64>, Vec<(&Time, &At)>> = HashMap::new();
        for (at, time) in self.time.iter().filter(|(at, _)| at.0 == binding) {
            cells.entry(cell(&at.1)).or_default().push((time, at));
        }
        cells.values_mut().for_each(|points| points.sort());
        // The next point that goes to the same place ends the life of this one.
        let ends = |at: &At| {
            let points = &cells[&cell(&at.1)];
            let place = points.iter().position(|(_, other)| *other == at)?;
            points.get(place + 1).copied()
        };
        for (reader, target) in self.reads.iter().filter(|(_, target)| target.0 == binding) {
            if let Some((time, by)) = ends(target)
                && *time <= self.time[reader]
            {
                return Some(format!("{target:?} is overwritten by {by:?} before {reader:?}"));
            }
        }
        let end = |at: &&At| at.0 == binding && ends(at).is_some();
        self.observed.iter().find(end).map(|at| format!("{at:?} is overwritten before the end"))
    }

    /// Whether a window of this many points along one axis, everything along the others, loses a
    /// value, if whole steps of the loop over that axis are the unit of time.
    pub(crate) fn loses(&self, binding: usize, axis: usize, window: u64) -> bool {
        let depth = self.orders[binding].1.iter().position(|level| level.axis == axis);
        let depth = depth.map_or(0, |at| at + 1);
        let cut =
            |at: &At| -> Vec<i64> { self.time[at].1.iter().take(depth).map(|(_, x)| *x).collect() };
        let sign = match self.orders[binding].1.iter().find(|level| level.axis == axis) {
            Some(level) if level.descending => -1,
            _ => 1,
        };
        // The next point at the same place, if the axis is that long.
        let next = |at: &At| {
            let mut point = at.1.clone();
            point[axis] += sign * window as i64;
            (0 <= point[axis] && point[axis] < self.case.extents[axis]).then_some((at.0, point))
        };
        let early = |(reader, target): &&(At, At)| {
            target.0 == binding && next(target).is_some_and(|next| cut(&next) <= cut(reader))
        };
        let late = |at: &&At| at.0 == binding && next(at).is_some();
        self.reads.iter().find(early).is_some() || self.observed.iter().find(late).is_some()
    }
}

/// All points of a box.
fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for extent in extents {
        let longer = |point: &Vec<i64>| {
            (0..*extent).map(|x| [&point[..], &[x]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
