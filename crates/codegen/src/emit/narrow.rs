//! The float formats that LLVM is not trusted with: `f16`, `bf16` and `f8e4m3` are bits that become an
//! `f32`, which holds each of them exactly, and are rounded back once, to nearest with ties to even.
//!
//! Only integers and one exact multiplication or addition are used, so that the code needs no features of
//! the processor and no functions of its own, and a loop of it still becomes vectors.

use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, FloatValue, IntValue};

use super::{Emit, Result};

/// A format with a sign bit, an exponent and a fraction.
struct Format {
    exponent_bits: u32,
    fraction_bits: u32,
    has_infinity: bool,
}

impl Format {
    fn of(elem: Elem) -> Format {
        let (exponent_bits, fraction_bits, has_infinity) = match elem {
            Elem::F8E4M3 => (4, 3, false),
            Elem::BF16 => (8, 7, true),
            _ => (5, 10, true),
        };
        Format { exponent_bits, fraction_bits, has_infinity }
    }

    /// The position of the sign.
    fn sign(&self) -> u64 {
        u64::from(self.exponent_bits + self.fraction_bits)
    }

    fn bias(&self) -> u64 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn infinity(&self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    fn nan(&self) -> u64 {
        match self.has_infinity {
            true => self.infinity() | 1 << (self.fraction_bits - 1),
            false => (1 << self.sign()) - 1,
        }
    }

    /// How far fractions are apart in an `f32`.
    fn shift(&self) -> u64 {
        23 - u64::from(self.fraction_bits)
    }
}

impl<'c> Emit<'c, '_> {
    fn i32(&self, value: u64) -> IntValue<'c> {
        self.context.i32_type().const_int(value, false)
    }

    fn float_of(&self, bits: IntValue<'c>) -> Result<FloatValue<'c>> {
        let ty = self.context.f32_type();
        Ok(self.builder.build_bit_cast(bits, ty, "float")?.into_float_value())
    }

    fn bits_of(&self, float: FloatValue<'c>) -> Result<IntValue<'c>> {
        let ty = self.context.i32_type();
        Ok(self.builder.build_bit_cast(float, ty, "bits")?.into_int_value())
    }

    /// The `f32` that narrow bits mean.
    pub(super) fn as_f32(&self, value: BasicValueEnum<'c>, elem: Elem) -> Result<FloatValue<'c>> {
        let (b, format) = (&self.builder, Format::of(elem));
        let ty = self.context.i32_type();
        let bits = b.build_int_z_extend(value.into_int_value(), ty, "narrow")?;
        if elem == Elem::BF16 {
            return self.float_of(b.build_left_shift(bits, self.i32(16), "wide")?);
        }
        let magnitude = b.build_and(bits, self.i32((1 << format.sign()) - 1), "magnitude")?;
        let moved = b.build_left_shift(magnitude, self.i32(format.shift()), "moved")?;
        // Exact, and numbers below the smallest normal one come out right as well.
        let scale = self.float_of(self.i32((127 + 127 - format.bias()) << 23))?;
        let scaled = b.build_float_mul(self.float_of(moved)?, scale, "scaled")?;
        let mut wide = self.bits_of(scaled)?;
        let not_finite = match format.has_infinity {
            true => self.compare(IntPredicate::UGE, magnitude, self.i32(format.infinity()))?,
            false => self.compare(IntPredicate::EQ, magnitude, self.i32(format.nan()))?,
        };
        let special = match format.has_infinity {
            true => b.build_or(moved, self.i32(0xff << 23), "special")?,
            false => self.i32(0x7fc0_0000),
        };
        wide = b.build_select(not_finite, special, wide, "wide")?.into_int_value();
        let sign = b.build_right_shift(bits, self.i32(format.sign()), false, "sign")?;
        let sign = b.build_left_shift(sign, self.i32(31), "sign")?;
        self.float_of(b.build_or(wide, sign, "wide")?)
    }

    /// The narrow bits nearest to an `f32`.
    pub(super) fn round_to(&self, value: FloatValue<'c>, elem: Elem) -> Result<BasicValueEnum<'c>> {
        let (b, format) = (&self.builder, Format::of(elem));
        let bits = self.bits_of(value)?;
        let magnitude = b.build_and(bits, self.i32(0x7fff_ffff), "magnitude")?;
        let (shift, below) = (format.shift(), 127 - format.bias());
        let last = b.build_right_shift(magnitude, self.i32(shift), false, "last")?;
        let last = b.build_and(last, self.i32(1), "last")?;
        let half = b.build_int_add(last, self.i32((1 << (shift - 1)) - 1), "half")?;
        let moved = b.build_int_sub(magnitude, self.i32(below << 23), "moved")?;
        let rounded = b.build_int_add(moved, half, "rounded")?;
        let mut found = b.build_right_shift(rounded, self.i32(shift), false, "found")?;
        if below > 0 {
            // Below the smallest normal number the addition rounds: its last place is that of the format.
            let place = (below + shift + 1) << 23;
            let sum = b.build_float_add(
                self.float_of(magnitude)?,
                self.float_of(self.i32(place))?,
                "sum",
            )?;
            let tiny = b.build_int_sub(self.bits_of(sum)?, self.i32(place), "tiny")?;
            let is_tiny =
                self.compare(IntPredicate::ULT, magnitude, self.i32((below + 1) << 23))?;
            found = b.build_select(is_tiny, tiny, found, "found")?.into_int_value();
        }
        let over = self.i32(if format.has_infinity { format.infinity() } else { format.nan() });
        let is_over = self.compare(IntPredicate::UGT, found, over)?;
        found = b.build_select(is_over, over, found, "found")?.into_int_value();
        let sign = b.build_right_shift(bits, self.i32(31), false, "sign")?;
        let sign = b.build_left_shift(sign, self.i32(format.sign()), "sign")?;
        let found = b.build_or(found, sign, "found")?;
        let is_nan = self.compare(IntPredicate::UGT, magnitude, self.i32(0xff << 23))?;
        let found =
            b.build_select(is_nan, self.i32(format.nan()), found, "found")?.into_int_value();
        let ty = self.ty(elem).into_int_type();
        Ok(b.build_int_truncate(found, ty, "narrow")?.into())
    }
}
