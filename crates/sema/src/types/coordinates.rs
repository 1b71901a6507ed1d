//! Coordinate calls `f[c](x)`, as far as they decide ranks: layouts belong to a later pass.

use super::Checker;
use super::ty::Ty;
use crate::errors;
use crate::hir::*;

impl Checker<'_> {
    /// `softmax[class](logits[batch, class])`: the coordinates' axes pass through whole, and a
    /// result axis whose coordinate is an index in scope is read at that index.
    pub(super) fn coordinate_call(
        &mut self,
        expr: ExprId,
        callee: ExprId,
        indices: &[Subscript],
        args: &[Arg],
    ) -> Ty {
        let bound = self.bind_indices(indices, args.iter().map(|arg| arg.value).collect());
        self.check_coordinates(callee, indices.len());
        let new: Vec<LocalId> =
            bound.into_iter().filter(|local| self.coordinates.insert(*local)).collect();
        self.coordinate_calls += 1;
        let given = self.given(args);
        self.placing = Some(self.site(expr));
        let result = self.call_with(expr, callee, given);
        self.placing = None;
        self.coordinate_calls -= 1;
        for local in new {
            self.coordinates.remove(&local);
        }
        self.read_at_indices(expr, result, callee, indices)
    }

    /// A function takes as many coordinates as it declares.
    fn check_coordinates(&mut self, callee: ExprId, n_given: usize) {
        let ExprKind::Name(res) = self.body().kind(callee) else { return };
        let (n_wanted, declared) = match res {
            Res::Def(def) => match &self.program.def(*def).kind {
                DefKind::Fn(Function { body, .. }) => {
                    let n_coordinates = self.program.bodies[*body].coordinates.len();
                    (n_coordinates, Some(self.program.def(*def).name.span))
                }
                _ => return,
            },
            Res::Builtin(_) => (0, None),
            _ => return,
        };
        if n_given > n_wanted {
            let (name, span) = (self.snippet(callee).0, self.span(callee));
            self.report(errors::too_many_coordinates(&name, n_wanted, n_given, span, declared));
        }
    }

    fn read_at_indices(
        &mut self,
        expr: ExprId,
        result: Ty,
        callee: ExprId,
        indices: &[Subscript],
    ) -> Ty {
        if let Some((element, n_left)) = self.placed_result(expr, &result) {
            return Ty::with_axes(element, n_left);
        }
        let body = self.body();
        let in_scope = |subscript: &&Subscript| match subscript {
            Subscript::Index(IndexBinder { shadows: Some(Res::Local(local)), .. }) => {
                body[*local].kind == LocalKind::Index
            }
            _ => false,
        };
        let n_read = indices.iter().filter(in_scope).count();
        let keeps = match body.kind(callee) {
            ExprKind::Name(Res::Def(def)) => self.keeps_coordinates(*def),
            _ => true,
        };
        match self.shallow(&result) {
            Ty::Tensor(element, extents) if keeps && extents.len() >= n_read => {
                let n_left = extents.len() - n_read;
                Ty::with_axes(*element, n_left)
            }
            _ => result,
        }
    }

    /// Whether the declared result has the function's coordinate parameters as axes.
    fn keeps_coordinates(&self, def: DefId) -> bool {
        let DefKind::Fn(Function { body, .. }) = &self.program.def(def).kind else { return true };
        let body = &self.program.bodies[*body];
        match &body.ret {
            Some(TypeRef { kind: TypeKind::Tensor(_, dims), .. }) => dims.iter().any(|dim| {
                matches!(dim, Dim::Extent(Res::Local(local), _) if body.coordinates.contains(local))
            }),
            Some(_) => false,
            None => true,
        }
    }
}
