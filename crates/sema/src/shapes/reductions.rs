//! Reductions and coordinate calls: indices that are visible in what is reduced.

use einlang_index::MinMax;

use super::Analyser;
use super::expressions::plain;
use super::value::Shape;
use crate::builtins::Reduction;
use crate::hir::*;

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
            Reduction::Sum
            | Reduction::Prod
            | Reduction::Max
            | Reduction::Min
            | Reduction::Mean => plain(shape),
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
        let extents = result.extents();
        let read: Vec<Option<LocalId>> = match self.coords.read_at(self.cur, expr) {
            Some(read) => read.to_vec(),
            None => return result,
        };
        let tensor = format!("{}(…)", self.describe(self.body(), callee));
        let mut kept = Vec::with_capacity(extents.len());
        for (axis, extent) in extents.into_iter().enumerate() {
            let Some(local) = read.get(axis).copied().flatten() else {
                kept.push(extent);
                continue;
            };
            if let Shape::Int(MinMax::Value(value)) = self.name_shape(Res::Local(local)) {
                self.read_result(expr, &tensor, axis, value, extent);
            }
        }
        Shape::tensor(kept, result.element().clone())
    }
}

/// The shape of a state: its integers change.
pub(super) fn without_integers(shape: &Shape) -> Shape {
    match shape {
        Shape::Record(parts) => Shape::Record(parts.iter().map(without_integers).collect()),
        other => plain(other.clone()),
    }
}
