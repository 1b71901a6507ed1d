//! Scalars: literals, operators, casts.
//!
//! Integers made of indices, sizes and constants stay index expressions as long as possible, so
//! that subscripts are affine where the source is. Converting their exact value at the end gives
//! the same integer as wrapping at every step; divisions do not, and are index expressions only in
//! subscripts, whose arithmetic is exact.

use std::cmp::Ordering;

use einlang_index::Quasi;
use einlang_source::Span;
use einlang_tir::constant::Const;
use einlang_tir::host::{HostKind, HostType};
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Def, InstKind, Region};
use einlang_tir::types::Elem;

use super::module::loc;
use super::value::{Form, R, Scalar, Val};
use super::{Lower, unsupported};
use crate::hir::{BinaryOp, ExprId, Literal};

/// The operation of an operator on scalars.
pub(super) fn op_of(op: BinaryOp, left: Elem, right: Elem) -> Option<Op> {
    Some(match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Div => Op::Div,
        BinaryOp::Rem => Op::Rem,
        BinaryOp::Eq => Op::Eq,
        BinaryOp::Ne => Op::Ne,
        BinaryOp::Lt => Op::Lt,
        BinaryOp::Le => Op::Le,
        BinaryOp::Gt => Op::Gt,
        BinaryOp::Ge => Op::Ge,
        BinaryOp::Pow => match (left.is_float(), right.is_float()) {
            (true, true) => Op::Pow,
            (true, false) => Op::Powi,
            _ => Op::Ipow,
        },
        BinaryOp::Or | BinaryOp::And | BinaryOp::In => return None,
    })
}

/// Whether an expression is an index or size and a little more or less: it fits its type, so that
/// what does not commute with wrapping may be done to it.
fn is_small(expr: &Quasi) -> bool {
    let Some(affine) = expr.as_affine() else { return false };
    affine.constant_part().abs() < 1 << 16 && matches!(affine.terms(), [] | [(_, 1)])
}

/// Whether an expression adds up few multiples of indices and sizes. Larger multiples may overflow,
/// which `--checked` wants to see: they are computed like any other integers.
fn is_moderate(expr: &Quasi) -> bool {
    let few = |(_, factor): &(_, i64)| factor.abs() <= 1 << 10;
    expr.as_affine().is_none_or(|affine| affine.terms().iter().all(few))
}

/// Whether a type holds every index and size, and a little more or less.
fn holds_sizes(elem: Elem) -> bool {
    matches!(elem, Elem::I32 | Elem::I64)
}

