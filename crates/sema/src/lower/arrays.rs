//! Array literals and `array_append`.
//!
//! Numbers that are written out become one host list, which is a constant input; other elements
//! are chosen by position where they are read. Strings and enums make host lists.

use einlang_index::Quasi;
use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::region::{InstKind, Region, Subscript};
use einlang_tir::types::Elem;

use super::module::loc;
use super::types::numbers;
use super::value::{R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, ExprKind, Literal, UnaryOp};
use crate::types::Ty;

impl<'p> Lower<'p> {
    pub(super) fn array(&mut self, items: &'p [ExprId], expr: ExprId) -> R<Val<'p>> {
        let ty = self.ty(expr);
        if let Some((elem, rank)) = numbers(&ty)
            && rank > 0
            && (items.is_empty() || items.iter().all(|item| self.is_written_out(*item)))
        {
            let list = self.constant_list(items, elem, rank)?;
            let kind = HostKind::Intrinsic(Intrinsic::ListToTensor, vec![list]);
            let host = self.host_value_of(HostType::Tensor(elem, rank), kind);
            let value = self.host_tensor("array", elem, rank, host);
            self.know_extents(&value, &self.written_extents(items));
            return Ok(value);
        }
        if !self.is_numeric(&ty) {
            return self.host_list(items, &ty);
        }
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            let value = self.eval(*item)?;
            values.push(self.named(value, "item")?);
        }
        let Some(leaves) = self.leaf_types(&ty) else {
            return unsupported(self.here, "an array of these elements");
        };
        let mut parts = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.iter().enumerate() {
            let column: Option<Vec<Val<'p>>> =
                values.iter().map(|value| value.leaves().into_iter().nth(at)).collect();
            let Some(column) = column else {
                return unsupported(self.here, "an array of these elements");
            };
            parts.push(self.stacked(column, leaf.elem, leaf.rank));
        }
        Ok(self.record(&ty, &mut parts.into_iter()))
    }

    /// Says what the extents of a host tensor are.
    pub(super) fn know_extents(&mut self, value: &Val<'p>, extents: &[i64]) {
        if let Val::Tensor(tensor) = value
            && let super::value::Src::Named(id) = tensor.src
            && extents.len() == tensor.rank
        {
            self.tensors[id.0].extents = extents.iter().map(|n| Quasi::from(*n)).collect();
        }
    }

    fn written_extents(&self, items: &[ExprId]) -> Vec<i64> {
        let mut extents = vec![items.len() as i64];
        if let Some(first) = items.first()
            && let ExprKind::Array(inner) = self.body().kind(*first)
        {
            extents.extend(self.written_extents(inner));
        }
        extents
    }

    /// Whether an element consists of literals.
    fn is_written_out(&self, expr: ExprId) -> bool {
        match self.body().kind(expr) {
            ExprKind::Array(items) => items.iter().all(|item| self.is_written_out(*item)),
            _ => self.written_number(expr, Elem::F64).is_some(),
        }
    }

