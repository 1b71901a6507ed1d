//! Reductions over what only the host knows, such as `sum[i](1 where names[i] == "a")`: host loops
//! in index order.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::types::elem_of;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::builtins::Reduction;
use crate::hir::{ExprId, LocalId, Res, Subscript};
use crate::shapes::Index;

/// What a loop carries, with its type.
type Carried = Vec<(HostArg, HostType)>;

impl<'p> Lower<'p> {
    pub(super) fn host_reduce(
        &mut self,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let combine = match op {
            Reduction::Sum | Reduction::Mean => Op::Add,
            Reduction::Prod => Op::Mul,
            Reduction::Max => Op::Max,
            Reduction::Min => Op::Min,
            Reduction::All => Op::And,
            Reduction::Any => Op::Or,
            _ => return self.host_selection(op, indices, body),
        };
        let Some(elem) = elem_of(&self.ty(expr)) else {
            return self.host_reduce_whole((op, combine), indices, body, expr);
        };
        let identity = combine.identity(elem).unwrap_or(Const::zero(elem));
        let start = vec![
            (HostArg::Const(identity), HostType::Scalar(elem)),
            (HostArg::Const(Const::zero(elem)), HostType::Scalar(elem)),
        ];
        let outer = self.frame.clone();
        let done = self.reduce_over(indices, start, &mut |cx, carried| {
            cx.host_term(combine, body, elem, carried)
        });
        self.frame = outer;
        let done = done?;
        let (Some((value, _)), Some((count, _))) = (done.first(), done.get(1)) else {
            return unsupported(self.here, "this reduction over strings or enums");
        };
        let host = match op {
            Reduction::Mean => {
                let kind = HostKind::Op(Op::Div, vec![value.clone(), count.clone()]);
                self.host_value_of(HostType::Scalar(elem), kind)
            }
            _ => value.clone(),
        };
        Ok(Val::Scalar(Scalar { elem, form: Form::Host(host) }))
    }

    /// `reduce[k](init, |a, b| …)(e)` with a state that is no record of scalars.
    pub(super) fn host_user_reduce(
        &mut self,
        indices: &'p [Subscript],
        init: ExprId,
        combine: ExprId,
        body: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let start = self.eval(init)?;
        let start = self.settled(&start)?;
        let function = self.eval(combine)?;
        let callee = self.callee(expr).or_else(|| self.callee(combine));
        let host = self.host_type(&ty)?;
        let start = self.hosted(&start, &ty)?;
        let outer = self.frame.clone();
        let done = self.reduce_over(indices, vec![(start, host)], &mut |cx, carried| {
            let Some((state, host)) = carried.first().cloned() else { return Ok(carried) };
            let (value, items) = cx.guarded_body(body);
            let holds = match Self::has_guard(items) {
                true => cx.guards(items)?,
                false => Scalar::constant(Const::bool(true)),
            };
            let old = state.clone();
            let next = |cx: &mut Self| {
                cx.bind_items(items)?;
                let term = cx.eval(value)?;
                let term = cx.settled(&term)?;
                let state = cx.lifted(old, &ty, "state")?;
                let types = [ty.clone(), ty.clone()];
                cx.apply_function(&function, callee.clone(), vec![state, term], &types, &ty)
            };
            let next = cx.host_if(&holds, &ty, next, |cx| cx.lifted(state, &ty, "state"))?;
            let next = cx.settled(&next)?;
            Ok(vec![(cx.hosted(&next, &ty)?, host)])
        });
        self.frame = outer;
        match done?.into_iter().next() {
            Some((value, _)) => self.lifted(value, &ty, "reduced"),
            None => unsupported(self.here, "this reduction"),
        }
    }

