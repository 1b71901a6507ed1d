//! `merge_bindings`: what is defined twice is computed once.
//!
//! A block that defines several tensors is lowered once for each of them, and every derivative takes
//! a copy of what it needs. Bindings of one place in the source whose clauses are the same but for names
//! become one, the first, in the order of the groups, so that what reads two copies reads one and can be
//! merged in turn. The first may be one of several that are defined together. What cannot stop the program may
//! be of different places. What is a copy of another tensor is that one: the adjoint of a term is that of its
//! sum. What leaves the module keeps its name, and so does what a symbol takes its value from; where it is a copy, the
//! original gets its name.
//!
//! Runs after the derivatives: before, two tensors with equal values are still different parameters.

use einlang_source::{Diagnostics, Span};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::Ctx;
use super::copies::original_of;
use crate::fresh::Fresh;
use crate::module::{Binding, Group, Module, SymbolSource};
use crate::region::{Arg, InstKind, Region, Start};
use crate::substitute::Substitution;
use crate::types::Ident;

/// Merges the bindings of a module.
pub fn merge_bindings(module: &mut Module, ctx: &Ctx) -> Result<(), Diagnostics> {
    let mut named: HashSet<Ident> = module.outputs.iter().cloned().collect();
    named.extend(module.symbols.iter().filter_map(|symbol| match &symbol.source {
        SymbolSource::Value(name) => Some(name.clone()),
        _ => None,
    }));
    let mut first: HashMap<(Group, Vec<Option<Span>>), Vec<Ident>> = HashMap::default();
    let mut merged = Substitution::default();
    let facts = module.facts();
    let mut kept = Vec::with_capacity(module.groups.len());
    for mut group in std::mem::take(&mut module.groups) {
        // Only names of tensors are replaced, which no index can overflow at.
        if !merged.is_empty() && merged.group(&mut group).is_err() {
            kept.push(group);
            continue;
        }
        let Some(key) = key(&group, ctx.checked) else {
            kept.push(group);
            continue;
        };
        let names: Vec<Ident> = group.bindings.iter().map(|b| b.name.clone()).collect();
        let stays = names.iter().any(|name| named.contains(name));
        match original_of(&group, &kept, &facts) {
            Some(original) if !stays => {
                merged.tensors.extend(names.into_iter().map(|name| (name, original.clone())));
                continue;
            }
            Some(original) if !named.contains(&original) => {
                rename(&mut kept, &original, &group.bindings[0]);
                let to = |name: &mut Ident| {
                    if *name == original {
                        name.clone_from(&names[0]);
                    }
                };
                merged.tensors.values_mut().chain(first.values_mut().flatten()).for_each(to);
                module.answers.iter_mut().filter_map(|answer| answer.read.as_mut()).for_each(to);
                merged.tensors.insert(original.clone(), names[0].clone());
                continue;
            }
            _ => {}
        }
        match first.get(&key) {
            Some(same) if !stays => {
                merged.tensors.extend(names.into_iter().zip(same.iter().cloned()));
            }
            Some(_) => kept.push(group),
            None => {
                first.insert(key, names);
                if group.bindings.len() > 1 {
                    for binding in &group.bindings {
                        let alone = Group { bindings: vec![binding.clone()], until: None };
                        if let Some(key) = self::key(&alone, ctx.checked) {
                            first.entry(key).or_insert_with(|| vec![binding.name.clone()]);
                        }
                    }
                }
                kept.push(group);
            }
        }
    }
    module.groups = kept;
    Ok(())
}

/// Gives an original the name and the axes of the copy that leaves the module.
fn rename(kept: &mut [Group], original: &Ident, copy: &Binding) {
    let mut later = Substitution::default();
    later.tensors.insert(original.clone(), copy.name.clone());
    for group in kept {
        // Only names of tensors are replaced, which no index can overflow at.
        let _ = later.group(group);
        for binding in group.bindings.iter_mut().filter(|binding| binding.name == *original) {
            binding.name = copy.name.clone();
            for (axis, of_copy) in binding.axes.iter_mut().zip(&copy.axes) {
                axis.dim = of_copy.dim.clone();
            }
        }
    }
}

/// What a group computes, whatever its names, and where that was written, if it may stop there; none if its
/// open axis has a length of its own.
fn key(group: &Group, checked: bool) -> Option<(Group, Vec<Option<Span>>)> {
    if group.until.is_some() {
        return None;
    }
    let places = match group.regions().into_iter().all(|region| is_silent(region, checked)) {
        true => Vec::new(),
        false => group.bindings.iter().map(|binding| binding.loc.0).collect(),
    };
    Some((Fresh::canonical().copy_group(group).ok()?, places))
}

/// Whether nothing in a region can stop the program.
fn is_silent(region: &Region, checked: bool) -> bool {
    let mut silent = true;
    region.for_each_inst(&mut |inst| {
        silent &= match &inst.kind {
            InstKind::Op(op, args) => {
                let traps = |arg: &Arg| arg.elem().is_some_and(|elem| op.may_trap(elem, checked));
                !args.iter().any(traps)
            }
            InstKind::Read(read) => read.proved,
            InstKind::Reduce(reduction) => !matches!(reduction.start, Start::First),
            InstKind::Index(_) | InstKind::If { .. } | InstKind::Switch { .. } => true,
            _ => false,
        };
    });
    silent
}
