//! How a group runs along time, if it does.

use einlang_index::{Domain, MinMax, Var, VarKind};
use einlang_tir::module::{Binding, Group};
use einlang_tir::op::Op;
use einlang_tir::order::Form;
use einlang_tir::region::{Arg, Combiner, Def, InstKind, Reduction, Start};

use super::super::observers::extended;
use crate::lower::ranges_of;
use crate::schedule::{GroupSchedule, Nest, Role};

/// How a group runs along time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// As a recurrence, in any of these ways.
    Loop(Vec<Course>),
    /// Point by point: any axis of its binding may be time.
    Map,
    /// As a sum whose first index is time, from a number on.
    Sum(Var, i64),
    /// In no way that is known.
    Other,
}

/// A way along time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Course {
    /// The axis of each binding; none in a sum over time.
    pub(super) axes: Vec<usize>,
    /// How many planes each binding is ahead of its group.
    pub(super) leads: Vec<i64>,
    /// Whether it is downwards; either, if nothing is said.
    pub(super) down: Option<bool>,
}

impl Course {
    /// One that all bindings go together, in either direction.
    pub(super) fn together(axes: Vec<usize>) -> Course {
        Course { leads: vec![0; axes.len()], axes, down: None }
    }

    /// Whether it leads in a direction.
    pub(super) fn runs(&self, down: bool) -> bool {
        self.down.is_none_or(|own| own == down)
    }
}

/// The shape of a group.
pub(super) fn shape(group: &Group, schedule: &GroupSchedule) -> Shape {
    let plain = |tensor: &crate::schedule::TensorSchedule| tensor.map.is_empty() && !tensor.stack;
    if !schedule.tensors.iter().all(plain) {
        return Shape::Other;
    }
    let mut forms = Vec::new();
    if !outermost(&schedule.nest, &mut forms) {
        return Shape::Other;
    }
    if !forms.is_empty() {
        return Shape::Loop(courses(group, &forms));
    }
    let [binding] = &group.bindings[..] else { return Shape::Other };
    match sum_of(binding).and_then(sum_over).filter(|_| end_of_sum(binding).is_some()) {
        Some((var, first)) => Shape::Sum(var, first),
        None => Shape::Map,
    }
}

/// The forms of the outermost loops, each with its binding; false if one is no plain loop.
fn outermost<'n>(nest: &'n Nest, found: &mut Vec<(usize, &'n Form)>) -> bool {
    match nest {
        Nest::Points { .. } => true,
        Nest::Phases(phases) => phases.iter().all(|phase| outermost(phase, found)),
        Nest::Loop { forms, tile: None, role: Role::Seq, .. } => {
            found.extend(forms.iter().map(|(statement, form)| (statement.binding, form)));
            true
        }
        Nest::Loop { .. } => false,
    }
}

/// The course of the outermost loops, and those along any axis that all bindings have: whether planes along
/// time can come one after the other is a question of what is read, not of the loops. How many planes an
/// open axis has is known in its own loop only.
fn courses(group: &Group, forms: &[(usize, &Form)]) -> Vec<Course> {
    let mut found: Vec<Course> = outer_course(group, forms).into_iter().collect();
    if group.until.is_some() {
        found.retain(|course| course.leads.iter().all(|lead| *lead == 0));
        return found;
    }
    let rank = group.bindings.iter().map(|binding| binding.axes.len()).min().unwrap_or(0);
    for axis in 0..rank {
        let along = Course::together(vec![axis; group.bindings.len()]);
        for down in [false, true] {
            let course = Course { down: Some(down), ..along.clone() };
            if !found.contains(&course) {
                found.push(course);
            }
        }
    }
    found
}

/// The axes of the outermost loops, if each binding has one.
pub(super) fn outer_axes(group: &Group, nest: &Nest) -> Option<Vec<usize>> {
    let mut forms = Vec::new();
    outermost(nest, &mut forms);
    outer_course(group, &forms).map(|course| course.axes)
}

