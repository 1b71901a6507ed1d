//! Reductions over what only the host knows whose result is no scalar: `argmax` and the like, and
//! sums of records and tensors.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostDef, HostKind, HostType};
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::module::loc;
use super::types::elem_of;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::builtins::Reduction;
use crate::hir::{ExprId, Res, Subscript};
use crate::types::Ty;

/// Values with their types.
type Typed = Vec<(HostArg, HostType)>;

impl<'p> Lower<'p> {
    /// `argmax`, `max_at` and the like: the first extremal term and its indices.
    pub(super) fn host_selection(
        &mut self,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
    ) -> R<Val<'p>> {
        let (value, items) = self.guarded_body(body);
        let Some(elem) = elem_of(&self.ty(value)) else {
            return unsupported(self.here, "this reduction over strings or enums");
        };
        let largest = matches!(op, Reduction::ArgMax | Reduction::MaxAt);
        let better = if largest { Op::Gt } else { Op::Lt };
        let (truth, int) = (HostType::Scalar(Elem::Bool), HostType::Scalar(Elem::I32));
        let n_indices = self.n_indices(indices);
        let mut start = vec![
            (HostArg::Const(Const::bool(false)), truth.clone()),
            (HostArg::Const(Const::zero(elem)), HostType::Scalar(elem)),
        ];
        start.extend(
            (0..n_indices).map(|_| (HostArg::Const(Const::int(Elem::I32, 0)), int.clone())),
        );
        let outer = self.frame.clone();
        let done = self.reduce_over(indices, start, &mut |cx, carried| {
            let guard = match Self::has_guard(items) {
                true => cx.guards(items)?,
                false => Scalar::constant(Const::bool(true)),
            };
            cx.carried_if(&guard, carried, &mut |cx, carried| {
                cx.bind_items(items)?;
                let term = cx.eval(value)?;
                let term = cx.expect_scalar(term, cx.here)?;
                let term = cx.host_scalar(&term)?;
                let kind = HostKind::Op(better, vec![term.clone(), carried[1].0.clone()]);
                let is_better = cx.host_value_of(truth.clone(), kind);
                let kind = HostKind::Op(Op::Not, vec![carried[0].0.clone()]);
                let is_first = cx.host_value_of(truth.clone(), kind);
                let kind = HostKind::Op(Op::Or, vec![is_first, is_better]);
                let taken = cx.host_value_of(truth.clone(), kind);
                let mut new = vec![HostArg::Const(Const::bool(true)), term];
                new.extend(cx.index_hosts(indices)?);
                let taken = cx.host_bool(taken);
                cx.carried_if(&taken, carried, &mut |_, carried| {
                    Ok(new.iter().cloned().zip(carried.into_iter().map(|c| c.1)).collect())
                })
            })
        });
        self.frame = outer;
        let done = done?;
        self.stop_unless_found(&done[0].0)?;
        let scalar = |(host, ty): &(HostArg, HostType)| match ty {
            HostType::Scalar(elem) => {
                Val::Scalar(Scalar { elem: *elem, form: Form::Host(host.clone()) })
            }
            ty => Val::Host(host.clone(), ty.clone()),
        };
        let mut at: Vec<Val<'p>> = done[2..].iter().map(scalar).collect();
        let at = if at.len() == 1 { at.remove(0) } else { Val::Record(at) };
        Ok(match op {
            Reduction::ArgMax | Reduction::ArgMin => at,
            _ => Val::Record(vec![scalar(&done[1]), at]),
        })
    }

    fn n_indices(&self, indices: &[Subscript]) -> usize {
        indices.iter().map(|subscript| self.n_axes(subscript)).sum()
    }

    /// The indices of a reduction as the host counts them.
    fn index_hosts(&mut self, indices: &'p [Subscript]) -> R<Vec<HostArg>> {
        let mut hosts = Vec::with_capacity(indices.len());
        for subscript in indices {
            let local = match subscript {
                Subscript::Index(binder) => binder.local,
                Subscript::Rest { local: Res::Local(local), .. } => *local,
                _ => return unsupported(self.here, "this index over strings or enums"),
            };
            for leaf in self.local(self.frame.body, local)?.leaves() {
                let scalar = self.expect_scalar(leaf, self.here)?;
                let host = self.host_scalar(&scalar)?;
                hosts.push(self.host_cast(host, scalar.elem, Elem::I32));
            }
        }
        Ok(hosts)
    }

    fn stop_unless_found(&mut self, found: &HostArg) -> R<()> {
        let at = loc(self.here);
        let (otherwise, ()) = self.block(Vec::new(), |cx| {
            let message = "`argmax`, `argmin` or another reduction without identity has no terms";
            let kind = HostKind::Trap(Trap::EmptyReduction, message.to_owned());
            cx.host_inst(Vec::new(), kind, at);
            Ok((Vec::new(), ()))
        })?;
        let kind = HostKind::If(found.clone(), Default::default(), otherwise);
        self.host_inst(Vec::new(), kind, at);
        Ok(())
    }

    /// What is carried on if a condition holds; it stays as it is otherwise.
    pub(super) fn carried_if(
        &mut self,
        condition: &Scalar,
        carried: Typed,
        then: &mut dyn FnMut(&mut Self, Typed) -> R<Typed>,
    ) -> R<Typed> {
        if condition.as_const().and_then(|c| c.as_bool()) == Some(true) {
            return then(self, carried);
        }
        let condition = self.host_scalar(condition)?;
        let (changed, ()) = self.block(Vec::new(), |cx| {
            let after = then(cx, carried.clone())?;
            Ok((after.into_iter().map(|c| c.0).collect(), ()))
        })?;
        let kept: Vec<HostArg> = carried.iter().map(|c| c.0.clone()).collect();
        let (otherwise, ()) = self.block(Vec::new(), |_| Ok((kept, ())))?;
        let results: Vec<HostDef> =
            carried.into_iter().map(|c| HostDef { number: self.new_number(), ty: c.1 }).collect();
        let after = results.iter().map(|def| (HostArg::Value(def.number), def.ty.clone()));
        let after = after.collect();
        self.host_inst(results, HostKind::If(condition, changed, otherwise), loc(self.here));
        Ok(after)
    }

    /// A sum, product or mean of records or tensors, leaf by leaf.
    pub(super) fn host_reduce_whole(
        &mut self,
        (op, combine): (Reduction, Op),
        indices: &'p [Subscript],
        body: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let start = self.identity_of(combine, expr, &ty)?;
        let start = self.settled(&start)?;
        let host = self.host_type(&ty)?;
        let start = self.hosted(&start, &ty)?;
        let count = (HostArg::Const(Const::int(Elem::I64, 0)), HostType::Scalar(Elem::I64));
        let outer = self.frame.clone();
        let carried = vec![(start, host.clone()), count];
        let done = self.reduce_over(indices, carried, &mut |cx, carried| {
            let (value, items) = cx.guarded_body(body);
            let guard = match Self::has_guard(items) {
                true => cx.guards(items)?,
                false => Scalar::constant(Const::bool(true)),
            };
            cx.carried_if(&guard, carried, &mut |cx, carried| {
                cx.bind_items(items)?;
                let term = cx.eval(value)?;
                let state = cx.lifted(carried[0].0.clone(), &ty, "state")?;
                let sum = cx.map_leaves(&[state, term], &ty, move |cx, args| {
                    let elem = args[0].elem;
                    cx.apply(combine, args, elem)
                })?;
                let sum = cx.settled(&sum)?;
                let sum = cx.hosted(&sum, &ty)?;
                let one = super::tables::i64_const(1);
                let count = cx.host_op(Op::Add, vec![carried[1].0.clone(), one]);
                Ok(vec![(sum, host.clone()), (count, HostType::Scalar(Elem::I64))])
            })
        });
        self.frame = outer;
        let done = done?;
        let total = self.lifted(done[0].0.clone(), &ty, "reduced")?;
        if op != Reduction::Mean {
            return Ok(total);
        }
        let count = Scalar { elem: Elem::I64, form: Form::Host(done[1].0.clone()) };
        self.map_leaves(&[total, Val::Scalar(count)], &ty, |cx, args| {
            let elem = args[0].elem;
            let count = cx.cast(&args[1], elem)?;
            cx.apply(Op::Div, &[args[0].clone(), count], elem)
        })
    }

    /// What no terms give: the identity at every point.
    fn identity_of(&mut self, combine: Op, expr: ExprId, ty: &Ty) -> R<Val<'p>> {
        let leaves = self.leaf_types(ty).unwrap_or_default();
        let mut values = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.into_iter().enumerate() {
            let elem = leaf.elem;
            let identity = combine.identity(elem).unwrap_or(Const::zero(elem));
            values.push(match leaf.rank {
                0 => Val::Scalar(Scalar::constant(identity)),
                rank => {
                    let frame = self.frame.clone();
                    let extents = move |cx: &mut Lower<'p>| {
                        cx.within(frame.clone(), |cx| cx.leaf_extents(expr, at))
                    };
                    Val::lazy(elem, rank, false, extents, move |_, _| {
                        Ok(Scalar::constant(identity))
                    })
                }
            });
        }
        Ok(self.record(ty, &mut values.into_iter()))
    }
}
