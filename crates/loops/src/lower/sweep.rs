//! Sweeps: groups that run along time one segment at a time, forward and then backward.
//!
//! Time is divided into segments of `length` planes, a power of two. In each, the groups of the sweep
//! run one after the other over their part of it. Between segments, the planes around the segment
//! move to where the next one expects them. The forward sweep keeps a checkpoint before each segment;
//! the backward sweep starts with the segment that is still there and computes the others again.

use std::collections::{BTreeMap, BTreeSet};

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Set, Var};
use einlang_tir::module::{Group, Until};
use einlang_tir::op::Op;
use einlang_tir::types::Ident;

use super::integers::number;
use super::segments::Segmented;
use super::slots::Slots;
use super::times::{Step, order_of_sweeps};
use super::{Lower, NotLowered, Result};
use crate::decide::end_of_sum;
use crate::ir::{Condition, Range, Stmt};
use crate::schedule::{Checkpoints, Replay, Schedule, SweepPart};

/// A segment has at least two to this many planes: no block of a sum is longer.
pub(crate) const SHORTEST: u32 = 8;

/// What all segments have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep {
    /// How many planes a segment has.
    pub(super) length: Var,
    /// How many segments there are.
    pub(super) count: Var,
    /// How many planes there are.
    pub(super) span: Var,
    /// The number of the segment, and its first plane.
    pub(super) segment: Var,
    pub(super) origin: Var,
    /// The checkpoints, if they are fewer than segments.
    pub(super) slots: Option<Slots>,
}

/// From where to where the groups of each shift run in a segment.
pub(super) type Parts = BTreeMap<i64, (Var, Var)>;

/// The values of a variable from one number up to another.
pub(super) fn between(var: Var, from: Var, to: Var) -> Result<Set> {
    let (var, from, to) = (Affine::var(var), Affine::var(from), Affine::var(to));
    Ok(Set::new([Constraint::ge(&var, &from)?, Constraint::lt(&var, &to)?])?)
}

