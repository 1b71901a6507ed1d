//! `if`, `match`, `where`, and the pipes that branch: everything that has several values for one
//! place.

use super::Checker;
use super::calls::Given;
use super::effects::Pure;
use super::ty::{FnTy, Ty};
use crate::builtins::{Builtin, Function};
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    pub(super) fn branch(
        &mut self,
        expr: ExprId,
        condition: ExprId,
        then: ExprId,
        otherwise: Option<ExprId>,
        hint: Option<&Ty>,
    ) -> Ty {
        if let Some(holds) = self.rank_condition(condition) {
            self.work_mut().conditions.insert(expr, holds);
            return match (holds, otherwise) {
                (true, _) => self.infer_hinted(then, hint),
                (false, Some(otherwise)) => self.infer_hinted(otherwise, hint),
                (false, None) => Ty::unit(),
            };
        }
        self.condition(condition, "the condition of `if`");
        let first = self.infer_branch(then, hint);
        let Some(otherwise) = otherwise else { return Ty::unit() };
        let second = self.infer_branch(otherwise, hint);
        self.agree(&first, &second, then, otherwise, "the branches of this `if`")
    }

    /// A condition must be a bool.
    pub(super) fn condition(&mut self, condition: ExprId, what: &str) {
        let found = self.infer(condition);
        if !self.unify(&found, &Ty::BOOL) {
            let (got, span) = (self.show(&found), self.span(condition));
            self.report(errors::condition_not_bool(what, &got, span));
        }
    }

    /// The common type of two branches.
    pub(super) fn agree(
        &mut self,
        a: &Ty,
        b: &Ty,
        first: ExprId,
        second: ExprId,
        what: &str,
    ) -> Ty {
        match self.join(a, b) {
            Some(ty) => ty,
            None => {
                let (a, b) = (self.show(a), self.show(b));
                let (first, second) = (self.tail_span(first), self.tail_span(second));
                self.fail(errors::branches_differ(what, &a, &b, second, first))
            }
        }
    }

    /// `len(shape(x)) == 2` and combinations of such conditions, decided by the rank of `x`.
    fn rank_condition(&mut self, condition: ExprId) -> Option<bool> {
        let body = self.body();
        let holds = match body.kind(condition) {
            ExprKind::Unary(UnaryOp::Not, inner) => !self.rank_condition(*inner)?,
            ExprKind::Binary(BinaryOp::And, a, b) => {
                self.rank_condition(*a)? && self.rank_condition(*b)?
            }
            ExprKind::Binary(BinaryOp::Or, a, b) => {
                self.rank_condition(*a)? || self.rank_condition(*b)?
            }
            ExprKind::Binary(op, a, b) => {
                let rank_first = self.rank_of(*a).is_some() || self.rank_of(*b).is_some();
                let (a, b) = (self.known_integer(*a)?, self.known_integer(*b)?);
                let compared = match op {
                    BinaryOp::Eq => a == b,
                    BinaryOp::Ne => a != b,
                    BinaryOp::Lt => a < b,
                    BinaryOp::Le => a <= b,
                    BinaryOp::Gt => a > b,
                    BinaryOp::Ge => a >= b,
                    _ => return None,
                };
                rank_first.then_some(compared)?
            }
            _ => return None,
        };
        self.infer(condition);
        Some(holds)
    }

    fn known_integer(&mut self, expr: ExprId) -> Option<i128> {
        match self.body().kind(expr) {
            ExprKind::Literal(Literal::Int(value, _)) => Some(*value),
            _ => self.rank_of(expr).map(|rank| rank as i128),
        }
    }

    /// The rank in `len(shape(x))` or `len(x.shape)`.
    fn rank_of(&mut self, expr: ExprId) -> Option<usize> {
        let inner = self.argument_of(expr, Function::Len)?;
        if let Some(rank) = self.rank_of_shape(inner) {
            return Some(rank);
        }
        let tensor = match self.body().kind(inner) {
            ExprKind::Field(base, field) if self.name(field.name) == "shape" => *base,
            _ => self.argument_of(inner, Function::Shape)?,
        };
        let ty = self.infer(tensor);
        match self.shallow(&ty) {
            Ty::Tensor(_, extents) => Some(extents.len()),
            Ty::Scalar(_) => Some(0),
            _ => None,
        }
    }

    /// The length of a parameter that `#[rank(…)]` names.
    fn rank_of_shape(&mut self, expr: ExprId) -> Option<usize> {
        let body = self.body();
        let (ExprKind::Name(Res::Local(local)), Owner::Def(def)) = (body.kind(expr), body.owner)
        else {
            return None;
        };
        let DefKind::Fn(function) = &self.program.def(def).kind else { return None };
        let name = self.body()[*local].name;
        let position = self.param_named(body, name)?;
        if !self.shape_params(body, &function.attrs).contains(&position) {
            return None;
        }
        match self.local(*local) {
            Ty::Tensor(_, extents) => extents.first().copied().flatten().map(|n| n as usize),
            _ => None,
        }
    }

    fn argument_of(&self, expr: ExprId, function: Function) -> Option<ExprId> {
        let body = self.body();
        let ExprKind::Call { callee, args } = body.kind(expr) else { return None };
        let wanted = Res::Builtin(Builtin::Function(function));
        match (body.kind(*callee), &args[..]) {
            (ExprKind::Name(res), [arg]) if *res == wanted => Some(arg.value),
            _ => None,
        }
    }

    /// The type of a branch. Functions have none in common but the signature that is expected.
    fn infer_branch(&mut self, value: ExprId, hint: Option<&Ty>) -> Ty {
        let found = self.infer_hinted(value, hint);
        match hint {
            Some(hint @ Ty::Fn(FnTy::Declared(..))) if matches!(found, Ty::Fn(_)) => {
                self.join(hint, &found).unwrap_or(found)
            }
            _ => found,
        }
    }

    pub(super) fn matching(&mut self, scrutinee: ExprId, arms: &[Arm], hint: Option<&Ty>) -> Ty {
        let matched = self.infer(scrutinee);
        let mut result: Option<(Ty, ExprId)> = None;
        let mut fits = true;
        for arm in arms {
            let said = self.work().diagnostics.len();
            self.bind_pattern(&arm.pattern, &matched);
            fits &= self.work().diagnostics.len() == said;
            if let Some(guard) = arm.guard {
                self.condition(guard, "the guard of an arm");
            }
            let found = self.infer_branch(arm.value, hint);
            result = Some(match result {
                None => (found, arm.value),
                Some((ty, first)) => {
                    (self.agree(&ty, &found, first, arm.value, "the arms of this `match`"), first)
                }
            });
        }
        if fits {
            self.check_arms(scrutinee, &matched, arms);
        }
        result.map_or(Ty::unit(), |(ty, _)| ty)
    }

    /// `e where …`
    pub(super) fn guarded(
        &mut self,
        value: ExprId,
        items: &[WhereItem],
        otherwise: Option<ExprId>,
        hint: Option<&Ty>,
    ) -> Ty {
        for item in items {
            self.in_pure(Pure::Where, |cx| match item {
                WhereItem::Binding(local, value) => {
                    let first = cx.vars.count();
                    let ty = cx.infer(*value);
                    cx.vars.default_since(first);
                    cx.set_local(*local, ty);
                }
                WhereItem::Guard(guard) => cx.condition(*guard, "a guard"),
            });
        }
        let ty = self.infer_branch(value, hint);
        let Some(otherwise) = otherwise else { return ty };
        let other = self.infer_branch(otherwise, hint);
        self.agree(&ty, &other, value, otherwise, "the value and its `else`")
    }

    /// `x ?> f`
    pub(super) fn and_then(&mut self, expr: ExprId, value: ExprId, then: ExprId) -> Ty {
        let found = self.infer(value);
        let inner = match self.shallow(&found) {
            Ty::Option(inner) => *inner,
            ty if ty.is_silent() => Ty::Error,
            _ => {
                let (got, span) = (self.show(&found), self.span(value));
                self.fail(errors::pipe_needs("?>", "Option", &got, span))
            }
        };
        let result = self.piped(expr, inner, value, then);
        match self.shallow(&result) {
            Ty::Option(_) => result,
            _ => Ty::Option(Box::new(result)),
        }
    }

    /// The types of `Ok` and `Err` of a value, which the operator needs to be a `Result`.
    fn result_parts(&mut self, value: ExprId, operator: &str) -> (Ty, Ty) {
        let found = self.infer(value);
        match self.shallow(&found) {
            Ty::Result(inner, err) => (*inner, *err),
            ty if ty.is_silent() => (Ty::Error, Ty::Error),
            _ => {
                let (got, span) = (self.show(&found), self.span(value));
                (self.fail(errors::pipe_needs(operator, "Result", &got, span)), Ty::Error)
            }
        }
    }

    /// `x !> f`
    pub(super) fn ok_then(&mut self, expr: ExprId, value: ExprId, then: ExprId) -> Ty {
        let (inner, err) = self.result_parts(value, "!>");
        let result = self.piped(expr, inner, value, then);
        match self.shallow(&result) {
            Ty::Result(ok, other) if self.unify(&err, &other) => Ty::Result(ok, other),
            _ => Ty::Result(Box::new(result), Box::new(err)),
        }
    }

    /// The function on the right of a pipe, with the unwrapped value as its first argument.
    fn piped(&mut self, expr: ExprId, inner: Ty, value: ExprId, then: ExprId) -> Ty {
        let first = Given { name: None, expr: None, ty: Some(inner), span: self.span(value) };
        match self.body().kind(then) {
            ExprKind::Call { callee, args } => {
                let mut given = vec![first];
                given.extend(self.given(args));
                let ty = self.call_with(then, *callee, given);
                let record = self.work().calls.get(&then).cloned();
                self.work_mut().calls.extend(record.map(|record| (expr, record)));
                self.work_mut().exprs.insert(then, ty.clone());
                ty
            }
            _ => self.call_with(expr, then, vec![first]),
        }
    }

    /// `x else e`
    pub(super) fn or_else(&mut self, value: ExprId, other: ExprId) -> Ty {
        let found = self.infer(value);
        let inner = match self.shallow(&found) {
            Ty::Option(inner) | Ty::Result(inner, _) => *inner,
            ty if ty.is_silent() => Ty::Error,
            _ => {
                let (got, span) = (self.show(&found), self.span(value));
                self.fail(errors::pipe_needs("else", "Option", &got, span))
            }
        };
        let otherwise = self.infer(other);
        self.agree(&inner, &otherwise, value, other, "the value and its `else`")
    }

    /// `x catch |err| e`
    pub(super) fn catch(&mut self, expr: ExprId, value: ExprId, handler: ExprId) -> Ty {
        let (inner, err) = self.result_parts(value, "catch");
        let handled = self.infer(handler);
        let otherwise = match self.shallow(&handled) {
            Ty::Fn(FnTy::Closure(_) | FnTy::Def(..) | FnTy::Declared(..)) => {
                let given = Given { name: None, expr: None, ty: Some(err), span: self.span(value) };
                self.call_with(expr, handler, vec![given])
            }
            other => other,
        };
        self.agree(&inner, &otherwise, value, handler, "the value and what `catch` gives")
    }
}
