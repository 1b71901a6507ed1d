//! Quotients and remainders by constants.
//!
//! By powers of two they are shifts and masks. By other numbers processors take dozens of cycles, unless somebody
//! multiplies instead: LLVM does that where code is made thoroughly, and here it is done where code is made quickly.
//!
//! Invariant: exact for every number, negative ones too.

use einlang_index::DivOp;
use inkwell::IntPredicate;
use inkwell::values::{FunctionValue, IntValue};

use super::{Emit, Refused, Result};

/// What a number from 0 on is multiplied by and how far that is shifted down, to divide it: the quotient is
/// `(number * factor) >> (64 + shift)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Magic {
    factor: u64,
    shift: u32,
}

impl Magic {
    /// For a divisor from 3 on that is no power of two. With `2^l` the next one above it, the factor is
    /// `2^(63 + l) / divisor`, rounded up by less than `divisor` of those parts. So quotients of numbers below `2^63`
    /// are too large by less than `2^63 * 2^l / 2^(63 + l)` parts of a `divisor`, which is less than what rounding
    /// down takes away.
    fn of(divisor: u64) -> Magic {
        let above = u64::BITS - (divisor - 1).leading_zeros();
        let factor = (1_u128 << (63 + above)).div_ceil(u128::from(divisor));
        Magic { factor: factor as u64, shift: above - 1 }
    }
}

