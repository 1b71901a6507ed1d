//! `merge_groups`: a schedule may run several groups in one nest.
//!
//! A group of the schedule names tensors of one group of the module or of several; those become one,
//! where the last of them was, unless a group between them reads what would come later then. Nothing
//! is assumed of the order inside: whether the nest is legal is asked of the dependences between all
//! clauses.

use einlang_tir::module::{Binding, Group, Module};
use einlang_tir::region::InstKind;
use einlang_tir::types::Ident;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use crate::decide::whole_uses;
use crate::schedule::{GroupSchedule, Schedule};

/// Merges the groups of a module as a schedule has them.
pub(crate) fn merge_groups(module: &mut Module, schedule: &Schedule) {
    for wanted in schedule.groups.iter().filter(|group| group.tensors.len() > 1) {
        if let Some(members) = members(module, wanted) {
            merge(module, wanted, &members);
        }
    }
}

/// The groups whose tensors a schedule names, if there are several and they can be merged.
fn members(module: &Module, wanted: &GroupSchedule) -> Option<Vec<usize>> {
    let names: HashSet<&Ident> = wanted.tensors.iter().map(|tensor| &tensor.name).collect();
    let groups = module.groups.iter().enumerate();
    let is_member = |group: &Group| group.bindings.iter().any(|b| names.contains(&b.name));
    let members: Vec<usize> =
        groups.filter(|(_, group)| is_member(group)).map(|(at, _)| at).collect();
    let own = members.iter().map(|at| &module.groups[*at]);
    let n_bindings: usize = own.clone().map(|group| group.bindings.len()).sum();
    let closed = own.clone().all(|group| group.until.is_none());
    if members.len() < 2 || n_bindings != names.len() || !closed {
        return None;
    }
    let (first, last) = (*members.first()?, *members.last()?);
    let mut later: HashSet<Ident> = HashSet::default();
    for at in first..last {
        let group = &module.groups[at];
        match members.contains(&at) {
            true => later.extend(group.bindings.iter().map(|binding| binding.name.clone())),
            false if reads(group).iter().any(|name| later.contains(name)) => return None,
            false => {}
        }
    }
    Some(members)
}

/// The tensors that a group reads.
pub(crate) fn reads(group: &Group) -> Vec<Ident> {
    let mut found = Vec::new();
    for region in group.regions() {
        region.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                found.push(read.place.tensor.clone());
            }
        });
        found.extend(whole_uses(region));
    }
    found
}

fn merge(module: &mut Module, wanted: &GroupSchedule, members: &[usize]) {
    let Some(last) = members.last() else { return };
    let mut bindings: HashMap<Ident, Binding> = HashMap::default();
    for at in members {
        let own = std::mem::take(&mut module.groups[*at].bindings);
        bindings.extend(own.into_iter().map(|binding| (binding.name.clone(), binding)));
    }
    let ordered = wanted.tensors.iter().filter_map(|tensor| bindings.remove(&tensor.name));
    module.groups[*last].bindings = ordered.collect();
    module.groups.retain(|group| !group.bindings.is_empty());
}
