//! Whether a value fits a written type.
//!
//! Fitting also *learns*: which element type a type parameter is, and how many axes a rest stands
//! for. When two rests are open in one type, the first takes all: a coordinate parameter is the
//! last axis unless a coordinate call says otherwise; where its coordinate lies is asked of the
//! pass that knows layouts (see `placing.rs`).

use super::Checker;
use super::annotations::Env;
use super::ty::{Extent, FnTy, Ty};
use crate::builtins::{Builtin, BuiltinType};
use crate::hir::*;

impl Checker<'_> {
    /// The type of a value where this type is written, or nothing when it does not fit.
    pub(super) fn fit(&mut self, ty: &TypeRef, found: &Ty, env: &mut Env) -> Option<Ty> {
        let found = self.shallow(found);
        if let Ty::Differential(inner) = &found {
            return self.fit(ty, inner, env).map(|ty| Ty::Differential(Box::new(ty)));
        }
        if found.is_silent() {
            return Some(self.lower(ty, env));
        }
        // A type that nothing is known about becomes what is written, if that is one type.
        if let (Ty::Var(_), None) = (&found, self.vars.literal(&found))
            && !matches!(ty.kind, TypeKind::Param(_))
        {
            return self.join(&found, &self.lower(ty, env));
        }
        match &ty.kind {
            TypeKind::Error => Some(found),
            TypeKind::Scalar(scalar) => self.join(&found, &Ty::Scalar(*scalar)),
            TypeKind::Param(index) => self.fit_param(*index as usize, &found, env),
            TypeKind::Tensor(element, dims) => self.fit_tensor(element, dims, &found, env),
            TypeKind::Jagged(element, levels) => match &found {
                Ty::Jagged(inner, n) if n == levels || *levels == 1 => {
                    Some(Ty::Jagged(Box::new(self.fit(element, inner, env)?), *n))
                }
                _ => None,
            },
            TypeKind::Tuple(parts) => match &found {
                Ty::Tuple(values) if values.len() == parts.len() => {
                    let pairs = parts.iter().zip(values);
                    let fitted: Option<Vec<Ty>> =
                        pairs.map(|(ty, value)| self.fit(ty, value, env)).collect();
                    Some(Ty::Tuple(fitted?))
                }
                _ => None,
            },
            TypeKind::Named(res, args) => self.fit_named(*res, args, &found, env),
            TypeKind::Fn(params, ret) => self.fit_function(params, ret, &found, env),
        }
    }

    fn fit_param(&mut self, index: usize, found: &Ty, env: &mut Env) -> Option<Ty> {
        match env.generics.get(index).cloned() {
            Some(Some(known)) => self.join(&known, found),
            Some(None) => {
                env.generics[index] = Some(found.without_extents());
                Some(found.clone())
            }
            None => Some(found.clone()),
        }
    }

    fn fit_tensor(
        &mut self,
        element: &TypeRef,
        dims: &[Dim],
        found: &Ty,
        env: &mut Env,
    ) -> Option<Ty> {
        let (inner, extents) = match found {
            Ty::Tensor(inner, extents) => ((**inner).clone(), extents.clone()),
            Ty::Jagged(..) | Ty::Range(_) | Ty::Fn(_) => return None,
            other => (other.clone(), Vec::new()),
        };
        let axes = self.fit_axes(dims, &extents, env)?;
        Some(Ty::tensor(self.fit(element, &inner, env)?, axes))
    }

    /// Assigns axes to dimensions, and the axes that are left to the open rests.
    fn fit_axes(&mut self, dims: &[Dim], extents: &[Extent], env: &mut Env) -> Option<Vec<Extent>> {
        if dims.iter().any(|dim| matches!(dim, Dim::AnyRank(_))) {
            return Some(extents.to_vec());
        }
        self.place_rests(dims, extents.len(), env);
        let width = |dim: &Dim, env: &Env| match dim {
            Dim::Rest(rest, _) => env.rests.get(rest).copied().unwrap_or(0) as usize,
            _ => 1,
        };
        let fixed: usize = dims.iter().map(|dim| width(dim, env)).sum();
        let mut left = extents.len().checked_sub(fixed)?;
        for dim in dims {
            if let Dim::Rest(rest, _) = dim
                && !env.rests.contains_key(rest)
            {
                env.rests.insert(*rest, std::mem::take(&mut left) as u32);
            }
        }
        let (mut axes, mut position) = (Vec::new(), 0);
        for dim in dims {
            for _ in 0..width(dim, env) {
                let stated = self.extent(dim, env.body);
                axes.push(stated.or(extents.get(position).copied().flatten()));
                position += 1;
            }
        }
        (left == 0).then_some(axes)
    }

    fn fit_named(&mut self, res: Res, args: &[TypeRef], found: &Ty, env: &mut Env) -> Option<Ty> {
        let inner: Vec<Ty> = match (res, found) {
            (Res::External | Res::Error, _) => return Some(Ty::Error),
            (Res::Builtin(Builtin::Type(BuiltinType::Option)), Ty::Option(inner)) => {
                vec![(**inner).clone()]
            }
            (Res::Builtin(Builtin::Type(BuiltinType::Result)), Ty::Result(ok, err)) => {
                vec![(**ok).clone(), (**err).clone()]
            }
            (Res::Def(def), Ty::Struct(other, inner) | Ty::Enum(other, inner)) if def == *other => {
                inner.clone()
            }
            _ => return None,
        };
        let mut fitted = Vec::new();
        for (index, ty) in inner.iter().enumerate() {
            fitted.push(match args.get(index) {
                Some(arg) => self.fit(arg, ty, env)?,
                None => ty.clone(),
            });
        }
        let mut parts = fitted.into_iter().map(Box::new);
        let mut next = || parts.next().unwrap_or(Box::new(Ty::Error));
        Some(match found {
            Ty::Option(_) => Ty::Option(next()),
            Ty::Result(..) => Ty::Result(next(), next()),
            Ty::Struct(def, inner) => Ty::Struct(*def, inner.iter().map(|_| *next()).collect()),
            Ty::Enum(def, inner) => Ty::Enum(*def, inner.iter().map(|_| *next()).collect()),
            _ => return None,
        })
    }

    /// A function keeps its identity where a signature is written, unless closures nest so deep
    /// that a recursion must be making them.
    fn fit_function(
        &mut self,
        params: &[TypeRef],
        ret: &TypeRef,
        found: &Ty,
        env: &mut Env,
    ) -> Option<Ty> {
        let Ty::Fn(function) = found else { return None };
        let lowered: Vec<Ty> = params.iter().map(|ty| self.lower(ty, env)).collect();
        let result = self.apply(function, lowered.clone())?;
        let result = self.fit(ret, &result, env)?;
        if self.closure_depth(function) > 3 {
            return Some(Ty::Fn(FnTy::Declared(lowered, Box::new(result))));
        }
        Some(found.clone())
    }
}
