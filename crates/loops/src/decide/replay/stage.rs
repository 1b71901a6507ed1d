//! When each group runs: before the sweeps, in one of them, between them or after them.

use einlang_index::{Facts, MinMax, Quasi, Var};
use einlang_tir::module::{Binding, Module, SymbolSource};
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::super::windows::Observers;
use super::Along;
use super::follow::follows;
use super::place::{Place, place};
use super::reads::{Reads, Seen};
use super::shape::{Course, Shape, end_of_sum, shape};
use crate::lower::SHORTEST;
use crate::schedule::{Compute, Schedule};

/// The sweeps, and what comes before, between and after them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Stage {
    Before,
    Forward,
    Between,
    Backward,
    After,
}

impl Stage {
    /// The first stage in which what this one makes is complete.
    pub(super) fn complete(self) -> Stage {
        match self {
            Stage::Before => Stage::Before,
            Stage::Forward | Stage::Between => Stage::Between,
            Stage::Backward | Stage::After => Stage::After,
        }
    }

    /// Whether it is a sweep.
    pub(super) fn is_sweep(self) -> bool {
        matches!(self, Stage::Forward | Stage::Backward)
    }
}

/// What is known of the groups of a module.
pub(super) struct Groups<'m> {
    pub(super) module: &'m Module,
    pub(super) facts: Facts,
    pub(super) observers: Observers,
    pub(super) reads: Vec<Reads>,
    pub(super) shapes: Vec<Shape>,
    /// The groups that are computed where they are read, or nowhere.
    pub(super) skipped: Vec<bool>,
    /// Where each tensor is defined: group and binding.
    pub(super) homes: HashMap<Ident, (usize, usize)>,
}

