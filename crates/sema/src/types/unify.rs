//! Agreement of types: what two places that must have one type have in common.

use super::Checker;
use super::ty::{Extent, FnTy, Ty};

impl Checker<'_> {
    pub(super) fn shallow(&self, ty: &Ty) -> Ty {
        self.vars.shallow(ty)
    }

    /// Makes two types one, deciding what is undecided. False when they cannot be.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        self.join(a, b).is_some()
    }

    /// The type of a place that holds the one or the other. Extents that differ are forgotten.
    pub(super) fn join(&mut self, a: &Ty, b: &Ty) -> Option<Ty> {
        let (a, b) = (self.vars.shallow(a), self.vars.shallow(b));
        match (&a, &b) {
            (Ty::Error, _) | (_, Ty::Error) => Some(Ty::Error),
            (Ty::Unknown, other) | (other, Ty::Unknown) => Some(other.clone()),
            (Ty::Var(x), Ty::Var(y)) => Some(self.vars.merge(*x, *y)),
            (Ty::Differential(x), Ty::Differential(y)) => self.join_differential(x, y),
            (Ty::Differential(x), y) | (y, Ty::Differential(x)) => self.join_differential(x, y),
            (Ty::Var(var), other) | (other, Ty::Var(var)) => {
                self.vars.bind(*var, other).then(|| other.clone())
            }
            (Ty::Tensor(x, m), Ty::Tensor(y, n)) => self.join_tensors((x, m), (y, n)),
            (Ty::Jagged(x, m), Ty::Jagged(y, n)) if m == n => {
                Some(Ty::Jagged(Box::new(self.join(x, y)?), *m))
            }
            (Ty::Tuple(x), Ty::Tuple(y)) => Some(Ty::Tuple(self.join_all(x, y)?)),
            (Ty::Struct(d, x), Ty::Struct(e, y)) if d == e => {
                Some(Ty::Struct(*d, self.join_all(x, y)?))
            }
            (Ty::Enum(d, x), Ty::Enum(e, y)) if d == e => Some(Ty::Enum(*d, self.join_all(x, y)?)),
            (Ty::Option(x), Ty::Option(y)) => Some(Ty::Option(Box::new(self.join(x, y)?))),
            (Ty::Range(x), Ty::Range(y)) => Some(Ty::Range(Box::new(self.join(x, y)?))),
            (Ty::Result(t, e), Ty::Result(u, f)) => {
                Some(Ty::Result(Box::new(self.join(t, u)?), Box::new(self.join(e, f)?)))
            }
            (Ty::Fn(f), Ty::Fn(g)) => self.join_functions(f, g),
            _ => (a == b).then(|| a.clone()),
        }
    }

    fn join_differential(&mut self, a: &Ty, b: &Ty) -> Option<Ty> {
        Some(Ty::Differential(Box::new(self.join(a, b)?)))
    }

    fn join_tensors(&mut self, a: (&Ty, &[Extent]), b: (&Ty, &[Extent])) -> Option<Ty> {
        if a.1.len() != b.1.len() {
            return None;
        }
        let element = self.join(a.0, b.0)?;
        let same = |(m, n): (&Extent, &Extent)| if m == n { *m } else { None };
        Some(Ty::tensor(element, a.1.iter().zip(b.1).map(same).collect()))
    }

    fn join_all(&mut self, a: &[Ty], b: &[Ty]) -> Option<Vec<Ty>> {
        if a.len() != b.len() {
            return None;
        }
        a.iter().zip(b).map(|(a, b)| self.join(a, b)).collect()
    }

    /// A function fits a signature; two different functions have no common type that names them.
    fn join_functions(&mut self, a: &FnTy, b: &FnTy) -> Option<Ty> {
        match (a, b) {
            (FnTy::Declared(p, r), FnTy::Declared(q, s)) => {
                let params = self.join_all(p, q)?;
                Some(Ty::Fn(FnTy::Declared(params, Box::new(self.join(r, s)?))))
            }
            (FnTy::Declared(params, ret), other) | (other, FnTy::Declared(params, ret)) => {
                let result = self.apply(other, params.clone())?;
                let ret = self.join(ret, &result)?;
                Some(Ty::Fn(FnTy::Declared(params.clone(), Box::new(ret))))
            }
            _ => (a == b).then(|| Ty::Fn(a.clone())),
        }
    }
}
