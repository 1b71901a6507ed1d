//! The order in which the host visits the points of a definition.

use super::Lower;
use crate::hir::{BinaryOp, Clause, ExprId, ExprKind, Literal, LocalId, Res, Subscript};
use crate::types::walk;

impl<'p> Lower<'p> {
    /// For each axis whether it is visited from the end; none if no choice is known to do.
    pub(super) fn directions(
        &self,
        local: LocalId,
        clauses: &[&'p Clause],
        n_axes: usize,
    ) -> Option<Vec<bool>> {
        let mut reads: Vec<Vec<Option<i64>>> = Vec::new();
        let body = self.body();
        for clause in clauses {
            walk::visit(body, vec![clause.value], &mut |_, kind| {
                if let ExprKind::Access { base, subscripts, .. } = kind
                    && matches!(body.kind(*base), ExprKind::Name(Res::Local(l)) if *l == local)
                {
                    let slots = clause.slots.iter().zip(subscripts);
                    reads.push(slots.map(|(slot, at)| self.offset(slot, at)).collect());
                }
            });
        }
        let leads_back = |descending: &[bool]| {
            reads.iter().all(|offsets| {
                let decides =
                    offsets.iter().zip(descending).find(|(offset, _)| **offset != Some(0));
                match decides {
                    Some((Some(offset), descending)) => (*offset > 0) == *descending,
                    // Tested when it is read.
                    Some((None, _)) | None => true,
                }
            })
        };
        let choices = (0..1_usize << n_axes.min(8))
            .map(|bits| (0..n_axes).map(|axis| bits >> axis & 1 == 1).collect::<Vec<bool>>());
        choices.into_iter().find(|descending| leads_back(descending))
    }

    /// How far a subscript is from the point that is defined, if that is a constant.
    fn offset(&self, slot: &Subscript, at: &Subscript) -> Option<i64> {
        let body = self.body();
        let literal = |expr: &ExprId| match body.kind(*expr) {
            ExprKind::Literal(Literal::Int(value, _)) => i64::try_from(*value).ok(),
            _ => None,
        };
        match (slot, at) {
            (Subscript::Index(binder), Subscript::Expr(expr)) => {
                let is_index = |expr: &ExprId| matches!(body.kind(*expr), ExprKind::Name(Res::Local(l)) if *l == binder.local);
                match body.kind(*expr) {
                    _ if is_index(expr) => Some(0),
                    ExprKind::Binary(BinaryOp::Add, a, b) if is_index(a) => literal(b),
                    ExprKind::Binary(BinaryOp::Sub, a, b) if is_index(a) => literal(b).map(|n| -n),
                    _ => None,
                }
            }
            (Subscript::Expr(point), Subscript::Expr(expr)) => {
                Some(literal(expr)? - literal(point)?)
            }
            _ => None,
        }
    }
}
