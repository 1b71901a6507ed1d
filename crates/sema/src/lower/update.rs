//! `x with [i, 1..3] = e`: the tensor with some points replaced, the last replacement first.

use std::rc::Rc;

use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::Subscript as At;
use einlang_tir::types::{Elem, Loc};

use super::access::{Spec, is_fixed};
use super::value::{R, Scalar, Tensor, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, Subscript};

/// Where and with what one leaf is replaced.
#[derive(Clone)]
struct Patch<'p> {
    specs: Rc<Vec<Spec>>,
    value: Val<'p>,
}

impl<'p> Lower<'p> {
    pub(super) fn update(
        &mut self,
        base: ExprId,
        updates: &'p [(Vec<Subscript>, ExprId)],
    ) -> R<Val<'p>> {
        let value = self.eval(base)?;
        if let Val::Host(host, ty) = &value {
            return self.update_list(host.clone(), &ty.clone(), updates);
        }
        let base = self.named(value, "base")?;
        let mut patches = Vec::with_capacity(updates.len());
        for (subscripts, value) in updates {
            let specs = Rc::new(self.specs(&base, subscripts, None)?);
            let value = self.eval(*value)?;
            patches.push((specs, self.named(value, "patch")?));
        }
        let leaves = base.leaves();
        let mut parts = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let Val::Tensor(tensor) = leaf else {
                return unsupported(self.here, "`with` on this value");
            };
            let patches: Vec<Patch<'p>> = patches
                .iter()
                .map(|(specs, value)| Patch {
                    specs: specs.clone(),
                    value: value.leaves().into_iter().nth(at).unwrap_or_else(|| value.clone()),
                })
                .collect();
            parts.push(self.patched(tensor, patches));
        }
        Ok(base.with_leaves(&mut parts.into_iter()))
    }

    fn patched(&mut self, tensor: &Tensor<'p>, patches: Vec<Patch<'p>>) -> Val<'p> {
        let (base, of, span) = (tensor.clone(), tensor.clone(), self.here);
        let fixed = patches.iter().all(|patch| patch.specs.iter().all(is_fixed));
        let home = (!fixed).then(|| self.module());
        let element = move |cx: &mut Lower<'p>, at: &[At]| {
            cx.check_home(home, span)?;
            let extents = cx.extents(&base)?;
            for patch in &patches {
                for (axis, (spec, extent)) in patch.specs.iter().zip(&extents).enumerate() {
                    cx.check_spec("a tensor is replaced", spec, extent, axis, span)?;
                }
            }
            cx.patched_at(&base, &patches, at)
        };
        Val::lazy(tensor.elem, tensor.rank, false, move |cx| cx.extents(&of), element)
    }

    fn patched_at(&mut self, base: &Tensor<'p>, patches: &[Patch<'p>], at: &[At]) -> R<Scalar> {
        let span = self.here;
        let Some((patch, earlier)) = patches.split_last() else {
            return self.element(base, at, true, span);
        };
        let hit = self.hits(&patch.specs, at)?;
        let mut new = |cx: &mut Self| match &patch.value {
            Val::Scalar(scalar) => Ok(scalar.clone()),
            Val::Tensor(tensor) => {
                let mut inner = Vec::new();
                for (axis, subscript) in at.iter().enumerate() {
                    match patch.specs.get(axis) {
                        Some(Spec::Point(..)) => {}
                        Some(Spec::Slice(lo, _, _)) => {
                            let back = cx.index_result(lo.neg(), span)?;
                            inner.push(cx.shifted(subscript, &back, span)?);
                        }
                        Some(Spec::All) | None => inner.push(subscript.clone()),
                    }
                }
                cx.element(tensor, &inner, false, span)
            }
            _ => unsupported(span, "`with` this value"),
        };
        let mut old = |cx: &mut Self| cx.patched_at(base, earlier, at);
        self.choose(&hit, base.elem, &mut new, &mut old)
    }

    /// Whether a point is one of those that are replaced.
    fn hits(&mut self, specs: &[Spec], at: &[At]) -> R<Scalar> {
        let mut hit = Scalar::constant(Const::bool(true));
        for (spec, subscript) in specs.iter().zip(at) {
            let here = match spec {
                Spec::All => continue,
                Spec::Point(point, _) => {
                    let (a, b) = (self.subscript_arg(subscript)?, self.subscript_arg(point)?);
                    let (a, b) = (self.wide(a)?, self.wide(b)?);
                    self.region_op(Op::Eq, &[a, b], Elem::Bool, Loc::default())?
                }
                Spec::Slice(lo, length, _) => {
                    let back = self.index_result(lo.neg(), self.here)?;
                    let inner = self.shifted(subscript, &back, self.here)?;
                    self.is_inside(&inner, length)?
                }
            };
            hit = match hit.as_const() {
                Some(_) => here,
                None => self.region_op(Op::And, &[hit, here], Elem::Bool, Loc::default())?,
            };
        }
        Ok(hit)
    }
}
