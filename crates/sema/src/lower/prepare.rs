//! Requests inside tensor code that are about values of the host or of earlier modules.
//!
//! Such a request needs definitions in the module under construction, or code of the host, and
//! neither can be made while a region is open. So before that, requests that name nothing of the
//! region are evaluated, which costs nothing yet. For the others, and for those in functions that are
//! called there, the definitions that they lead through are taken in, and Jacobians that the host
//! computes are computed whole.

use std::collections::HashSet;

use super::Lower;
use super::tensors::Home;
use super::value::{Form, R, Scalar, Src, Tensor, TensorId, Val};
use crate::hir::{BinaryOp, BodyId, ExprId, ExprKind, LocalId, Res};
use crate::types::{Callee, InstanceId, Ty, walk};

/// A request: the whole, what is differentiated, and by what.
struct Request {
    instance: InstanceId,
    body: BodyId,
    expr: ExprId,
    of: ExprId,
    by: ExprId,
}

impl<'p> Lower<'p> {
    /// Makes the requests below some expressions ready for a region, and does something with them.
    pub(super) fn with_requests<T>(
        &mut self,
        roots: Vec<ExprId>,
        f: impl FnOnce(&mut Self) -> R<T>,
    ) -> R<T> {
        let hoisted = self.prepare_requests(roots)?;
        let done = f(self);
        hoisted.into_iter().for_each(|expr| self.frame.forget(expr));
        done
    }

    /// Does something with an expression, with requests inside its reductions ready.
    pub(super) fn with_reductions<T>(
        &mut self,
        expr: ExprId,
        f: impl FnOnce(&mut Self) -> R<T>,
    ) -> R<T> {
        let mut found = Vec::new();
        if !self.in_region() && self.asking.contains(&self.frame.instance) {
            let body = self.body();
            let mut inside: HashSet<ExprId> = HashSet::new();
            walk::visit(body, vec![expr], &mut |_, kind| {
                // The host may compute one element after the other, each in a module of its own.
                if let ExprKind::Comprehension { element, .. } = kind {
                    walk::visit(body, vec![*element], &mut |expr, _| {
                        inside.insert(expr);
                    });
                }
            });
            walk::visit(body, vec![expr], &mut |expr, kind| {
                if let ExprKind::Reduce { .. } | ExprKind::UserReduce { .. } = kind
                    && !inside.contains(&expr)
                {
                    found.push(expr);
                }
            });
        }
        self.with_requests(found, f)
    }

    /// Does something that evaluates an expression again and again, with the gradients in it computed once.
    pub(super) fn with_gradients<T>(
        &mut self,
        expr: ExprId,
        f: impl FnOnce(&mut Self) -> R<T>,
    ) -> R<T> {
        let asks = self.asking.contains(&self.frame.instance) && self.frame.tangents.is_none();
        let requests = if asks { self.requests_below(&[expr]) } else { Vec::new() };
        let mut hoisted = Vec::new();
        for request in requests {
            let is_own = request.instance == self.frame.instance;
            let is_small = match self.ty(request.expr) {
                Ty::Tensor(_, extents) => extents.len() == 1,
                _ => true,
            };
            let named = self.named_in(request.body, vec![request.of, request.by]);
            if is_own && is_small && named.1 {
                let value = self.eval(request.expr)?;
                let value = self.settled(&value)?;
                self.frame.hoist(request.expr, value);
                hoisted.push(request.expr);
            }
        }
        let done = f(self);
        hoisted.into_iter().for_each(|expr| self.frame.forget(expr));
        done
    }

    /// Makes the requests below some expressions ready; gives those that were evaluated.
    fn prepare_requests(&mut self, roots: Vec<ExprId>) -> R<Vec<ExprId>> {
        let mut hoisted = Vec::new();
        let asks = self.asking.contains(&self.frame.instance) && self.frame.tangents.is_none();
        if self.in_region() || !asks {
            return Ok(hoisted);
        }
        for request in self.requests_below(&roots) {
            let of = self.named_in(request.body, vec![request.of]);
            let by = self.named_in(request.body, vec![request.by]);
            let is_own = request.instance == self.frame.instance;
            if is_own && of.1 && by.1 && self.any_needs_preparation(&of.0, &by.0) {
                let value = self.eval(request.expr)?;
                self.frame.hoist(request.expr, value);
                hoisted.push(request.expr);
                continue;
            }
            self.compute_whole(&of.0, &by.0)?;
            let mut read = of.0;
            if is_own {
                read.extend(self.named_in(request.body, roots.clone()).0);
            }
            self.take_in(&read, &by.0)?;
        }
        Ok(hoisted)
    }

