//! Requests inside tensor code that are about values of the host or of earlier modules.
//!
//! Such a request needs definitions in the module under construction, or code of the host, and
//! neither can be made while a region is open. So before that, requests that name nothing of the
//! region are evaluated, which costs nothing yet, and for the others the definitions that they lead
//! through are taken in.

use super::Lower;
use super::tensors::Home;
use super::value::{Form, R, Scalar, Src, Tensor, TensorId, Val};
use crate::hir::{BinaryOp, BodyId, ExprId, ExprKind, LocalId, Res};
use crate::types::walk;

impl<'p> Lower<'p> {
    /// Makes the requests below some expressions ready for a region.
    pub(super) fn prepare_requests(&mut self, roots: Vec<ExprId>) -> R<()> {
        if self.in_region() || !self.requesting.contains(&self.frame.body) {
            return Ok(());
        }
        let body = self.body();
        let mut requests: Vec<(ExprId, ExprId, ExprId)> = Vec::new();
        walk::visit(body, roots.clone(), &mut |expr, kind| {
            if let ExprKind::Binary(BinaryOp::Div, left, right) = kind
                && let ExprKind::Differential(by) = body.kind(*right)
            {
                requests.push((expr, *left, *by));
            }
        });
        for (expr, left, by) in requests {
            let (of, by) = (self.named_in(vec![left]), self.named_in(vec![by]));
            let needy = |cx: &mut Self| {
                let mut pairs = of.0.iter().flat_map(|of| by.0.iter().map(move |by| (*of, *by)));
                pairs.any(|(of, by)| cx.needs_preparation(of, by))
            };
            if of.1 && by.1 && needy(self) {
                let value = self.eval(expr)?;
                self.hoisted.insert((self.frame.instance, expr), value);
            } else if !by.0.is_empty() {
                self.take_in(&roots, &by.0)?;
            }
        }
        Ok(())
    }

    /// Makes requests inside reductions ready.
    pub(super) fn prepare_reductions(&mut self, expr: ExprId) -> R<()> {
        if self.in_region() || !self.requesting.contains(&self.frame.body) {
            return Ok(());
        }
        let mut found = Vec::new();
        walk::visit(self.body(), vec![expr], &mut |expr, kind| {
            if let ExprKind::Reduce { .. } | ExprKind::UserReduce { .. } = kind {
                found.push(expr);
            }
        });
        if found.is_empty() { Ok(()) } else { self.prepare_requests(found) }
    }

    /// The tensors that expressions name, and whether they name nothing that is not bound yet.
    fn named_in(&self, roots: Vec<ExprId>) -> (Vec<TensorId>, bool) {
        let (own, mut names): (_, Vec<(BodyId, LocalId)>) = (self.frame.body, Vec::new());
        walk::visit(self.body(), roots, &mut |_, kind| match kind {
            ExprKind::Name(Res::Local(local)) => names.push((own, *local)),
            ExprKind::Name(Res::Outer(body, local)) => names.push((*body, *local)),
            _ => {}
        });
        let (mut found, mut closed) = (Vec::new(), true);
        for (body, local) in names {
            let value = self.frame.lookup(body, local);
            closed &= value.is_some();
            for leaf in value.map(|value| value.leaves()).unwrap_or_default() {
                if let Val::Scalar(Scalar { form: Form::Named(id), .. })
                | Val::Tensor(Tensor { src: Src::Named(id), .. }) = leaf
                {
                    found.push(id);
                }
            }
        }
        (found, closed)
    }

    /// Whether a request cannot be made inside a region as things are.
    fn needs_preparation(&mut self, of: TensorId, by: TensorId) -> bool {
        self.recurrent.contains_key(&by)
            || self.leads_through_host(of, by)
            || self.is_earlier_recurrence(by)
            || self.is_earlier(of)
            || (self.pending.is_some() && !self.earlier_imports(by).is_empty())
    }

    fn is_earlier(&self, id: TensorId) -> bool {
        !self.is_at_home(id) && self.info(id).home != Home::Host
    }

    /// Takes what was computed by earlier modules, and is read here, into this one.
    fn take_in(&mut self, roots: &[ExprId], by: &[TensorId]) -> R<()> {
        let (read, _) = self.named_in(roots.to_vec());
        for by in by {
            let earlier = read.iter().filter(|id| *id != by && self.is_earlier(**id));
            let earlier: Vec<TensorId> = earlier.copied().collect();
            let through_host = |cx: &Self| {
                cx.recurrent.contains_key(by)
                    || earlier.iter().any(|of| cx.leads_through_host(*of, *by))
            };
            let follows_itself = self.is_earlier_recurrence(*by);
            let first = earlier.first().copied().or_else(|| follows_itself.then_some(*by));
            let Some(first) = first.filter(|_| !through_host(self)) else { continue };
            for id in &earlier {
                self.import(*id)?;
            }
            self.reclaim(first, *by)?;
        }
        Ok(())
    }
}
