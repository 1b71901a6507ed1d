//! Requests that cannot be expanded and that nothing needs.
//!
//! The rule of a function may use an argument that its body does not use. Where nobody asks for the
//! derivative of the call, the argument is never needed, and a request in it may have no
//! derivative: E0602 belongs to those that are needed. Which these are is known when everything else
//! is expanded and the calls are gone. So a request that cannot be expanded is left as it is, with
//! the reason; everything begins again without it; and in the end it is gone or reported.
//!
//! Invariant: what is begun again is the module as it was, so an unfinished expansion leaves nothing.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::context::Ad;
use super::fault::{Fault, R};
use super::tidy::drop_dead;
use crate::free::Free;
use crate::module::{Group, Module, SymbolSource};
use crate::passes::Mode;
use crate::region::{Def, InstKind, Region};
use crate::types::Ident;

/// The entries that cannot be expanded, by the number of their value, and why.
pub(super) type Idle = HashMap<u32, Fault>;

/// Expands every entry that can be, and gives the others.
pub(super) fn expand(module: &mut Module, mode: Mode) -> R<Idle> {
    let has_rules = module.functions.iter().any(|function| function.rule.is_some());
    let before = has_rules.then(|| module.clone());
    let mut idle = Idle::default();
    loop {
        let expanded = Ad::new(module, mode, idle.clone()).expand_all();
        let Err(fault) = expanded else { return Ok(idle) };
        match (fault.entry_without_rule(), &before) {
            (Some(entry), Some(before)) if !idle.contains_key(&entry) => {
                idle.insert(entry, fault);
                *module = before.clone();
            }
            _ => return Err(fault),
        }
    }
}

/// Drops the entries that nothing needs, once no call is left.
pub(super) fn drop_idle(module: &mut Module, idle: &Idle) -> R<()> {
    if idle.is_empty() {
        return Ok(());
    }
    for group in &mut module.groups {
        group.regions_mut().into_iter().for_each(drop_dead_within);
    }
    let homes = module.bindings().filter(|binding| {
        let regions = binding.clauses.iter().flat_map(|c| c.guard.iter().chain([&c.body]));
        regions.into_iter().any(|region| entry_in(region).is_some())
    });
    let homes = homes.map(|binding| binding.name.clone()).collect();
    drop_unneeded(module, homes);
    let mut left = None;
    module.for_each_region(&mut |region| left = left.or(entry_in(region)));
    match left.and_then(|entry| idle.get(&entry)) {
        Some(fault) => Err(fault.clone()),
        None => Ok(()),
    }
}

fn drop_dead_within(region: &mut Region) {
    drop_dead(region);
    region.insts.iter_mut().flat_map(|inst| inst.regions_mut()).for_each(drop_dead_within);
}

/// The first entry of a region.
fn entry_in(region: &Region) -> Option<u32> {
    let mut found = None;
    region.for_each_inst(&mut |inst| {
        if let (InstKind::Deriv { .. }, [Def::Scalar(value)]) = (&inst.kind, &inst.results[..]) {
            found = found.or(Some(value.number));
        }
    });
    found
}

/// Drops those of some bindings that nobody needs, and what reads them.
pub(super) fn drop_unneeded(module: &mut Module, mut idle: HashSet<Ident>) {
    let needed = needed(module);
    idle.retain(|name| !needed.contains(name));
    loop {
        let before = idle.len();
        for group in &module.groups {
            let free = Free::of_group(group).tensors;
            if free.iter().any(|name| idle.contains(name)) {
                idle.extend(group.bindings.iter().map(|binding| binding.name.clone()));
            }
        }
        if idle.len() == before {
            break;
        }
    }
    module.groups.retain(|group| !group.bindings.iter().any(|b| idle.contains(&b.name)));
}

/// The tensors that outputs and sizes are made of.
pub(super) fn needed(module: &Module) -> HashSet<Ident> {
    let sizes = module.symbols.iter().filter_map(|symbol| match &symbol.source {
        SymbolSource::Value(name) | SymbolSource::Shape(name, _) => Some(name.clone()),
        _ => None,
    });
    let mut open: Vec<Ident> = module.outputs.iter().cloned().chain(sizes).collect();
    let mut needed: HashSet<Ident> = HashSet::default();
    while let Some(name) = open.pop() {
        let holds = |group: &&Group| group.bindings.iter().any(|binding| binding.name == name);
        let group = module.groups.iter().find(holds);
        if needed.insert(name.clone())
            && let Some(group) = group
        {
            open.extend(Free::of_group(group).tensors);
            open.extend(group.bindings.iter().map(|binding| binding.name.clone()));
        }
    }
    needed
}