    /// The requests below expressions and in the functions that are called there, but for what is
    /// known already.
    fn requests_below(&self, roots: &[ExprId]) -> Vec<Request> {
        let mut requests = Vec::new();
        let mut seen: HashSet<InstanceId> = HashSet::new();
        let mut open: Vec<(InstanceId, Vec<ExprId>)> = vec![(self.frame.instance, roots.to_vec())];
        while let Some((id, roots)) = open.pop() {
            let instance = self.typed.instance(id);
            let body = self.body_of(instance.body);
            walk::visit(body, roots, &mut |expr, kind| match kind {
                ExprKind::Binary(BinaryOp::Div, left, right) => {
                    let is_known =
                        id == self.frame.instance && self.frame.hoisted.contains_key(&expr);
                    if let (ExprKind::Differential(by), false) = (body.kind(*right), is_known) {
                        let (body, of, by) = (instance.body, *left, *by);
                        requests.push(Request { instance: id, body, expr, of, by });
                    }
                }
                ExprKind::Call { .. } => {
                    if let Some(Callee::Instance(callee)) = instance.calls.get(&expr)
                        && self.asking.contains(callee)
                        && seen.insert(*callee)
                    {
                        open.push((*callee, self.value_of(*callee).into_iter().collect()));
                    }
                }
                _ => {}
            });
        }
        requests
    }

    /// The tensors that expressions name, and whether they name nothing that is not bound yet.
    fn named_in(&self, own: BodyId, roots: Vec<ExprId>) -> (Vec<TensorId>, bool) {
        let mut names: Vec<(BodyId, LocalId)> = Vec::new();
        walk::visit(self.body_of(own), roots, &mut |_, kind| match kind {
            ExprKind::Name(Res::Local(local)) => names.push((own, *local)),
            ExprKind::Name(Res::Outer(body, local)) => names.push((*body, *local)),
            _ => {}
        });
        let (mut found, mut closed) = (Vec::new(), true);
        for (body, local) in names {
            let of_modules = || self.module_frames.values().find_map(|f| f.lookup(body, local));
            let value = self.frame.lookup(body, local).or_else(of_modules);
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

    fn any_needs_preparation(&mut self, of: &[TensorId], by: &[TensorId]) -> bool {
        let mut pairs = of.iter().flat_map(|of| by.iter().map(move |by| (*of, *by)));
        pairs.any(|(of, by)| self.needs_preparation(of, by))
    }

    /// Whether a request cannot be made inside a region as things are.
    fn needs_preparation(&mut self, of: TensorId, by: TensorId) -> bool {
        self.is_of_host(of, by)
            || self.is_earlier_recurrence(by)
            || self.is_earlier(of)
            || (self.pending.is_some() && !self.earlier_imports(Some(by)).is_empty())
    }

    fn is_earlier(&self, id: TensorId) -> bool {
        !self.is_at_home(id) && self.info(id).home != Home::Host
    }

    /// Computes what the host must: points of it are read in the region.
    fn compute_whole(&mut self, of: &[TensorId], by: &[TensorId]) -> R<()> {
        for of in of {
            for by in by {
                if self.is_of_host(*of, *by) && self.known_jacobian(*of, *by).is_none() {
                    let value = self.whole_jacobian(*of, *by);
                    self.jacobians.insert((*of, *by), value);
                }
            }
        }
        Ok(())
    }

    /// Takes what was computed by earlier modules, and is read here, into this one.
    fn take_in(&mut self, read: &[TensorId], by: &[TensorId]) -> R<()> {
        for by in by {
            let earlier = read.iter().filter(|id| *id != by && self.is_earlier(**id));
            let mut earlier: Vec<TensorId> = earlier.copied().collect();
            // What the module has taken from earlier ones for others may follow the parameter too.
            if self.pending.is_some() && !self.is_new(*by) {
                let taken = self.earlier_imports(Some(*by)).into_iter();
                earlier.extend(taken.filter(|id| !read.contains(id)));
            }
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
