//! `merge_groups`: a schedule may run several groups in one nest.
//!
//! A group of the schedule names tensors of one group of the module or of several; those become one,
//! in the place of the last, unless something in between reads them. Nothing is assumed of the order
//! then: whether the nest is legal is asked of the dependences between all of their clauses.

use std::collections::HashSet;

use einlang_tir::module::{Group, Module};
use einlang_tir::region::InstKind;
use einlang_tir::types::Ident;

use crate::decide::whole_uses;
use crate::schedule::{GroupSchedule, Schedule};

/// Merges the groups of a module as a schedule has them.
pub(crate) fn merge_groups(module: &mut Module, schedule: &Schedule) {
    for wanted in schedule.groups.iter().filter(|group| group.tensors.len() > 1) {
        let Some(members) = members(module, wanted) else { continue };
        let mut bindings = Vec::with_capacity(wanted.tensors.len());
        let Some((last, earlier)) = members.split_last() else { continue };
        for at in earlier.iter().rev() {
            bindings.splice(0..0, module.groups.remove(*at).bindings);
        }
        module.groups[last - earlier.len()].bindings.splice(0..0, bindings);
    }
}

/// The groups that make up one of a schedule, if they are several and may be moved together.
fn members(module: &Module, wanted: &GroupSchedule) -> Option<Vec<usize>> {
    let names: HashSet<&Ident> = wanted.tensors.iter().map(|tensor| &tensor.name).collect();
    let is_member = |group: &Group| group.bindings.iter().all(|b| names.contains(&b.name));
    let groups = module.groups.iter().enumerate();
    let members: Vec<usize> = groups.filter(|(_, group)| is_member(group)).map(|m| m.0).collect();
    let (first, last) = (*members.first()?, *members.last()?);
    let found = members.iter().flat_map(|at| &module.groups[*at].bindings);
    let same = found.map(|binding| &binding.name).eq(wanted.tensors.iter().map(|t| &t.name));
    let closed = members.iter().all(|at| module.groups[*at].until.is_none());
    let between = &module.groups[first..=last];
    let free = between.iter().filter(|group| !is_member(group)).all(|group| !reads(group, &names));
    (members.len() > 1 && same && closed && free).then_some(members)
}

fn reads(group: &Group, names: &HashSet<&Ident>) -> bool {
    group.regions().into_iter().any(|region| {
        let mut found = whole_uses(region).iter().any(|name| names.contains(name));
        region.for_each_inst(&mut |inst| {
            if let InstKind::Read(read) = &inst.kind {
                found |= names.contains(&read.place.tensor);
            }
        });
        found
    })
}
