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
    /// As a recurrence: the axis of each binding, and whether it runs downwards.
    Loop(Vec<usize>, bool),
    /// Point by point: any axis of its binding may be time.
    Map,
    /// As a sum whose first index is time, from a number on.
    Sum(Var, i64),
    /// In no way that is known.
    Other,
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
        return recurrence(group, &forms).unwrap_or(Shape::Other);
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

/// The axis and the direction of the last loop of each binding. Loops before it, such as that of a first
/// row, may run along other axes: whether planes along time can come one after the other is a question
/// of what is read, not of the loops.
fn recurrence(group: &Group, forms: &[(usize, &Form)]) -> Option<Shape> {
    let mut axes = Vec::with_capacity(group.bindings.len());
    let mut sign = 0;
    for binding in 0..group.bindings.len() {
        let (_, form) = forms.iter().rev().find(|(of, _)| *of == binding)?;
        let mut moving = form.coefficients.iter().enumerate().filter(|(_, c)| **c != 0);
        let (axis, c) = moving.next()?;
        let fits = c.abs() == 1 && (sign == 0 || sign == *c) && form.offset == 0;
        if moving.next().is_some() || !fits {
            return None;
        }
        axes.push(axis);
        sign = *c;
    }
    Some(Shape::Loop(axes, sign < 0))
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
