//! Reads of lists: points, slices, rests, defaults.
//!
//! A read is a list of what stands on each axis, evaluated once. Where slices are among it the
//! result is a list again, collected point by point; a default is asked for at every point that
//! lies outside.

use einlang_tir::constant::Const;
use einlang_tir::host::{HostArg, HostKind, HostType, Intrinsic};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::tables::i64_const;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, ExprKind, LocalId, Res, Subscript};
use crate::types::{Ty, walk};

/// What stands on one axis of a read, as `i64`s of the host.
#[derive(Clone)]
pub(super) enum Part {
    Point(HostArg),
    /// From the first to the second, exclusive.
    Slice(HostArg, HostArg),
}

impl Part {
    /// The coordinate, if it is one point.
    pub(super) fn as_point(&self) -> Option<HostArg> {
        match self {
            Part::Point(coordinate) => Some(coordinate.clone()),
            Part::Slice(..) => None,
        }
    }
}

/// What a read gives outside.
#[derive(Clone)]
pub(super) enum Outside<'p> {
    /// An element, evaluated where it is needed.
    Element(ExprId),
    /// A value in the shape of the slices.
    Whole(Box<Val<'p>>, Vec<Part>),
}

/// A list that is read, and what it is called.
#[derive(Clone)]
pub(super) struct List {
    host: HostArg,
    ty: HostType,
    name: String,
    /// Where it is defined, and along how many axes that is known, if somewhere it is not.
    marks: Option<(HostArg, usize)>,
}

impl List {
    /// The list that a value is.
    pub(super) fn of(value: &Val<'_>) -> Option<List> {
        match value {
            Val::Host(host, ty @ HostType::List(_)) => Some(List {
                host: host.clone(),
                ty: ty.clone(),
                name: "the list".to_owned(),
                marks: None,
            }),
            _ => None,
        }
    }
}

