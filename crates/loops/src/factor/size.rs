//! How much work an order is. Sizes that are no numbers of the program are all alike: an order that
//! depended on the sizes of a call would let the results of the next one depend on it.

use einlang_index::{Constraint, Quasi, Set, Var};
use rustc_hash::FxHashMap as HashMap;

/// A size that the program does not say.
const USUAL: f64 = 64.0;

/// The lengths of the indices that were seen.
#[derive(Clone, Default, Debug)]
pub(super) struct Sizes(HashMap<Var, f64>);

impl Sizes {
    /// An index that runs along an axis.
    pub(super) fn axis(&mut self, var: Var, extent: &Quasi) {
        let length = match extent.as_affine() {
            Some(affine) => {
                let terms = affine.terms().iter();
                let sum: f64 = terms.map(|(_, k)| *k as f64 * USUAL).sum();
                (sum + affine.constant_part() as f64).max(1.0)
            }
            None => USUAL,
        };
        self.0.insert(var, length);
    }

    /// The indices of a sum.
    pub(super) fn sum(&mut self, dims: &[Var], over: &Set) {
        for dim in dims {
            let length = self.between(*dim, over);
            self.0.insert(*dim, length);
        }
    }

    /// The number of points with these indices.
    pub(super) fn points<'v>(&self, vars: impl IntoIterator<Item = &'v Var>) -> f64 {
        vars.into_iter().map(|var| self.0.get(var).copied().unwrap_or(USUAL)).product()
    }

    /// How many values an index has, where the others are in the middle of theirs.
    fn between(&self, dim: Var, over: &Set) -> f64 {
        let (mut lo, mut hi) = (0.0_f64, f64::INFINITY);
        for constraint in over.constraints() {
            let (Constraint::Ge(expr), k) = (&constraint, constraint.expr().coeff(dim)) else {
                continue;
            };
            if k == 0 {
                continue;
            }
            let others = expr.terms().iter().filter(|(var, _)| *var != dim);
            let middle = |var: &Var| self.0.get(var).map_or(USUAL, |length| length / 2.0);
            let rest: f64 = others.map(|(var, k)| *k as f64 * middle(var)).sum();
            let bound = -(rest + expr.constant_part() as f64) / k as f64;
            if k > 0 { lo = lo.max(bound) } else { hi = hi.min(bound + 1.0) }
        }
        if hi.is_finite() { (hi - lo).max(1.0) } else { USUAL }
    }
}
