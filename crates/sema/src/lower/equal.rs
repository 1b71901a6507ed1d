//! Equality of records: all their numbers and tensors are equal.

use einlang_tir::constant::Const;
use einlang_tir::module::{Axis, box_of};
use einlang_tir::op::Op;
use einlang_tir::region::{
    Combiner, InstKind, Over, ReduceFlags, Reduction, Start, Subscript,
};
use einlang_tir::types::Elem;

use super::module::loc;
use super::value::{R, Scalar, Tensor, Val};
use super::{Lower, unsupported};
use crate::hir::BinaryOp;
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// Whether two values are equal in all their parts, or not.
    pub(super) fn equality(
        &mut self,
        op: BinaryOp,
        a: &Val<'p>,
        b: &Val<'p>,
        ty: &Ty,
    ) -> R<Val<'p>> {
        let mut all: Option<Scalar> = None;
        for pair in a.leaves().into_iter().zip(b.leaves()) {
            let same = match pair {
                (Val::Scalar(a), Val::Scalar(b)) => self.binary_op(BinaryOp::Eq, &[a, b])?,
                _ if !self.in_region() => return self.host_binary(op, a.clone(), b.clone(), ty),
                (Val::Tensor(a), Val::Tensor(b)) => self.tensors_equal(&a, &b)?,
                _ => return unsupported(self.here, "comparing these values here"),
            };
            all = Some(match all {
                Some(all) => self.apply(Op::And, &[all, same], Elem::Bool)?,
                None => same,
            });
        }
        let all = all.unwrap_or_else(|| Scalar::constant(Const::bool(true)));
        match op {
            BinaryOp::Ne => self.apply(Op::Not, &[all], Elem::Bool).map(Val::Scalar),
            _ => Ok(Val::Scalar(all)),
        }
    }

    /// Whether two tensors have the same shape and elements, inside a region.
    fn tensors_equal(&mut self, a: &Tensor<'p>, b: &Tensor<'p>) -> R<Scalar> {
        let (extents, others) = (self.extents(a)?, self.extents(b)?);
        let mut same_shape = Scalar::constant(Const::bool(true));
        for (extent, other) in extents.iter().zip(&others) {
            if extent != other {
                let pair = [extent, other].map(|e| self.index_scalar(Elem::I64, e.clone()));
                let same = self.apply(Op::Eq, &pair, Elem::Bool)?;
                same_shape = self.apply(Op::And, &[same_shape, same], Elem::Bool)?;
            }
        }
        let no = Scalar::constant(Const::bool(false));
        let mut all = |cx: &mut Self| {
            let axes: Vec<Axis> = extents
                .iter()
                .map(|extent| Axis { var: cx.new_index("k"), dim: extent.clone().into() })
                .collect();
            let at: Vec<Subscript> = axes.iter().map(|a| Subscript::Index(a.var.into())).collect();
            let span = cx.here;
            let (body, _) = cx.scalar_region(|cx| {
                let pair = [cx.element(a, &at, true, span)?, cx.element(b, &at, false, span)?];
                cx.binary_op(BinaryOp::Eq, &pair)
            })?;
            let domain = cx.index_result(box_of(&axes), span)?;
            let reduction = Reduction {
                domain: Over(domain),
                guard: None,
                body,
                combine: Combiner::Op(Op::And),
                start: Start::Identity(vec![Const::bool(true).into()]),
                flags: ReduceFlags { commutative: true, idempotent: true, reassociable: true },
            };
            Ok(cx.emit(Elem::Bool, InstKind::Reduce(Box::new(reduction)), loc(span)))
        };
        self.choose(&same_shape, Elem::Bool, &mut all, &mut |_| Ok(no.clone()))
    }
}