impl<'c> Emit<'c, '_> {
    /// A quotient or remainder by a positive constant.
    pub(super) fn divide(&self, op: DivOp, number: IntValue<'c>, by: i64) -> Result<IntValue<'c>> {
        let divisor = by.max(1);
        let by = self.i64(divisor);
        match op {
            DivOp::FloorDiv | DivOp::TruncDiv if divisor == 1 => Ok(number),
            DivOp::FloorDiv => self.floor(number, divisor),
            DivOp::FloorMod if divisor & (divisor - 1) == 0 => {
                Ok(self.builder.build_and(number, self.i64(divisor - 1), "rest")?)
            }
            DivOp::FloorMod if self.spared.multiplies => {
                let quotient = self.floor(number, divisor)?;
                let below = self.mul(quotient, by)?;
                Ok(self.builder.build_int_nsw_sub(number, below, "rest")?)
            }
            DivOp::FloorMod => {
                let rest = self.builder.build_int_signed_rem(number, by, "rest")?;
                let below = self.compare(IntPredicate::SLT, rest, self.i64(0))?;
                let up = self.add(rest, by)?;
                Ok(self.builder.build_select(below, up, rest, "rest")?.into_int_value())
            }
            DivOp::TruncDiv => Ok(self.builder.build_int_signed_div(number, by, "quotient")?),
            DivOp::TruncRem => Ok(self.builder.build_int_signed_rem(number, by, "rest")?),
        }
    }

    /// Where a point of a tensor, which is never negative, is kept in a window.
    pub(super) fn ring(&self, index: IntValue<'c>, width: i64) -> Result<IntValue<'c>> {
        match self.spared.multiplies {
            true => self.divide(DivOp::FloorMod, index, width),
            false => {
                let width = self.i64(width);
                Ok(self.builder.build_int_unsigned_rem(index, width, "ring")?)
            }
        }
    }

    /// The greatest number of times that a divisor fits below a number.
    fn floor(&self, number: IntValue<'c>, divisor: i64) -> Result<IntValue<'c>> {
        let (b, by) = (&self.builder, self.i64(divisor));
        if divisor & (divisor - 1) == 0 {
            let shift = self.i64(i64::from(divisor.trailing_zeros()));
            return Ok(b.build_right_shift(number, shift, true, "quotient")?);
        }
        if !self.spared.multiplies {
            let rest = b.build_int_signed_rem(number, by, "rest")?;
            let quotient = b.build_int_signed_div(number, by, "quotient")?;
            let below = self.compare(IntPredicate::SLT, rest, self.i64(0))?;
            let less = b.build_int_s_extend(below, self.i64_type(), "less")?;
            return self.add(quotient, less);
        }
        let name = format!("einlang.floor.{divisor}");
        let function = match self.module.get_function(&name) {
            Some(function) => function,
            None => self.floor_function(&name, divisor)?,
        };
        let call = b.build_call(function, &[number.into()], "quotient")?;
        let none = || Refused("a quotient that is none".to_owned());
        Ok(call.try_as_basic_value().basic().ok_or_else(none)?.into_int_value())
    }

    /// Writes the function of a quotient. Wide products are what LLVM cannot translate quickly, nor what is before
    /// them in a block; so there is one for each divisor.
    fn floor_function(&self, name: &str, divisor: i64) -> Result<FunctionValue<'c>> {
        let function = self.pure_function(name, self.i64_type().into(), 1);
        let b = self.context.create_builder();
        b.position_at_end(self.context.append_basic_block(function, "entry"));
        let none = || Refused("a quotient of nothing".to_owned());
        let number = function.get_nth_param(0).ok_or_else(none)?.into_int_value();
        // All bits of a negative number are turned around, and those of its quotient back.
        let sign = b.build_right_shift(number, self.i64(63), true, "sign")?;
        let from_zero = b.build_xor(number, sign, "number")?;
        let Magic { factor, shift } = Magic::of(divisor.unsigned_abs());
        let wide = self.context.i128_type();
        let product = b.build_int_mul(
            b.build_int_z_extend(from_zero, wide, "wide")?,
            wide.const_int_arbitrary_precision(&[factor, 0]),
            "product",
        )?;
        let high = b.build_right_shift(product, wide.const_int(64, false), false, "high")?;
        let high = b.build_int_truncate(high, self.i64_type(), "high")?;
        let quotient = b.build_right_shift(high, self.i64(i64::from(shift)), false, "quotient")?;
        b.build_return(Some(&b.build_xor(quotient, sign, "quotient")?))?;
        Ok(function)
    }
}

#[cfg(test)]
mod tests {
    use einlang_loops::ir::parse_kernel;

    use super::Magic;
    use crate::emit::emit;
    use crate::optimise::nameless;
    use crate::rounds::Jammed;
    use crate::tiers::Quality;

    /// A loop whose bound is a quotient, over a window.
    const KERNEL: &str = "kernel part {
  symbols N;
  indices i;
  size N = shape 0 0;
  buffer 0 input x: f64[full (N)];
  buffer 1 y: f64[mod 48 (N)];
  output 1;
  body {
    alloc 1;
    loop i in (0, floor((N + 11) / 12)) seq {
      %0: f64 = load 0[(i)] proved;
      store 1[(i)] = %0;
    }
  }
}
";

    #[test]
    fn quick_code_multiplies_instead() {
        let divides = |quality| {
            let kernel = parse_kernel(KERNEL).expect("a kernel");
            let (jammed, context) = (Jammed::new(&kernel, quality), nameless());
            let emitted = emit(&context, &jammed, (false, false), quality);
            let text = emitted.map_err(|no| no.0).expect("it is emitted").module.print_to_string();
            let by = |op: &str, n: &str| {
                text.to_string().lines().any(|l| l.contains(op) && l.ends_with(n))
            };
            [by(" sdiv ", ", 12"), by(" urem ", ", 48")]
        };
        assert_eq!(divides(Quality::Quick), [false; 2]);
        assert_eq!(divides(Quality::Thorough), [true; 2]);
    }

    #[test]
    fn products_are_quotients() {
        let near = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
        let powers = || (0..63).flat_map(|bit| near(1 << bit));
        for divisor in (3..1000).chain(powers()).filter(|n| *n > 2 && !n.is_power_of_two()) {
            let Magic { factor, shift } = Magic::of(divisor);
            let multiples = near(i64::MAX as u64 / divisor * divisor);
            for number in powers().chain(multiples).chain(near(divisor.wrapping_mul(7) >> 1)) {
                let number = number.min(i64::MAX as u64);
                let high = (u128::from(number) * u128::from(factor)) >> 64;
                assert_eq!(high as u64 >> shift, number / divisor, "{number} / {divisor}");
            }
        }
    }
}