    fn written_number(&self, expr: ExprId, elem: Elem) -> Option<Const> {
        match self.body().kind(expr) {
            ExprKind::Literal(Literal::Int(value, _)) => Some(Const::int(elem, *value)),
            ExprKind::Literal(Literal::Float(value, _)) => Some(Const::float(elem, *value)),
            ExprKind::Literal(Literal::Bool(value)) => Some(Const::bool(*value)),
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let number = self.written_number(*inner, elem)?;
                match (number.as_int(), number.as_float()) {
                    (Some(n), _) => Some(Const::int(elem, -n)),
                    (_, Some(x)) => Some(Const::float(elem, -x)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn constant_list(&mut self, items: &[ExprId], elem: Elem, rank: usize) -> R<HostArg> {
        let mut args = Vec::with_capacity(items.len());
        for item in items {
            if let ExprKind::Array(inner) = self.body().kind(*item) {
                args.push(self.constant_list(inner, elem, rank.saturating_sub(1))?);
            } else if let Some(number) = self.written_number(*item, elem) {
                args.push(HostArg::Const(number));
            }
        }
        let mut ty = HostType::Scalar(elem);
        for _ in 0..rank.max(1) {
            ty = HostType::List(Box::new(ty));
        }
        Ok(self.host_value_of(ty, HostKind::List(args)))
    }

    /// A list of what is not a number.
    fn host_list(&mut self, items: &[ExprId], ty: &Ty) -> R<Val<'p>> {
        let mut args = Vec::with_capacity(items.len());
        for item in items {
            let value = self.eval(*item)?;
            let value = self.settled(&value)?;
            let element = super::block::item_type(ty);
            args.push(match &element {
                Ty::Fn(_) => self.hosted(&value, &element)?,
                _ => self.as_list(&value, &self.ty(*item), &element)?,
            });
        }
        let host = self.host_type(ty)?;
        let value = self.host_value_of(host.clone(), HostKind::List(args));
        Ok(Val::Host(value, host))
    }

    /// Values one after the other along a new outer axis.
    pub(super) fn stacked(&mut self, column: Vec<Val<'p>>, elem: Elem, rank: usize) -> Val<'p> {
        let (n_items, span) = (column.len() as i64, self.here);
        let first = column.first().cloned();
        let extents = move |cx: &mut Lower<'p>| {
            let mut extents = vec![Quasi::from(n_items)];
            if let Some(first) = &first {
                extents.extend(cx.extents_of(first)?);
            }
            Ok(extents)
        };
        let element = move |cx: &mut Lower<'p>, at: &[Subscript]| {
            let (Some(first), rest) = (at.first(), at.get(1..).unwrap_or(&[])) else {
                return unsupported(span, "an array without an axis");
            };
            let read = |cx: &mut Lower<'p>, item: &Val<'p>| match item {
                Val::Scalar(scalar) => Ok(scalar.clone()),
                Val::Tensor(tensor) => cx.element(tensor, rest, true, span),
                _ => unsupported(span, "an array of these elements"),
            };
            if let Subscript::Index(expr) = first
                && let Some(number) = expr.as_constant()
                && let Some(item) = usize::try_from(number).ok().and_then(|n| column.get(n))
            {
                return read(cx, item);
            }
            cx.choose_by_position(first, &column, elem, &read)
        };
        Val::lazy(elem, rank, false, extents, element)
    }

    fn choose_by_position(
        &mut self,
        position: &Subscript,
        items: &[Val<'p>],
        elem: Elem,
        read: &dyn Fn(&mut Lower<'p>, &Val<'p>) -> R<Scalar>,
    ) -> R<Scalar> {
        let span = self.here;
        let Some((last, others)) = items.split_last() else {
            return Ok(Scalar::constant(Const::zero(elem)));
        };
        let on = self.subscript_arg(position)?;
        let mut cases: Vec<(i64, Region)> = Vec::with_capacity(others.len());
        for (number, item) in others.iter().enumerate() {
            let (region, _) = self.scalar_region(|cx| read(cx, item))?;
            cases.push((number as i64, region));
        }
        let (otherwise, _) = self.scalar_region(|cx| read(cx, last))?;
        Ok(self.emit(elem, InstKind::Switch { on, cases, otherwise }, loc(span)))
    }

    /// A subscript as an operand.
    pub(super) fn subscript_arg(&mut self, subscript: &Subscript) -> R<einlang_tir::region::Arg> {
        match subscript {
            Subscript::Index(expr) => {
                let scalar = self.index_scalar(Elem::I64, expr.clone());
                self.arg(&scalar)
            }
            Subscript::Value(arg) => Ok(arg.clone()),
        }
    }

    /// `array_append(xs, x)`
    pub(super) fn append(&mut self, list: Val<'p>, item: Val<'p>, ty: &Ty) -> R<Val<'p>> {
        if let Val::Host(host, host_type) = &list {
            let element = match ty {
                Ty::Tensor(element, extents) => {
                    Ty::tensor((**element).clone(), extents[1..].to_vec())
                }
                Ty::Jagged(element, 1) => (**element).clone(),
                Ty::Jagged(element, levels) => Ty::Jagged(element.clone(), levels - 1),
                _ => Ty::Error,
            };
            let item = self.hosted(&item, &element)?;
            let kind = HostKind::Intrinsic(Intrinsic::ListPush, vec![host.clone(), item]);
            let value = self.host_value_of(host_type.clone(), kind);
            return Ok(Val::Host(value, host_type.clone()));
        }
        let item = self.named(item, "item")?;
        let (lists, items) = (list.leaves(), item.leaves());
        let mut parts = Vec::with_capacity(lists.len());
        for (list, item) in lists.into_iter().zip(items) {
            let Val::Tensor(list) = list else {
                return unsupported(self.here, "appending to this value");
            };
            let (elem, rank, span) = (list.elem, list.rank, self.here);
            let first = list.clone();
            let extents = move |cx: &mut Lower<'p>| {
                let mut extents = cx.extents(&first)?;
                if let Some(outer) = extents.first_mut() {
                    *outer = cx.index_result(outer.add_constant(1), span)?;
                }
                Ok(extents)
            };
            let element = move |cx: &mut Lower<'p>, at: &[Subscript]| {
                let extents = cx.extents(&list)?;
                let (Some(first), Some(outer)) = (at.first(), extents.first()) else {
                    return unsupported(span, "appending to a scalar");
                };
                let inside = cx.is_inside(first, outer)?;
                let mut old = |cx: &mut Lower<'p>| cx.element(&list, at, true, span);
                let mut new = |cx: &mut Lower<'p>| match &item {
                    Val::Scalar(scalar) => Ok(scalar.clone()),
                    Val::Tensor(tensor) => cx.element(tensor, &at[1..], true, span),
                    _ => unsupported(span, "appending this value"),
                };
                cx.choose(&inside, elem, &mut old, &mut new)
            };
            parts.push(Val::lazy(elem, rank, false, extents, element));
        }
        Ok(list.with_leaves(&mut parts.into_iter()))
    }
}
