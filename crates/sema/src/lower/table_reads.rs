//! Definitions that the host evaluates, once and while they are computed: the finished value, and
//! reads of points that are there already.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::module::loc;
use super::tables::{Table, i64_const};
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, Subscript};
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// The lists as the value of the binding: lists along the axes, or tensors.
    pub(super) fn finished(&mut self, table: &Table, ty: &Ty) -> R<Val<'p>> {
        let mut nested = Vec::with_capacity(table.lists.len());
        for (list, ty) in &table.lists {
            nested.push(self.nested(table, (list, ty), 0, i64_const(0))?);
        }
        let rank = table.extents.len();
        let Some(leaves) = self.leaf_types(&table.element) else {
            let host = self.host_type(ty)?;
            let list = nested.into_iter().next().unwrap_or(HostArg::Str(String::new()));
            return Ok(Val::Host(list, host));
        };
        let mut values = Vec::with_capacity(leaves.len());
        for (leaf, list) in leaves.iter().zip(nested) {
            let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![list]);
            let rank = rank + leaf.rank;
            let host = self.host_value_of(HostType::Tensor(leaf.elem, rank), kind);
            values.push(self.host_tensor("table", leaf.elem, rank, host));
        }
        Ok(self.record(ty, &mut values.into_iter()))
    }

    /// The elements from some axis on as lists of lists, in the order of the axes.
    fn nested(
        &mut self,
        table: &Table,
        (flat, ty): (&HostArg, &HostType),
        axis: usize,
        position: HostArg,
    ) -> R<HostArg> {
        let HostType::List(item) = ty else { return Ok(flat.clone()) };
        let rank = table.extents.len();
        if rank == 1 && table.descending == [false] {
            return Ok(flat.clone());
        }
        let Some(extent) = table.extents.get(axis).cloned() else {
            let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![flat.clone(), position]);
            return Ok(self.host_value_of((**item).clone(), kind));
        };
        let mut inner = (**item).clone();
        (axis..rank).for_each(|_| inner = HostType::List(Box::new(inner.clone())));
        let empty = self.host_value_of(inner.clone(), HostKind::List(Vec::new()));
        let start = vec![(empty, inner)];
        let done = self.counted(i64_const(0), extent, start, |cx, counter, lists| {
            let position = cx.position(table, axis, position, counter);
            let part = cx.nested(table, (flat, ty), axis + 1, position)?;
            Ok(cx.pushed(lists, vec![part]))
        })?;
        Ok(done.into_iter().next().map_or(HostArg::Str(String::new()), |list| list.0))
    }

    /// The position in a list of the points with one more coordinate.
    fn position(
        &mut self,
        table: &Table,
        axis: usize,
        outer: HostArg,
        coordinate: HostArg,
    ) -> HostArg {
        let extent = table.extents[axis].clone();
        let along = match table.descending[axis] {
            true => {
                let last = self.host_op(Op::Sub, vec![extent.clone(), i64_const(1)]);
                self.host_op(Op::Sub, vec![last, coordinate])
            }
            false => coordinate,
        };
        let outer = self.host_op(Op::Mul, vec![outer, extent]);
        self.host_op(Op::Add, vec![outer, along])
    }

    /// A read of a definition that is being evaluated.
    pub(super) fn table_read(
        &mut self,
        table: &Table,
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let name = self.local_name(table.local);
        let mut at = Vec::with_capacity(subscripts.len());
        let n_axes = table.extents.len().min(subscripts.len());
        let (subscripts, rest) = subscripts.split_at(n_axes);
        for (axis, subscript) in subscripts.iter().enumerate() {
            let Subscript::Expr(point) = subscript else {
                return unsupported(self.here, format!("this read of `{name}` in its definition"));
            };
            let Some(extent) = table.extents.get(axis).cloned() else { break };
            let last = self.host_op(Op::Sub, vec![extent, i64_const(1)]);
            self.lasts.push(Scalar { elem: Elem::I64, form: Form::Host(last) });
            let value = self.subscript(*point);
            self.lasts.pop();
            let Val::Scalar(scalar) = value? else {
                return unsupported(self.here, format!("a slice of `{name}` in its definition"));
            };
            let host = self.host_scalar(&scalar)?;
            at.push(self.host_cast(host, scalar.elem, Elem::I64));
        }
        let is_whole = at.len() == table.extents.len() && (rest.is_empty() || default.is_none());
        if !is_whole || self.in_region() {
            return unsupported(self.here, format!("a part of `{name}` in its definition"));
        }
        self.flush();
        let truth = HostType::Scalar(Elem::Bool);
        let (mut inside, mut position) = (HostArg::Const(Const::bool(true)), i64_const(0));
        for (axis, coordinate) in at.iter().enumerate() {
            let (x, extent) = (coordinate.clone(), table.extents[axis].clone());
            for (op, args) in [(Op::Ge, vec![x.clone(), i64_const(0)]), (Op::Lt, vec![x, extent])] {
                let holds = self.host_value_of(truth.clone(), HostKind::Op(op, args));
                let kind = HostKind::Op(Op::And, vec![inside, holds]);
                inside = self.host_value_of(truth.clone(), kind);
            }
            position = self.position(table, axis, position, coordinate.clone());
        }
        let ty = if rest.is_empty() { self.ty(expr) } else { table.element.clone() };
        let found = |cx: &mut Self| cx.table_item(table, position);
        let inside = self.host_bool(inside);
        let element = self.host_if(&inside, &ty, found, |cx| match default {
            Some(default) => cx.eval(default),
            None => {
                let message = format!("`{name}` is read outside its box");
                cx.host_inst(Vec::new(), HostKind::Trap(Trap::OutOfBounds, message), loc(cx.here));
                cx.zero_of_dead(&ty)
            }
        })?;
        match &element {
            _ if rest.is_empty() => Ok(element),
            Val::Host(host, ty) => self.host_access(host.clone(), ty.clone(), rest, None, expr),
            _ => {
                let specs = self.specs(&element, rest, None)?;
                self.read_specs(&element, &specs)
            }
        }
    }

    fn zero_of_dead(&mut self, ty: &Ty) -> R<Val<'p>> {
        let host = self.host_type(ty)?;
        let value = self.dead_value(&host)?;
        self.lifted(value, ty, "dead")
    }

    /// The element at a position, which must have been computed.
    fn table_item(&mut self, table: &Table, position: HostArg) -> R<Val<'p>> {
        let Some((first, _)) = table.lists.first() else { return Ok(Val::unit()) };
        let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![first.clone()]);
        let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
        let kind = HostKind::Op(Op::Lt, vec![position.clone(), length]);
        let known = self.host_value_of(HostType::Scalar(Elem::Bool), kind);
        let at = loc(self.here);
        let name = self.local_name(table.local);
        let (otherwise, ()) = self.block(Vec::new(), |cx| {
            let message = format!("`{name}` is read at a point that is not computed yet");
            cx.host_inst(Vec::new(), HostKind::Trap(Trap::NotComputed, message), at);
            Ok((Vec::new(), ()))
        })?;
        self.host_inst(Vec::new(), HostKind::If(known, Default::default(), otherwise), at);
        let mut items = Vec::with_capacity(table.lists.len());
        for (list, ty) in &table.lists {
            let HostType::List(item) = ty else { continue };
            let kind =
                HostKind::Intrinsic(Intrinsic::ListGet, vec![list.clone(), position.clone()]);
            items.push((self.host_value_of((**item).clone(), kind), (**item).clone()));
        }
        if self.is_numeric(&table.element) {
            let leaves: Vec<Val<'p>> = items
                .into_iter()
                .map(|(host, ty)| match ty {
                    HostType::Scalar(elem) => Val::Scalar(Scalar { elem, form: Form::Host(host) }),
                    HostType::Tensor(elem, rank) => self.host_tensor("item", elem, rank, host),
                    ty => Val::Host(host, ty),
                })
                .collect();
            return Ok(self.record(&table.element, &mut leaves.into_iter()));
        }
        match items.into_iter().next() {
            Some((host, _)) => self.lifted(host, &table.element, "item"),
            None => Ok(Val::unit()),
        }
    }
}
