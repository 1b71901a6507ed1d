//! What passes have promised.

use super::Problems;
use super::domains::never_empty;
use super::scope::{Item, walk};
use crate::module::{Binding, Module};
use crate::op::Op;
use crate::region::InstKind;

/// The promises of [`crate::module::Properties`] are kept.
pub(super) fn kept_properties(module: &Module, problems: &mut Problems) {
    let properties = module.properties;
    if properties.inlined && !module.functions.is_empty() {
        problems.add("kept_properties", "the module", "a function is left after inlining");
    }
    walk(module, &mut |scope, item| {
        let Item::Inst(inst) = item else { return };
        let message = match &inst.kind {
            InstKind::Call { .. } if properties.inlined => "a call is left after inlining",
            InstKind::Deriv { .. } if properties.differentiated => "a Jacobian entry is left",
            InstKind::Op(Op::Select, _) if !properties.speculated => {
                "`select` exists only after `speculate`"
            }
            _ => return,
        };
        problems.add("kept_properties", &scope.place, message);
    });
    if properties.disjoint {
        let facts = module.facts();
        walk(module, &mut |_, item| {
            let Item::Group(group) = item else { return };
            group.bindings.iter().for_each(|binding| disjoint(binding, &facts, problems));
        });
    }
}

fn disjoint(binding: &Binding, facts: &einlang_index::Facts, problems: &mut Problems) {
    for (at, clause) in binding.clauses.iter().enumerate() {
        for (before, earlier) in binding.clauses[..at].iter().enumerate() {
            let common = earlier.domain.intersect(&clause.domain);
            if common.is_ok_and(|domain| never_empty(&domain, facts)) {
                let message = format!("clauses {before} and {at} overlap");
                problems.add("kept_properties", format!("`{}`", binding.name.as_str()), message);
            }
        }
    }
}
