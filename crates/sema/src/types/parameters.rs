//! Parameters: their names, what defaults say about type parameters, and lists of extents.

use super::Checker;
use super::annotations::Env;
use super::ty::Ty;
use crate::hir::*;

impl Checker<'_> {
    pub(super) fn param_named(&self, body: &Body, wanted: Ident) -> Option<usize> {
        let name = self.name(wanted.name);
        body.params.iter().position(|param| self.param_name(body, param) == Some(name))
    }

    pub(super) fn param_name(&self, body: &Body, param: &Param) -> Option<&str> {
        let mut kind = &param.pattern.kind;
        while let PatternKind::Typed(inner, _) = kind {
            kind = &inner.kind;
        }
        match kind {
            PatternKind::Bind(local, _) => Some(self.name(body[*local].name.name)),
            _ => None,
        }
    }

    /// The parameters that `#[rank(shape)]` names: lists of extents whose length is the rank of a
    /// result, so that their length is part of the specialisation.
    pub(super) fn shape_params(&self, body: &Body, attrs: &[Attr]) -> Vec<usize> {
        let ranks = attrs.iter().filter(|attr| self.name(attr.name.name) == "rank");
        let named = ranks.flat_map(|attr| &attr.args);
        named.filter_map(|(_, name)| self.param_named(body, *name)).collect()
    }
}

/// A type parameter that no argument tells is what the literal is that stands in for one.
pub(super) fn generics_from_defaults(body: &Body, fitted: &[Option<Ty>], env: &mut Env) {
    for (param, given) in body.params.iter().zip(fitted) {
        let (None, Some(mut default), Some(TypeRef { kind: TypeKind::Param(index), .. })) =
            (given, param.default, &param.ty)
        else {
            continue;
        };
        while let ExprKind::Unary(UnaryOp::Neg, inner) = body.kind(default) {
            default = *inner;
        }
        let Some(generic @ None) = env.generics.get_mut(*index as usize) else { continue };
        *generic = match body.kind(default) {
            ExprKind::Literal(Literal::Float(_, None)) => Some(Ty::Scalar(Scalar::F32)),
            ExprKind::Literal(Literal::Int(_, None)) => Some(Ty::I32),
            _ => continue,
        };
    }
}
