//! Groups in an order in which each reads only itself and earlier ones.

use einlang_index::{Affine, Domain, Facts, Result, Var};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::uses::Uses;
use crate::graph::strong_parts;
use crate::module::{Binding, Group, Module, SymbolSource};
use crate::types::{Ident, Loc};

/// Puts the groups in order; those that read each other become one.
pub(super) fn regroup(module: &mut Module) {
    let mut home: HashMap<Ident, usize> = HashMap::default();
    let mut ends = HashMap::default();
    for (at, group) in module.groups.iter().enumerate() {
        home.extend(group.bindings.iter().map(|binding| (binding.name.clone(), at)));
        ends.extend(group.until.iter().map(|until| (until.extent, at)));
    }
    let mut edges: Vec<Vec<usize>> = Vec::with_capacity(module.groups.len());
    for (own, group) in module.groups.iter().enumerate() {
        let mut uses = uses_of(group);
        let mut open: Vec<_> = uses.vars.iter().copied().collect();
        let mut seen = uses.vars.clone();
        let mut to: Vec<usize> = Vec::new();
        while let Some(var) = open.pop() {
            to.extend(ends.get(&var));
            match module.source(var) {
                Some(SymbolSource::Shape(tensor, _) | SymbolSource::Value(tensor)) => {
                    uses.tensors.insert(tensor.clone());
                }
                Some(SymbolSource::Max(of) | SymbolSource::Min(of)) => {
                    for expr in of {
                        expr.for_each_var(&mut |var| {
                            if seen.insert(var) {
                                open.push(var);
                            }
                        });
                    }
                }
                _ => {}
            }
        }
        to.extend(uses.tensors.iter().filter_map(|name| home.get(name)));
        to.retain(|at| *at != own);
        to.sort_unstable();
        to.dedup();
        edges.push(to);
    }
    let mut old: Vec<Option<Group>> =
        std::mem::take(&mut module.groups).into_iter().map(Some).collect();
    for part in strong_parts(&edges) {
        let mut joined = Group { bindings: Vec::new(), until: None };
        for group in part.into_iter().filter_map(|at| old.get_mut(at).and_then(Option::take)) {
            joined.bindings.extend(group.bindings);
            joined.until = joined.until.or(group.until);
        }
        module.groups.push(joined);
    }
}

/// A binding that became part of an open group without having its axis.
pub(super) fn shut_in(module: &Module) -> Option<Loc> {
    let open = module.groups.iter().filter_map(|group| Some((group, group.until.as_ref()?.extent)));
    let mut lost = open.flat_map(|(group, extent)| {
        let has = move |b: &&Binding| b.axes.iter().any(|a| a.dim.extent.as_var() == Some(extent));
        group.bindings.iter().filter(move |binding| !has(binding))
    });
    lost.next().map(|binding| binding.loc)
}

/// A binding of an open group, other than those that were written, with points that only later steps bring about.
/// While the group runs nobody knows how many there will be, so each point must be there or not by the steps up to
/// its own.
pub(super) fn looks_ahead(module: &Module, written: &HashSet<Ident>) -> Option<Loc> {
    let facts = module.facts();
    for group in &module.groups {
        let Some(extent) = group.until.as_ref().map(|until| until.extent) else { continue };
        let added = |binding: &&Binding| !written.contains(&binding.name);
        for binding in group.bindings.iter().filter(added) {
            let open = binding.axes.iter().find(|a| a.dim.extent.as_var() == Some(extent));
            let Some(axis) = open.map(|axis| axis.var) else { continue };
            for clause in &binding.clauses {
                if !is_settled_by(&clause.domain, axis, extent, &facts).unwrap_or(false) {
                    return Some(binding.loc);
                }
            }
        }
    }
    None
}

/// Whether the points at each step are the same whether it is the last or not.
fn is_settled_by(domain: &Domain, axis: Var, extent: Var, facts: &Facts) -> Result<bool> {
    let next = Affine::var(axis).add_constant(1)?;
    let mut last = |var: Var| (var == extent).then(|| next.clone());
    let dims = domain.dims().to_vec();
    let with_extent = [&dims[..], &[extent]].concat();
    let sets = domain.sets();
    let as_last: Result<Vec<_>> = sets.iter().map(|set| set.replace(&mut last)).collect();
    let as_last = Domain::of_sets(&dims[..], as_last?);
    let at_all = Domain::of_sets(&with_extent[..], sets.iter().cloned()).project(&dims)?;
    Ok(at_all.subtract(&as_last)?.always_empty_given(facts.set()).is_true())
}

/// What the bindings of a group mention, extents and ranges included.
pub(super) fn uses_of(group: &Group) -> Uses {
    let mut uses = Uses::default();
    for binding in &group.bindings {
        binding.axes.iter().for_each(|axis| uses.quasi(&axis.dim.extent));
        for clause in &binding.clauses {
            uses.vars.extend(clause.domain.params());
        }
    }
    if let Some(until) = &group.until {
        uses.quasi(&until.first);
        uses.quasi(&until.max);
    }
    group.regions().into_iter().for_each(|region| uses.region(region));
    uses
}
