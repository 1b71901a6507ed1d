//! The decision for each axis: `max(lookback + 1, tail)` points, or all of them.
//!
//! An axis may keep a window only if every read inside the group has offset 0 on all axes that run
//! outside it. Lookback is how many steps back reads inside the group reach; bounds of the axes
//! themselves are left out of account when it is measured, so that a read which happens to be near
//! only because the axis is short does not count as near. Reads by bindings of the group that are
//! computed after the axis has run, within one step of a loop outside, count from its end, as later
//! reads do.

use einlang_index::{Constraint, Quasi, Set, Var};
use einlang_tir::module::{Condition, Group, Module};
use einlang_tir::order::Dependence;
use einlang_tir::types::Loc;

use super::context::{Context, Extent, vars_of};
use super::nest::{Nest, distance};
use super::observe::{Observation, Observed};
use super::report::{Keep, Reason, ScheduledAxis, Why};
use super::show;
use super::tail::{Reads, Tail};

/// With more reasons than this against a window, no more are sought by proofs.
const ENOUGH: usize = 3;

/// More reasons than this are not listed for an axis.
const MAX_REASONS: usize = 8;

/// What is known of one axis while reads are looked at.
#[derive(Default)]
pub(super) struct Axis {
    /// The furthest lookback so far, and whose.
    lookback: (u64, Option<Loc>),
    /// The furthest tail so far, and whose.
    tail: (u64, Option<Loc>),
    /// Whether the lookback, the tail is no number.
    far: (bool, bool),
    conditions: Vec<Condition>,
    /// What prevents a window.
    against: Vec<Reason>,
}

/// The decision for one axis.
pub(super) struct Decision {
    pub(super) lookback: Option<u64>,
    pub(super) tail: Option<u64>,
    pub(super) keep: Keep,
    pub(super) possible: Option<u64>,
    pub(super) conditions: Vec<Condition>,
    pub(super) reasons: Vec<Reason>,
}

/// A group with the order of its axes.
pub(super) struct Ordered<'a> {
    pub(super) module: &'a Module,
    pub(super) context: &'a Context,
    /// What holds where other modules read.
    pub(super) scopes: &'a [Context],
    pub(super) group: &'a Group,
    pub(super) reads: &'a [Dependence],
    pub(super) nests: &'a [Nest],
}

impl Ordered<'_> {
    /// The decisions for the axes of a binding, in the order in which they are written.
    pub(super) fn decide(&self, binding: usize, later: &[Observation]) -> Vec<Decision> {
        let b = &self.group.bindings[binding];
        let mut axes: Vec<Axis> = b.axes.iter().map(|_| Axis::default()).collect();
        for read in self.reads.iter().filter(|read| read.writer.binding == binding) {
            self.inside(read, &mut axes);
        }
        for observation in later {
            self.outside(binding, observation, &mut axes);
        }
        axes.into_iter().map(Axis::decided).collect()
    }

    /// A read by a binding of the group.
    fn inside(&self, read: &Dependence, axes: &mut [Axis]) {
        let (nest, other) = (&self.nests[read.writer.binding], &self.nests[read.reader.binding]);
        let shared = nest.shared(other);
        let relaxed = self.relaxed(read);
        let mut outer: Option<String> = None;
        for (at, level) in nest.axes.iter().enumerate() {
            let axis = &mut axes[level.axis];
            if let Some(name) = &outer {
                let why = Why::OuterOffset(name.clone());
                axis.against.push(Reason { why, loc: read.loc });
            }
            if at >= shared {
                if outer.is_none() {
                    self.after(read, *level, axis);
                }
                continue;
            }
            let Ok(gap) = distance(self.group, read, other.axes[at], *level) else {
                axis.refuse(Why::Undecided, read.loc);
                outer = Some(self.name(read.writer.binding, level.axis));
                continue;
            };
            self.lookback(read, &relaxed, &gap, level.axis, axis);
            if outer.is_none() && !self.is_zero(read, &relaxed, &gap) {
                outer = Some(self.name(read.writer.binding, level.axis));
            }
        }
    }

    fn lookback(
        &self,
        read: &Dependence,
        relaxed: &[Set],
        gap: &Quasi,
        at: usize,
        axis: &mut Axis,
    ) {
        if self.is_data(read, at) {
            return axis.refuse(Why::DynamicSelfRead, read.loc);
        }
        if axis.far.0 && axis.against.len() > ENOUGH && gap.as_constant().is_none() {
            // The axis is full already, and proofs are dear.
            return;
        }
        match self.context.range(relaxed, gap) {
            Extent::Nothing => {}
            Extent::Values(_, Some(most)) => axis.reaches(most.max(0).unsigned_abs(), read.loc),
            Extent::Values(_, None) => axis.refuse(Why::VaryingSelfRead, read.loc),
            Extent::Unknown => axis.refuse(Why::Undecided, read.loc),
        }
    }

    /// Whether a read has data for a subscript of this axis.
    fn is_data(&self, read: &Dependence, axis: usize) -> bool {
        let own = self.group.bindings[read.reader.binding].axes.len();
        let inner = read.domain.dims().get(own..).unwrap_or(&[]);
        let any = |var| inner.contains(&var) && self.module.vars.names().name(var).is_none();
        read.by_data && read.at[axis].as_var().is_some_and(any)
    }

    fn is_zero(&self, read: &Dependence, relaxed: &[Set], gap: &Quasi) -> bool {
        let zero = |range| matches!(range, Extent::Nothing | Extent::Values(Some(0), Some(0)));
        gap.as_constant() == Some(0)
            || zero(self.context.range(relaxed, gap))
            || zero(self.context.range(read.domain.sets(), gap))
    }

    /// A read by a binding of the group whose own loops come after this axis has run.
    fn after(&self, read: &Dependence, level: ScheduledAxis, axis: &mut Axis) {
        let known = |(axis, at): (usize, &Quasi)| (!self.is_data(read, axis)).then(|| at.clone());
        let at: Vec<Option<Quasi>> = read.at.iter().enumerate().map(known).collect();
        let writer = &self.group.bindings[read.writer.binding];
        let (axes, sets) = (&writer.axes[..], read.domain.sets());
        let reads = Reads { axes, at: &at, sets, loc: read.loc };
        axis.observed(reads.tail(self.module, self.context, level.axis, level.descending));
    }

    /// A read by something outside the group.
    fn outside(&self, binding: usize, observation: &Observation, axes: &mut [Axis]) {
        let (b, nest) = (&self.group.bindings[binding], &self.nests[binding]);
        let loc = observation.loc;
        let (at, sets, step) = match &observation.what {
            Observed::Whole(why) => {
                axes.iter_mut().for_each(|axis| axis.refuse_tail(why.clone(), loc));
                return;
            }
            Observed::Points(at, sets) => (at, sets, None),
            Observed::Step(at, sets, step) => (at, sets, Some(*step)),
        };
        let mut nest = nest.axes.iter();
        if let Some(step) = step
            && let Some(level) = nest.next()
        {
            let open = level.axis;
            let gap = at.get(open).and_then(Option::as_ref);
            let gap =
                gap.and_then(|at| Quasi::from(step).sub(at).ok()).and_then(|g| g.as_constant());
            match gap {
                Some(back) => axes[open].reaches(back.max(0).unsigned_abs(), loc),
                None => {
                    axes[open].far.0 = true;
                    axes[open].against.push(Reason { why: Why::VaryingSelfRead, loc });
                }
            }
            if gap != Some(0) {
                let name = self.name(binding, open);
                for level in nest {
                    let why = Why::OuterOffset(name.clone());
                    axes[level.axis].against.push(Reason { why, loc });
                }
                return;
            }
        }
        let reads = Reads { axes: &b.axes, at, sets, loc };
        let scope = observation.scope.and_then(|at| self.scopes.get(at));
        let context = scope.unwrap_or(self.context);
        for level in nest {
            let tail = reads.tail(self.module, context, level.axis, level.descending);
            axes[level.axis].observed(tail);
        }
    }

    /// The reading points without what bounds the axes of the reader alone.
    fn relaxed(&self, read: &Dependence) -> Vec<Set> {
        let own = self.group.bindings[read.reader.binding].axes.len();
        let inner = read.domain.dims().get(own..).unwrap_or(&[]);
        read.domain
            .sets()
            .iter()
            .map(|set| without_axes(set, &|var| inner.contains(&var)))
            .collect()
    }

    fn name(&self, binding: usize, axis: usize) -> String {
        show::name(self.module, self.group.bindings[binding].axes[axis].var)
    }
}