impl<'p> Lower<'p> {
    /// A read of a list.
    pub(super) fn host_access(
        &mut self,
        (host, ty): (HostArg, HostType),
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
        (base, expr): (ExprId, ExprId),
    ) -> R<Val<'p>> {
        if self.in_region() {
            return unsupported(self.here, "this read of a list");
        }
        let name = match self.body().kind(base) {
            ExprKind::Name(Res::Local(local)) => format!("`{}`", self.local_name(*local)),
            _ => "the list".to_owned(),
        };
        let marks = match default.and(self.named_with_gaps(base)) {
            Some((body, local)) => match self.marks_of(body, local) {
                Some(marks) => Some(marks.clone()),
                None => return unsupported(self.here, super::gaps::WHAT),
            },
            None => None,
        };
        let list = List { host, ty, name, marks };
        let parts = self.list_parts(subscripts, &mut |cx, axis| cx.list_length(&list, axis))?;
        let mut of = self.ty(expr);
        for _ in parts.iter().filter(|part| matches!(part, Part::Slice(..))) {
            of = super::block::item_type(&of);
        }
        let item = self.host_type(&of)?;
        let default = default.map(|default| self.default_of(default, &parts)).transpose()?;
        let value = self.gathered(&parts, &mut Vec::new(), &item, &mut |cx, at| {
            cx.list_point(&list, at, default.as_ref(), &of)
        })?;
        let value = self.with_extents_of_parts(value, &list, &parts)?;
        let of: Ty = self.ty(expr);
        self.lifted(value, &of, "item")
    }

    /// What slices of a list gave, with their extents.
    fn with_extents_of_parts(&mut self, value: HostArg, list: &List, parts: &[Part]) -> R<HostArg> {
        let mut extents = Vec::new();
        for part in parts {
            if let Part::Slice(lo, hi) = part {
                let length = self.host_op(Op::Sub, vec![hi.clone(), lo.clone()]);
                extents.push(length);
            }
        }
        if extents.is_empty() {
            return Ok(value);
        }
        let (mut ty, mut axis) = (&list.ty, 0);
        while let HostType::List(inner) = ty {
            if axis >= parts.len() {
                extents.push(self.list_length(list, axis));
            }
            (ty, axis) = (inner, axis + 1);
        }
        Ok(self.shaped_list(value, ty, extents))
    }

    /// A list of lists that has these extents, even where it is empty.
    pub(super) fn shaped_list(
        &mut self,
        list: HostArg,
        element: &HostType,
        extents: Vec<HostArg>,
    ) -> HostArg {
        if extents.len() < 2 {
            return list;
        }
        let nest = |inner, _: &HostArg| HostType::List(Box::new(inner));
        let ty = extents.iter().fold(element.clone(), nest);
        let args = [vec![list], extents].concat();
        self.host_value_of(ty, HostKind::Intrinsic(Intrinsic::ListShaped, args))
    }

    /// The default of a read. That of slices has their shape, and is evaluated once.
    pub(super) fn default_of(&mut self, default: ExprId, parts: &[Part]) -> R<Outside<'p>> {
        if parts.iter().all(|part| part.as_point().is_some()) {
            return Ok(Outside::Element(default));
        }
        let value = self.eval(default)?;
        Ok(Outside::Whole(Box::new(self.settled(&value)?), parts.to_vec()))
    }

    /// What a default is at a point.
    pub(super) fn default_at(
        &mut self,
        default: &Outside<'p>,
        at: &[HostArg],
        of: &Ty,
    ) -> R<Val<'p>> {
        let (value, parts) = match default {
            Outside::Element(expr) => return self.eval(*expr),
            Outside::Whole(value, parts) => (Val::clone(value), parts),
        };
        let mut within = Vec::with_capacity(parts.len());
        for (part, coordinate) in parts.iter().zip(at) {
            if let Part::Slice(lo, _) = part {
                within.push(self.host_op(Op::Sub, vec![coordinate.clone(), lo.clone()]));
            }
        }
        self.element_at(value, &within, of)
    }

    /// What stands on each axis; `length` gives the length of one.
    pub(super) fn list_parts(
        &mut self,
        subscripts: &'p [Subscript],
        length: &mut dyn FnMut(&mut Self, usize) -> HostArg,
    ) -> R<Vec<Part>> {
        let mut parts = Vec::with_capacity(subscripts.len());
        for subscript in subscripts {
            let axis = parts.len();
            match subscript {
                Subscript::All(_) => parts.push(Part::Slice(i64_const(0), length(self, axis))),
                Subscript::Index(binder) => {
                    let value = self.local(self.frame.body, binder.local)?;
                    parts.push(self.host_point(value)?);
                }
                Subscript::Rest { local: Res::Local(local), .. } => {
                    self.rest_of(*local, &mut parts)?
                }
                Subscript::Rest { .. } => return unsupported(self.here, "this rest of a list"),
                Subscript::Expr(expr) => {
                    let part = self.list_part(*expr, axis, length)?;
                    parts.push(part);
                }
            }
        }
        Ok(parts)
    }

    fn list_part(
        &mut self,
        expr: ExprId,
        axis: usize,
        length: &mut dyn FnMut(&mut Self, usize) -> HostArg,
    ) -> R<Part> {
        if matches!(self.body().kind(expr), ExprKind::Coordinate(_)) {
            return Ok(Part::Slice(i64_const(0), length(self, axis)));
        }
        let mut last = false;
        walk::visit(self.body(), vec![expr], &mut |_, kind| {
            last |= matches!(kind, ExprKind::Last);
        });
        if last {
            let length = length(self, axis);
            let end = self.host_op(Op::Sub, vec![length, i64_const(1)]);
            self.lasts.push(Scalar { elem: Elem::I64, form: Form::Host(end) });
        }
        let value = self.subscript(expr);
        if last {
            self.lasts.pop();
        }
        match value? {
            Val::Range(lo, hi) => {
                let start = self.wide_scalar(&lo)?;
                let end = match hi {
                    Some(hi) => self.wide_scalar(&hi)?,
                    None => length(self, axis),
                };
                Ok(Part::Slice(start, end))
            }
            value => self.host_point(value),
        }
    }

    fn host_point(&mut self, value: Val<'p>) -> R<Part> {
        let scalar = self.expect_scalar(value, self.here)?;
        self.wide_scalar(&scalar).map(Part::Point)
    }

    fn wide_scalar(&mut self, scalar: &Scalar) -> R<HostArg> {
        let host = self.host_scalar(scalar)?;
        Ok(self.host_cast(host, scalar.elem, Elem::I64))
    }

    /// The indices of a rest.
    fn rest_of(&mut self, local: LocalId, parts: &mut Vec<Part>) -> R<()> {
        let Val::Record(axes) = self.local(self.frame.body, local)? else {
            return unsupported(self.here, "this rest of a list");
        };
        for axis in axes {
            parts.push(self.host_point(axis)?);
        }
        Ok(())
    }

    /// The length of a list along one of its axes: that of the first list in it.
    pub(super) fn list_length(&mut self, list: &List, axis: usize) -> HostArg {
        let args = vec![list.host.clone(), i64_const(axis as i64)];
        let kind = HostKind::Intrinsic(Intrinsic::ListExtent, args);
        self.host_value_of(HostType::Scalar(Elem::I64), kind)
    }

    /// The lengths of a list along all its axes.
    pub(super) fn list_lengths(&mut self, list: &List) -> Vec<HostArg> {
        let (mut ty, mut lengths) = (&list.ty, Vec::new());
        while let HostType::List(inner) = ty {
            lengths.push(self.list_length(list, lengths.len()));
            ty = inner;
        }
        lengths
    }

    /// The points of a read: one, or a list of them for every slice.
    pub(super) fn gathered(
        &mut self,
        parts: &[Part],
        at: &mut Vec<HostArg>,
        item: &HostType,
        point: &mut dyn FnMut(&mut Self, &[HostArg]) -> R<HostArg>,
    ) -> R<HostArg> {
        let Some((part, rest)) = parts.split_first() else { return point(self, at) };
        let (lo, hi) = match part {
            Part::Point(coordinate) => {
                at.push(coordinate.clone());
                let value = self.gathered(rest, at, item, point);
                at.pop();
                return value;
            }
            Part::Slice(lo, hi) => (lo.clone(), hi.clone()),
        };
        let mut list = HostType::List(Box::new(item.clone()));
        for _ in rest.iter().filter(|part| matches!(part, Part::Slice(..))) {
            list = HostType::List(Box::new(list));
        }
        let empty = self.host_value_of(list.clone(), HostKind::List(Vec::new()));
        let done = self.counted(lo, hi, vec![(empty, list)], |cx, counter, lists| {
            at.push(counter);
            let value = cx.gathered(rest, at, item, point)?;
            at.pop();
            Ok(cx.pushed(lists, vec![value]))
        })?;
        Ok(done.into_iter().next().map_or(HostArg::Str(String::new()), |list| list.0))
    }

    /// One element of a list, or the default if the point is outside.
    fn list_point(
        &mut self,
        list: &List,
        at: &[HostArg],
        default: Option<&Outside<'p>>,
        of: &Ty,
    ) -> R<HostArg> {
        let Some(default) = default else { return self.list_item(list, at, 0) };
        let inside = self.inside_list(list, at)?;
        let inside = self.is_marked(list, at, inside)?;
        let inside = self.host_bool(inside);
        let found = |cx: &mut Self| {
            let host = cx.list_item(list, at, 0)?;
            cx.lifted(host, of, "item")
        };
        let value = self.host_if(&inside, of, found, |cx| cx.default_at(default, at, of))?;
        self.hosted(&value, of)
    }

    pub(super) fn list_item(&mut self, list: &List, at: &[HostArg], axis: usize) -> R<HostArg> {
        let (Some(coordinate), HostType::List(inner)) = (at.get(axis), &list.ty) else {
            return match at.len() == axis {
                true => Ok(list.host.clone()),
                false => unsupported(self.here, "more subscripts than a list has levels"),
            };
        };
        let place = [HostArg::Str(list.name.clone()), i64_const(axis as i64)];
        let args = [vec![list.host.clone(), coordinate.clone()], place.to_vec()].concat();
        let host =
            self.host_value_of((**inner).clone(), HostKind::Intrinsic(Intrinsic::ListGet, args));
        let part = List { host, ty: (**inner).clone(), name: list.name.clone(), marks: None };
        self.list_item(&part, at, axis + 1)
    }

    /// Whether a point that is in a list is also one that some clause defines.
    fn is_marked(&mut self, list: &List, at: &[HostArg], inside: HostArg) -> R<HostArg> {
        let Some((marks, rank)) = &list.marks else { return Ok(inside) };
        let (then, ()) = self.block(Vec::new(), |cx| {
            let mut marks = marks.clone();
            let mut ty = HostType::Scalar(Elem::Bool);
            (0..*rank).for_each(|_| ty = HostType::List(Box::new(ty.clone())));
            for coordinate in at {
                let HostType::List(inner) = ty else { break };
                let kind = HostKind::Intrinsic(Intrinsic::ListGet, vec![marks, coordinate.clone()]);
                marks = cx.host_value_of((*inner).clone(), kind);
                ty = *inner;
            }
            Ok((vec![marks], ()))
        })?;
        let no = HostArg::Const(Const::bool(false));
        let (otherwise, ()) = self.block(Vec::new(), |_| Ok((vec![no], ())))?;
        let kind = HostKind::If(inside, then, otherwise);
        Ok(self.host_value_of(HostType::Scalar(Elem::Bool), kind))
    }

    /// Whether a point is in a list; the lists inside are looked at only where they are.
    fn inside_list(&mut self, list: &List, at: &[HostArg]) -> R<HostArg> {
        let truth = HostType::Scalar(Elem::Bool);
        let (Some((coordinate, rest)), HostType::List(inner)) = (at.split_first(), &list.ty) else {
            return Ok(HostArg::Const(Const::bool(true)));
        };
        let kind = HostKind::Intrinsic(Intrinsic::ListLen, vec![list.host.clone()]);
        let length = self.host_value_of(HostType::Scalar(Elem::I64), kind);
        let low = HostKind::Op(Op::Ge, vec![coordinate.clone(), i64_const(0)]);
        let low = self.host_value_of(truth.clone(), low);
        let high = HostKind::Op(Op::Lt, vec![coordinate.clone(), length]);
        let high = self.host_value_of(truth.clone(), high);
        let here = self.host_value_of(truth.clone(), HostKind::Op(Op::And, vec![low, high]));
        if rest.is_empty() {
            return Ok(here);
        }
        let (then, ()) = self.block(Vec::new(), |cx| {
            let args = vec![list.host.clone(), coordinate.clone()];
            let kind = HostKind::Intrinsic(Intrinsic::ListGet, args);
            let host = cx.host_value_of((**inner).clone(), kind);
            let part = List { host, ty: (**inner).clone(), name: String::new(), marks: None };
            Ok((vec![cx.inside_list(&part, rest)?], ()))
        })?;
        let no = vec![HostArg::Const(Const::bool(false))];
        let (otherwise, ()) = self.block(Vec::new(), |_| Ok((no, ())))?;
        Ok(self.host_value_of(truth, HostKind::If(here, then, otherwise)))
    }
}
