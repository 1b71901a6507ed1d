//! Reductions.
//!
//! A reduction of scalars is one instruction of the region that is open; of tensors it is a lazy
//! tensor whose elements are reductions. Selections carry the value and its indices and keep the
//! first extremal one; `mean` divides a sum by the number of terms that count.

use einlang_index::{Domain, Var};
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::region::{
    Arg, Combiner, Def, InstKind, Over, ReduceFlags, Reduction as TirReduction, Region, Start,
    Subscript as At,
};
use einlang_tir::types::Elem;

use super::module::loc;
use super::value::{R, Scalar, Val};
use super::{Lower, unsupported};
use crate::builtins::Reduction;
use crate::hir::{ExprId, Res, Subscript};
use crate::shapes::Index;
use crate::types::{Callee, Ty};

impl<'p> Lower<'p> {
    pub(super) fn reduce(
        &mut self,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        if !self.in_region() && self.handles_host_values(body) {
            return self.host_reduce(op, indices, body, expr);
        }
        match op {
            Reduction::ArgMax | Reduction::ArgMin | Reduction::MaxAt | Reduction::MinAt => {
                return self.selection(op, indices, body, &ty);
            }
            _ => {}
        }
        let leaves = self.leaf_types(&ty).unwrap_or_default();
        let mut values = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let (frame, span, elem) = (self.frame.clone(), self.here, leaf.elem);
            let one = move |cx: &mut Lower<'p>, rest: &[At]| {
                cx.within(frame.clone(), |cx| {
                    let outer = std::mem::replace(&mut cx.here, span);
                    let value = cx.reduce_leaf(op, indices, body, (at, elem), rest);
                    cx.here = outer;
                    value
                })
            };
            values.push(match leaf.rank {
                0 if self.in_region() => Val::Scalar(one(self, &[])?),
                0 => {
                    let name = self.fresh("v");
                    let id = self.define_scalar(&name, span, |cx| one(cx, &[]))?;
                    Val::named(elem, 0, id)
                }
                rank => {
                    let frame = self.frame.clone();
                    let extents = move |cx: &mut Lower<'p>| {
                        cx.within(frame.clone(), |cx| cx.leaf_extents(expr, at))
                    };
                    Val::lazy(elem, rank, false, extents, one)
                }
            });
        }
        Ok(self.record(&ty, &mut values.into_iter()))
    }

    fn reduce_leaf(
        &mut self,
        op: Reduction,
        indices: &'p [Subscript],
        body: ExprId,
        (leaf, elem): (usize, Elem),
        rest: &[At],
    ) -> R<Scalar> {
        let combine = match op {
            Reduction::Sum => Op::Add,
            Reduction::Prod => Op::Mul,
            Reduction::Max => Op::Max,
            Reduction::Min => Op::Min,
            Reduction::All => Op::And,
            Reduction::Any => Op::Or,
            Reduction::Mean => {
                let sum = self.fold(Op::Add, indices, body, elem, (leaf, rest), false)?;
                let count = self.fold(Op::Add, indices, body, Elem::I64, (leaf, rest), true)?;
                let count = self.cast(&count, elem)?;
                return self.apply(Op::Div, &[sum, count], elem);
            }
            _ => return unsupported(self.here, "this reduction"),
        };
        self.fold(combine, indices, body, elem, (leaf, rest), false)
    }

    /// A reduction by one operation; `count` adds ones instead of terms.
    fn fold(
        &mut self,
        op: Op,
        indices: &'p [Subscript],
        body: ExprId,
        elem: Elem,
        (leaf, rest): (usize, &[At]),
        count: bool,
    ) -> R<Scalar> {
        let outer = self.frame.clone();
        let domain = self.open_indices(indices)?;
        let span = self.here;
        let guard = self.guard_of(body)?;
        let (value, items) = self.guarded_body(body);
        let (term, _) = self.scalar_region(|cx| {
            if count {
                return Ok(Scalar::constant(Const::one(elem)));
            }
            cx.bind_items(items)?;
            let value = cx.eval(value)?;
            cx.leaf_at(&value, leaf, rest)
        })?;
        self.frame = outer;
        let identity = op.identity(elem).unwrap_or(Const::zero(elem));
        let exact = !elem.is_float();
        let flags = ReduceFlags {
            commutative: exact || matches!(op, Op::Add | Op::Mul),
            idempotent: matches!(op, Op::Max | Op::Min | Op::And | Op::Or),
            reassociable: true,
        };
        let reduction = TirReduction {
            domain: Over(domain),
            guard,
            body: term,
            combine: Combiner::Op(op),
            start: Start::Identity(vec![identity.into()]),
            flags,
        };
        Ok(self.emit(elem, InstKind::Reduce(Box::new(reduction)), loc(span)))
    }

    /// One element of a leaf of a value.
    pub(super) fn leaf_at(&mut self, value: &Val<'p>, leaf: usize, rest: &[At]) -> R<Scalar> {
        match value.leaves().into_iter().nth(leaf) {
            Some(Val::Scalar(scalar)) => Ok(scalar),
            Some(Val::Tensor(tensor)) => self.element(&tensor, rest, true, self.here),
            _ => unsupported(self.here, "the body of this reduction"),
        }
    }

    /// The guard of a body, as a region.
    pub(super) fn guard_of(&mut self, body: ExprId) -> R<Option<Region>> {
        let (_, items) = self.guarded_body(body);
        if !Self::has_guard(items) {
            return Ok(None);
        }
        let frame = self.frame.clone();
        let region = self.scalar_region(|cx| cx.guards(items))?.0;
        self.frame = frame;
        Ok(Some(region))
    }

    /// Binds the indices of a reduction to new variables and gives their domain.
    pub(super) fn open_indices(&mut self, indices: &'p [Subscript]) -> R<Domain> {
        let shapes = self.shapes.instance(self.frame.instance);
        let mut vars: Vec<Var> = Vec::new();
        let mut ranges: Vec<(Var, &'p Index)> = Vec::new();
        for subscript in indices {
            match subscript {
                Subscript::Index(binder) => {
                    let Some(index) = shapes.indices.get(&binder.local) else {
                        return unsupported(self.here, "an index whose range is not known");
                    };
                    let name = self.local_name(binder.local);
                    let var = self.bind_index(&name, index);
                    let scalar = self.index_value(binder.local, var);
                    self.frame.bind(binder.local, Val::Scalar(scalar));
                    vars.push(var);
                    ranges.push((var, index));
                }
                Subscript::Rest { local: Res::Local(local), .. } => {
                    let n_axes = self.typed.instance(self.frame.instance).rests.get(local);
                    if n_axes == Some(&0) {
                        self.frame.bind(*local, Val::unit());
                        continue;
                    }
                    let Some(rest) = shapes.rests.get(local) else {
                        return unsupported(self.here, "a rest whose axes are not known");
                    };
                    let mut scalars = Vec::with_capacity(rest.len());
                    for index in rest {
                        let var = self.bind_index("r", index);
                        scalars.push(Val::Scalar(self.index_scalar(Elem::I32, var.into())));
                        vars.push(var);
                        ranges.push((var, index));
                    }
                    self.frame.bind(*local, Val::Record(scalars));
                }
                _ => return unsupported(self.here, "this reduction index"),
            }
        }
        self.box_over(&vars, &ranges)
    }

    fn bind_index(&mut self, name: &str, index: &Index) -> Var {
        let module = self.module();
        let var = self.new_index(name);
        self.frame.bind_var(index.var, module, var.into());
        var
    }

    fn box_over(&mut self, vars: &[Var], ranges: &[(Var, &Index)]) -> R<Domain> {
        let span = self.here;
        let mut domain = Domain::everything(vars.to_vec());
        for (var, index) in ranges {
            if let Some(lo) = index.range.lo() {
                let lo = self.map_minmax(&lo)?;
                let above = self.index_result(lo.at_most_domain(vars, &(*var).into()), span)?;
                domain = self.index_result(domain.intersect(&above), span)?;
            }
            let Some(hi) = index.range.hi() else {
                return unsupported(span, "a reduction over an open range");
            };
            let hi = self.map_minmax(&hi)?;
            let last = self.index_result(hi.add_constant(-1), span)?;
            let below = self.index_result(last.at_least_domain(vars, &(*var).into()), span)?;
            domain = self.index_result(domain.intersect(&below), span)?;
        }
        Ok(domain)
    }

    /// `reduce[k](init, |a, b| …)(e)`
    pub(super) fn user_reduce(
        &mut self,
        indices: &'p [Subscript],
        init: ExprId,
        combine: ExprId,
        body: ExprId,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let leaves = self.leaf_types(&ty).unwrap_or_default();
        let on_host = leaves.is_empty()
            || leaves.iter().any(|leaf| leaf.rank > 0)
            || self.handles_host_values(body);
        if on_host && !self.in_region() {
            return self.host_user_reduce(indices, init, combine, body, expr);
        }
        if on_host {
            return unsupported(self.here, "`reduce` with a state of tensors inside a tensor body");
        }
        if !self.in_region() {
            let span = self.here;
            let mut values = Vec::with_capacity(leaves.len());
            for (at, leaf) in leaves.iter().enumerate() {
                let name = self.fresh("v");
                let id = self.define_scalar(&name, span, |cx| {
                    let all = cx.user_reduce(indices, init, combine, body, expr)?;
                    cx.leaf_at(&all, at, &[])
                })?;
                values.push(Val::named(leaf.elem, 0, id));
            }
            return Ok(self.record(&ty, &mut values.into_iter()));
        }
        let start = self.eval(init)?;
        let start = self.leaf_args(&start)?;
        let elems: Vec<Elem> = leaves.iter().map(|leaf| leaf.elem).collect();
        let combiner = self.user_combiner(combine, expr, &elems, &ty)?;
        let outer = self.frame.clone();
        let domain = self.open_indices(indices)?;
        let guard = self.guard_of(body)?;
        let (value, items) = self.guarded_body(body);
        let (term, ()) = self.region(|cx| {
            cx.bind_items(items)?;
            let value = cx.eval(value)?;
            Ok((cx.leaf_args(&value)?, ()))
        })?;
        self.frame = outer;
        let reduction = TirReduction {
            domain: Over(domain),
            guard,
            body: term,
            combine: Combiner::Region(combiner),
            start: Start::Init(start),
            flags: ReduceFlags { reassociable: true, ..ReduceFlags::default() },
        };
        let values: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let defs = values.iter().map(|value| Def::Scalar(*value)).collect();
        let at = loc(self.here);
        self.push_inst(defs, InstKind::Reduce(Box::new(reduction)), at);
        let mut parts = values.into_iter().map(|value| Val::Scalar(Scalar::value(value)));
        Ok(self.record(&ty, &mut parts))
    }

    fn leaf_args(&mut self, value: &Val<'p>) -> R<Vec<Arg>> {
        let mut args = Vec::new();
        for leaf in value.leaves() {
            let scalar = self.expect_scalar(leaf, self.here)?;
            args.push(self.arg(&scalar)?);
        }
        Ok(args)
    }

    fn user_combiner(
        &mut self,
        combine: ExprId,
        expr: ExprId,
        elems: &[Elem],
        ty: &Ty,
    ) -> R<Region> {
        let function = self.eval(combine)?;
        let callee: Option<Callee> = self.callee(expr).or_else(|| self.callee(combine));
        let left: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let right: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let state = |cx: &Self, values: &[einlang_tir::region::Value]| {
            let mut scalars = values.iter().map(|value| Val::Scalar(Scalar::value(*value)));
            cx.record(ty, &mut scalars)
        };
        let (a, b) = (state(self, &left), state(self, &right));
        let (mut region, ()) = self.region(|cx| {
            let types = vec![ty.clone(), ty.clone()];
            let value = cx.apply_function(&function, callee, vec![a, b], &types, ty)?;
            Ok((cx.leaf_args(&value)?, ()))
        })?;
        region.params = left.into_iter().chain(right).map(Def::Scalar).collect();
        Ok(region)
    }
}
