//! Definitions that the host evaluates, once and while they are computed: the finished value, and
//! reads of points that are there already.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::{Op, Trap};
use einlang_tir::types::Elem;

use super::access::Spec;
use super::lists::{Outside, Part};
use super::module::loc;
use super::tables::{Table, i64_const};
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, LocalId, Res, Subscript};
use crate::types::Ty;

impl<'p> Lower<'p> {
    /// The lists as the value of the binding: lists along the axes, or tensors.
    pub(super) fn finished(&mut self, table: &Table<'p>, ty: &Ty) -> R<Val<'p>> {
        let mut nested = Vec::with_capacity(table.lists.len());
        for (list, ty) in table.elements() {
            nested.push(self.nested(table, (list, ty), &mut Vec::new())?);
        }
        let marks = match table.marks().filter(|_| table.gaps) {
            Some((list, ty)) => Some(self.nested(table, (list, ty), &mut Vec::new())?),
            None => None,
        };
        let rank = table.extents.len();
        let Some(leaves) = self.leaf_types(&table.element) else {
            let host = self.host_type(ty)?;
            let list = nested.into_iter().next().unwrap_or(HostArg::Str(String::new()));
            if let Some(marks) = marks {
                self.frame.bind_marks(table.local, (marks, rank));
            }
            return Ok(Val::Host(list, host));
        };
        let mut values = Vec::with_capacity(leaves.len());
        for (leaf, list) in leaves.iter().zip(nested) {
            let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![list]);
            let rank = rank + leaf.rank;
            let host = self.host_value_of(HostType::Tensor(leaf.elem, rank), kind);
            values.push(self.host_tensor("table", leaf.elem, rank, host));
        }
        let value = self.record(ty, &mut values.into_iter());
        if let Some(marks) = marks {
            let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![marks]);
            let marks = self.host_value_of(HostType::Tensor(Elem::Bool, rank), kind);
            let covered = self.host_tensor("covered", Elem::Bool, rank, marks);
            self.note_gaps(&value, &covered);
        }
        Ok(value)
    }

    /// The elements from some axis on as lists of lists, in the order of the axes.
    fn nested(
        &mut self,
        table: &Table<'p>,
        (flat, ty): (&HostArg, &HostType),
        at: &mut Vec<HostArg>,
    ) -> R<HostArg> {
        let HostType::List(item) = ty else { return Ok(flat.clone()) };
        if table.descending == [false] {
            return Ok(flat.clone());
        }
        let whole: Vec<Part> =
            table.extents.iter().map(|extent| Part::Slice(i64_const(0), extent.clone())).collect();
        let list = self.gathered(&whole, at, item, &mut |cx, at| {
            let position = cx.position(table, at);
            let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![flat.clone(), position]);
            Ok(cx.host_value_of((**item).clone(), kind))
        })?;
        Ok(self.shaped_list(list, item, table.extents.clone()))
    }

    /// The position in the lists of a point.
    pub(super) fn position(&mut self, table: &Table<'p>, at: &[HostArg]) -> HostArg {
        let mut position = i64_const(0);
        for axis in &table.order {
            let (extent, coordinate) = (table.extents[*axis].clone(), at[*axis].clone());
            let along = match table.descending[*axis] {
                true => {
                    let last = self.host_op(Op::Sub, vec![extent.clone(), i64_const(1)]);
                    self.host_op(Op::Sub, vec![last, coordinate])
                }
                false => coordinate,
            };
            let outer = self.host_op(Op::Mul, vec![position, extent]);
            position = self.host_op(Op::Add, vec![outer, along]);
        }
        position
    }

    /// A read of a definition that is being evaluated.
    pub(super) fn table_read(
        &mut self,
        table: &Table<'p>,
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
        (base, expr): (ExprId, ExprId),
    ) -> R<Val<'p>> {
        let name = self.local_name(table.local);
        if self.in_region() {
            return unsupported(self.here, format!("a part of `{name}` in its definition"));
        }
        let n_axes = table.extents.len();
        let mut n_own = 0;
        let mut covered = 0;
        while covered < n_axes && n_own < subscripts.len() {
            covered += self.n_read(&subscripts[n_own])?;
            n_own += 1;
        }
        let (own, rest) = subscripts.split_at(n_own);
        let mut parts = self.list_parts(own, &mut |_, axis| table.extents[axis].clone())?;
        let missing = table.extents.iter().skip(parts.len());
        let missing: Vec<Part> =
            missing.map(|extent| Part::Slice(i64_const(0), extent.clone())).collect();
        parts.extend(missing);
        self.flush();
        let points: Option<Vec<HostArg>> = parts.iter().map(Part::as_point).collect();
        let Some(at) = points.filter(|points| points.len() == n_axes) else {
            if !rest.is_empty() {
                return unsupported(self.here, format!("a part of `{name}` in its definition"));
            }
            return self.table_slice(table, &parts, default, expr);
        };
        let ty = if rest.is_empty() { self.ty(expr) } else { table.element.clone() };
        let whole = default.filter(|_| rest.is_empty());
        if default.is_some() && whole.is_none() {
            return unsupported(self.here, format!("a part of `{name}` in its definition"));
        }
        let whole = whole.map(Outside::Element);
        let element = self.table_point(table, &at, whole.as_ref(), &ty)?;
        match &element {
            _ if rest.is_empty() => Ok(element),
            Val::Host(host, ty) => {
                self.host_access((host.clone(), ty.clone()), rest, None, (base, expr))
            }
            _ => {
                let specs = self.specs(&element, rest, None)?;
                self.read_specs(&element, &specs)
            }
        }
    }

    /// Whether a binding is a definition without axes that the host is in the middle of.
    pub(super) fn is_open_scalar(&self, local: LocalId) -> bool {
        self.tables.iter().any(|table| table.local == local && table.extents.is_empty())
    }

    /// The value of such a definition.
    pub(super) fn open_scalar(&mut self, local: LocalId, expr: ExprId) -> R<Val<'p>> {
        let table = self.tables.iter().rev().find(|table| table.local == local).cloned();
        match table {
            Some(table) => self.table_read(&table, &[], None, (expr, expr)),
            None => self.local(self.frame.body, local),
        }
    }

    /// How many axes a subscript stands for.
    fn n_read(&mut self, subscript: &'p Subscript) -> R<usize> {
        let Subscript::Rest { local: Res::Local(local), .. } = subscript else { return Ok(1) };
        match self.local(self.frame.body, *local)? {
            Val::Record(axes) => Ok(axes.len()),
            _ => Ok(1),
        }
    }

    /// Several points of a definition that is being evaluated.
    fn table_slice(
        &mut self,
        table: &Table<'p>,
        parts: &[Part],
        default: Option<ExprId>,
        expr: ExprId,
    ) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let default = default.map(|default| self.default_of(default, parts)).transpose()?;
        let default = default.as_ref();
        let Some(leaves) = self.leaf_types(&table.element) else {
            let item = self.host_type(&table.element)?;
            let list = self.gathered(parts, &mut Vec::new(), &item, &mut |cx, at| {
                let value = cx.table_point(table, at, default, &table.element)?;
                cx.hosted(&value, &table.element)
            })?;
            return self.lifted(list, &ty, "slice");
        };
        let n_slices = parts.iter().filter(|part| part.as_point().is_none()).count();
        let mut values = Vec::with_capacity(leaves.len());
        for (which, leaf) in leaves.iter().enumerate() {
            let item = match leaf.rank {
                0 => HostType::Scalar(leaf.elem),
                rank => HostType::Tensor(leaf.elem, rank),
            };
            let list = self.gathered(parts, &mut Vec::new(), &item, &mut |cx, at| {
                let value = cx.table_point(table, at, default, &table.element)?;
                let items = cx.items(&value, &table.element)?;
                Ok(items.into_iter().nth(which).unwrap_or_else(|| i64_const(0)))
            })?;
            let rank = n_slices + leaf.rank;
            let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![list]);
            let host = self.host_value_of(HostType::Tensor(leaf.elem, rank), kind);
            values.push(self.host_tensor("slice", leaf.elem, rank, host));
        }
        Ok(self.record(&ty, &mut values.into_iter()))
    }

    /// One point of a definition that is being evaluated, or the default outside its box.
    fn table_point(
        &mut self,
        table: &Table<'p>,
        at: &[HostArg],
        default: Option<&Outside<'p>>,
        ty: &Ty,
    ) -> R<Val<'p>> {
        let truth = HostType::Scalar(Elem::Bool);
        let mut inside = HostArg::Const(Const::bool(true));
        for (x, extent) in at.iter().zip(&table.extents) {
            let (low, high) = (vec![x.clone(), i64_const(0)], vec![x.clone(), extent.clone()]);
            for (op, args) in [(Op::Ge, low), (Op::Lt, high)] {
                let holds = self.host_value_of(truth.clone(), HostKind::Op(op, args));
                let kind = HostKind::Op(Op::And, vec![inside, holds]);
                inside = self.host_value_of(truth.clone(), kind);
            }
        }
        let position = self.position(table, at);
        let found = |cx: &mut Self| cx.table_item(table, position);
        let inside = self.host_bool(inside);
        let inside = match default.is_some() && table.gaps && !table.zero_fill {
            true => {
                let bool = Ty::Scalar(crate::hir::Scalar::Bool);
                let no = Val::Scalar(Scalar::constant(Const::bool(false)));
                let defined = |cx: &mut Self| {
                    let defined = cx.is_defined(table, at)?;
                    Ok(Val::Scalar(cx.host_bool(defined)))
                };
                let inside = self.host_if(&inside, &bool, defined, |_| Ok(no))?;
                self.expect_scalar(inside, self.here)?
            }
            false => inside,
        };
        self.host_if(&inside, ty, found, |cx| match default {
            Some(default) => cx.default_at(default, at, ty),
            None => {
                let name = cx.local_name(table.local);
                let message = format!("`{name}` is read outside its box");
                cx.host_inst(Vec::new(), HostKind::Trap(Trap::OutOfBounds, message), loc(cx.here));
                cx.zero_of_dead(ty)
            }
        })
    }

    /// An element of a tensor that is the body of a clause, at the axes that have no slot.
    pub(super) fn element_at(
        &mut self,
        value: Val<'p>,
        at: &[HostArg],
        element: &Ty,
    ) -> R<Val<'p>> {
        if at.is_empty() {
            return Ok(value);
        }
        if let Val::Host(list, ty) = &value {
            let (mut host, mut ty) = (list.clone(), ty.clone());
            for coordinate in at {
                let HostType::List(inner) = &ty else { break };
                let inner = (**inner).clone();
                let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![host, coordinate.clone()]);
                host = self.host_value_of(inner.clone(), kind);
                ty = inner;
            }
            return self.lifted(host, element, "item");
        }
        let mut specs = Vec::with_capacity(at.len());
        for coordinate in at {
            let scalar = Scalar { elem: Elem::I64, form: Form::Host(coordinate.clone()) };
            specs.push(Spec::Point(self.point(&scalar)?, false));
        }
        self.read_specs(&value, &specs)
    }

    fn zero_of_dead(&mut self, ty: &Ty) -> R<Val<'p>> {
        let host = self.host_type(ty)?;
        let value = self.dead_value(&host)?;
        self.lifted(value, ty, "dead")
    }

    /// Whether the element at a position was computed.
    fn is_there(&mut self, table: &Table<'p>, position: &HostArg) -> R<Option<HostArg>> {
        let bool = HostType::Scalar(Elem::Bool);
        let Some((first, _)) = table.lists.first() else { return Ok(None) };
        let marked = |cx: &mut Self, marks: &HostArg| {
            let args = vec![marks.clone(), position.clone()];
            cx.host_value_of(bool.clone(), HostKind::Intrinsic(Intrinsic::ListGet, args))
        };
        let marks = table.marks().map(|marks| marks.0.clone());
        if let Some(marks) = marks.as_ref().filter(|_| table.placed) {
            return Ok(Some(marked(self, marks)));
        }
        let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![first.clone()]);
        let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
        let kind = HostKind::Op(Op::Lt, vec![position.clone(), length]);
        let visited = self.host_value_of(bool.clone(), kind);
        let Some(marks) = marks else { return Ok(Some(visited)) };
        let (then, ()) = self.block(Vec::new(), |cx| Ok((vec![marked(cx, &marks)], ())))?;
        let no = HostArg::Const(Const::bool(false));
        let (otherwise, ()) = self.block(Vec::new(), |_| Ok((vec![no], ())))?;
        let kind = HostKind::If(visited, then, otherwise);
        Ok(Some(self.host_value_of(bool.clone(), kind)))
    }

    /// The element at a position, which must have been computed.
    fn table_item(&mut self, table: &Table<'p>, position: HostArg) -> R<Val<'p>> {
        let Some(known) = self.is_there(table, &position)? else { return Ok(Val::unit()) };
        let at = loc(self.here);
        let name = self.local_name(table.local);
        let (otherwise, ()) = self.block(Vec::new(), |cx| {
            let message = format!("`{name}` is read at a point that is not computed yet");
            cx.host_inst(Vec::new(), HostKind::Trap(Trap::NotComputed, message), at);
            Ok((Vec::new(), ()))
        })?;
        self.host_inst(Vec::new(), HostKind::If(known, Default::default(), otherwise), at);
        let mut items = Vec::with_capacity(table.lists.len());
        for (list, ty) in table.elements() {
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
