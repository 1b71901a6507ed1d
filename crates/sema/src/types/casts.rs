//! `e as type`.

use super::Checker;
use super::ty::Ty;
use super::vars::Kind;
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    pub(super) fn cast(&mut self, value: ExprId, ty: &TypeRef) -> Ty {
        self.type_dims(ty);
        let hint = self.lower_here(ty);
        let found = match &hint {
            Ty::Jagged(..) => self.infer_hinted(value, Some(&hint)),
            _ => self.infer(value),
        };
        if found.is_silent() || self.is_loading(&found) {
            // The cast says what the value is.
            self.unify(&found, &hint);
            return hint;
        }
        if self.is_literal(value) {
            self.literal_for(&found, &hint);
        }
        let plain = self.plain(&found);
        match self.converted(ty, &plain) {
            Some(result) if self.is_differential(&found) => Ty::Differential(Box::new(result)),
            Some(result) => result,
            None => {
                let (from, to, span) = (self.show(&found), self.spell(ty), self.span(value));
                let (text, _) = self.snippet(value);
                self.fail(errors::impossible_cast(&text, &from, &to, span, ty.span))
            }
        }
    }

    /// An expression made only of literals and constants. A binding whose type is still open is
    /// not one: a cast converts it and says nothing about it.
    fn is_literal(&self, expr: ExprId) -> bool {
        match self.body().kind(expr) {
            ExprKind::Literal(_) => true,
            ExprKind::Unary(_, inner) => self.is_literal(*inner),
            ExprKind::Binary(_, a, b) => self.is_literal(*a) && self.is_literal(*b),
            ExprKind::Array(items) | ExprKind::Tuple(items) => {
                items.iter().all(|item| self.is_literal(*item))
            }
            ExprKind::Name(Res::Def(def)) => {
                matches!(self.program.def(*def).kind, DefKind::Const(_))
            }
            _ => false,
        }
    }

    /// A literal is evaluated at the type of the cast where that loses nothing; otherwise the cast
    /// converts what the literal is by default.
    fn literal_for(&mut self, found: &Ty, target: &Ty) {
        let (Some(kind), Ty::Scalar(scalar)) = (self.vars.literal(found), target) else { return };
        let wide = matches!(scalar, Scalar::I64 | Scalar::U64);
        if scalar.is_float() || (wide && kind == Kind::Int) {
            self.unify(found, target);
        }
    }

    /// The type after a cast, or nothing when there is no such conversion.
    fn converted(&mut self, ty: &TypeRef, found: &Ty) -> Option<Ty> {
        let found = self.shallow(found);
        match (&ty.kind, &found) {
            (TypeKind::Tensor(element, dims), Ty::Tensor(inner, extents)) => {
                let inner = self.converted(element, inner)?;
                let whole = Ty::tensor(inner, extents.clone());
                self.relabelled(element, dims, &whole)
            }
            (TypeKind::Tensor(element, _), Ty::Jagged(inner, _)) => {
                self.converted(element, inner)?;
                Some(self.lower_here(ty))
            }
            (TypeKind::Jagged(element, levels), Ty::Jagged(inner, n)) if levels == n => {
                Some(Ty::Jagged(Box::new(self.converted(element, inner)?), *n))
            }
            (TypeKind::Jagged(element, levels), Ty::Tensor(inner, extents))
                if *levels as usize == extents.len() =>
            {
                Some(Ty::Jagged(Box::new(self.converted(element, inner)?), *levels))
            }
            (TypeKind::Scalar(_) | TypeKind::Param(_), Ty::Tensor(inner, extents)) => {
                Some(Ty::tensor(self.converted(ty, inner)?, extents.clone()))
            }
            (TypeKind::Scalar(_) | TypeKind::Param(_), Ty::Scalar(_) | Ty::Var(_)) => {
                let target = self.lower_here(ty);
                castable(&self.vars.settled(&found), &target).then_some(target)
            }
            (TypeKind::Tensor(..), Ty::Range(inner)) => {
                let whole = Ty::Tensor(inner.clone(), vec![None]);
                self.converted(ty, &whole)
            }
            _ => {
                let mut env = self.env();
                self.fit(ty, &found, &mut env)
            }
        }
    }

    /// The axes after a cast, with the extents that it states.
    fn relabelled(&mut self, element: &TypeRef, dims: &[Dim], whole: &Ty) -> Option<Ty> {
        let mut env = self.env();
        let kind = TypeKind::Tensor(
            Box::new(TypeRef { kind: TypeKind::Error, span: element.span }),
            dims.to_vec(),
        );
        let fitted = self.fit(&TypeRef { kind, span: element.span }, whole, &mut env);
        self.work_mut().rests.extend(env.rests.iter().map(|(rest, n)| (*rest, *n)));
        fitted
    }
}

/// Numbers convert into each other, bools into numbers, strings into nothing.
fn castable(from: &Ty, to: &Ty) -> bool {
    match (from, to) {
        (Ty::Scalar(from), Ty::Scalar(to)) => {
            from == to || (to.is_number() && (from.is_number() || *from == Scalar::Bool))
        }
        (_, Ty::Error) | (Ty::Error, _) => true,
        _ => from == to,
    }
}
