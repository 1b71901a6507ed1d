//! Binders, boxes and open axes.

use einlang_index::{Domain, Truth, Var};
use rustc_hash::FxHashSet as HashSet;

use super::Problems;
use super::scope::{Item, walk};
use crate::module::{Binding, Group, Module, SymbolSource};
use crate::region::InstKind;

/// An index is bound in one place; clauses range over their binding's axes.
pub(super) fn single_binders(module: &Module, problems: &mut Problems) {
    let mut bound: HashSet<Var> = HashSet::default();
    let mut bind = |var: Var, place: &str, problems: &mut Problems| {
        if !bound.insert(var) {
            let message = format!("`{}` is bound twice", module.vars.show(var));
            problems.add("single_binders", place, message);
        }
    };
    walk(module, &mut |scope, item| match item {
        Item::Group(group) => {
            let indices = group.bindings.iter().flat_map(Binding::dims);
            let indices = indices.chain(group.until.iter().map(|until| until.index));
            indices.for_each(|var| bind(var, &scope.place, problems));
        }
        Item::Inst(inst) => match &inst.kind {
            InstKind::Reduce(reduction) => {
                reduction.domain.dims().iter().for_each(|d| bind(*d, &scope.place, problems));
            }
            InstKind::Param { var, .. } => {
                bind(*var, &scope.place, problems);
                if module.source(*var) != Some(&SymbolSource::Local) {
                    let message = format!("`{}` is not a local symbol", module.vars.show(*var));
                    problems.add("single_binders", &scope.place, message);
                }
            }
            _ => {}
        },
        Item::Clause(binding, clause) if clause.domain.dims() != binding.dims() => {
            let message = "the domain is not over the axes of the binding";
            problems.add("single_binders", &scope.place, message);
        }
        _ => {}
    });
}

/// A clause lies within the box of its binding.
pub(super) fn boxed_clauses(module: &Module, problems: &mut Problems) {
    let facts = module.facts();
    walk(module, &mut |scope, item| {
        let Item::Clause(binding, clause) = item else { return };
        let outside = binding.whole().and_then(|whole| clause.domain.subtract(&whole));
        if outside.is_ok_and(|domain| never_empty(&domain, &facts)) {
            problems.add("boxed_clauses", &scope.place, "the clause leaves the box");
        }
    });
}

/// Whether the facts do not exclude that the domain has a point.
pub(super) fn never_empty(domain: &Domain, facts: &einlang_index::Facts) -> bool {
    domain.always_empty_given(facts.set()) == Truth::False
}

/// The extent of an `until` belongs to one group and to an axis of each member.
pub(super) fn closed_untils(module: &Module, problems: &mut Problems) {
    let mut closed: HashSet<Var> = HashSet::default();
    walk(module, &mut |scope, item| {
        if let Item::Group(group) = item
            && let Some(until) = &group.until
        {
            let name = module.vars.show(until.extent);
            if module.source(until.extent) != Some(&SymbolSource::Until) {
                let message = format!("`{name}` is not declared `until`");
                problems.add("closed_untils", &scope.place, message);
            }
            if !closed.insert(until.extent) {
                let message = format!("`{name}` ends two groups");
                problems.add("closed_untils", &scope.place, message);
            }
            open_axes(group, until.extent, &scope.place, problems);
        }
    });
}

fn open_axes(group: &Group, extent: Var, place: &str, problems: &mut Problems) {
    for binding in &group.bindings {
        let n_open = binding.axes.iter().filter(|a| a.dim.extent.as_var() == Some(extent)).count();
        if n_open != 1 {
            let message = format!("`{}` has {n_open} open axes, not 1", binding.name.as_str());
            problems.add("closed_untils", place, message);
        }
    }
}
