//! `argmax`, `max_at` and the like: reductions that carry a value and its indices and keep the first
//! extremal one.

use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, InstKind, Over, ReduceFlags, Reduction as TirReduction, Region, Start,
};
use einlang_tir::types::Elem;

use super::Lower;
use super::module::loc;
use super::value::{R, Scalar, Val};
use crate::builtins::Reduction;
use crate::hir::{ExprId, Subscript};
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// `argmax`, `max_at` and the like: the value and its indices, the first extremal one.
    pub(super) fn selection(
        &mut self,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
        ty: &Ty,
    ) -> R<Val<'p>> {
        if !self.in_region() {
            return self.selection_outside(op, indices, body, ty);
        }
        let outer = self.frame.clone();
        let span = self.here;
        let domain = self.open_indices(indices)?;
        let guard = self.guard_of(body)?;
        let (value, items) = self.guarded_body(body);
        let vars = domain.dims().to_vec();
        let (term, elem) = self.region(|cx| {
            cx.bind_items(items)?;
            let value = cx.eval(value)?;
            let scalar = cx.leaf_at(&value, 0, &[])?;
            let mut args = vec![cx.arg(&scalar)?];
            for var in &vars {
                let index = cx.index_scalar(Elem::I32, (*var).into());
                args.push(cx.arg(&index)?);
            }
            Ok((args, scalar.elem))
        })?;
        self.frame = outer;
        let largest = matches!(op, Reduction::ArgMax | Reduction::MaxAt);
        let better = if largest { Op::Gt } else { Op::Lt };
        let elems: Vec<Elem> = [elem].into_iter().chain(vars.iter().map(|_| Elem::I32)).collect();
        let combine = self.first_extremal(better, &elems)?;
        let values: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let reduction = TirReduction {
            domain: Over(domain),
            guard,
            body: term,
            combine: Combiner::Region(combine),
            start: Start::First,
            flags: ReduceFlags { reassociable: true, ..ReduceFlags::default() },
        };
        let defs = values.iter().map(|value| Def::Scalar(*value)).collect();
        self.push_inst(defs, InstKind::Reduce(Box::new(reduction)), loc(span));
        let mut parts = values.into_iter().map(|value| Val::Scalar(Scalar::value(value)));
        let best = parts.next().unwrap_or_else(Val::unit);
        let mut at: Vec<Val<'p>> = parts.collect();
        let at = if at.len() == 1 { at.remove(0) } else { Val::Record(at) };
        Ok(match op {
            Reduction::ArgMax | Reduction::ArgMin => at,
            _ => Val::Record(vec![best, at]),
        })
    }

    /// Outside of regions each leaf is a binding of its own.
    fn selection_outside(
        &mut self,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
        ty: &Ty,
    ) -> R<Val<'p>> {
        let leaves = self.leaf_types(ty).unwrap_or_default();
        let span = self.here;
        let mut values = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let name = self.fresh("v");
            let id = self.define_scalar(&name, span, |cx| {
                let all = cx.selection(op, indices, body, ty)?;
                cx.leaf_at(&all, at, &[])
            })?;
            values.push(Val::named(leaf.elem, 0, id));
        }
        Ok(self.record(ty, &mut values.into_iter()))
    }

    /// Which of two candidates is kept. NaN is never extremal while there is a number, so that the
    /// result does not depend on how the terms are grouped.
    fn first_extremal(&mut self, better: Op, elems: &[Elem]) -> R<Region> {
        let left: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let right: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let (mut region, ()) = self.region(|cx| {
            let args = [Scalar::value(right[0]), Scalar::value(left[0])];
            let mut holds = cx.region_op(better, &args, Elem::Bool, loc(cx.here))?;
            if elems[0].is_float() {
                let [new, old] = &args;
                let twice = |of: &Scalar| [of.clone(), of.clone()];
                let nan = cx.region_op(Op::Ne, &twice(old), Elem::Bool, loc(cx.here))?;
                let number = cx.region_op(Op::Eq, &twice(new), Elem::Bool, loc(cx.here))?;
                let first = cx.region_op(Op::And, &[nan, number], Elem::Bool, loc(cx.here))?;
                holds = cx.region_op(Op::Or, &[holds, first], Elem::Bool, loc(cx.here))?;
            }
            let scalars = |values: &[einlang_tir::region::Value]| -> Vec<Scalar> {
                values.iter().map(|value| Scalar::value(*value)).collect()
            };
            let (mut new, mut old) =
                (|_: &mut Self| Ok(scalars(&right)), |_: &mut Self| Ok(scalars(&left)));
            let chosen = cx.choose_many(&holds, elems, &mut new, &mut old)?;
            let args = chosen.iter().map(|s| cx.arg(s)).collect::<R<Vec<Arg>>>()?;
            Ok((args, ()))
        })?;
        region.params = left.into_iter().chain(right).map(Def::Scalar).collect();
        Ok(region)
    }
}
