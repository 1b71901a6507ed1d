//! What of a product is summed first.
//!
//! An index whose values do not depend on the others can be summed as soon as the factors that depend on it
//! are multiplied. All orders of such steps are tried; what is left at the end is summed in the clause.

use einlang_index::{Var, VarKind};

use super::expand::Product;
use super::size::Sizes;

/// What is made first may be so many times as large as what there is.
const MOST_GROWTH: f64 = 8.0;

/// Some factors multiplied and summed; the result is a factor that comes last.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The indices that are summed.
    pub(super) over: Vec<Var>,
    /// The numbers of the factors, ascending. They are gone afterwards.
    pub(super) factors: Vec<usize>,
    /// The indices of the result.
    pub(super) kept: Vec<Var>,
}

/// Steps, and the work of all of them and the rest.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) steps: Vec<Step>,
    pub(super) cost: f64,
}

/// The cheapest order for a product at the points with these indices.
pub(super) fn choose(product: &Product, outer: &[Var], sizes: &Sizes) -> Order {
    let apart = product.over.iter().copied().filter(|var| is_apart(product, *var));
    let factors = product.factors.iter();
    let first = State {
        factors: factors.map(|factor| (factor.vars.clone(), !factor.own)).collect(),
        over: product.over.clone(),
    };
    let sizes_of = product.factors.iter().map(|factor| sizes.points(&factor.vars));
    let largest = sizes_of.fold(sizes.points(outer), f64::max);
    Search { outer, sizes, apart: apart.collect(), largest }.best(&first)
}

/// Whether the values of an index are the same whatever the others are, those of the clause included.
fn is_apart(product: &Product, var: Var) -> bool {
    let is_other = |other: Var| other != var && other.kind() == VarKind::Index;
    let exprs = product.constraints.iter().map(|constraint| constraint.expr());
    exprs.filter(|expr| expr.mentions(var)).all(|expr| !expr.vars().any(is_other))
}

struct Search<'s> {
    outer: &'s [Var],
    sizes: &'s Sizes,
    /// What may be summed first.
    apart: Vec<Var>,
    /// The size of the largest tensor there is.
    largest: f64,
}

/// The indices of the factors that are left, and whether those may be computed first.
struct State {
    factors: Vec<(Vec<Var>, bool)>,
    over: Vec<Var>,
}

impl Search<'_> {
    fn best(&self, state: &State) -> Order {
        let all = self.outer.iter().chain(&state.over);
        let mut best = Order { steps: Vec::new(), cost: self.sizes.points(all) };
        for var in state.over.iter().filter(|var| self.apart.contains(var)) {
            let Some((step, next)) = self.step(state, *var) else { continue };
            let mut order = self.best(&next);
            order.cost += self.sizes.points(step.over.iter().chain(&step.kept));
            if order.cost < best.cost {
                order.steps.insert(0, step);
                best = order;
            }
        }
        best
    }

    /// Sums an index, and all others that only its factors depend on.
    fn step(&self, state: &State, var: Var) -> Option<(Step, State)> {
        let depends = |at: &usize| state.factors[*at].0.contains(&var);
        let (with, without): (Vec<usize>, Vec<usize>) = (0..state.factors.len()).partition(depends);
        let goes = |other: &Var| {
            self.apart.contains(other)
                && without.iter().all(|at| !state.factors[*at].0.contains(other))
        };
        let (over, left): (Vec<Var>, Vec<Var>) = state.over.iter().copied().partition(goes);
        let mut kept: Vec<Var> = Vec::new();
        for of in with.iter().flat_map(|at| &state.factors[*at].0) {
            if !over.contains(of) && !kept.contains(of) {
                kept.push(*of);
            }
        }
        let fits = self.sizes.points(&kept) <= MOST_GROWTH * self.largest;
        let first = !with.is_empty() && with.iter().all(|at| state.factors[*at].1);
        if !fits || !first {
            return None;
        }
        let mut factors: Vec<_> = without.iter().map(|at| state.factors[*at].clone()).collect();
        factors.push((kept.clone(), true));
        Some((Step { over, factors: with, kept }, State { factors, over: left }))
    }
}
