//! Literals: numbers that wait for their context, and array literals.

use super::Checker;
use super::ty::{Extent, Ty};
use super::vars::Kind;
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    pub(super) fn literal(&mut self, literal: &Literal) -> Ty {
        let suffixed = |suffix: &String| Scalar::parse(suffix).map_or(Ty::Error, Ty::Scalar);
        match literal {
            Literal::Int(_, Some(suffix)) | Literal::Float(_, Some(suffix)) => suffixed(suffix),
            Literal::Int(_, None) => self.vars.fresh(Kind::Int),
            Literal::Float(_, None) => self.vars.fresh(Kind::Float),
            Literal::Bool(_) => Ty::BOOL,
            Literal::Str(_) => Ty::STR,
        }
    }

    /// `[a, b]`: rectangular, unless a jagged array is expected.
    pub(super) fn array(&mut self, items: &[ExprId], hint: Option<&Ty>) -> Ty {
        if let Some(Ty::Jagged(element, levels)) = hint {
            return self.jagged_literal(items, element, *levels);
        }
        let inner_hint = match hint {
            Some(Ty::Tensor(element, extents)) if extents.len() == 1 => Some((**element).clone()),
            _ => None,
        };
        let mut element = self.vars.fresh(Kind::Any);
        for (index, item) in items.iter().enumerate() {
            let found = self.infer_hinted(*item, inner_hint.as_ref());
            if index == 0 {
                // The first element as it is keeps its extents, which the variable would drop.
                // Functions have no type in common but the signature that is expected.
                element = match &inner_hint {
                    Some(hint @ Ty::Fn(_)) => self.join(hint, &found).unwrap_or(found),
                    _ => found,
                };
                continue;
            }
            if self.is_ragged(&element, &found) {
                let (first, span) = (self.show(&element), self.span(*item));
                let (got, at) = (self.show(&found), self.span(items[0]));
                return self.fail(errors::ragged_literal(&first, &got, span, at));
            }
            match self.join(&element, &found) {
                Some(joined) => element = joined,
                None => {
                    let (first, got) = (self.show(&element), self.show(&found));
                    let (span, at) = (self.span(*item), self.span(items[0]));
                    return self.fail(errors::elements_differ(&first, &got, span, at));
                }
            }
        }
        Ty::tensor(self.shallow(&element), vec![Some(items.len() as u64)])
    }

    /// Two elements that can never be rows of one rectangle.
    fn is_ragged(&mut self, first: &Ty, other: &Ty) -> bool {
        match (self.shallow(first), self.shallow(other)) {
            (Ty::Tensor(_, a), Ty::Tensor(_, b)) => a.len() != b.len() || differ(&a, &b),
            (Ty::Tensor(..), Ty::Scalar(_) | Ty::Var(_))
            | (Ty::Scalar(_) | Ty::Var(_), Ty::Tensor(..)) => true,
            _ => false,
        }
    }

    /// An array literal where a jagged array is written: rows of any length.
    fn jagged_literal(&mut self, items: &[ExprId], element: &Ty, levels: u32) -> Ty {
        let inner = match levels {
            0 | 1 => None,
            _ => Some(Ty::Jagged(Box::new(element.clone()), levels - 1)),
        };
        let mut joined = element.clone();
        let mut found_levels = levels.max(1);
        for item in items {
            let found = self.infer_hinted(*item, inner.as_ref());
            let (part, n_levels) = match self.shallow(&found) {
                Ty::Jagged(part, n) => (*part, n + 1),
                Ty::Tensor(part, extents) => (*part, extents.len() as u32 + 1),
                other => (other, 1),
            };
            found_levels = found_levels.max(n_levels);
            match self.join(&joined, &part) {
                Some(ty) => joined = ty,
                None => {
                    let (first, got) = (self.show(&joined), self.show(&part));
                    let (span, at) = (self.span(*item), self.span(items[0]));
                    return self.fail(errors::elements_differ(&first, &got, span, at));
                }
            }
        }
        Ty::Jagged(Box::new(joined), found_levels)
    }

    /// Reports literals that are too large for the type their context gave them. Those of plain
    /// constants have a type only where the constant is used.
    pub(super) fn check_literals(&mut self) {
        for index in 0..self.instances.len() {
            let owner = self.program.bodies[self.instances[index].body].owner;
            let constant = match owner {
                Owner::Def(def) => matches!(self.program.def(def).kind, DefKind::Const(_)),
                Owner::Module(_) => false,
            };
            if self.instances[index].alive && !constant {
                self.cur = super::InstanceId(index as u32);
                self.check_literals_here();
            }
        }
    }

    fn check_literals_here(&mut self) {
        let body = self.body();
        let mut typed: Vec<(ExprId, Ty)> =
            self.work().exprs.iter().map(|(expr, ty)| (expr, ty.clone())).collect();
        typed.sort_by_key(|(expr, _)| *expr);
        for (expr, ty) in typed {
            let ExprKind::Literal(Literal::Int(value, _)) = body.kind(expr) else { continue };
            let Ty::Scalar(scalar) = self.vars.settled(&ty) else { continue };
            if scalar.bounds().is_some_and(|(low, high)| *value < low || *value > high) {
                let diagnostic =
                    errors::literal_too_large(*value, scalar.as_str(), body.span(expr));
                self.report(diagnostic);
            }
        }
    }
}

/// Whether two shapes of one rank are provably different.
pub(super) fn differ(a: &[Extent], b: &[Extent]) -> bool {
    a.iter().zip(b).any(|(a, b)| matches!((a, b), (Some(a), Some(b)) if a != b))
}
