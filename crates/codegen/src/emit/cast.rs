//! Conversions between types of scalars.

use einlang_tir::op::Op;
use einlang_tir::types::{Elem, ElemKind};
use inkwell::intrinsics::Intrinsic;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum};
use inkwell::{FloatPredicate, IntPredicate};

use super::{Emit, Refused, Result};
use crate::frame::Scalar;

/// Whether LLVM computes with a type as the language does.
pub(super) fn is_plain(elem: Elem) -> bool {
    !matches!(elem, Elem::F8E4M3 | Elem::F16 | Elem::BF16)
}

impl<'c> Emit<'c, '_> {
    /// `value as to`.
    pub(super) fn cast(
        &mut self,
        value: BasicValueEnum<'c>,
        from: Elem,
        to: Elem,
    ) -> Result<BasicValueEnum<'c>> {
        if from == to {
            return Ok(value);
        }
        if !is_plain(from) {
            let wide = self.as_f32(value, from)?;
            return self.cast(wide.into(), Elem::F32, to);
        }
        // Whatever an `f32` holds exactly is rounded once.
        let is_exact =
            matches!(from, Elem::F32 | Elem::I8 | Elem::I16 | Elem::U8 | Elem::U16 | Elem::Bool);
        if !is_plain(to) && is_exact {
            let wide = self.cast(value, from, Elem::F32)?;
            return self.round_to(wide.into_float_value(), to);
        }
        if !is_plain(to) {
            let scalar = Scalar { op: Op::Cast, elems: [from; 2], result: to };
            return self.slow(scalar, &[(value, from)], i64::from(u32::MAX) + 1);
        }
        let ty = self.ty(to);
        let builder = &self.builder;
        Ok(match (from.kind(), to.kind()) {
            (ElemKind::Float, ElemKind::Float) => match to {
                Elem::F64 => builder
                    .build_float_ext(value.into_float_value(), ty.into_float_type(), "cast")?
                    .into(),
                _ => builder
                    .build_float_trunc(value.into_float_value(), ty.into_float_type(), "cast")?
                    .into(),
            },
            (ElemKind::Float, ElemKind::Bool) => {
                let value = value.into_float_value();
                let zero = value.get_type().const_zero();
                builder.build_float_compare(FloatPredicate::UNE, value, zero, "cast")?.into()
            }
            (ElemKind::Float, kind) => {
                let name = match kind {
                    ElemKind::Signed => "llvm.fptosi.sat",
                    _ => "llvm.fptoui.sat",
                };
                self.intrinsic(name, &[ty, self.ty(from)], &[value.into()])?
            }
            (ElemKind::Signed, ElemKind::Float) => builder
                .build_signed_int_to_float(value.into_int_value(), ty.into_float_type(), "cast")?
                .into(),
            (_, ElemKind::Float) => builder
                .build_unsigned_int_to_float(value.into_int_value(), ty.into_float_type(), "cast")?
                .into(),
            (_, ElemKind::Bool) => {
                let value = value.into_int_value();
                let zero = value.get_type().const_zero();
                self.compare(IntPredicate::NE, value, zero)?.into()
            }
            (kind, _) => {
                let (value, ty) = (value.into_int_value(), ty.into_int_type());
                let (have, want) = (value.get_type().get_bit_width(), ty.get_bit_width());
                match (have.cmp(&want), kind) {
                    (std::cmp::Ordering::Equal, _) => value.into(),
                    (std::cmp::Ordering::Greater, _) => {
                        builder.build_int_truncate(value, ty, "cast")?.into()
                    }
                    (_, ElemKind::Signed) => builder.build_int_s_extend(value, ty, "cast")?.into(),
                    _ => builder.build_int_z_extend(value, ty, "cast")?.into(),
                }
            }
        })
    }

    /// Calls an intrinsic of LLVM.
    pub(super) fn intrinsic(
        &self,
        name: &str,
        types: &[inkwell::types::BasicTypeEnum<'c>],
        args: &[BasicMetadataValueEnum<'c>],
    ) -> Result<BasicValueEnum<'c>> {
        let missing = || Refused(format!("LLVM has no `{name}`"));
        let found = Intrinsic::find(name).ok_or_else(missing)?;
        let function = found.get_declaration(&self.module, types).ok_or_else(missing)?;
        let call = self.builder.build_call(function, args, "value")?;
        call.try_as_basic_value().basic().ok_or_else(missing)
    }
}
