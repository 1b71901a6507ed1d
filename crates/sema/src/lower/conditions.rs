//! `where`: bindings and guards in order.
//!
//! In a clause or reduction the guards say which points count; with an `else`, or anywhere else,
//! they choose between two values. A false guard stops later items.

use std::rc::Rc;

use einlang_tir::constant::Const;
use einlang_tir::types::Elem;

use super::value::{R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, ExprKind, WhereItem};

impl<'p> Lower<'p> {
    pub(super) fn eval_where(
        &mut self,
        value: ExprId,
        items: &'p [WhereItem],
        otherwise: Option<ExprId>,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let Some((item, rest)) = items.split_first() else { return self.eval(value) };
        match item {
            WhereItem::Binding(local, bound) => {
                let bound = self.eval(*bound)?;
                let name = self.local_name(*local);
                let bound = self.named(bound, &name)?;
                self.bind_owned(*local, &bound)?;
                self.eval_where(value, rest, otherwise, expr)
            }
            WhereItem::Guard(guard) => {
                let condition = self.eval(*guard)?;
                let condition = self.expect_scalar(condition, self.here)?;
                let Some(other) = otherwise else {
                    return unsupported(self.here, "a guard without `else` here");
                };
                if self.is_on_host(expr) {
                    let ty = self.ty(expr);
                    return self.host_if(
                        &condition,
                        &ty,
                        |cx| cx.guarded(value, rest, other, expr),
                        |cx| cx.eval(other),
                    );
                }
                let frame = self.frame.clone();
                let then = move |cx: &mut Lower<'p>| {
                    cx.within(frame.clone(), |cx| cx.guarded(value, rest, other, expr))
                };
                let frame = self.frame.clone();
                let otherwise =
                    move |cx: &mut Lower<'p>| cx.within(frame.clone(), |cx| cx.eval(other));
                self.select(&condition, expr, Rc::new(then), Rc::new(otherwise))
            }
        }
    }

    /// Whether an expression is evaluated by host code here.
    fn is_on_host(&mut self, expr: ExprId) -> bool {
        !self.in_region() && (self.host_scalars || self.needs_host(expr))
    }

    /// The items after the first guard: bindings made here are not seen by `else`.
    fn guarded(
        &mut self,
        value: ExprId,
        items: &'p [WhereItem],
        otherwise: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        self.eval_where(value, items, Some(otherwise), expr)
    }

    /// The parts of a body: the value, and the items that say where it holds.
    pub(super) fn guarded_body(&self, body: ExprId) -> (ExprId, &'p [WhereItem]) {
        match self.body().kind(body) {
            ExprKind::Where { value, items, otherwise: None } => (*value, items),
            _ => (body, &[]),
        }
    }

    /// Whether all guards hold, asked in order.
    pub(super) fn guards(&mut self, items: &'p [WhereItem]) -> R<Scalar> {
        let Some((item, rest)) = items.split_first() else {
            return Ok(Scalar::constant(Const::bool(true)));
        };
        match item {
            WhereItem::Binding(local, bound) => {
                let bound = self.eval(*bound)?;
                let name = self.local_name(*local);
                let bound = self.named(bound, &name)?;
                self.bind_owned(*local, &bound)?;
                self.guards(rest)
            }
            WhereItem::Guard(guard) => {
                let condition = self.eval(*guard)?;
                let condition = self.expect_scalar(condition, self.here)?;
                if !rest.iter().any(|item| matches!(item, WhereItem::Guard(_))) {
                    return Ok(condition);
                }
                let on_host = rest.iter().any(|item| match item {
                    WhereItem::Binding(_, expr) | WhereItem::Guard(expr) => self.is_on_host(*expr),
                });
                if on_host {
                    let truth = crate::types::Ty::Scalar(crate::hir::Scalar::Bool);
                    let no = Val::Scalar(Scalar::constant(Const::bool(false)));
                    let more = |cx: &mut Self| cx.guards(rest).map(Val::Scalar);
                    let holds = self.host_if(&condition, &truth, more, |_| Ok(no))?;
                    return self.expect_scalar(holds, self.here);
                }
                let mut more = |cx: &mut Self| cx.guards(rest);
                let mut no = |_: &mut Self| Ok(Scalar::constant(Const::bool(false)));
                self.choose(&condition, Elem::Bool, &mut more, &mut no)
            }
        }
    }

    /// Makes the bindings of a body whose guards hold.
    pub(super) fn bind_items(&mut self, items: &'p [WhereItem]) -> R<()> {
        for item in items {
            if let WhereItem::Binding(local, bound) = item {
                let bound = self.eval(*bound)?;
                let name = self.local_name(*local);
                let bound = self.named(bound, &name)?;
                self.bind_owned(*local, &bound)?;
            }
        }
        Ok(())
    }

    pub(super) fn has_guard(items: &[WhereItem]) -> bool {
        items.iter().any(|item| matches!(item, WhereItem::Guard(_)))
    }

    pub(super) fn local_name(&self, local: crate::hir::LocalId) -> String {
        self.spelling(self.body()[local].name.name).to_owned()
    }
}
