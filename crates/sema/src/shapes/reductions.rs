//! Reductions and coordinate calls: indices that are visible in what is reduced.

use super::expressions::plain;
use super::value::Shape;
use super::Analyser;
use crate::builtins::Reduction;
use crate::hir::*;
use crate::types::Ty;

impl<'p> Analyser<'p> {
    pub(super) fn reduce(
        &mut self,
        expr: ExprId,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
    ) -> Shape {
        let shape = self.reduced(indices, body);
        match op {
            Reduction::Sum | Reduction::Prod | Reduction::Max | Reduction::Min | Reduction::Mean => {
                plain(shape)
            }
            Reduction::All | Reduction::Any => Shape::Opaque,
            Reduction::ArgMax | Reduction::ArgMin => self.unknown(expr),
            Reduction::MaxAt | Reduction::MinAt => match self.unknown(expr) {
                Shape::Record(parts) if parts.len() == 2 => {
                    Shape::Record(vec![plain(shape), parts[1].clone()])
                }
                other => other,
            },
        }
    }

    pub(super) fn user_reduce(
        &mut self,
        indices: &'p [Subscript],
        init: ExprId,
        combine: ExprId,
        body: ExprId,
    ) -> Shape {
        let first = self.eval(init);
        self.eval(combine);
        self.reduced(indices, body);
        without_integers(&first)
    }

    fn reduced(&mut self, indices: &'p [Subscript], body: ExprId) -> Shape {
        let outermost = self.is_outermost();
        let n_before = self.frame.scope.len();
        self.open_indices(indices, false);
        let shape = self.eval(body);
        self.close_scope(n_before, outermost);
        shape
    }

    /// `softmax[class](logits[batch, class])`: the axes of the coordinates pass through whole, and a
    /// result axis whose coordinate is an index in scope is read at that index.
    pub(super) fn coordinate_call(
        &mut self,
        expr: ExprId,
        callee: ExprId,
        indices: &'p [Subscript],
        args: &'p [Arg],
    ) -> Shape {
        let bound: Vec<LocalId> = indices
            .iter()
            .filter_map(|index| match index {
                Subscript::Index(binder) => Some(binder.local),
                _ => None,
            })
            .collect();
        self.coordinates.extend(bound.iter().copied());
        self.coordinate_calls += 1;
        let result = self.call(expr, callee, args);
        self.coordinate_calls -= 1;
        for local in &bound {
            self.coordinates.remove(local);
        }
        let wanted = match self.ty(expr) {
            Ty::Tensor(_, extents) => extents.len(),
            _ => 0,
        };
        let extents = result.extents();
        if extents.len() <= wanted {
            return result;
        }
        let read = self.axes_read(callee, &bound, extents.len(), extents.len() - wanted);
        let kept = extents.iter().enumerate().filter(|(axis, _)| !read.contains(axis));
        Shape::tensor(kept.map(|(_, extent)| extent.clone()).collect(), result.element().clone())
    }

    /// The axes of the result that are read at an index: those of the coordinates, counted from
    /// the end of the declared result.
    fn axes_read(&self, callee: ExprId, bound: &[LocalId], rank: usize, n_read: usize) -> Vec<usize> {
        let declared = match self.body().kind(callee) {
            ExprKind::Name(Res::Def(def)) => match &self.program.def(*def).kind {
                DefKind::Fn(function) => Some(&self.program.bodies[function.body]),
                _ => None,
            },
            _ => None,
        };
        let mut axes = Vec::new();
        if let Some(body) = declared
            && let Some(TypeRef { kind: TypeKind::Tensor(_, dims), .. }) = &body.ret
        {
            let after = dims.iter().rev().position(
                |dim| matches!(dim, Dim::Extent(Res::Local(local), _) if body.coordinates.contains(local)),
            );
            let open_after = dims.iter().rev().take(after.unwrap_or(0)).any(|dim| matches!(dim, Dim::Rest(..)));
            if let Some(after) = after.filter(|_| !open_after)
                && rank > after
            {
                axes.push(rank - 1 - after);
            }
        }
        let mut next = rank;
        while axes.len() < n_read.min(bound.len().max(n_read)) && next > 0 {
            next -= 1;
            if !axes.contains(&next) {
                axes.push(next);
            }
        }
        axes
    }
}

/// The shape of a state: its integers change.
pub(super) fn without_integers(shape: &Shape) -> Shape {
    match shape {
        Shape::Record(parts) => Shape::Record(parts.iter().map(without_integers).collect()),
        other => plain(other.clone()),
    }
}
