//! `merge_groups`: a schedule may run several groups in one nest.
//!
//! A group of the schedule names tensors of one group of the module or of several that follow each
//! other; those become one. Nothing is assumed of the order then: whether the nest is legal is asked
//! of the dependences between all of their clauses.

use einlang_tir::module::{Group, Module};

use crate::schedule::Schedule;

/// Merges the groups of a module as a schedule has them.
pub(crate) fn merge_groups(module: &mut Module, schedule: &Schedule) {
    let mut groups = std::mem::take(&mut module.groups).into_iter().peekable();
    while let Some(mut group) = groups.next() {
        let first = group.bindings.first().map(|binding| binding.name.clone());
        let wanted = first.and_then(|first| schedule.group(&first));
        let n_wanted = wanted.map_or(0, |wanted| wanted.tensors.len());
        let joins = |group: &Group, next: &Group| {
            let n_joined = group.bindings.len() + next.bindings.len();
            let both = group.bindings.iter().chain(&next.bindings);
            let names = wanted.map_or(&[][..], |wanted| &wanted.tensors[..]);
            group.until.is_none()
                && next.until.is_none()
                && n_joined <= n_wanted
                && both.zip(names).all(|(binding, tensor)| binding.name == tensor.name)
        };
        while let Some(next) = groups.next_if(|next| joins(&group, next)) {
            group.bindings.extend(next.bindings);
        }
        module.groups.push(group);
    }
}