/// The axis and the direction of the last loop of each binding. Loops before it, such as that of a first
/// row, may run along other axes.
fn outer_course(group: &Group, forms: &[(usize, &Form)]) -> Option<Course> {
    let (mut axes, mut leads) = (Vec::new(), Vec::new());
    let mut sign = 0;
    for binding in 0..group.bindings.len() {
        let (_, form) = forms.iter().rev().find(|(of, _)| *of == binding)?;
        let mut moving = form.coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
        let (axis, c) = moving.next()?;
        if moving.next().is_some() || c.abs() != 1 || (sign != 0 && sign != *c) {
            return None;
        }
        axes.push(axis);
        leads.push(form.offset.checked_mul(-c)?);
        sign = *c;
    }
    let least = leads.iter().min().copied()?;
    let leads = leads.into_iter().map(|lead| lead.checked_sub(least)).collect::<Option<_>>()?;
    Some(Course { axes, leads, down: Some(sign < 0) })
}

/// The reduction that a binding is, once what it needs is computed.
pub(crate) fn sum_of(binding: &Binding) -> Option<&Reduction> {
    let [clause] = &binding.clauses[..] else { return None };
    let inst = clause.body.insts.last()?;
    let (InstKind::Reduce(reduction), [Def::Scalar(value)]) = (&inst.kind, &inst.results[..])
    else {
        return None;
    };
    let reduces = |inst: &&einlang_tir::region::Inst| matches!(inst.kind, InstKind::Reduce(_));
    let yields = clause.body.results == [Arg::Value(*value)];
    let alone = clause.body.insts.iter().filter(reduces).count() == 1;
    (yields && alone && clause.guard.is_none()).then_some(reduction)
}

/// The first index of a sum in pairs over a box or a part of one, and where it starts. Terms of a part
/// have no places of their own in the segments, so these may start anywhere.
pub(crate) fn sum_over(reduction: &Reduction) -> Option<(Var, i64)> {
    let Start::Identity(start) = &reduction.start else { return None };
    let is_float = start.first().and_then(Arg::elem).is_some_and(|elem| elem.is_float());
    let is_sum = reduction.combine == Combiner::Op(Op::Add) && reduction.flags.reassociable;
    let (ranges, within) = ranges_of(&reduction.domain, &einlang_index::Set::everything()).ok()?;
    let (time, others) = ranges.split_first()?;
    let mut is_box = true;
    for range in others {
        for bound in [&range.lo, &range.hi] {
            bound.for_each_var(&mut |var| is_box &= var.kind() == VarKind::Symbol);
        }
    }
    let plain = others.is_empty() || is_box;
    let is_part = within.is_some_and(|within| is_about_terms(&within, reduction));
    let first = if is_part { Some(0) } else { time.lo.as_constant() };
    let first = first.filter(|first| *first >= 0)?;
    (is_float && is_sum && plain).then_some((time.var, first))
}

/// Where the first index of a sum ends, whatever the point that is summed for. That may be later than
/// what it sums: `sum[k in 1..=T](x[k - 1])`.
pub(crate) fn end_of_sum(binding: &Binding) -> Option<MinMax> {
    let (reduction, clause) = (sum_of(binding)?, binding.clauses.first()?);
    let time = *reduction.domain.dims().first()?;
    let over = extended(&clause.domain, &reduction.domain).project(&[time]).ok()?;
    let (ranges, _) = ranges_of(&over, &einlang_index::Set::everything()).ok()?;
    ranges.first().map(|range| range.hi.clone())
}

/// Whether a condition tells terms apart; one on what is outside holds for all of them or for none.
pub(crate) fn is_about_terms(within: &Domain, reduction: &Reduction) -> bool {
    let dims = reduction.domain.dims();
    within.sets().iter().any(|set| dims.iter().any(|dim| set.mentions(*dim)))
}