/// What happens in a segment.
type Inside<'f, 'm> = dyn FnMut(&mut Lower<'m>, &Parts, &mut Vec<Stmt>) -> Result<()> + 'f;

impl<'m> Lower<'m> {
    /// All groups of a module, some of them in sweeps.
    pub(super) fn in_sweeps(&mut self, schedule: &Schedule, out: &mut Vec<Stmt>) -> Result<()> {
        let replays = &schedule.replays;
        let all: Vec<&Replay> = replays.iter().collect();
        let order = order_of_sweeps(self.module, schedule, &all);
        let order = order.ok_or_else(|| NotLowered::new("sweeps that wait for each other"))?;
        let mut sweeps: BTreeMap<usize, Sweep> = BTreeMap::new();
        for step in order {
            match step {
                Step::Group(at) => self.top_group(&self.module.groups[at], out)?,
                Step::Forward(at) => {
                    let sweep = self.sweep_forward(&replays[at], out)?;
                    sweeps.insert(at, sweep);
                }
                Step::Backward(at) => {
                    let missing = || NotLowered::new("a sweep backward without one forward");
                    let (replay, sweep) = (&replays[at], *sweeps.get(&at).ok_or_else(missing)?);
                    self.memory_of(replay, &replay.backward, sweep, out)?;
                    self.backward(replay, sweep, out)?;
                }
            }
        }
        Ok(())
    }

    fn sweep_forward(&mut self, replay: &Replay, out: &mut Vec<Stmt>) -> Result<Sweep> {
        let open = match replay.forward.first() {
            Some(part) => self.group_of(&part.group)?.until.as_ref(),
            None => None,
        };
        let mut sweep = self.sizes_of(replay, open, out)?;
        self.memory_of(replay, &replay.forward, sweep, out)?;
        match open {
            Some(until) => self.forward_open(replay, &mut sweep, until, out)?,
            None => self.forward(replay, sweep, out)?,
        }
        Ok(sweep)
    }

    /// How long a segment is and how many there are: about the square root of all planes. How many
    /// planes an open axis has is not known yet, but there is a largest number.
    fn sizes_of(
        &mut self,
        replay: &Replay,
        open: Option<&Until>,
        out: &mut Vec<Stmt>,
    ) -> Result<Sweep> {
        let span = self.kernel.vars.symbol("span");
        let most = match open {
            None => self.span_of(replay)?,
            Some(until) => {
                let last = until.first.add(&until.max)?;
                MinMax::max_of([until.first.clone(), last].map(MinMax::Value))?
            }
        };
        out.push(Stmt::Bind { var: span, expr: most });
        self.bound.push(span);
        let planes = self.value_of(&Quasi::from(span), out);
        let bits = match replay.checkpoints {
            Checkpoints::Sqrt => self.count(
                31,
                |lower, bit, out| {
                    let twice = lower.integer(Op::Add, &[bit, bit], out);
                    let square = lower.integer(Op::Shl, &[number(1), twice], out);
                    lower.integer(Op::Lt, &[square, planes], out)
                },
                out,
            ),
            Checkpoints::Binomial(n) => number(i64::from(n.ilog2())),
        };
        let bits = self.integer(Op::Max, &[bits, number(i64::from(SHORTEST))], out);
        let length = self.integer(Op::Shl, &[number(1), bits], out);
        let length = self.sized("length", length, out)?;
        let mut sweep = Sweep {
            length,
            count: span,
            span,
            segment: self.kernel.vars.index("segment"),
            origin: self.kernel.vars.symbol("origin"),
            slots: None,
        };
        sweep.count = self.segments_in(sweep, out)?;
        if let Checkpoints::Binomial(n) = replay.checkpoints {
            let slots = self.slots(n, out)?;
            let last = self.value_of(&Quasi::from(sweep.count).add_constant(-1)?, out);
            self.no_slots(slots, last, out);
            sweep.slots = Some(slots);
        }
        Ok(sweep)
    }

    /// How many planes there are, as all tensors and sums of the sweeps have it.
    pub(super) fn span_of(&self, replay: &Replay) -> Result<MinMax> {
        let mut extents = Vec::new();
        for tensor in &replay.tensors {
            let missing = || NotLowered::new("a sweep over a tensor that does not exist");
            let binding = self.bindings.get(&tensor.name).copied().ok_or_else(missing)?;
            let axis = binding.axes.get(tensor.axis).ok_or_else(missing)?;
            extents.push(MinMax::Value(axis.dim.extent.clone()));
        }
        let parts = replay.forward.iter().chain(&replay.backward);
        for part in parts.filter(|part| replay.tensor(&part.group).is_none()) {
            let end = self.bindings.get(&part.group).and_then(|binding| end_of_sum(binding));
            // The segments of a sum begin where it does.
            extents.extend(end.map(|end| end.add_constant(-part.shift)).transpose()?);
        }
        Ok(MinMax::max_of(extents)?)
    }

    /// How many segments the planes are.
    pub(super) fn segments_in(&mut self, sweep: Sweep, out: &mut Vec<Stmt>) -> Result<Var> {
        let planes = self.value_of(&Quasi::from(sweep.span), out);
        let length = self.value_of(&Quasi::from(sweep.length), out);
        let rest = self.integer(Op::Sub, &[length, number(1)], out);
        let up = self.integer(Op::Add, &[planes, rest], out);
        let count = self.integer(Op::Div, &[up, length], out);
        let count = self.integer(Op::Max, &[count, number(1)], out);
        self.sized("segments", count, out)
    }

    fn memory_of(
        &mut self,
        replay: &Replay,
        parts: &[SweepPart],
        sweep: Sweep,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let count = match replay.checkpoints {
            Checkpoints::Sqrt => sweep.count,
            Checkpoints::Binomial(n) => self.sized("slots", number(i64::from(n)), out)?,
        };
        for part in parts {
            let group = self.group_of(&part.group)?;
            let schedule = self.schedule_of(group)?;
            let until = group.until.as_ref().map(|until| until.extent);
            for (binding, tensor) in group.bindings.iter().zip(&schedule.tensors) {
                match replay.tensor(&binding.name) {
                    Some(segment) => {
                        let sizes = (sweep.length, count, sweep.origin);
                        let replayed = sweep.slots.is_some() && part.again;
                        self.segment(binding, tensor, (segment, until), sizes, replayed, out)?;
                    }
                    None => {
                        let (id, _) = self.memory(binding, tensor, None)?;
                        out.push(Stmt::Alloc(id));
                        self.carries_of(binding, sweep, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn group_of(&self, first: &Ident) -> Result<&'m Group> {
        let is = |group: &&Group| group.bindings.first().is_some_and(|b| b.name == *first);
        let missing = || NotLowered::new("a sweep over a group that does not exist");
        self.module.groups.iter().find(is).ok_or_else(missing)
    }

    fn forward(&mut self, replay: &Replay, sweep: Sweep, out: &mut Vec<Stmt>) -> Result<()> {
        self.each_segment(replay, sweep, replay.down, out, &mut |lower, parts, out| {
            let later = lower.unless_first(sweep, replay.down, &mut |lower, out| {
                lower.move_planes(&replay.forward, sweep, replay.down, out)?;
                lower.save(replay, sweep, out)
            })?;
            out.push(later);
            for part in &replay.forward {
                lower.run_part(replay, part, sweep, replay.down, parts, out)?;
            }
            lower.keep_ends(&replay.forward, parts, out)
        })?;
        self.finish_sums(&replay.forward, replay.down, out)
    }

    fn backward(&mut self, replay: &Replay, sweep: Sweep, out: &mut Vec<Stmt>) -> Result<()> {
        let down = !replay.down;
        self.each_segment(replay, sweep, down, out, &mut |lower, parts, out| {
            let again = lower.unless_first(sweep, down, &mut |lower, out| {
                match sweep.slots {
                    None => lower.again_from_state(replay, sweep, parts, out)?,
                    Some(slots) => lower.again_from_slot(replay, sweep, slots, out)?,
                }
                lower.move_planes(&replay.backward, sweep, down, out)
            })?;
            out.push(again);
            for part in &replay.backward {
                lower.run_part(replay, part, sweep, down, parts, out)?;
            }
            lower.keep_ends(&replay.backward, parts, out)
        })?;
        self.finish_sums(&replay.backward, down, out)
    }

    /// Keeps a checkpoint before a segment, if it gets one.
    pub(super) fn save(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Some(slots) = sweep.slots else {
            return self.checkpoint(replay, sweep, sweep.segment, true, out);
        };
        let at = self.ordinal(replay, sweep, out)?;
        let last = self.value_of(&Quasi::from(sweep.count).add_constant(-1)?, out);
        self.take_slot(replay, sweep, slots, (at, last), out)
    }

    /// Computes a segment again from its own checkpoint.
    fn again_from_state(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        parts: &Parts,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let again = || replay.forward.iter().filter(|part| part.again);
        self.move_planes(again(), sweep, !replay.down, out)?;
        let restored = self.unless_first(sweep, replay.down, &mut |lower, out| {
            lower.checkpoint(replay, sweep, sweep.segment, false, out)
        })?;
        out.push(restored);
        again().try_for_each(|part| self.run_part(replay, part, sweep, replay.down, parts, out))
    }

    /// A loop over the segments.
    fn each_segment(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        down: bool,
        out: &mut Vec<Stmt>,
        inside: &mut Inside<'_, 'm>,
    ) -> Result<()> {
        let (stmts, ()) = self.in_loop(sweep.segment, down, |lower, out| {
            let parts = lower.parts(replay, sweep, out)?;
            inside(lower, &parts, out)
        })?;
        let hi = MinMax::Value(Quasi::from(sweep.count));
        let range = Range { var: sweep.segment, lo: MinMax::from(0), hi, down };
        out.push(Stmt::rounds(range, stmts));
        Ok(())
    }

    /// Where a segment begins, and from where to where groups run in it: the first one begins with the
    /// first plane, and the last one ends with the last.
    pub(super) fn parts(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        out: &mut Vec<Stmt>,
    ) -> Result<Parts> {
        let mut parts = Parts::new();
        let segment = self.value_of(&Quasi::from(sweep.segment), out);
        let length = self.value_of(&Quasi::from(sweep.length), out);
        let origin = self.integer(Op::Mul, &[segment, length], out);
        self.param(sweep.origin, origin, "origin", out)?;
        let mut shifts: BTreeSet<i64> = BTreeSet::new();
        for part in replay.forward.iter().chain(&replay.backward) {
            shifts.insert(part.shift);
            let tensors = self.group_of(&part.group)?.bindings.iter();
            let tensors = tensors.filter_map(|binding| replay.tensor(&binding.name));
            shifts.extend(tensors.map(|tensor| part.shift + tensor.lead));
        }
        let last = self.value_of(&Quasi::from(sweep.count).add_constant(-1)?, out);
        let is_first = self.integer(Op::Eq, &[segment, number(0)], out);
        let is_last = self.integer(Op::Eq, &[segment, last], out);
        let span = self.value_of(&Quasi::from(sweep.span), out);
        for shift in shifts {
            let from = Quasi::from(sweep.origin).add_constant(shift)?;
            let to = from.add(&Quasi::from(sweep.length))?;
            let (from, to) = (self.value_of(&from, out), self.value_of(&to, out));
            let from = self.integer(Op::Select, &[is_first, number(0), from], out);
            let end = self.integer(Op::Add, &[span, number(shift.max(0))], out);
            let to = self.integer(Op::Select, &[is_last, end, to], out);
            let from = self.integer(Op::Max, &[from, number(0)], out);
            let to = self.integer(Op::Max, &[to, number(0)], out);
            let from = self.sized("from", from, out)?;
            let to = self.sized("to", to, out)?;
            parts.insert(shift, (from, to));
        }
        Ok(parts)
    }

    /// Statements for every segment but the first one of a sweep.
    fn unless_first(
        &mut self,
        sweep: Sweep,
        down: bool,
        inside: &mut dyn FnMut(&mut Self, &mut Vec<Stmt>) -> Result<()>,
    ) -> Result<Stmt> {
        let segment = Affine::var(sweep.segment);
        let later = match down {
            false => Constraint::ge(&segment, &Affine::constant(1))?,
            true => Constraint::lt(&segment.add_constant(1)?, &Affine::var(sweep.count))?,
        };
        let (stmts, ()) = self.scoped(|lower, out| inside(lower, out))?;
        Ok(Stmt::when(Condition::Within(Domain::new([], Set::new([later])?)), stmts))
    }

    /// One group, as far as this segment goes.
    pub(super) fn run_part(
        &mut self,
        replay: &Replay,
        part: &SweepPart,
        sweep: Sweep,
        down: bool,
        bounds: &Parts,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let missing = || NotLowered::new("a sweep over a tensor that does not exist");
        let group = self.group_of(&part.group)?;
        if group.bindings.iter().all(|binding| self.carries.contains_key(&binding.name)) {
            let bounds = *bounds.get(&part.shift).ok_or_else(missing)?;
            return self.add_up(group, sweep, down, bounds, out);
        }
        let schedule = self.schedule_of(group)?;
        let mut domains = self.domains(group)?;
        for (statement, domain) in &mut domains {
            let binding = &group.bindings[statement.binding];
            let segment = replay.tensor(&binding.name).ok_or_else(missing)?;
            let time = binding.axes.get(segment.axis).ok_or_else(missing)?.var;
            let (from, to) = *bounds.get(&(part.shift + segment.lead)).ok_or_else(missing)?;
            *domain = domain.restricted(&between(time, from, to)?)?;
        }
        for binding in &group.bindings {
            // Where it is remembered which points were stored, the others are zero.
            let clear = |of: &&Segmented| of.clear && !of.marked;
            let of = self.segments.get(&binding.name).filter(clear).cloned();
            if let Some(of) = of {
                let (from, to) = *bounds.get(&(part.shift + of.lead)).ok_or_else(missing)?;
                let hi = MinMax::min_of([to.into(), of.extent.clone()].map(MinMax::Value))?;
                self.clear_planes(&of, (MinMax::Value(from.into()), hi), out)?;
            }
        }
        let names = group.bindings.iter().map(|binding| binding.name.clone()).collect();
        self.around.push(super::Around { names, n_loops: self.loops.len() });
        self.nest(group, &schedule.nest, domains, None, out)?;
        self.around.pop();
        Ok(())
    }
}
