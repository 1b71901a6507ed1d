//! Operations on vectors. What has no code here is done lane by lane.

use einlang_tir::op::Op;
use einlang_tir::types::{Elem, ElemKind};
use inkwell::types::BasicType;
use inkwell::values::{BasicValueEnum, VectorValue};

use crate::emit::op::{float_predicate, int_predicate, intrinsic};
use crate::emit::{Emit, Refused, Result};

impl<'c> Emit<'c, '_> {
    /// An operation of which some operand differs from lane to lane.
    pub(in crate::emit) fn wide_apply(
        &mut self,
        op: Op,
        args: &[(BasicValueEnum<'c>, Elem)],
        result: Elem,
    ) -> Result<BasicValueEnum<'c>> {
        let nowhere = || Refused("a vector outside lanes".to_owned());
        let width = self.n_lanes().ok_or_else(nowhere)?;
        let mut x = Vec::with_capacity(args.len());
        for (value, _) in args {
            x.push(self.widened(*value, width)?);
        }
        let same = args.iter().all(|(_, elem)| *elem == args[0].1);
        let found = match (op, &x[..]) {
            (Op::Detach, [x]) => Some((*x).into()),
            (Op::Select, [on, yes, no]) => {
                Some(self.builder.build_select(*on, *yes, *no, "choice")?)
            }
            (Op::Cast, [value]) => return self.wide_cast(*value, args[0].1, result, width),
            _ if same => match args[0].1.kind() {
                ElemKind::Float => self.wide_float(op, args[0].1, &x)?,
                ElemKind::Bool => self.wide_truth(op, &x)?,
                kind => self.wide_integer(op, &x, kind == ElemKind::Signed)?,
            },
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None => self.by_lane(op, &x, args, result, width),
        }
    }

    pub(super) fn wide_float(
        &self,
        op: Op,
        elem: Elem,
        x: &[VectorValue<'c>],
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let b = &self.builder;
        if let (Some(how), [x, y]) = (float_predicate(op), x) {
            return Ok(Some(b.build_float_compare(how, *x, *y, "test")?.into()));
        }
        let one_of = |how: Op, x: VectorValue<'c>, y: VectorValue<'c>| -> Result<_> {
            let how = float_predicate(how).unwrap_or(inkwell::FloatPredicate::OLT);
            let other = b.build_float_compare(how, y, x, "test")?;
            Ok(b.build_select(other, y, x, "choice")?)
        };
        Ok(Some(match (op, x) {
            (Op::Add, [x, y]) => b.build_float_add(*x, *y, "sum")?.into(),
            (Op::Sub, [x, y]) => b.build_float_sub(*x, *y, "difference")?.into(),
            (Op::Mul, [x, y]) => b.build_float_mul(*x, *y, "product")?.into(),
            (Op::Div, [x, y]) => b.build_float_div(*x, *y, "quotient")?.into(),
            (Op::Neg, [x]) => b.build_float_neg(*x, "negative")?.into(),
            (Op::Min, [x, y]) => one_of(Op::Lt, *x, *y)?,
            (Op::Max, [x, y]) => one_of(Op::Gt, *x, *y)?,
            (Op::Abs | Op::Fma | Op::Sqrt | Op::Floor | Op::Ceil | Op::Trunc, [first, ..]) => {
                let Some(name) = intrinsic(op) else { return Ok(None) };
                let args: Vec<_> = x.iter().map(|x| (*x).into()).collect();
                self.intrinsic(name, &[first.get_type().as_basic_type_enum()], &args)?
            }
            _ => {
                let values: Vec<_> = x.iter().map(|x| (*x).into()).collect();
                return self.by_formula(op, elem, &values);
            }
        }))
    }

    fn wide_truth(&self, op: Op, x: &[VectorValue<'c>]) -> Result<Option<BasicValueEnum<'c>>> {
        let b = &self.builder;
        if let (Some(how), [x, y]) = (int_predicate(op, false), x) {
            return Ok(Some(b.build_int_compare(how, *x, *y, "test")?.into()));
        }
        Ok(Some(match (op, x) {
            (Op::And, [x, y]) => b.build_and(*x, *y, "both")?.into(),
            (Op::Or, [x, y]) => b.build_or(*x, *y, "either")?.into(),
            (Op::Not, [x]) => b.build_not(*x, "not")?.into(),
            _ => return Ok(None),
        }))
    }

    pub(super) fn wide_integer(
        &self,
        op: Op,
        x: &[VectorValue<'c>],
        signed: bool,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let b = &self.builder;
        if let (Some(how), [x, y]) = (int_predicate(op, signed), x) {
            return Ok(Some(b.build_int_compare(how, *x, *y, "test")?.into()));
        }
        let one_of = |how: Op, x: VectorValue<'c>, y: VectorValue<'c>| -> Result<_> {
            let how = int_predicate(how, signed).unwrap_or(inkwell::IntPredicate::EQ);
            let other = b.build_int_compare(how, y, x, "test")?;
            Ok(b.build_select(other, y, x, "choice")?)
        };
        Ok(Some(match (op, x) {
            (Op::Add, [x, y]) => b.build_int_add(*x, *y, "sum")?.into(),
            (Op::Sub, [x, y]) => b.build_int_sub(*x, *y, "difference")?.into(),
            (Op::Mul, [x, y]) => b.build_int_mul(*x, *y, "product")?.into(),
            (Op::Neg, [x]) => b.build_int_neg(*x, "negative")?.into(),
            (Op::Min, [x, y]) => one_of(Op::Lt, *x, *y)?,
            (Op::Max, [x, y]) => one_of(Op::Gt, *x, *y)?,
            (Op::Band, [x, y]) => b.build_and(*x, *y, "both")?.into(),
            (Op::Bor, [x, y]) => b.build_or(*x, *y, "either")?.into(),
            (Op::Bxor, [x, y]) => b.build_xor(*x, *y, "one")?.into(),
            (Op::Bnot, [x]) => b.build_not(*x, "not")?.into(),
            _ => return Ok(None),
        }))
    }

    /// `value as to` in every lane.
    pub(super) fn wide_cast(
        &mut self,
        value: VectorValue<'c>,
        from: Elem,
        to: Elem,
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        if from == to {
            return Ok(value.into());
        }
        let ty = self.vector_type(self.ty(to), width)?;
        let b = &self.builder;
        let integer = |kind| matches!(kind, ElemKind::Signed | ElemKind::Unsigned);
        let bits = |elem: Elem| elem.bits();
        Ok(match (from.kind(), to.kind()) {
            (ElemKind::Signed, ElemKind::Float) => {
                b.build_signed_int_to_float(value, ty, "cast")?.into()
            }
            (ElemKind::Float, ElemKind::Float) if to == Elem::F64 => {
                b.build_float_ext(value, ty, "cast")?.into()
            }
            (ElemKind::Float, ElemKind::Float) => b.build_float_trunc(value, ty, "cast")?.into(),
            (a, c) if integer(a) && integer(c) && bits(from) > bits(to) => {
                b.build_int_truncate(value, ty, "cast")?.into()
            }
            (a, c) if integer(a) && integer(c) && bits(from) == bits(to) => value.into(),
            (ElemKind::Signed, c) if integer(c) => b.build_int_s_extend(value, ty, "cast")?.into(),
            (ElemKind::Unsigned | ElemKind::Bool, c) if integer(c) => {
                b.build_int_z_extend(value, ty, "cast")?.into()
            }
            _ => return self.by_lane(Op::Cast, &[value], &[(value.into(), from)], to, width),
        })
    }

    /// The operation in one lane after the other.
    fn by_lane(
        &mut self,
        op: Op,
        x: &[VectorValue<'c>],
        args: &[(BasicValueEnum<'c>, Elem)],
        result: Elem,
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        let mut all = self.vector_type(self.ty(result), width)?.get_poison();
        for lane in 0..width {
            let at = self.context.i32_type().const_int(u64::from(lane), false);
            let mut values = Vec::with_capacity(x.len());
            for (vector, (_, elem)) in x.iter().zip(args) {
                let value = self.builder.build_extract_element(*vector, at, "lane")?;
                values.push((value, *elem));
            }
            let value = self.apply(op, &values, result, i64::from(u32::MAX) + 1)?;
            all = self.builder.build_insert_element(all, value, at, "lanes")?;
        }
        Ok(all.into())
    }
}
