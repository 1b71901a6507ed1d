//! Equality: of records, which are equal if all their numbers and tensors are, and of tensors of
//! strings, enums and records, which are compared element by element.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostKind, HostType, Intrinsic};
use einlang_tir::module::{Axis, box_of};
use einlang_tir::op::Op;
use einlang_tir::region::{Combiner, InstKind, Over, ReduceFlags, Reduction, Start, Subscript};
use einlang_tir::types::Elem;

use super::access::Spec;
use super::lists::{List, Part};
use super::module::loc;
use super::tables::i64_const;
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

    /// `==` of tensors of strings, enums or records, or of such a tensor and one element.
    pub(super) fn elementwise_equality(
        &mut self,
        op: BinaryOp,
        (a, a_ty): (Val<'p>, &Ty),
        (b, b_ty): (Val<'p>, &Ty),
        ty: &Ty,
    ) -> R<Val<'p>> {
        let Ty::Tensor(_, axes) = ty else { return self.equality(op, &a, &b, a_ty) };
        let rank = axes.len();
        let element = match a_ty {
            Ty::Tensor(element, _) => (**element).clone(),
            other => other.clone(),
        };
        let (a_whole, b_whole) = (matches!(a_ty, Ty::Tensor(..)), matches!(b_ty, Ty::Tensor(..)));
        if matches!(a, Val::Host(..)) || matches!(b, Val::Host(..)) {
            return self.lists_equal(op, (a, a_whole), (b, b_whole), (&element, rank));
        }
        let span = self.here;
        let whole = if a_whole { a.clone() } else { b.clone() };
        let extents = move |cx: &mut Lower<'p>| {
            let mut extents = cx.extents_of(&whole)?;
            extents.truncate(rank);
            Ok(extents)
        };
        let one = move |cx: &mut Lower<'p>, at: &[Subscript]| {
            let specs: Vec<Spec> = at.iter().map(|at| Spec::Point(at.clone(), true)).collect();
            let a = if a_whole { cx.read_specs(&a, &specs)? } else { a.clone() };
            let b = if b_whole { cx.read_specs(&b, &specs)? } else { b.clone() };
            let same = cx.equality(op, &a, &b, &element)?;
            cx.expect_scalar(same, span)
        };
        Ok(Val::lazy(Elem::Bool, rank, false, extents, one))
    }

    /// Compares lists element by element.
    fn lists_equal(
        &mut self,
        op: BinaryOp,
        (a, a_whole): (Val<'p>, bool),
        (b, b_whole): (Val<'p>, bool),
        (element, rank): (&Ty, usize),
    ) -> R<Val<'p>> {
        let lists: Vec<Option<List>> = [(&a, a_whole), (&b, b_whole)]
            .into_iter()
            .map(|(value, whole)| List::of(value).filter(|_| whole))
            .collect();
        let Some(first) = lists.iter().flatten().next().cloned() else {
            return self.host_binary(op, a, b, element);
        };
        let parts: Vec<Part> = (0..rank)
            .map(|axis| Part::Slice(i64_const(0), self.list_length(&first, axis)))
            .collect();
        let truth = HostType::Scalar(Elem::Bool);
        let list = self.gathered(&parts, &mut Vec::new(), &truth, &mut |cx, at| {
            let mut sides = Vec::with_capacity(2);
            for (list, value) in lists.iter().zip([&a, &b]) {
                sides.push(match list {
                    Some(list) => {
                        let host = cx.list_item(list, at, 0)?;
                        cx.lifted(host, element, "item")?
                    }
                    None => value.clone(),
                });
            }
            let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else {
                return unsupported(cx.here, "comparing these values here");
            };
            let same = match (&left, &right) {
                (Val::Host(..), _) | (_, Val::Host(..)) => {
                    cx.host_binary(op, left, right, element)?
                }
                _ => cx.equality(op, &left, &right, element)?,
            };
            let same = cx.expect_scalar(same, cx.here)?;
            cx.host_scalar(&same)
        })?;
        let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![list]);
        let host = self.host_value_of(HostType::Tensor(Elem::Bool, rank), kind);
        Ok(self.host_tensor("same", Elem::Bool, rank, host))
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