    /// One loop per index, the first outermost; a rest has one for each of its axes.
    pub(super) fn reduce_over(
        &mut self,
        indices: &'p [Subscript],
        carried: Carried,
        term: &mut dyn FnMut(&mut Self, Carried) -> R<Carried>,
    ) -> R<Carried> {
        let shapes = self.shapes.instance(self.frame.instance);
        let mut loops: Vec<(LocalId, &'p Index)> = Vec::with_capacity(indices.len());
        for subscript in indices {
            match subscript {
                Subscript::Index(binder) => match shapes.indices.get(&binder.local) {
                    Some(index) => loops.push((binder.local, index)),
                    None => return unsupported(self.here, "an index whose range is not known"),
                },
                Subscript::Rest { local: Res::Local(local), .. } => {
                    self.frame.bind(*local, Val::Record(Vec::new()));
                    loops
                        .extend(shapes.rests.get(local).into_iter().flatten().map(|i| (*local, i)));
                }
                _ => return unsupported(self.here, "this index over strings or enums"),
            }
        }
        self.loops_over(&loops, carried, term)
    }

    fn loops_over(
        &mut self,
        loops: &[(LocalId, &'p Index)],
        carried: Carried,
        term: &mut dyn FnMut(&mut Self, Carried) -> R<Carried>,
    ) -> R<Carried> {
        let Some(((local, index), rest)) = loops.split_first() else { return term(self, carried) };
        let from = match index.range.lo() {
            Some(lo) => self.host_extent(&lo)?,
            None => super::tables::i64_const(0),
        };
        let Some(hi) = index.range.hi() else {
            return unsupported(self.here, "a reduction over an open range");
        };
        let to = self.host_extent(&hi)?;
        self.counted(from, to, carried, |cx, counter, carried| {
            cx.frame.bind_host_var(index.var, counter.clone());
            cx.bind_counter(*local, counter);
            cx.loops_over(rest, carried, term)
        })
    }

    /// An index is the counter; a rest gets it as its next axis.
    fn bind_counter(&mut self, local: LocalId, counter: HostArg) {
        let ty = self.typed.instance(self.frame.instance).local(local);
        let elem = elem_of(ty).unwrap_or(Elem::I32);
        let narrow = self.host_cast(counter, Elem::I64, elem);
        let index = Val::Scalar(Scalar { elem, form: Form::Host(narrow) });
        let bound = match self.local(self.frame.body, local) {
            Ok(Val::Record(mut axes)) => {
                axes.push(index);
                Val::Record(axes)
            }
            _ => index,
        };
        self.frame.bind(local, bound);
    }

    fn host_extent(&mut self, value: &einlang_index::MinMax) -> R<HostArg> {
        let extent = self.extent(value)?;
        let scalar = self.index_scalar(Elem::I64, extent);
        self.host_scalar(&scalar)
    }

    /// Combines one term, if its guards hold.
    fn host_term(&mut self, op: Op, body: ExprId, elem: Elem, carried: Carried) -> R<Carried> {
        let (value, items) = self.guarded_body(body);
        let guard = match Self::has_guard(items) {
            true => Some(self.guards(items)?),
            false => None,
        };
        let combined = |cx: &mut Self| {
            cx.bind_items(items)?;
            let value = cx.eval(value)?;
            let scalar = cx.expect_scalar(value, cx.here)?;
            let term = cx.host_scalar(&scalar)?;
            let one = HostArg::Const(Const::one(elem));
            let mut after = Vec::with_capacity(2);
            // A mean counts its terms; others carry that along for nothing.
            let count = if elem == Elem::Bool { Op::Or } else { Op::Add };
            for ((before, ty), (op, item)) in carried.iter().zip([(op, term), (count, one)]) {
                let kind = HostKind::Op(op, vec![before.clone(), item]);
                after.push((cx.host_value_of(ty.clone(), kind), ty.clone()));
            }
            Ok(after)
        };
        let guard = guard.unwrap_or_else(|| Scalar::constant(Const::bool(true)));
        self.carried_if(&guard, carried.clone(), &mut |cx, _| combined(cx))
    }
}