impl<'p> Lower<'p> {
    pub(super) fn literal(&mut self, literal: &Literal, expr: ExprId) -> R<Val<'p>> {
        let ty = self.ty(expr);
        let elem = super::types::elem_of(&ty);
        Ok(match (literal, elem) {
            (Literal::Str(text), _) => {
                Val::Host(einlang_tir::host::HostArg::Str(text.clone()), HostType::Str)
            }
            (Literal::Bool(value), _) => Val::Scalar(Scalar::constant(Const::bool(*value))),
            (Literal::Int(value, _), Some(elem)) => {
                Val::Scalar(Scalar::constant(Const::int(elem, *value)))
            }
            (Literal::Float(value, _), Some(elem)) => {
                Val::Scalar(Scalar::constant(Const::float(elem, *value)))
            }
            (_, None) => return unsupported(self.here, "a literal whose type is not known"),
        })
    }

    /// An operation, wherever code goes: into the region, to the host, or into a binding.
    pub(super) fn apply(&mut self, op: Op, args: &[Scalar], elem: Elem) -> R<Scalar> {
        if let Some(index) = self.apply_index(op, args, elem) {
            return Ok(index);
        }
        if let Some(known) = self.known_comparison(op, args) {
            return Ok(Scalar::constant(Const::bool(known)));
        }
        let span = self.here;
        if self.in_region() {
            return self.region_op(op, args, elem, loc(span));
        }
        let on_host = |arg: &Scalar| matches!(arg.form, Form::Host(_) | Form::Const(_));
        if self.host_scalars || args.iter().all(on_host) {
            let operands = args.iter().map(|a| self.host_scalar(a)).collect::<R<Vec<_>>>()?;
            let kind = HostKind::Op(op, operands);
            let value = self.host_value_of(HostType::Scalar(elem), kind);
            return Ok(Scalar { elem, form: Form::Host(value) });
        }
        let name = self.fresh("v");
        let id = self.define_scalar(&name, span, |cx| cx.region_op(op, args, elem, loc(span)))?;
        Ok(Scalar { elem, form: Form::Named(id) })
    }

    /// The result as an index expression, if operands and result are integers that allow it.
    pub(super) fn apply_index(&mut self, op: Op, args: &[Scalar], elem: Elem) -> Option<Scalar> {
        let is_index =
            |s: &Scalar| matches!(s.form, Form::Index(..) | Form::Const(_) | Form::Named(_));
        if !elem.is_int() || !args.iter().all(is_index) || self.pending.is_none() {
            return None;
        }
        if args.iter().all(|arg| arg.as_const().is_some()) {
            return None;
        }
        let known: Option<Vec<Quasi>> = args.iter().map(|arg| self.known_index(arg)).collect();
        let known = known?;
        let expr = match (op, &known[..]) {
            (Op::Add, [a, b]) => a.add(b).ok()?,
            (Op::Sub, [a, b]) => a.sub(b).ok()?,
            (Op::Neg, [a]) => a.neg().ok()?,
            (Op::Mul, [a, b]) => match (a.as_constant(), b.as_constant()) {
                (_, Some(k)) => a.scale(k).ok()?,
                (Some(k), _) => b.scale(k).ok()?,
                _ => return None,
            },
            (Op::Div, [a, b]) if self.exact || is_small(a) => {
                a.trunc_div(b.as_constant().filter(|k| *k > 0)?).ok()?
            }
            (Op::Rem, [a, b]) if self.exact || is_small(a) => {
                a.trunc_rem(b.as_constant().filter(|k| *k > 0)?).ok()?
            }
            (Op::Cast, [a]) if holds_sizes(args[0].elem) && holds_sizes(elem) && is_small(a) => {
                a.clone()
            }
            _ => return None,
        };
        // A number that does not fit wraps or traps when it is computed.
        let fits = |number: i64| Const::int(elem, number.into()).as_int() == Some(number.into());
        if !self.exact && expr.as_constant().is_some_and(|number| !fits(number)) {
            return None;
        }
        if !self.exact && elem != Elem::I64 && !is_moderate(&expr) {
            return None;
        }
        let home = self.module();
        Some(Scalar { elem, form: Form::Index(home, expr) })
    }

    /// The comparison of integers that are known here, such as the extents of a literal, and the
    /// opposite of what is known: of two branches only the one that is taken becomes code.
    fn known_comparison(&mut self, op: Op, args: &[Scalar]) -> Option<bool> {
        if let (Op::Not, [of]) = (op, args) {
            return of.as_const()?.as_bool().map(|holds| !holds);
        }
        let [a, b] = args else { return None };
        if !a.elem.is_int() || a.elem != b.elem || self.pending.is_none() {
            return None;
        }
        let (a, b) = (self.known_index(a)?, self.known_index(b)?);
        let order = match (a.as_constant(), b.as_constant()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ if a == b => Ordering::Equal,
            _ => return None,
        };
        match op {
            Op::Eq => Some(order.is_eq()),
            Op::Ne => Some(order.is_ne()),
            Op::Lt => Some(order.is_lt()),
            Op::Le => Some(order.is_le()),
            Op::Gt => Some(order.is_gt()),
            Op::Ge => Some(order.is_ge()),
            _ => None,
        }
    }

    /// `e as T` of a scalar.
    pub(super) fn cast(&mut self, value: &Scalar, to: Elem) -> R<Scalar> {
        if value.elem == to {
            return Ok(value.clone());
        }
        if let Some(constant) = value.as_const() {
            if let Some(number) = constant.as_int().filter(|n| !to.is_float() || n.abs() < 1 << 24)
            {
                return Ok(Scalar::constant(Const::int(to, number)));
            }
            if let Some(number) = constant.as_float() {
                return Ok(Scalar::constant(Const::float(to, number)));
            }
        }
        self.apply(Op::Cast, std::slice::from_ref(value), to)
    }

    /// `if c { a } else { b }` of scalars, evaluated only as needed. Both arms are lowered where
    /// they are evaluated.
    pub(super) fn choose(
        &mut self,
        condition: &Scalar,
        elem: Elem,
        then: &mut dyn FnMut(&mut Self) -> R<Scalar>,
        otherwise: &mut dyn FnMut(&mut Self) -> R<Scalar>,
    ) -> R<Scalar> {
        if let Some(known) = condition.as_const().and_then(|c| c.as_bool()) {
            return if known { then(self) } else { otherwise(self) };
        }
        let span = self.here;
        if !self.in_region() {
            let name = self.fresh("v");
            let id =
                self.define_scalar(&name, span, |cx| cx.choose(condition, elem, then, otherwise))?;
            return Ok(Scalar { elem, form: Form::Named(id) });
        }
        let condition = self.arg(condition)?;
        let (then, _) = self.scalar_region(|cx| then(cx))?;
        let (otherwise, _) = self.scalar_region(|cx| otherwise(cx))?;
        Ok(self.emit(elem, InstKind::If { condition, then, otherwise }, loc(span)))
    }

    /// Several scalars from one of two arms.
    pub(super) fn choose_many(
        &mut self,
        condition: &Scalar,
        elems: &[Elem],
        then: &mut dyn FnMut(&mut Self) -> R<Vec<Scalar>>,
        otherwise: &mut dyn FnMut(&mut Self) -> R<Vec<Scalar>>,
    ) -> R<Vec<Scalar>> {
        let span = self.here;
        let condition = self.arg(condition)?;
        let then = self.scalars_region(&mut *then)?;
        let otherwise = self.scalars_region(&mut *otherwise)?;
        let values: Vec<_> = elems.iter().map(|elem| self.new_value(*elem)).collect();
        let results = values.iter().map(|value| Def::Scalar(*value)).collect();
        self.push_inst(results, InstKind::If { condition, then, otherwise }, loc(span));
        Ok(values.into_iter().map(Scalar::value).collect())
    }

    pub(super) fn scalars_region(
        &mut self,
        f: &mut dyn FnMut(&mut Self) -> R<Vec<Scalar>>,
    ) -> R<Region> {
        let (region, ()) = self.region(|cx| {
            let scalars = f(cx)?;
            let args = scalars.iter().map(|s| cx.arg(s)).collect::<R<Vec<Arg>>>()?;
            Ok((args, ()))
        })?;
        Ok(region)
    }

    /// The integer as a scalar of this module.
    pub(super) fn index_scalar(&mut self, elem: Elem, expr: Quasi) -> Scalar {
        match expr.as_constant() {
            Some(number) => Scalar::constant(Const::int(elem, number.into())),
            None => Scalar { elem, form: Form::Index(self.module(), expr) },
        }
    }

    pub(super) fn expect_scalar(&self, value: Val<'p>, span: Span) -> R<Scalar> {
        match value {
            Val::Scalar(scalar) => Ok(scalar),
            _ => unsupported(span, "a value that is not a number here"),
        }
    }
}
