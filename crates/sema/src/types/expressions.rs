//! Expressions: the dispatch over their kinds, names, strings, ranges and updates.

use super::ty::Ty;
use super::vars::Kind;
use super::{Checker, MAX_DEPTH};
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// The type of an expression.
    pub(super) fn infer(&mut self, expr: ExprId) -> Ty {
        self.infer_hinted(expr, None)
    }

    /// The type of an expression where a type is expected. The hint decides only between forms
    /// that one literal may have; whether the value fits is checked by whoever has the hint.
    pub(super) fn infer_hinted(&mut self, expr: ExprId, hint: Option<&Ty>) -> Ty {
        if self.depth >= MAX_DEPTH {
            return Ty::Error;
        }
        self.depth += 1;
        let ty = self.infer_kind(expr, hint);
        self.depth -= 1;
        self.work_mut().exprs.insert(expr, ty.clone());
        ty
    }

    fn infer_kind(&mut self, expr: ExprId, hint: Option<&Ty>) -> Ty {
        match self.body().kind(expr) {
            ExprKind::Error => Ty::Error,
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Format(parts) => self.format(parts),
            ExprKind::Name(res) => self.name_type(*res, expr),
            ExprKind::Last => Ty::I32,
            ExprKind::Coordinate(_) => Ty::I32,
            ExprKind::Tuple(items) => self.tuple(items, hint),
            ExprKind::Array(items) => self.array(items, hint),
            ExprKind::Comprehension { element, items } => self.comprehension(*element, items, hint),
            ExprKind::Block(block) => self.block(block, hint),
            ExprKind::If { condition, then, otherwise } => {
                self.branch(expr, *condition, *then, *otherwise, hint)
            }
            ExprKind::Match { scrutinee, arms } => self.matching(*scrutinee, arms, hint),
            ExprKind::Lambda { .. } => self.lambda(expr),
            ExprKind::Unary(op, operand) => self.unary(*op, *operand),
            ExprKind::Differential(operand) => self.differential(*operand),
            ExprKind::Binary(op, left, right) => self.binary(expr, *op, *left, *right),
            ExprKind::Range { start, end, .. } => self.range(*start, *end),
            ExprKind::Cast(value, ty) => self.cast(*value, ty),
            ExprKind::Call { callee, args } => self.call(expr, *callee, args),
            ExprKind::Reduce { op, indices, body } => self.reduction(*op, indices, *body),
            ExprKind::UserReduce { indices, init, combine, body } => {
                self.user_reduction(expr, indices, *init, *combine, *body)
            }
            ExprKind::CoordCall { callee, indices, args } => {
                self.coordinate_call(expr, *callee, indices, args)
            }
            ExprKind::Access { base, subscripts, default } => {
                self.access(*base, subscripts, *default)
            }
            ExprKind::Field(base, field) => self.field(*base, *field),
            ExprKind::Struct { res, fields } => self.structure(expr, *res, fields),
            ExprKind::AndThen(value, then) => self.and_then(expr, *value, *then),
            ExprKind::OkThen(value, then) => self.ok_then(expr, *value, *then),
            ExprKind::OrElse(value, other) => self.or_else(*value, *other),
            ExprKind::Catch(value, handler) => self.catch(expr, *value, *handler),
            ExprKind::Try(value) => {
                let inner = self.infer(*value);
                Ty::Result(Box::new(inner), Box::new(Ty::STR))
            }
            ExprKind::With { base, updates } => self.updates(*base, updates),
            ExprKind::Where { value, items, otherwise } => {
                self.guarded(*value, items, *otherwise, hint)
            }
        }
    }

    fn format(&mut self, parts: &[FormatPart]) -> Ty {
        for part in parts {
            if let FormatPart::Value(value, _) = part {
                self.infer(*value);
            }
        }
        Ty::STR
    }

    fn tuple(&mut self, items: &[ExprId], hint: Option<&Ty>) -> Ty {
        let hints = match hint {
            Some(Ty::Tuple(hints)) => hints.as_slice(),
            _ => &[],
        };
        let items = items.iter().enumerate();
        Ty::Tuple(items.map(|(i, item)| self.infer_hinted(*item, hints.get(i))).collect())
    }

    fn range(&mut self, start: Option<ExprId>, end: Option<ExprId>) -> Ty {
        let mut ty = self.vars.fresh(Kind::Int);
        for end in [start, end].into_iter().flatten() {
            let found = self.infer(end);
            if !self.is_integer(&found) {
                let (got, span) = (self.show(&found), self.span(end));
                self.report(errors::range_not_integer(&got, span));
                return Ty::Range(Box::new(Ty::Error));
            }
            match self.join(&ty, &found) {
                Some(joined) => ty = joined,
                None => {
                    let (a, b, span) = (self.show(&ty), self.show(&found), self.span(end));
                    self.report(errors::range_ends_differ(&a, &b, span));
                    return Ty::Range(Box::new(Ty::Error));
                }
            }
        }
        Ty::Range(Box::new(ty))
    }

    /// An integer, or a literal that can be one, or something silent.
    pub(super) fn is_integer(&mut self, ty: &Ty) -> bool {
        match self.shallow(ty) {
            Ty::Scalar(scalar) => scalar.is_integer(),
            Ty::Var(var) => self.vars.kind(var) != Kind::Float,
            ty => ty.is_silent(),
        }
    }

    /// `x with [i] = e`
    fn updates(&mut self, base: ExprId, updates: &[(Vec<Subscript>, ExprId)]) -> Ty {
        let ty = self.infer(base);
        for (subscripts, value) in updates {
            let part = self.part(base, &ty, subscripts);
            let found = self.infer(*value);
            let filled = match (self.shallow(&part), self.shallow(&found)) {
                (Ty::Tensor(..), Ty::Tensor(..)) => self.unify(&part, &found),
                // A scalar fills a slice.
                (Ty::Tensor(element, _), scalar) => self.unify(&element, &scalar),
                _ => self.unify(&part, &found),
            };
            if !filled {
                let (wanted, got, span) = (self.show(&part), self.show(&found), self.span(*value));
                let base = self.span(base);
                self.report(errors::wrong_update(&wanted, &got, span, base));
            }
        }
        ty
    }
}
