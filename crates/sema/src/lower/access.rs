//! Reads: points, slices, rests, defaults.
//!
//! A read whose subscripts are all points is one element; anything else is a view, an index map
//! over the tensor below it.

use std::rc::Rc;

use einlang_index::Quasi;
use einlang_source::Span;
use einlang_tir::region::{InstKind, Place, Read, Subscript as At};
use einlang_tir::types::Elem;

use super::module::loc;
use super::value::{Form, Frame, R, Scalar, Src, Tensor, Val};
use super::{Lower, unsupported};
use crate::hir::{ExprId, ExprKind, LocalKind, Res, Subscript};
use crate::types::walk;

/// What stands on one axis of a read.
#[derive(Clone, Debug)]
pub(super) enum Spec {
    /// A point, and whether it is proved to be in bounds.
    Point(At, bool),
    /// `lo..lo + length`, and whether it is proved to be in bounds.
    Slice(Quasi, Quasi, bool),
    /// The whole axis.
    All,
}

/// The value outside the box, lowered where it is needed, and whether it also stands for points
/// that no clause covers.
type Default<'p> = Option<(ExprId, Frame<'p>, bool)>;

impl<'p> Lower<'p> {
    pub(super) fn access(
        &mut self,
        expr: ExprId,
        base: ExprId,
        subscripts: &'p [Subscript],
        default: Option<ExprId>,
    ) -> R<Val<'p>> {
        if let ExprKind::Name(Res::Local(local)) = self.body().kind(base)
            && let Some(table) = self.tables.iter().rev().find(|table| table.local == *local)
        {
            let table = table.clone();
            return self.table_read(&table, subscripts, default, (base, expr));
        }
        let value = self.eval(base)?;
        if let Val::Host(host, ty) = &value {
            let list = (host.clone(), ty.clone());
            return self.host_access(list, subscripts, default, (base, expr));
        }
        let proved = self.shapes.instance(self.frame.instance).reads.get(&expr).cloned();
        let specs = self.specs(&value, subscripts, proved.as_deref())?;
        if specs.is_empty() {
            return Ok(value);
        }
        let default: Default<'p> =
            default.map(|default| (default, self.frame.clone(), self.is_indexed(base)));
        let leaves = value.leaves();
        if default.is_some() {
            self.check_gaps(base, &leaves)?;
        }
        let mut parts = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.into_iter().enumerate() {
            let leaf = match leaf {
                Val::Tensor(tensor) => tensor,
                Val::Range(lo, hi) => self.range_tensor(lo, hi)?,
                _ => return unsupported(self.here, "subscripts on this value"),
            };
            parts.push(self.read_leaf(leaf, &specs, &default, at)?);
        }
        Ok(value.with_leaves(&mut parts.into_iter()))
    }

    /// A read at subscripts that are known already.
    pub(super) fn read_specs(&mut self, value: &Val<'p>, specs: &[Spec]) -> R<Val<'p>> {
        let leaves = value.leaves();
        let mut parts = Vec::with_capacity(leaves.len());
        for (at, leaf) in leaves.into_iter().enumerate() {
            let Val::Tensor(tensor) = leaf else {
                return unsupported(self.here, "subscripts on this value");
            };
            parts.push(self.read_leaf(tensor, specs, &None, at)?);
        }
        Ok(value.with_leaves(&mut parts.into_iter()))
    }

    /// `a..b` as the tensor of its integers.
    pub(super) fn range_tensor(&mut self, lo: Scalar, hi: Option<Scalar>) -> R<Tensor<'p>> {
        let Some(hi) = hi else { return unsupported(self.here, "an open range as a value") };
        let (elem, span) = (lo.elem, self.here);
        let ends = (lo.clone(), hi);
        let extents = move |cx: &mut Lower<'p>| {
            let range = Val::Range(ends.0.clone(), Some(ends.1.clone()));
            cx.extents_of(&range)
        };
        let element = move |cx: &mut Lower<'p>, at: &[At]| {
            let start = cx.quasi(&lo)?;
            match at.first() {
                Some(At::Index(expr)) => {
                    let sum = cx.index_result(start.add(expr), span)?;
                    Ok(cx.index_scalar(elem, sum))
                }
                Some(At::Value(arg)) => {
                    let at = cx.wide(arg.clone())?;
                    let start = cx.index_scalar(Elem::I64, start);
                    let sum = cx.apply(einlang_tir::op::Op::Add, &[start, at], Elem::I64)?;
                    cx.cast(&sum, elem)
                }
                None => unsupported(span, "a range without an axis"),
            }
        };
        match Val::lazy(elem, 1, true, extents, element) {
            Val::Tensor(tensor) => Ok(tensor),
            _ => unsupported(span, "this range"),
        }
    }

    /// The subscripts, one per axis from the left.
    pub(super) fn specs(
        &mut self,
        base: &Val<'p>,
        subscripts: &'p [Subscript],
        proved: Option<&[bool]>,
    ) -> R<Vec<Spec>> {
        let mut specs = Vec::with_capacity(subscripts.len());
        for (at, subscript) in subscripts.iter().enumerate() {
            let proved = proved.is_some_and(|list| list.get(at).copied().unwrap_or(false));
            let axis = specs.len();
            match subscript {
                Subscript::All(_) => specs.push(Spec::All),
                Subscript::Index(binder) => {
                    let value = self.local(self.frame.body, binder.local)?;
                    let scalar = self.expect_scalar(value, self.here)?;
                    specs.push(Spec::Point(self.point(&scalar)?, proved));
                }
                Subscript::Rest { local, .. } => specs.extend(self.rest(*local, proved)?),
                Subscript::Expr(expr) => specs.push(self.spec(*expr, base, axis, proved)?),
            }
        }
        Ok(specs)
    }

    fn rest(&mut self, local: Res, proved: bool) -> R<Vec<Spec>> {
        let (body, local) = match local {
            Res::Local(local) => (self.frame.body, local),
            Res::Outer(body, local) => (body, local),
            _ => return unsupported(self.here, "this rest"),
        };
        match self.local(body, local)? {
            Val::Record(indices) => {
                let mut specs = Vec::with_capacity(indices.len());
                for index in indices {
                    let scalar = self.expect_scalar(index, self.here)?;
                    specs.push(Spec::Point(self.point(&scalar)?, proved));
                }
                Ok(specs)
            }
            _ => unsupported(self.here, "this rest"),
        }
    }

    fn spec(&mut self, expr: ExprId, base: &Val<'p>, axis: usize, proved: bool) -> R<Spec> {
        let body = self.body();
        match body.kind(expr) {
            ExprKind::Coordinate(_) => return Ok(Spec::All),
            ExprKind::Name(Res::Local(local))
                if self.coordinates.contains(local)
                    || (!self.coordinates.is_empty()
                        && matches!(body[*local].kind, LocalKind::Extent(_))) =>
            {
                return Ok(Spec::All);
            }
            _ => {}
        }
        let mut last = false;
        walk::visit(body, vec![expr], &mut |_, kind| last |= matches!(kind, ExprKind::Last));
        if last {
            let extent = self.extents_of(base)?.into_iter().nth(axis).unwrap_or_else(|| 0.into());
            let end = self.index_result(extent.add_constant(-1), self.here)?;
            let end = self.index_scalar(Elem::I32, end);
            self.lasts.push(end);
        }
        let outer = std::mem::replace(&mut self.exact, true);
        let value = self.subscript(expr);
        self.exact = outer;
        if last {
            self.lasts.pop();
        }
        match value? {
            Val::Scalar(scalar) => Ok(Spec::Point(self.point(&scalar)?, proved)),
            Val::Range(lo, hi) => {
                let lo = self.quasi(&lo)?;
                let hi = match hi {
                    Some(hi) => self.quasi(&hi)?,
                    None => {
                        let extents = self.extents_of(base)?;
                        extents.into_iter().nth(axis).unwrap_or_else(|| 0.into())
                    }
                };
                let length = self.index_result(hi.sub(&lo), self.here)?;
                let length = if self.in_region() { length } else { self.at_least_zero(length) };
                Ok(Spec::Slice(lo, length, proved))
            }
            _ => unsupported(self.here, "a subscript that is neither an integer nor a range"),
        }
    }

    /// An integer as a subscript.
    pub(super) fn point(&mut self, scalar: &Scalar) -> R<At> {
        if let Some(known) = self.known_index(scalar) {
            return Ok(At::Index(known));
        }
        match &scalar.form {
            Form::Value(value) => Ok(At::Value((*value).into())),
            _ => Ok(At::Index(self.quasi(scalar)?)),
        }
    }

    fn read_leaf(
        &mut self,
        tensor: Tensor<'p>,
        specs: &[Spec],
        default: &Default<'p>,
        leaf: usize,
    ) -> R<Val<'p>> {
        let n_points = specs.iter().filter(|spec| matches!(spec, Spec::Point(..))).count();
        let rank = tensor.rank.saturating_sub(n_points);
        let span = self.here;
        let elem = tensor.elem;
        if specs.len() > tensor.rank {
            return unsupported(span, "more subscripts than axes");
        }
        if rank == 0 {
            let read = |cx: &mut Self| cx.read_at(&tensor, specs, &[], default, leaf, span);
            if self.in_region() {
                return read(self).map(Val::Scalar);
            }
            let name = self.fresh("v");
            let id = self.define_scalar(&name, span, read)?;
            return Ok(Val::named(elem, 0, id));
        }
        let home = (!specs.iter().all(is_fixed)).then(|| self.module());
        let cheap = default.is_none() && (home.is_none() || self.in_region());
        let view = match &tensor.src {
            Src::Named(_) => cheap,
            Src::Lazy(lazy) => lazy.view && cheap,
        };
        let (specs, default) = (Rc::new(specs.to_vec()), default.clone());
        let (inner, of) = (tensor.clone(), specs.clone());
        let extents = move |cx: &mut Lower<'p>| {
            cx.check_home(home, span)?;
            let extents = cx.extents(&inner)?;
            let kept =
                extents.into_iter().enumerate().filter_map(|(axis, extent)| match of.get(axis) {
                    Some(Spec::Point(..)) => None,
                    Some(Spec::Slice(_, length, _)) => Some(length.clone()),
                    Some(Spec::All) | None => Some(extent),
                });
            Ok(kept.collect())
        };
        let element = move |cx: &mut Lower<'p>, at: &[At]| {
            cx.check_home(home, span)?;
            cx.read_at(&tensor, &specs, at, &default, leaf, span)
        };
        Ok(Val::lazy(elem, rank, view, extents, element))
    }

    /// One element: the points of the read, and the remaining axes at `rest`.
    fn read_at(
        &mut self,
        tensor: &Tensor<'p>,
        specs: &[Spec],
        rest: &[At],
        default: &Default<'p>,
        leaf: usize,
        span: Span,
    ) -> R<Scalar> {
        let mut rest_at = rest.iter();
        let mut at = Vec::with_capacity(tensor.rank);
        let mut all_proved = true;
        for axis in 0..tensor.rank {
            match specs.get(axis) {
                Some(Spec::Point(point, proved)) => {
                    all_proved &= *proved;
                    at.push(point.clone());
                }
                Some(Spec::Slice(lo, _, proved)) => {
                    all_proved &= *proved;
                    let inner = rest_at.next().cloned().unwrap_or_else(|| At::Index(0.into()));
                    at.push(self.shifted(&inner, lo, span)?);
                }
                Some(Spec::All) | None => {
                    at.push(rest_at.next().cloned().unwrap_or_else(|| At::Index(0.into())));
                }
            }
        }
        let Some((default, frame, of_gaps)) = default else {
            return self.element(tensor, &at, all_proved, span);
        };
        let fallback = |cx: &mut Self| {
            let value = cx.within(frame.clone(), |cx| cx.eval(*default))?;
            match value.leaves().into_iter().nth(leaf) {
                Some(Val::Scalar(scalar)) => Ok(scalar),
                Some(Val::Tensor(tensor)) => cx.element(&tensor, rest, true, span),
                _ => unsupported(span, "this default"),
            }
        };
        if let Src::Named(id) = tensor.src
            && self.knows_gaps(id) == (*of_gaps && self.info(id).gaps)
        {
            let (name, _) = self.import(id)?;
            let (region, _) = self.scalar_region(fallback)?;
            let place = Place { tensor: name, at };
            let read = Read { place, default: Some(region), proved: false };
            return Ok(self.emit(tensor.elem, InstKind::Read(read), loc(span)));
        }
        let extents = self.extents(tensor)?;
        let mut inside = Scalar::constant(einlang_tir::constant::Const::bool(true));
        for (subscript, extent) in at.iter().zip(&extents) {
            let here = self.is_inside(subscript, extent)?;
            inside = match inside.as_const() {
                Some(_) => here,
                None => {
                    let args = [inside, here];
                    self.region_op(einlang_tir::op::Op::And, &args, Elem::Bool, loc(span))?
                }
            };
        }
        let mut read = |cx: &mut Self| cx.element(tensor, &at, true, span);
        let mut otherwise = fallback;
        let covered = match tensor.src {
            Src::Named(id) if *of_gaps && self.info(id).gaps => Some(self.covered_points(id)?),
            _ => None,
        };
        let mut truth = |cx: &mut Self| match &covered {
            Some(covered) => cx.element(covered, &at[..covered.rank.min(at.len())], true, span),
            None => Ok(Scalar::constant(einlang_tir::constant::Const::bool(true))),
        };
        let mut no = |_: &mut Self| Ok(Scalar::constant(einlang_tir::constant::Const::bool(false)));
        if covered.is_some() {
            inside = self.choose(&inside, Elem::Bool, &mut truth, &mut no)?;
        }
        self.choose(&inside, tensor.elem, &mut read, &mut otherwise)
    }

    /// A subscript moved by an offset.
    pub(super) fn shifted(&mut self, at: &At, by: &Quasi, span: Span) -> R<At> {
        if by.as_constant() == Some(0) {
            return Ok(at.clone());
        }
        Ok(match at {
            At::Index(expr) => At::Index(self.index_result(expr.add(by), span)?),
            At::Value(arg) => {
                let wide = self.wide(arg.clone())?;
                let offset = self.index_scalar(Elem::I64, by.clone());
                let args = [wide, offset];
                let sum = self.region_op(einlang_tir::op::Op::Add, &args, Elem::I64, loc(span))?;
                At::Value(self.arg(&sum)?)
            }
        })
    }
}

/// Whether a subscript is the same in every module.
pub(super) fn is_fixed(spec: &Spec) -> bool {
    match spec {
        Spec::All => true,
        Spec::Point(At::Index(expr), _) => expr.as_constant().is_some(),
        Spec::Point(At::Value(_), _) => false,
        Spec::Slice(lo, length, _) => lo.as_constant().is_some() && length.as_constant().is_some(),
    }
}
