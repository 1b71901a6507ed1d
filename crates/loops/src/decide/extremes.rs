//! Proofs about symbols that are the largest or smallest of others: each is one of its expressions, so
//! whatever holds for all of them holds.

use einlang_index::{Affine, Constraint, Domain, Facts, Quasi, Set, Var};
use einlang_tir::module::{Module, Symbol, SymbolSource};

use super::distance::most;

/// So many symbols are taken apart at once; every one doubles the cases.
const MAX_SPLITS: usize = 4;

/// A symbol and the expressions of which it is one.
type Extreme = (Var, Vec<Quasi>);

/// The symbols that are extremes of others.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Extremes(Vec<Extreme>);

impl Extremes {
    pub(crate) fn of(module: &Module) -> Extremes {
        let extreme = |symbol: &Symbol| match &symbol.source {
            SymbolSource::Max(of) | SymbolSource::Min(of) if !of.is_empty() => {
                Some((symbol.var, of.clone()))
            }
            _ => None,
        };
        Extremes(module.symbols.iter().filter_map(extreme).collect())
    }

    /// Whether a domain has no points.
    pub(crate) fn is_empty(&self, facts: &Facts, domain: &Domain) -> bool {
        let params = domain.params();
        let mentioned = self.0.iter().filter(|(var, _)| params.contains(var));
        is_empty(facts, domain, &mentioned.take(MAX_SPLITS).collect::<Vec<_>>())
    }

    /// The smallest number that an expression never exceeds.
    pub(super) fn most(&self, facts: &Facts, over: &Domain, expr: &Quasi) -> Option<i64> {
        let mentioned = self.0.iter().filter(|(var, _)| expr.mentions(*var));
        largest(facts, over, expr, &mentioned.take(MAX_SPLITS).collect::<Vec<_>>())
    }
}

/// The part of a domain where a symbol is one of its expressions.
fn where_it_is(domain: &Domain, var: Var, value: &Quasi) -> Option<Domain> {
    let case = Constraint::equal(&Affine::var(var), value.as_affine()?).ok()?;
    domain.restricted(&Set::new([case]).ok()?).ok()
}

fn is_empty(facts: &Facts, domain: &Domain, extremes: &[&Extreme]) -> bool {
    if domain.always_empty_given(facts.set()).is_true() {
        return true;
    }
    let [(var, of), rest @ ..] = extremes else { return false };
    of.iter().all(|value| {
        where_it_is(domain, *var, value).is_some_and(|part| is_empty(facts, &part, rest))
    })
}

fn largest(facts: &Facts, over: &Domain, expr: &Quasi, extremes: &[&Extreme]) -> Option<i64> {
    let found = most(facts, over, expr);
    let (None, [(var, of), rest @ ..]) = (found, extremes) else { return found };
    let each = of.iter().map(|value| {
        where_it_is(over, *var, value).and_then(|part| largest(facts, &part, expr, rest))
    });
    each.collect::<Option<Vec<i64>>>()?.into_iter().max()
}
