//! The first round of a loop is lowered apart where it is that of base clauses: then neither it nor
//! the other rounds ask which clauses they have. Where many clauses have nests of loops in both, the code would be
//! twice as long for nothing: a round of so many takes longer than to ask.

use einlang_index::{Affine, Constraint, Domain, Set, Var};
use einlang_tir::order::Statement;

use super::Result;
use super::nest::Domains;

/// The most nests that are lowered twice.
const MOST_TWICE: usize = 4;

/// The round of the clauses that have one only, if there are others.
pub(super) fn first_round(inside: &Domains, var: Var, context: &Set) -> Option<i64> {
    let mut rounds = Vec::new();
    for domain in inside.values() {
        let dims: Vec<Var> = [var].into_iter().chain(domain.dims().iter().copied()).collect();
        let projected = Domain::of_sets(dims, domain.sets().iter().cloned()).project(&[var]);
        let only = projected.ok().and_then(|projected| match projected.sets() {
            [set] => only_round(set, var),
            _ => None,
        });
        rounds.push(only);
    }
    let first = rounds.iter().flatten().min().copied()?;
    let others = rounds.iter().any(Option::is_none);
    (others && is_first(inside, var, first, context)).then_some(first)
}

/// The one value of a variable that a set allows.
fn only_round(set: &Set, var: Var) -> Option<i64> {
    set.eqs().iter().find_map(|eq| {
        let rest = eq.without(var).as_constant()?;
        match eq.coeff(var) {
            1 => rest.checked_neg(),
            -1 => Some(rest),
            _ => None,
        }
    })
}

/// Whether no clause has a round before this one.
fn is_first(inside: &Domains, var: Var, first: i64, context: &Set) -> bool {
    let before = Constraint::lt(&Affine::var(var), &Affine::constant(first));
    let Ok(before) = before.and_then(|before| Set::new([before])) else { return false };
    inside.values().all(|domain| {
        let rest = domain.restricted(&before);
        rest.is_ok_and(|rest| rest.always_empty_given(context).is_true())
    })
}

/// The points of the first round, and those of the rounds after it.
pub(super) fn divided(
    inside: &Domains,
    var: Var,
    first: i64,
    context: &Set,
) -> Result<(Domains, Domains)> {
    let (mut of_first, mut others) = (Domains::new(), Domains::new());
    let at = Affine::constant(first);
    let now = Set::new([Constraint::equal(&Affine::var(var), &at)?])?;
    let later = Set::new([Constraint::lt(&at, &Affine::var(var))?])?;
    for (statement, domain) in inside {
        for (set, part) in [(&now, &mut of_first), (&later, &mut others)] {
            let rest = domain.restricted(set)?;
            let rest = match rest.always_empty_given(context).is_true() {
                true => Domain::nothing(domain.dims()),
                false => rest,
            };
            part.insert(*statement, rest);
        }
    }
    Ok((of_first, others))
}

/// Whether few clauses that are nests have points both in the first round and in others.
pub(super) fn is_short(
    (of_first, others): &(Domains, Domains),
    is_nest: &dyn Fn(&Statement) -> bool,
) -> bool {
    let some = |domain: Option<&Domain>| domain.is_some_and(|domain| !domain.sets().is_empty());
    let twice = |of: &&Statement| some(of_first.get(of)) && some(others.get(of)) && is_nest(of);
    of_first.keys().filter(twice).count() <= MOST_TWICE
}