/// The constraints of a set that mention an inner variable, and the equalities: fixed points of
/// clauses stay.
pub(super) fn without_axes(set: &Set, is_inner: &dyn Fn(Var) -> bool) -> Set {
    let stays = |constraint: &Constraint| {
        matches!(constraint, Constraint::Eq(_))
            || vars_of(constraint).iter().any(|var| is_inner(*var))
    };
    Set::new(set.constraints().filter(stays)).unwrap_or_else(|_| Set::everything())
}

impl Axis {
    fn reaches(&mut self, back: u64, loc: Loc) {
        if self.lookback.1.is_none() || back > self.lookback.0 {
            self.lookback = (back, Some(loc));
        }
    }

    fn refuse(&mut self, why: Why, loc: Loc) {
        self.far.0 = true;
        self.against.push(Reason { why, loc });
    }

    fn refuse_tail(&mut self, why: Why, loc: Loc) {
        self.far.1 = true;
        self.against.push(Reason { why, loc });
    }

    fn observed(&mut self, tail: Option<Tail>) {
        let Some(tail) = tail else { return };
        let Some(reach) = tail.reach else {
            return self.refuse_tail(tail.reason.why, tail.reason.loc);
        };
        for condition in tail.conditions {
            if !self.conditions.contains(&condition) {
                self.conditions.push(condition);
            }
        }
        if self.tail.1.is_none() || reach > self.tail.0 {
            self.tail = (reach, Some(tail.reason.loc));
        }
    }

    fn decided(mut self) -> Decision {
        let (lookback, tail) = (self.lookback.0, self.tail.0);
        let window = lookback.saturating_add(1).max(tail);
        let keep = if self.against.is_empty() { Keep::Window(window) } else { Keep::Full };
        let shown =
            |reason: &Reason| matches!(reason.why, Why::Output(_) | Why::Printed | Why::Saved);
        let possible = self.against.iter().all(shown).then_some(window);
        let mut reasons = Vec::new();
        if keep == Keep::Full {
            self.conditions.clear();
            for reason in self.against {
                let same = |known: &Reason| {
                    known.why == reason.why
                        && format!("{:?}", known.loc) == format!("{:?}", reason.loc)
                };
                if reasons.len() < MAX_REASONS && !reasons.iter().any(same) {
                    reasons.push(reason);
                }
            }
        } else {
            let back = self.lookback.1.map(|loc| Reason { why: Why::Lookback(lookback), loc });
            let end = self.tail.1.map(|loc| Reason { why: Why::Tail(tail), loc });
            reasons.extend(back.into_iter().chain(end));
        }
        Decision {
            lookback: (!self.far.0).then_some(lookback),
            tail: (!self.far.1).then_some(tail),
            keep,
            possible,
            conditions: self.conditions,
            reasons,
        }
    }
}