impl<'m> Groups<'m> {
    pub(super) fn of(module: &'m Module, schedule: &Schedule) -> Groups<'m> {
        let tensors = schedule.groups.iter().flat_map(|group| &group.tensors);
        let inline: HashSet<&Ident> =
            tensors.filter(|t| t.compute == Compute::AtReads).map(|t| &t.name).collect();
        let at_reads: HashMap<Ident, &Binding> = module
            .bindings()
            .filter(|binding| inline.contains(&binding.name))
            .map(|binding| (binding.name.clone(), binding))
            .collect();
        let (mut reads, mut shapes, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        let mut homes = HashMap::default();
        for (at, group) in module.groups.iter().enumerate() {
            for (number, binding) in group.bindings.iter().enumerate() {
                homes.insert(binding.name.clone(), (at, number));
            }
            reads.push(Reads::of(group, &at_reads));
            skipped.push(group.bindings.iter().all(|binding| inline.contains(&binding.name)));
            let first = group.bindings.first().and_then(|first| schedule.group(&first.name));
            shapes.push(first.map_or(Shape::Other, |schedule| shape(group, schedule)));
        }
        let (facts, observers) = (module.facts(), Observers::of(module));
        let mut groups = Groups { module, facts, observers, reads, shapes, skipped, homes };
        for at in 0..module.groups.len() {
            let first = module.groups[at].bindings.first();
            let is_taken = first
                .is_some_and(|first| schedule.replays.iter().any(|replay| replay.has(&first.name)));
            let Shape::Loop(courses) = &groups.shapes[at] else {
                if is_taken {
                    groups.shapes[at] = Shape::Other;
                }
                continue;
            };
            let runs_on = |course: &&Course| !is_taken && groups.runs_on(at, course);
            let courses: Vec<Course> = courses.iter().filter(runs_on).cloned().collect();
            groups.shapes[at] =
                if courses.is_empty() { Shape::Other } else { Shape::Loop(courses) };
        }
        groups
    }

    /// The courses that a forward sweep may take: the first one, that of the outermost loop where there is
    /// one, unless its axis is no longer than a segment or nothing goes on along it.
    pub(super) fn courses(&self, seed: usize, along: Along) -> Vec<&Course> {
        let Shape::Loop(courses) = &self.shapes[seed] else { return Vec::new() };
        let times = self.times(seed);
        let outermost = times.first().map(|course| &course.axes);
        let others = times.iter().filter(|course| Some(&course.axes) != outermost);
        match (courses.first(), along) {
            (_, Along::Other) => others.chain(&times).copied().chain(courses.first()).collect(),
            (Some(first), _) if times.first() == Some(&first) => vec![first],
            (first, _) => times.into_iter().chain(first).collect(),
        }
    }

    /// Whether time could be another axis of a recurrence than its first.
    pub(super) fn have_other_axes(&self) -> bool {
        let is_other = |course: &&Course| course.axes.iter().any(|axis| *axis != 0);
        (0..self.shapes.len()).any(|group| self.times(group).iter().any(is_other))
    }

    /// The courses along axes that a recurrence goes on along, and that are not seen to be short.
    fn times(&self, group: usize) -> Vec<&Course> {
        let Shape::Loop(courses) = &self.shapes[group] else { return Vec::new() };
        let bindings = &self.module.groups[group].bindings;
        let is_long = |course: &&Course| {
            let mut own = bindings.iter().zip(&course.axes);
            own.all(|(binding, axis)| !is_in_one_segment(&binding.axes[*axis].dim.extent))
        };
        let goes_on = |course: &&Course| {
            self.own_reads(group, course).iter().any(|place| *place != Place::Near(0, 0))
        };
        courses.iter().filter(is_long).filter(goes_on).collect()
    }

    /// Whether a recurrence reads itself in the direction of a course only.
    fn runs_on(&self, group: usize, course: &Course) -> bool {
        self.own_reads(group, course).iter().all(|place| match place {
            Place::Near(low, _) if course.down == Some(true) => *low >= 0,
            Place::Near(_, high) => *high <= 0,
            _ => false,
        })
    }

    /// Where a recurrence reads itself on a course, by the time of its group.
    fn own_reads(&self, group: usize, course: &Course) -> Vec<Place> {
        let (axes, leads) = (&course.axes, &course.leads);
        let mut found = Vec::new();
        for seen in &self.reads[group].list {
            let home = self.homes.get(&seen.tensor).copied().filter(|home| home.0 == group);
            let Some((_, binding)) = home else { continue };
            let time = self.time(group, seen.binding, axes);
            let ahead = leads[seen.binding] - leads[binding];
            found.push(match self.place(seen, (group, binding), axes[binding], time) {
                Place::Near(low, high) => Place::Near(low + ahead, high + ahead),
                other => other,
            });
        }
        found
    }

    /// Where a read of a tensor is along an axis.
    pub(super) fn place(
        &self,
        seen: &Seen,
        (group, binding): (usize, usize),
        axis: usize,
        time: Option<Var>,
    ) -> Place {
        let extent = &self.module.groups[group].bindings[binding].axes[axis].dim.extent;
        place(seen, axis, extent, time, &self.facts, &self.observers)
    }

    /// The variable that is time in a binding of a group.
    pub(super) fn time(&self, group: usize, binding: usize, axes: &[usize]) -> Option<Var> {
        match &self.shapes[group] {
            Shape::Sum(var, _) if axes.is_empty() => Some(*var),
            _ => {
                let axis = *axes.get(binding)?;
                Some(self.module.groups[group].bindings[binding].axes.get(axis)?.var)
            }
        }
    }
}

/// When the groups of a module run, if a recurrence and what goes with it are run in segments.
pub(super) struct Stages<'g, 'm> {
    pub(super) groups: &'g Groups<'m>,
    /// Whether the forward sweep runs downwards.
    pub(super) down: bool,
    /// The length of the open axis that it runs along.
    pub(super) open: Option<Var>,
    /// Whether other groups may run along with an open axis.
    follow: bool,
    pub(super) stages: Vec<Stage>,
    /// The ways of groups along time.
    pub(super) courses: Vec<Course>,
    /// Tensors of a sweep that are read anywhere.
    pub(super) anywhere: HashSet<Ident>,
    /// How many planes at both ends are read of a tensor.
    pub(super) ends: HashMap<Ident, (i64, i64)>,
}

impl<'g, 'm> Stages<'g, 'm> {
    /// The stages if the forward sweep begins with a group.
    pub(super) fn from(
        groups: &'g Groups<'m>,
        seed: usize,
        course: &Course,
        follow: bool,
    ) -> Option<Stages<'g, 'm>> {
        let n_groups = groups.module.groups.len();
        let mut stages = Stages {
            groups,
            down: course.down?,
            open: groups.module.groups[seed].until.as_ref().map(|until| until.extent),
            follow,
            stages: vec![Stage::Before; n_groups],
            courses: vec![Course::default(); n_groups],
            anywhere: HashSet::default(),
            ends: HashMap::default(),
        };
        (stages.stages[seed], stages.courses[seed]) = (Stage::Forward, course.clone());
        for group in seed + 1..n_groups {
            if !groups.skipped[group] {
                stages.decide(group);
            }
        }
        // Sizes are known before anything runs.
        let late = groups.module.symbols.iter().any(|symbol| match &symbol.source {
            SymbolSource::Value(name) => stages.of(name).is_some_and(|s| s != Stage::Before),
            _ => false,
        });
        (!late).then_some(stages)
    }

    /// The stage of a tensor.
    pub(super) fn of(&self, tensor: &Ident) -> Option<Stage> {
        self.groups.homes.get(tensor).map(|(group, _)| self.stages[*group])
    }

    /// The axis that is time in a tensor.
    pub(super) fn axis(&self, tensor: &Ident) -> Option<usize> {
        let (group, binding) = self.groups.homes.get(tensor)?;
        self.courses[*group].axes.get(*binding).copied()
    }

    /// The courses that a group may take.
    pub(super) fn candidates(&self, group: usize) -> Vec<Course> {
        let maps = || {
            let rank = self.groups.module.groups[group].bindings[0].axes.len();
            (0..rank).map(|axis| Course::together(vec![axis]))
        };
        match &self.groups.shapes[group] {
            Shape::Loop(courses) => courses.clone(),
            Shape::Sum(..) => [Course::default()].into_iter().chain(maps()).collect(),
            Shape::Map => maps().collect(),
            Shape::Other => Vec::new(),
        }
    }

    fn decide(&mut self, group: usize) {
        for course in self.candidates(group) {
            if let Some(stage) = self.sweep(group, &course) {
                self.courses[group] = course;
                self.stages[group] = stage;
                break;
            }
        }
        if !self.stages[group].is_sweep() {
            self.stages[group] = self.apart(group);
        }
        self.note(group);
    }

    /// The reads of what is made in the sweeps or after them, with their places.
    fn staged(&self, group: usize, axes: &[usize]) -> Vec<(Ident, Stage, Option<Place>)> {
        let mut found = self.staged_reads(group, axes);
        // The length of an open axis is known when it is complete.
        for (other, of) in self.groups.module.groups.iter().enumerate() {
            let sized = |extent: Var| self.groups.reads[group].symbols.contains(&extent);
            let length = of.until.as_ref().filter(|until| other != group && sized(until.extent));
            if let (Some(_), Some(first)) = (length, of.bindings.first())
                && self.stages[other] != Stage::Before
            {
                found.push((first.name.clone(), self.stages[other], None));
            }
        }
        found
    }

    /// The same, as far as points are read.
    fn staged_reads(&self, group: usize, axes: &[usize]) -> Vec<(Ident, Stage, Option<Place>)> {
        let mut found = Vec::new();
        for seen in &self.groups.reads[group].list {
            let Some(home) = self.groups.homes.get(&seen.tensor).copied() else { continue };
            let stage = self.stages[home.0];
            if home.0 == group || stage == Stage::Before {
                continue;
            }
            let time = self.groups.time(group, seen.binding, axes);
            let axis = self.axis(&seen.tensor);
            let place = axis.map(|axis| self.groups.place(seen, home, axis, time));
            found.push((seen.tensor.clone(), stage, place));
        }
        for tensor in &self.groups.reads[group].whole {
            let home = self.groups.homes.get(tensor).map(|home| home.0);
            if let Some(stage) = self.of(tensor).filter(|stage| *stage != Stage::Before)
                && home != Some(group)
            {
                found.push((tensor.clone(), stage, Some(Place::Anywhere)));
            }
        }
        found
    }

    /// Whether a group ends with the open axis: a sweep backward starts with the segment in which the
    /// one forward ended.
    pub(super) fn ends_in_time(&self, group: usize, axes: &[usize]) -> bool {
        let Some(length) = self.open.map(Quasi::from) else { return true };
        let bindings = &self.groups.module.groups[group].bindings;
        let extents =
            bindings.iter().zip(axes).map(|(binding, axis)| &binding.axes[*axis].dim.extent);
        // The segments of a sum begin where it does.
        let first = match self.groups.shapes[group] {
            Shape::Sum(_, first) => first,
            _ => 0,
        };
        let summed = bindings.first().filter(|_| axes.is_empty()).and_then(end_of_sum);
        let summed = summed.and_then(|end| end.add_constant(-first).ok());
        let mut ends = extents.cloned().map(MinMax::Value).chain(summed);
        ends.all(|end| is_at_most(&end, &length))
    }

    /// The sweep in which a group can take a course.
    pub(super) fn sweep(&self, group: usize, course: &Course) -> Option<Stage> {
        if !self.ends_in_time(group, &course.axes) {
            return None;
        }
        let waits = |staged: Vec<(Ident, Stage, Option<Place>)>| {
            let (mut after, mut near) = (Stage::Before, None);
            for (_, stage, place) in staged {
                match place {
                    Some(Place::Near(..)) => near = near.max(Some(stage)),
                    Some(Place::Anywhere) => return None,
                    _ => after = after.max(stage.complete()),
                }
            }
            Some((after, near))
        };
        // How long an open axis is, is known when it ends: it goes along with no other.
        let open = self.groups.module.groups[group].until.is_some();
        let along = !open && course.runs(self.down) && self.follows(group, course);
        if along
            && waits(self.staged_reads(group, &course.axes))?
                == (Stage::Before, Some(Stage::Forward))
        {
            return Some(Stage::Forward);
        }
        let (after, near) = waits(self.staged(group, &course.axes))?;
        let forward =
            after == Stage::Before && self.open.is_none() && !open && course.runs(self.down);
        match near? {
            Stage::Forward if forward => Some(Stage::Forward),
            _ if open => None,
            _ if after <= Stage::Between && course.runs(!self.down) => Some(Stage::Backward),
            _ => None,
        }
    }

    /// Whether a group can run along with the open axis.
    fn follows(&self, group: usize, course: &Course) -> bool {
        let (of, shape) = (&self.groups.module.groups[group], &self.groups.shapes[group]);
        self.open.filter(|_| self.follow).is_some_and(|length| {
            !self.groups.reads[group].behind.contains(&length) && follows(of, shape, course, length)
        })
    }

    /// The stage of a group that is in no sweep.
    fn apart(&self, group: usize) -> Stage {
        let staged = self.staged(group, &[]);
        staged.iter().map(|(_, stage, _)| stage.complete()).max().unwrap_or(Stage::Before)
    }

    /// Takes note of what a group reads far from itself.
    fn note(&mut self, group: usize) {
        let axes = self.courses[group].axes.clone();
        let in_sweep = self.stages[group].is_sweep();
        for (tensor, _, place) in self.staged(group, &axes) {
            let ends = self.ends.entry(tensor.clone()).or_default();
            match place {
                Some(Place::First(n)) => ends.0 = ends.0.max(n),
                Some(Place::Last(n)) => ends.1 = ends.1.max(n),
                Some(Place::Near(..)) if in_sweep => {}
                Some(_) => {
                    self.anywhere.insert(tensor);
                }
                None => {}
            }
        }
    }
}

/// Whether an axis is known to be no longer than the shortest segment.
pub(crate) fn is_in_one_segment(extent: &Quasi) -> bool {
    extent.as_constant().is_some_and(|extent| extent <= 1 << SHORTEST)
}

/// Whether a bound is seen to be at most a number.
fn is_at_most(bound: &MinMax, number: &Quasi) -> bool {
    match bound {
        MinMax::Value(value) => {
            value.sub(number).ok().and_then(|rest| rest.as_constant()).is_some_and(|rest| rest <= 0)
        }
        MinMax::Min(list) => list.iter().any(|bound| is_at_most(bound, number)),
        MinMax::Max(list) => list.iter().all(|bound| is_at_most(bound, number)),
    }
}
