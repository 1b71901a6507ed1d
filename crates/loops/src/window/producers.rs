//! Tensors that do not read themselves, and that one recurrence reads in the order in which it runs.
//!
//! Such a tensor can be computed step by step along with the recurrence, and of the axis that follows
//! the outermost loop only those steps are kept that some read may still want: from the furthest one
//! back to the furthest one ahead. That is so if every read of the tensor is by a clause of that one
//! group, at a distance from its step that is bounded by numbers on both sides.

use std::collections::{HashMap, HashSet};

use einlang_index::{Quasi, Set, VarKind};
use einlang_tir::module::{Binding, Group};
use einlang_tir::order::dependences;
use einlang_tir::types::{Ident, Loc};

use super::context::Extent;
use super::decide::{Decision, without_axes};
use super::nest::Nest;
use super::observe::{Observation, Observed, observe};
use super::report::{AxisOrder, BindingStorage, Keep, Reason, ScheduledAxis, Why};
use super::{Prepared, is_recurrent};

/// A group of the module with the order of its axes.
struct Consumer<'a> {
    group: &'a Group,
    nests: Vec<Nest>,
}

/// How one axis of a producer follows a loop.
struct Followed {
    axis: usize,
    descending: bool,
    /// How many steps back and ahead of the loop it is read.
    back: i64,
    ahead: i64,
    /// The read that reaches furthest back.
    loc: Loc,
}

impl Prepared {
    /// The windows of tensors that are made along with a recurrence.
    pub(super) fn producers(&self) -> Vec<BindingStorage> {
        let groups = self.module.groups.iter().enumerate();
        let candidates: Vec<(usize, &Binding)> = groups
            .filter(|(_, group)| !is_recurrent(group))
            .flat_map(|(at, group)| group.bindings.iter().map(move |binding| (at, binding)))
            .filter(|(_, binding)| self.can_follow(binding))
            .collect();
        let names: HashSet<Ident> = candidates.iter().map(|(_, b)| b.name.clone()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let reads = observe(&self.module, &names);
        let mut consumers: HashMap<usize, Option<Consumer<'_>>> = HashMap::new();
        let mut found = Vec::new();
        for (at, binding) in candidates {
            let Some(reads) = reads.get(&binding.name) else { continue };
            let Some(group) = only_reader(reads) else { continue };
            let consumer = consumers.entry(group).or_insert_with(|| self.consumer(group));
            if let Some(consumer) = consumer
                && let Some(followed) = self.followed(binding, consumer, reads)
            {
                found.push(self.producer(at, binding, consumer, &followed));
            }
        }
        found
    }

    /// Whether a tensor has an axis, and is seen by nothing but reads of the module.
    fn can_follow(&self, binding: &Binding) -> bool {
        !binding.axes.is_empty() && !self.module.outputs.contains(&binding.name)
    }

    fn consumer(&self, group: usize) -> Option<Consumer<'_>> {
        let group = &self.module.groups[group];
        let reads = dependences(&self.module, group);
        let nests = is_recurrent(group).then(|| self.nests(group, &reads)).flatten()?;
        Some(Consumer { group, nests })
    }

    /// The first axis of the binding that follows the outermost loop of its reader.
    fn followed(
        &self,
        binding: &Binding,
        consumer: &Consumer<'_>,
        reads: &[Observation],
    ) -> Option<Followed> {
        (0..binding.axes.len()).find_map(|axis| self.follows(axis, consumer, reads))
    }

    fn follows(
        &self,
        axis: usize,
        consumer: &Consumer<'_>,
        reads: &[Observation],
    ) -> Option<Followed> {
        let mut followed: Option<Followed> = None;
        for read in reads {
            let (Observed::Points(at, sets), Some((_, reader))) = (&read.what, read.reader) else {
                return None;
            };
            let level = *consumer.nests[reader].axes.first()?;
            let own = &consumer.group.bindings[reader];
            let subscript = at.get(axis).and_then(Option::as_ref)?;
            let sign = if level.descending { -1 } else { 1 };
            let step = Quasi::from(own.axes[level.axis].var);
            let gap = step.combine(sign, subscript, -sign).ok()?.add_constant(level.shift).ok()?;
            let axes = own.dims();
            let inner =
                |var: einlang_index::Var| var.kind() == VarKind::Index && !axes.contains(&var);
            let relaxed: Vec<Set> = sets.iter().map(|set| without_axes(set, &inner)).collect();
            let (least, most) = match self.context.range(&relaxed, &gap) {
                Extent::Nothing => continue,
                Extent::Values(Some(least), Some(most)) => (least, most),
                Extent::Values(..) | Extent::Unknown => return None,
            };
            let descending = level.descending;
            let one = Followed { axis, descending, back: most, ahead: -least, loc: read.loc };
            followed = Some(match followed {
                None => one,
                Some(other) if other.descending != descending => return None,
                Some(other) if other.back >= most => {
                    Followed { ahead: other.ahead.max(one.ahead), ..other }
                }
                Some(other) => Followed { ahead: other.ahead.max(one.ahead), ..one },
            });
        }
        followed
    }

    fn producer(
        &self,
        group: usize,
        binding: &Binding,
        consumer: &Consumer<'_>,
        followed: &Followed,
    ) -> BindingStorage {
        let steps = followed.back.saturating_add(followed.ahead).max(0).unsigned_abs();
        let decision = |axis: usize| match axis == followed.axis {
            true => Decision {
                lookback: Some(steps),
                tail: Some(0),
                keep: Keep::Window(steps.saturating_add(1)),
                possible: Some(steps.saturating_add(1)),
                conditions: Vec::new(),
                reasons: vec![Reason {
                    why: Why::Spans(steps.saturating_add(1)),
                    loc: followed.loc,
                }],
            },
            false => Decision {
                lookback: Some(0),
                tail: None,
                keep: Keep::Full,
                possible: None,
                conditions: Vec::new(),
                reasons: Vec::new(),
            },
        };
        let (axis, descending) = (followed.axis, followed.descending);
        let order = vec![ScheduledAxis { axis, descending, shift: 0, in_loop: 0 }];
        let rest = (0..binding.axes.len()).filter(|other| *other != axis).enumerate();
        let rest = rest.map(|(at, axis)| ScheduledAxis {
            axis,
            descending: false,
            shift: 0,
            in_loop: at + 1,
        });
        let order = AxisOrder::Axes(order.into_iter().chain(rest).collect());
        let decisions = (0..binding.axes.len()).map(decision).collect();
        let first = consumer.group.bindings.first().map(|binding| binding.name.clone());
        BindingStorage { along_with: first, ..self.described(group, binding, order, decisions) }
    }
}

/// The group that makes all the reads, if there is one.
fn only_reader(reads: &[Observation]) -> Option<usize> {
    let (first, _) = reads.first()?.reader?;
    reads.iter().all(|read| read.reader.is_some_and(|(group, _)| group == first)).then_some(first)
}
