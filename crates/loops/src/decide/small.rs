//! `expect_sizes`: code of its own for small states.
//!
//! A recurrence over small matrices does little per step, and most of that is finding out how large they
//! are. Where the shapes of a call are known and every axis of a recurrence but that of its loop is short,
//! there is a copy of the kernel for these sizes: its loops are written out, and what is kept of the last
//! steps lies in registers. Other sizes run as before.
//!
//! Invariant: neither the order nor the association of anything depends on the sizes.

use std::collections::HashMap;

use einlang_index::Var;
use einlang_tir::module::{Group, Module, SymbolSource};

use super::windows::Observers;
use crate::schedule::{GroupSchedule, Layout, Nest, Role, Schedule};
use crate::threads::MOST_ON_STACK;

/// The longest axis that counts as short.
const LONGEST: i64 = 16;

/// Expects the sizes of a call, given by the shapes of its inputs.
pub(crate) fn expect_sizes(module: &Module, shapes: &[Vec<i64>], schedule: &mut Schedule) {
    if shapes.len() != module.inputs.len() || !schedule.variant.is_empty() {
        return;
    }
    let mut known: HashMap<Var, i64> = HashMap::new();
    for symbol in &module.symbols {
        if let SymbolSource::Shape(input, axis) = &symbol.source
            && let Some(number) = module.inputs.iter().position(|of| of.name == *input)
            && let Some(extent) = shapes[number].get(*axis)
        {
            known.insert(symbol.var, *extent);
        }
    }
    let observers = Observers::of(module);
    let mut sizes: Vec<Var> = Vec::new();
    for group in module.groups.iter().filter(|group| group.until.is_none()) {
        let first = group.bindings.first().map(|binding| &binding.name);
        let place = schedule.groups.iter_mut();
        let mut place = place.filter(|g| g.tensors.first().map(|t| &t.name) == first);
        let Some(decided) = place.next() else { continue };
        let Some(own) = short_axes(group, decided, &known) else { continue };
        sizes.extend(own.into_iter().filter(|var| !sizes.contains(var)).collect::<Vec<_>>());
        for (binding, tensor) in group.bindings.iter().zip(&mut decided.tensors) {
            let mut elements = Some(1_i64);
            for (axis, layout) in binding.axes.iter().zip(&tensor.storage) {
                let extent = &axis.dim.extent;
                let kept = match layout {
                    Layout::Mod(width) => Some(*width),
                    _ => extent.as_constant().or_else(|| known.get(&extent.as_var()?).copied()),
                };
                elements = elements.zip(kept).and_then(|(all, kept)| all.checked_mul(kept));
            }
            let ring = tensor.storage.iter().any(|layout| matches!(layout, Layout::Mod(_)));
            let fits = elements.is_some_and(|elements| elements <= MOST_ON_STACK);
            tensor.stack |= ring && fits && !observers.sees_all_of(&binding.name);
        }
    }
    for var in sizes {
        if let (Some(name), Some(value)) = (module.vars.names().name(var), known.get(&var)) {
            schedule.variant.push((name.to_owned(), *value));
        }
    }
}

/// The sizes of a recurrence whose axes are all short but for that of its loop.
fn short_axes(
    group: &Group,
    decided: &GroupSchedule,
    known: &HashMap<Var, i64>,
) -> Option<Vec<Var>> {
    let Nest::Loop { forms, tile: None, role: Role::Seq, .. } = &decided.nest else { return None };
    let mut sizes = Vec::new();
    for (statement, form) in forms {
        let binding = group.bindings.get(statement.binding)?;
        for (axis, along) in binding.axes.iter().zip(&form.coefficients) {
            let extent = &axis.dim.extent;
            if *along != 0 || extent.as_constant().is_some_and(|extent| extent <= LONGEST) {
                continue;
            }
            let var = extent.as_var()?;
            known.get(&var).filter(|extent| (1..=LONGEST).contains(*extent))?;
            sizes.push(var);
        }
    }
    (!sizes.is_empty()).then_some(sizes)
}
