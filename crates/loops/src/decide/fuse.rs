//! `fuse_phases`: one loop for all clauses of a recurrence.
//!
//! An order computes base clauses before the loop of the clauses that read them. If all clauses can
//! run in that loop, each at its own rounds, the planes of a tensor come one after the other, and a
//! window may keep the last ones only. A phase that reads an earlier one must not do so before its
//! round: that is proved for every dependence, or the phases stay as they are.
//!
//! A binding that has no loop of its own takes part along the axis at which all its readers find it
//! in the same or in nearby rounds, as late as the first of them allows.

use std::collections::BTreeMap;

use einlang_index::Facts;
use einlang_tir::module::Group;
use einlang_tir::order::{Dependence, Form, Statement};

use super::distance::{distance, least, most, never_negative};
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
    align_producers(group, dependences, facts, &mut forms);
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

/// Finds forms for bindings that have no loop and are read, directly or not, by those that have one.
fn align_producers(
    group: &Group,
    dependences: &[Dependence],
    facts: &Facts,
    forms: &mut BTreeMap<usize, Form>,
) {
    let n_bindings = group.bindings.len();
    for _ in 0..n_bindings {
        let unknown = (0..n_bindings).filter(|binding| !forms.contains_key(binding));
        let found: Vec<(usize, Form)> = unknown
            .filter_map(|binding| {
                Some((binding, aligned(group, binding, dependences, facts, forms)?))
            })
            .collect();
        if found.is_empty() {
            return;
        }
        forms.extend(found);
    }
}

/// The form of a binding whose readers all have forms: the axis and direction along which they are
/// nearest, with the shift that brings every point to its first reader.
fn aligned(
    group: &Group,
    binding: usize,
    dependences: &[Dependence],
    facts: &Facts,
    forms: &BTreeMap<usize, Form>,
) -> Option<Form> {
    let reads: Vec<(&Dependence, &Form)> = dependences
        .iter()
        .filter(|dependence| dependence.writer.binding == binding)
        .map(|dependence| Some((dependence, forms.get(&dependence.reader.binding)?)))
        .collect::<Option<_>>()?;
    let rank = group.bindings[binding].axes.len();
    let candidates = (0..rank).flat_map(|axis| [(axis, 1), (axis, -1)]);
    let bounded = candidates.filter_map(|(axis, sign)| {
        let mut form = Form { coefficients: vec![0; rank], offset: 0 };
        form.coefficients[axis] = sign;
        let mut rounds: Option<(i64, i64)> = None;
        for (dependence, reader) in &reads {
            let later = distance(group, dependence, reader, &form).ok()?;
            let last = most(facts, &dependence.domain, &later)?;
            let first = least(facts, &dependence.domain, &later)?;
            rounds = Some(rounds.map_or((first, last), |(a, b)| (a.min(first), b.max(last))));
        }
        let (first, last) = rounds?;
        Some((last - first, Form { offset: first, ..form }))
    });
    bounded.min_by_key(|(spread, _)| *spread).map(|(_, form)| form)
}

/// The clauses of a nest, in order.
pub(crate) fn statements(nest: &Nest) -> Vec<Statement> {
    match nest {
        Nest::Points { statement, .. } => vec![*statement],
        Nest::Phases(phases) => phases.iter().flat_map(statements).collect(),
        Nest::Loop { inner, .. } => statements(inner),
    }
}
