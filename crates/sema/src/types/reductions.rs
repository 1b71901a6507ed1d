//! Reductions and their indices.

use super::Checker;
use super::calls::Given;
use super::effects::Pure;
use super::operators::Leaf;
use super::ty::{FnTy, Ty};
use super::vars::Kind;
use crate::builtins::Reduction;
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// Types the ranges of indices, and finds what rests stand for. Gives the indices.
    pub(super) fn bind_indices(
        &mut self,
        indices: &[Subscript],
        roots: Vec<ExprId>,
    ) -> Vec<LocalId> {
        self.find_rests(indices, roots);
        let mut bound = Vec::new();
        for index in indices {
            match index {
                Subscript::Index(binder) => {
                    self.index_range(binder);
                    bound.push(binder.local);
                }
                Subscript::Expr(expr) => {
                    let span = self.span(*expr);
                    self.infer(*expr);
                    self.report(errors::not_an_index(span));
                }
                Subscript::All(span) => self.report(errors::not_an_index(*span)),
                Subscript::Rest { .. } => {}
            }
        }
        bound
    }

    /// `k in 0..n`
    pub(super) fn index_range(&mut self, binder: &IndexBinder) {
        self.set_local(binder.local, Ty::I32);
        let Some(range) = binder.range else { return };
        let found = self.infer(range);
        match self.shallow(&found) {
            Ty::Range(element) => {
                self.vars.default_in(&element);
            }
            ty if ty.is_silent() => {}
            _ => {
                let (got, span) = (self.show(&found), self.span(range));
                self.report(errors::index_not_in_range(&got, span));
            }
        }
    }

    pub(super) fn reduction(&mut self, op: Reduction, indices: &[Subscript], body: ExprId) -> Ty {
        self.bind_indices(indices, vec![body]);
        let found = self.in_pure(Pure::Reduction, |cx| cx.infer(body));
        let ty = self.plain(&found);
        match op {
            Reduction::Sum | Reduction::Prod => self.reduced(op, found, &ty, body),
            Reduction::Max | Reduction::Min => self.reduced(op, found, &ty, body),
            Reduction::All | Reduction::Any => self.reduced_bool(op, &ty, body),
            Reduction::Mean => self.mean(found, &ty, body),
            Reduction::ArgMax | Reduction::ArgMin => {
                self.reduced(op, found, &ty, body);
                self.index_type(indices)
            }
            Reduction::MaxAt | Reduction::MinAt => {
                let value = self.reduced(op, found, &ty, body);
                Ty::Tuple(vec![value, self.index_type(indices)])
            }
        }
    }

    /// The terms must be numbers.
    fn reduced(&mut self, op: Reduction, found: Ty, plain: &Ty, body: ExprId) -> Ty {
        if self.combine(Leaf::Number, plain, plain).is_ok() {
            return found;
        }
        let (got, span) = (self.show(plain), self.span(body));
        self.fail(errors::reduction_needs_numbers(op.as_str(), &got, span))
    }

    fn reduced_bool(&mut self, op: Reduction, ty: &Ty, body: ExprId) -> Ty {
        if self.unify(ty, &Ty::BOOL) {
            return Ty::BOOL;
        }
        let (got, span) = (self.show(ty), self.span(body));
        self.fail(errors::not_bool(op.as_str(), &got, span))
    }

    fn mean(&mut self, found: Ty, ty: &Ty, body: ExprId) -> Ty {
        let element = match self.shallow(ty) {
            Ty::Tensor(element, _) => self.shallow(&element),
            ty => ty,
        };
        if let Ty::Scalar(scalar) = element
            && scalar.is_integer()
        {
            let (operand, span) = (self.operand(ty, body), self.span(body));
            return self.fail(errors::mean_of_integers(&operand, span));
        }
        if self.vars.literal(&element) == Some(Kind::Int) {
            self.vars.promote(&element);
        }
        self.reduced(Reduction::Mean, found, ty, body)
    }

    /// One index is an `i32`, several are a tuple.
    fn index_type(&mut self, indices: &[Subscript]) -> Ty {
        let width = |index: &Subscript| match index {
            Subscript::Rest { local: Res::Local(rest), .. } => self.rest_rank(*rest),
            _ => Some(1),
        };
        let n_indices: Option<usize> = indices.iter().map(width).sum();
        match n_indices {
            Some(1) => Ty::I32,
            Some(n) => Ty::Tuple(vec![Ty::I32; n]),
            None => Ty::Error,
        }
    }

    /// `reduce[k](init, |a, b| …)(e)`
    pub(super) fn user_reduction(
        &mut self,
        expr: ExprId,
        indices: &[Subscript],
        init: ExprId,
        combine: ExprId,
        body: ExprId,
    ) -> Ty {
        let first = self.infer(init);
        let operator = self.infer(combine);
        self.bind_indices(indices, vec![body]);
        let term = self.in_pure(Pure::Reduction, |cx| cx.infer(body));
        let Some(state) = self.join(&first, &term) else {
            let (a, b) = (self.show(&first), self.show(&term));
            let (span, at) = (self.span(body), self.span(init));
            return self.fail(errors::reduce_types("the terms", &a, &b, span, at));
        };
        let function = match self.shallow(&operator) {
            Ty::Fn(function) => function,
            ty if ty.is_silent() => return state,
            _ => {
                let (got, span) = (self.show(&operator), self.span(combine));
                return self.fail(errors::not_callable("the operator of `reduce`", &got, span));
            }
        };
        self.in_pure(Pure::Reduction, |cx| cx.combined(expr, &function, state, init, combine))
    }

    fn combined(
        &mut self,
        expr: ExprId,
        function: &FnTy,
        state: Ty,
        init: ExprId,
        combine: ExprId,
    ) -> Ty {
        let span = self.span(combine);
        let given = |ty: &Ty| Given { name: None, expr: None, ty: Some(ty.clone()), span };
        match self.apply_given(function, vec![given(&state), given(&state)], span) {
            Ok((result, callee, args)) => {
                self.record_call(expr, callee, &args, span);
                match self.join(&state, &result) {
                    Some(ty) => ty,
                    None => {
                        let (a, b) = (self.show(&state), self.show(&result));
                        let at = self.span(init);
                        self.fail(errors::reduce_types("the operator", &a, &b, span, at))
                    }
                }
            }
            Err(diagnostic) => self.fail(*diagnostic),
        }
    }
}
