//! How much work an order is.

use std::collections::HashMap;

use einlang_index::{Constraint, Quasi, Set, Var};
use einlang_tir::module::{Module, SymbolSource};

/// A size of which nothing is known.
const USUAL: f64 = 64.0;

/// A number of products: with the sizes of the waiting call, and with sizes that are all alike.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Cost {
    pub(super) here: f64,
    usual: f64,
}

impl Cost {
    pub(super) fn add(&mut self, more: Cost) {
        self.here += more.here;
        self.usual += more.usual;
    }

    /// Whether it is at most this part of another, and with other sizes not more than that.
    pub(super) fn is_at_most(self, part: f64, of: Cost) -> bool {
        self.here <= part * of.here && self.usual <= of.usual
    }
}

/// The sizes of a module, and the lengths of the indices that were seen.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    here: HashMap<Var, f64>,
    lengths: HashMap<Var, Cost>,
}

impl Sizes {
    /// The sizes that follow from the shapes of the inputs.
    pub(super) fn of(module: &Module, shapes: &[Vec<i64>]) -> Sizes {
        let fits = shapes.len() == module.inputs.len();
        let shape_of = |name| {
            let at = module.inputs.iter().position(|input| input.name == name)?;
            shapes.get(at).filter(|_| fits)
        };
        let here = module.symbols.iter().filter_map(|symbol| match &symbol.source {
            SymbolSource::Shape(name, axis) => {
                Some((symbol.var, *shape_of(name.clone())?.get(*axis)? as f64))
            }
            _ => None,
        });
        Sizes { here: here.collect(), lengths: HashMap::new() }
    }

    /// An index that runs along an axis.
    pub(super) fn axis(&mut self, var: Var, extent: &Quasi) {
        let length = Cost {
            here: self.value(extent, &|var| self.here.get(&var).copied()),
            usual: self.value(extent, &|_| None),
        };
        self.lengths.insert(var, length);
    }

    /// The indices of a sum.
    pub(super) fn sum(&mut self, dims: &[Var], over: &Set) {
        for dim in dims {
            let length = Cost {
                here: self.between(*dim, over, &|var| self.here.get(&var).copied()),
                usual: self.between(*dim, over, &|_| None),
            };
            self.lengths.insert(*dim, length);
        }
    }

    /// The number of points with these indices.
    pub(super) fn points<'v>(&self, vars: impl IntoIterator<Item = &'v Var>) -> Cost {
        let usual = Cost { here: USUAL, usual: USUAL };
        let mut points = Cost { here: 1.0, usual: 1.0 };
        for var in vars {
            let length = self.lengths.get(var).copied().unwrap_or(usual);
            points.here *= length.here;
            points.usual *= length.usual;
        }
        points
    }

    fn value(&self, expr: &Quasi, known: &dyn Fn(Var) -> Option<f64>) -> f64 {
        match expr.as_affine() {
            Some(affine) => {
                let terms = affine.terms().iter();
                let sum: f64 = terms.map(|(var, k)| *k as f64 * known(*var).unwrap_or(USUAL)).sum();
                (sum + affine.constant_part() as f64).max(1.0)
            }
            None => USUAL,
        }
    }

    /// How many values an index has, where the others are in the middle of theirs.
    fn between(&self, dim: Var, over: &Set, known: &dyn Fn(Var) -> Option<f64>) -> f64 {
        let (mut lo, mut hi) = (0.0_f64, f64::INFINITY);
        for constraint in over.constraints() {
            let (Constraint::Ge(expr), k) = (&constraint, constraint.expr().coeff(dim)) else {
                continue;
            };
            if k == 0 {
                continue;
            }
            let others = expr.terms().iter().filter(|(var, _)| *var != dim);
            let middle = |var: Var| match self.lengths.get(&var) {
                Some(length) => length.usual.min(length.here) / 2.0,
                None => known(var).unwrap_or(USUAL),
            };
            let rest: f64 = others.map(|(var, k)| *k as f64 * middle(*var)).sum();
            let bound = -(rest + expr.constant_part() as f64) / k as f64;
            if k > 0 { lo = lo.max(bound) } else { hi = hi.min(bound + 1.0) }
        }
        if hi.is_finite() { (hi - lo).max(1.0) } else { USUAL }
    }
}
