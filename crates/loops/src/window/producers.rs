//! Tensors that do not read themselves, and that one recurrence reads in the order in which it runs.
//!
//! Such a tensor can be computed step by step along with the recurrence, and of the axis that follows
//! the outermost loop only those steps are kept that some read may still want: from the furthest one
//! back to the furthest one ahead. That is so if every read of the tensor is by a clause of that one
//! group or of another tensor made along with it, at a distance from its step that is bounded by
//! numbers on both sides.

use einlang_index::{Quasi, Set, VarKind};
use einlang_tir::module::Binding;
use einlang_tir::order::dependences;
use einlang_tir::types::{Ident, Loc};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Extent;
use super::decide::{Decision, without_axes};
use super::observe::{Observation, Observed, observe};
use super::report::{AxisOrder, BindingStorage, Keep, Reason, ScheduledAxis, Why};
use super::{Prepared, is_recurrent};

/// The step in which a point of a tensor is computed: how its axis follows a loop.
#[derive(Clone, Copy)]
struct Step {
    /// The group whose loop it is.
    group: usize,
    axis: usize,
    descending: bool,
    shift: i64,
}

/// The steps of the tensors that a loop computes, by their group and number.
type Steps = HashMap<(usize, usize), Option<Step>>;

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
        let candidates: Vec<(usize, usize, &Binding)> = groups
            .filter(|(_, group)| !is_recurrent(group))
            .flat_map(|(at, group)| {
                group
                    .bindings
                    .iter()
                    .enumerate()
                    .map(move |(number, binding)| (at, number, binding))
            })
            .filter(|(_, _, binding)| self.can_follow(binding))
            .collect();
        let names: HashSet<Ident> = candidates.iter().map(|(_, _, b)| b.name.clone()).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let reads = observe(&self.module, &names);
        let mut steps = Steps::default();
        let mut found = Vec::new();
        // Readers come after what they read.
        for (at, number, binding) in candidates.into_iter().rev() {
            let Some(reads) = reads.get(&binding.name) else { continue };
            for reader in reads.iter().filter_map(|read| read.reader) {
                steps.entry(reader).or_insert_with(|| self.step(reader));
            }
            let Some(group) = only_loop(reads, &steps) else { continue };
            if let Some(followed) = self.followed(binding, &steps, reads) {
                let Followed { axis, descending, ahead, .. } = followed;
                steps.insert((at, number), Some(Step { group, axis, descending, shift: -ahead }));
                found.push(self.producer(at, binding, group, &followed));
            }
        }
        found.reverse();
        found
    }

    /// Whether a tensor has an axis, and is seen by nothing but reads of the module.
    fn can_follow(&self, binding: &Binding) -> bool {
        !binding.axes.is_empty() && !self.module.outputs.contains(&binding.name)
    }

    /// The step of a tensor of a recurrence.
    fn step(&self, (at, number): (usize, usize)) -> Option<Step> {
        let group = &self.module.groups[at];
        let reads = dependences(&self.module, group);
        let nests = is_recurrent(group).then(|| self.nests(group, &reads)).flatten()?;
        let level = nests.get(number)?.axes.first()?;
        let (axis, descending, shift) = (level.axis, level.descending, level.shift);
        Some(Step { group: at, axis, descending, shift })
    }

    /// The first axis of the binding that follows the outermost loop of its reader.
    fn followed(
        &self,
        binding: &Binding,
        steps: &Steps,
        reads: &[Observation],
    ) -> Option<Followed> {
        (0..binding.axes.len()).find_map(|axis| self.follows(axis, steps, reads))
    }

    fn follows(&self, axis: usize, steps: &Steps, reads: &[Observation]) -> Option<Followed> {
        let mut followed: Option<Followed> = None;
        for read in reads {
            let (Observed::Points(at, sets), Some(reader)) = (&read.what, read.reader) else {
                return None;
            };
            let level = steps.get(&reader).copied().flatten()?;
            let own = &self.module.groups[reader.0].bindings[reader.1];
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
        consumer: usize,
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
        let first =
            self.module.groups[consumer].bindings.first().map(|binding| binding.name.clone());
        BindingStorage { along_with: first, ..self.described(group, binding, order, decisions) }
    }
}

/// The loop in which all the reads happen, if there is one.
fn only_loop(reads: &[Observation], steps: &Steps) -> Option<usize> {
    let group = |read: &Observation| Some(steps.get(&read.reader?).copied().flatten()?.group);
    let first = group(reads.first()?)?;
    reads.iter().all(|read| group(read) == Some(first)).then_some(first)
}
