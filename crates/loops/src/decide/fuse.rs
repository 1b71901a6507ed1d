//! `fuse_phases`: one loop for all clauses of a recurrence.
//!
//! An order computes base clauses before the loop of the clauses that read them. If all clauses can
//! run in that loop, each at its own rounds, the planes of a tensor come one after the other, and a
//! window may keep the last ones only. A phase that reads an earlier one must not do so before its
//! round: that is proved for every dependence, or the phases stay as they are.

use std::collections::BTreeMap;

use einlang_index::Facts;
use einlang_tir::module::Group;
use einlang_tir::order::{Dependence, Form, Statement};

use super::distance::{distance, never_negative};
use crate::schedule::{Nest, Role};

/// The nest with its phases in one loop, if that is legal.
pub(super) fn fuse_phases(
    group: &Group,
    nest: &Nest,
    dependences: &[Dependence],
    facts: &Facts,
) -> Option<Nest> {
    let Nest::Phases(phases) = nest else { return None };
    let mut forms: BTreeMap<usize, Form> = BTreeMap::new();
    for phase in phases {
        let Nest::Loop { forms: of_phase, .. } = phase else { continue };
        for (statement, form) in of_phase {
            let known = forms.entry(statement.binding).or_insert_with(|| form.clone());
            if known != form {
                return None;
            }
        }
    }
    let statements = statements(nest);
    let form_of = |statement: Statement| forms.get(&statement.binding);
    if forms.is_empty() || !statements.iter().all(|statement| form_of(*statement).is_some()) {
        return None;
    }
    for dependence in dependences {
        let (reader, writer) = (form_of(dependence.reader)?, form_of(dependence.writer)?);
        let distance = distance(group, dependence, reader, writer).ok()?;
        if !never_negative(facts, &dependence.domain, &distance) {
            return None;
        }
    }
    let inner = phases.iter().map(|phase| match phase {
        Nest::Loop { inner, .. } => Nest::clone(inner),
        other => other.clone(),
    });
    let forms = statements.iter().filter_map(|s| form_of(*s).map(|form| (*s, form.clone())));
    let inner = Box::new(Nest::Phases(inner.collect()));
    Some(Nest::Loop { forms: forms.collect(), tile: None, role: Role::Seq, inner })
}

/// The clauses of a nest, in order.
pub(crate) fn statements(nest: &Nest) -> Vec<Statement> {
    match nest {
        Nest::Points { statement, .. } => vec![*statement],
        Nest::Phases(phases) => phases.iter().flat_map(statements).collect(),
        Nest::Loop { inner, .. } => statements(inner),
    }
}
