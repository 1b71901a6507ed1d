//! `expect_sizes`: code of its own for small states.
//!
//! A recurrence over small matrices does little per step, and most of that is finding out how large they
//! are. Where the shapes of a call are known and every axis of a recurrence but those of its loops is short,
//! the kernel is made for these sizes: its loops are written out, and what is kept of the last steps lies in
//! registers. For other sizes there is another kernel, which expects none. Where the sizes are numbers of the
//! program, there is only one. A window is no wider than the order of the phases asks, for places that do not
//! change from step to step are what registers can stand for. A stream of blocks is such a recurrence too. The sizes
//! of short reductions in tiles are expected as well (`taps.rs`).
//!
//! Invariant: neither the order nor the association of anything depends on the sizes.

use einlang_index::Var;
use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::order::{Form, Statement, dependences};
use rustc_hash::FxHashMap as HashMap;

use super::known::Sizes;
use super::stream::BLOCK;
use super::taps::sizes_of_taps;
use super::windows::{Observers, needed_windows};
use crate::schedule::{GroupSchedule, Layout, Nest, Role, Schedule, TensorSchedule, axis_of};
use crate::threads::MOST_ON_STACK;

/// The longest axis of a call that counts as short, and the longest of a program.
const LONGEST: i64 = 16;
const LONGEST_NUMBER: i64 = BLOCK;

/// Expects the sizes of a call.
pub(crate) fn expect_sizes(module: &Module, sizes: &Sizes, schedule: &mut Schedule) {
    if !schedule.variant.is_empty() {
        return;
    }
    let known = sizes.known();
    let observers = Observers::of(module);
    let mut sizes: Vec<Var> = Vec::new();
    for group in module.groups.iter().filter(|group| group.until.is_none()) {
        let Some(decided) = schedule.decided_mut(group) else { continue };
        let Some(own) = short_axes(group, decided, known) else { continue };
        sizes.extend(own.into_iter().filter(|var| !sizes.contains(var)).collect::<Vec<_>>());
        // What threads share cannot lie in registers of one of them.
        if matches!(&decided.nest, Nest::Loop { role: Role::Par, .. }) {
            continue;
        }
        let facts = module.facts();
        let dependences = dependences(module, group);
        let least = needed_windows(group, decided, &dependences, &observers, &facts);
        for ((binding, tensor), least) in group.bindings.iter().zip(&mut decided.tensors).zip(least)
        {
            let elements = elements_of(binding, tensor, known);
            let ring = tensor.storage.iter().any(|layout| matches!(layout, Layout::Mod(_)));
            let fits = elements.is_some_and(|elements| elements <= MOST_ON_STACK);
            if ring && fits && !observers.sees_all_of(&binding.name) {
                tensor.stack = true;
                for (axis, least) in least {
                    if let Some(Layout::Mod(width)) = tensor.storage.get_mut(axis) {
                        *width = least.min(*width);
                    }
                }
            }
        }
    }
    for var in sizes_of_taps(module, schedule, known) {
        if !sizes.contains(&var) {
            sizes.push(var);
        }
    }
    for var in sizes {
        if let (Some(name), Some(value)) = (module.vars.names().name(var), known.get(&var)) {
            schedule.variant.push((name.to_owned(), *value));
        }
    }
}

/// Whether other sizes could be expected otherwise: there is a recurrence that may be small, or a short reduction.
pub(crate) fn follows_sizes(module: &Module, schedule: &Schedule) -> bool {
    let small: HashMap<Var, i64> = module.symbols.iter().map(|symbol| (symbol.var, 1)).collect();
    if !sizes_of_taps(module, schedule, &small).is_empty() {
        return true;
    }
    module.groups.iter().filter(|group| group.until.is_none()).any(|group| {
        let decided = schedule.decided(group);
        decided.is_some_and(|decided| short_axes(group, decided, &small).is_some())
    })
}

/// How many elements of a tensor are kept, where that is known.
fn elements_of(
    binding: &Binding,
    tensor: &TensorSchedule,
    known: &HashMap<Var, i64>,
) -> Option<i64> {
    let mut elements = 1_i64;
    for (number, layout) in tensor.storage.iter().enumerate() {
        let kept = match layout {
            Layout::Mod(width) => *width,
            _ => {
                let axis = axis_of(&tensor.dimension(number))?;
                let extent = &binding.axes.get(axis)?.dim.extent;
                extent.as_constant().or_else(|| known.get(&extent.as_var()?).copied())?
            }
        };
        elements = elements.checked_mul(kept)?;
    }
    Some(elements)
}

type Forms = Vec<(Statement, Form)>;

/// The loop over the steps of a recurrence, and those over many of them around it.
fn steps_of(nest: &Nest) -> Option<(&Forms, Vec<&Forms>)> {
    match nest {
        Nest::Loop { forms, tile: None, role: Role::Seq, .. } => Some((forms, Vec::new())),
        Nest::Loop { forms, tile: None, role: Role::Par, inner } => {
            let (steps, mut outer) = steps_of(inner)?;
            outer.push(forms);
            Some((steps, outer))
        }
        _ => None,
    }
}

/// The sizes of a recurrence whose axes are all short but for that of its loop.
fn short_axes(
    group: &Group,
    decided: &GroupSchedule,
    known: &HashMap<Var, i64>,
) -> Option<Vec<Var>> {
    let (forms, outer) = steps_of(&decided.nest)?;
    let moves = |forms: &Forms, of: Statement, axis: usize| {
        let form = forms.iter().find(|(statement, _)| *statement == of);
        form.is_some_and(|(_, form)| form.coefficients.get(axis).is_some_and(|k| *k != 0))
    };
    let (mut sizes, mut has_state) = (Vec::new(), false);
    for (statement, _) in forms {
        let binding = group.bindings.get(statement.binding)?;
        for (number, axis) in binding.axes.iter().enumerate() {
            let extent = &axis.dim.extent;
            let mut around = outer.iter().copied().chain([forms]);
            if around.any(|forms| moves(forms, *statement, number)) {
                continue;
            }
            has_state = true;
            if extent.as_constant().is_some_and(|extent| extent <= LONGEST_NUMBER) {
                continue;
            }
            let var = extent.as_var()?;
            known.get(&var).filter(|extent| (1..=LONGEST).contains(*extent))?;
            sizes.push(var);
        }
    }
    has_state.then_some(sizes)
}
