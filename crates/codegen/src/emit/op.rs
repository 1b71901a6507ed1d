//! Scalar operations. What has no code here is asked of the surroundings.

use einlang_loops::ir::Operand;
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, ElemKind};
use inkwell::values::{BasicValueEnum, FloatValue, IntValue};
use inkwell::{FloatPredicate, IntPredicate};

use super::cast::is_plain;
use super::powers::MOST_FACTORS;
use super::{Emit, Result};
use crate::frame::{Scalar, Told};

impl<'c> Emit<'c, '_> {
    /// An operation on operands; `code` is returned where it traps.
    pub(super) fn op(
        &mut self,
        op: Op,
        args: &[Operand],
        result: Elem,
        code: i64,
    ) -> Result<BasicValueEnum<'c>> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push((self.operand(arg)?, arg.elem()));
        }
        self.apply(op, &values, result, code)
    }

    /// An operation on values.
    pub(super) fn apply(
        &mut self,
        op: Op,
        args: &[(BasicValueEnum<'c>, Elem)],
        result: Elem,
        code: i64,
    ) -> Result<BasicValueEnum<'c>> {
        if let (Op::Powi, [x, (BasicValueEnum::IntValue(power), _)]) = (op, args)
            && let Some(power) = power.get_sign_extended_constant()
            && matches!(x.1, Elem::F32 | Elem::F64)
            && power.unsigned_abs() <= MOST_FACTORS
            && !self.tables.checked
        {
            return self.power(*x, power);
        }
        if let (Op::Pow, [x, (BasicValueEnum::FloatValue(power), _)]) = (op, args)
            && let Some((power, _)) = power.get_constant()
            && let Some(value) = self.half_power(*x, power)?
        {
            return Ok(value);
        }
        if args.iter().any(|(value, _)| value.is_vector_value()) {
            return self.wide_apply(op, args, result);
        }
        match (op, args) {
            (Op::Detach, [(value, _)]) => return Ok(*value),
            (Op::Select, [(on, _), (yes, _), (no, _)]) => {
                let on = on.into_int_value();
                return Ok(self.builder.build_select(on, *yes, *no, "choice")?);
            }
            (Op::Cast, [(value, from)]) => return self.cast(*value, *from, result),
            _ => {}
        }
        let plain = args.iter().all(|(_, elem)| is_plain(*elem)) && is_plain(result);
        let same = args.iter().all(|(_, elem)| *elem == args[0].1);
        if let [(_, elem), ..] = args
            && same
            && !is_plain(*elem)
            && !self.tables.checked
        {
            let x: Result<Vec<_>> = args.iter().map(|(v, of)| self.as_f32(*v, *of)).collect();
            match self.float(op, &x?)? {
                Some(value) if is_plain(result) => return Ok(value),
                Some(value) => return self.round_to(value.into_float_value(), result),
                None => {}
            }
        }
        if plain && same && !self.tables.checked {
            let elem = args.first().map_or(result, |(_, elem)| *elem);
            let found = match elem.kind() {
                ElemKind::Float => {
                    let x: Vec<_> = args.iter().map(|(v, _)| v.into_float_value()).collect();
                    self.float(op, &x)?
                }
                ElemKind::Bool => {
                    let x: Vec<_> = args.iter().map(|(v, _)| v.into_int_value()).collect();
                    self.truth(op, &x)?
                }
                kind => {
                    let x: Vec<_> = args.iter().map(|(v, _)| v.into_int_value()).collect();
                    self.integer(op, &x, kind == ElemKind::Signed, code)?
                }
            };
            if let Some(value) = found {
                return Ok(value);
            }
        }
        let first = args.first().map_or(result, |(_, elem)| *elem);
        let second = args.get(1).map_or(result, |(_, elem)| *elem);
        self.slow(Scalar { op, elems: [first, second], result }, args, code)
    }

    fn float(&self, op: Op, x: &[FloatValue<'c>]) -> Result<Option<BasicValueEnum<'c>>> {
        let b = &self.builder;
        if let (Some(how), [x, y]) = (float_predicate(op), x) {
            return Ok(Some(b.build_float_compare(how, *x, *y, "test")?.into()));
        }
        let ty = x[0].get_type();
        let one_of = |how, a: FloatValue<'c>, b_: FloatValue<'c>| -> Result<_> {
            let other = b.build_float_compare(how, b_, a, "test")?;
            Ok(b.build_select(other, b_, a, "choice")?)
        };
        Ok(Some(match (op, x) {
            (Op::Add, [x, y]) => b.build_float_add(*x, *y, "sum")?.into(),
            (Op::Sub, [x, y]) => b.build_float_sub(*x, *y, "difference")?.into(),
            (Op::Mul, [x, y]) => b.build_float_mul(*x, *y, "product")?.into(),
            (Op::Div, [x, y]) => b.build_float_div(*x, *y, "quotient")?.into(),
            (Op::Neg, [x]) => b.build_float_neg(*x, "negative")?.into(),
            (Op::Min, [x, y]) => one_of(FloatPredicate::OLT, *x, *y)?,
            (Op::Max, [x, y]) => one_of(FloatPredicate::OGT, *x, *y)?,
            (Op::Sign, [x]) => {
                let zero = ty.const_zero();
                let above = b.build_float_compare(FloatPredicate::OGT, *x, zero, "test")?;
                let below = b.build_float_compare(FloatPredicate::OLT, *x, zero, "test")?;
                let equal = b.build_float_compare(FloatPredicate::OEQ, *x, zero, "test")?;
                let rest = b.build_select(equal, zero, *x, "sign")?.into_float_value();
                let low = b.build_select(below, ty.const_float(-1.0), rest, "sign")?;
                b.build_select(above, ty.const_float(1.0), low.into_float_value(), "sign")?
            }
            (Op::IsNan, [x]) => b.build_float_compare(FloatPredicate::UNO, *x, *x, "nan")?.into(),
            (Op::IsFinite, [x]) => {
                let size = self.intrinsic("llvm.fabs", &[ty.into()], &[(*x).into()])?;
                let infinity = ty.const_float(f64::INFINITY);
                let how = FloatPredicate::OLT;
                b.build_float_compare(how, size.into_float_value(), infinity, "finite")?.into()
            }
            _ => {
                let elem = if ty == self.context.f32_type() { Elem::F32 } else { Elem::F64 };
                let values: Vec<_> = x.iter().map(|x| (*x).into()).collect();
                if let Some(value) = self.by_formula(op, elem, &values)? {
                    return Ok(Some(value));
                }
                let Some(name) = intrinsic(op) else { return Ok(None) };
                let args: Vec<_> = x.iter().map(|x| (*x).into()).collect();
                self.intrinsic(name, &[ty.into()], &args)?
            }
        }))
    }

    fn truth(&self, op: Op, x: &[IntValue<'c>]) -> Result<Option<BasicValueEnum<'c>>> {
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

    fn integer(
        &self,
        op: Op,
        x: &[IntValue<'c>],
        signed: bool,
        code: i64,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let b = &self.builder;
        if let (Some(how), [x, y]) = (int_predicate(op, signed), x) {
            return Ok(Some(b.build_int_compare(how, *x, *y, "test")?.into()));
        }
        let ty = x[0].get_type();
        let one_of = |how: Op, a: IntValue<'c>, b_: IntValue<'c>| -> Result<_> {
            let how = int_predicate(how, signed).unwrap_or(IntPredicate::EQ);
            let other = b.build_int_compare(how, b_, a, "test")?;
            Ok(b.build_select(other, b_, a, "choice")?.into_int_value())
        };
        Ok(Some(BasicValueEnum::from(match (op, x) {
            (Op::Add, [x, y]) => b.build_int_add(*x, *y, "sum")?,
            (Op::Sub, [x, y]) => b.build_int_sub(*x, *y, "difference")?,
            (Op::Mul, [x, y]) => b.build_int_mul(*x, *y, "product")?,
            (Op::Neg, [x]) => b.build_int_neg(*x, "negative")?,
            (Op::Abs, [x]) if signed => {
                let below = self.compare(IntPredicate::SLT, *x, ty.const_zero())?;
                let negative = b.build_int_neg(*x, "negative")?;
                b.build_select(below, negative, *x, "size")?.into_int_value()
            }
            (Op::Abs, [x]) => *x,
            (Op::Min, [x, y]) => one_of(Op::Lt, *x, *y)?,
            (Op::Max, [x, y]) => one_of(Op::Gt, *x, *y)?,
            (Op::Div, [x, y]) => self.quotient(*x, *y, signed, code, false)?,
            (Op::Rem, [x, y]) => self.quotient(*x, *y, signed, code, true)?,
            (Op::Band, [x, y]) => b.build_and(*x, *y, "both")?,
            (Op::Bor, [x, y]) => b.build_or(*x, *y, "either")?,
            (Op::Bxor, [x, y]) => b.build_xor(*x, *y, "one")?,
            (Op::Bnot, [x]) => b.build_not(*x, "not")?,
            _ => return Ok(None),
        })))
    }

    /// Division and remainder: a divisor of zero traps, and the smallest integer by -1 wraps.
    fn quotient(
        &self,
        x: IntValue<'c>,
        y: IntValue<'c>,
        signed: bool,
        code: i64,
        rest: bool,
    ) -> Result<IntValue<'c>> {
        let (b, ty) = (&self.builder, y.get_type());
        let fine = self.compare(IntPredicate::NE, y, ty.const_zero())?;
        self.require_or(fine, code, |emit| {
            emit.tell_fault(Told::Divided, &[emit.widen(x, signed)?])
        })?;
        if !signed {
            return Ok(match rest {
                true => b.build_int_unsigned_rem(x, y, "rest")?,
                false => b.build_int_unsigned_div(x, y, "quotient")?,
            });
        }
        let minus = self.compare(IntPredicate::EQ, y, ty.const_all_ones())?;
        let by = b.build_select(minus, ty.const_int(1, false), y, "by")?.into_int_value();
        let (usual, special) = match rest {
            true => (b.build_int_signed_rem(x, by, "rest")?, ty.const_zero()),
            false => (b.build_int_signed_div(x, by, "quotient")?, b.build_int_neg(x, "negative")?),
        };
        Ok(b.build_select(minus, special, usual, "value")?.into_int_value())
    }
}

pub(super) fn float_predicate(op: Op) -> Option<FloatPredicate> {
    Some(match op {
        Op::Eq => FloatPredicate::OEQ,
        Op::Ne => FloatPredicate::UNE,
        Op::Lt => FloatPredicate::OLT,
        Op::Le => FloatPredicate::OLE,
        Op::Gt => FloatPredicate::OGT,
        Op::Ge => FloatPredicate::OGE,
        _ => return None,
    })
}

pub(super) fn int_predicate(op: Op, signed: bool) -> Option<IntPredicate> {
    Some(match (op, signed) {
        (Op::Eq, _) => IntPredicate::EQ,
        (Op::Ne, _) => IntPredicate::NE,
        (Op::Lt, true) => IntPredicate::SLT,
        (Op::Le, true) => IntPredicate::SLE,
        (Op::Gt, true) => IntPredicate::SGT,
        (Op::Ge, true) => IntPredicate::SGE,
        (Op::Lt, false) => IntPredicate::ULT,
        (Op::Le, false) => IntPredicate::ULE,
        (Op::Gt, false) => IntPredicate::UGT,
        (Op::Ge, false) => IntPredicate::UGE,
        _ => return None,
    })
}

/// Operations that are intrinsics of LLVM with exactly our meaning.
pub(super) fn intrinsic(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Abs => "llvm.fabs",
        Op::Fma => "llvm.fma",
        Op::Sqrt => "llvm.sqrt",
        Op::Floor => "llvm.floor",
        Op::Ceil => "llvm.ceil",
        Op::Trunc => "llvm.trunc",
        Op::Round => "llvm.round",
        Op::Exp => "llvm.exp",
        Op::Exp2 => "llvm.exp2",
        Op::Log => "llvm.log",
        Op::Log2 => "llvm.log2",
        Op::Log10 => "llvm.log10",
        Op::Sin => "llvm.sin",
        Op::Cos => "llvm.cos",
        Op::Pow => "llvm.pow",
        Op::Tanh => "llvm.tanh",
        _ => return None,
    })
}
