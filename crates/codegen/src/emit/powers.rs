//! Powers whose exponent is a small constant.

use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use inkwell::values::BasicValueEnum;

use super::{Emit, Result};

/// The most factors of a power that is written out.
pub(super) const MOST_FACTORS: u64 = 64;

/// The code of what cannot trap.
const NOWHERE: i64 = u32::MAX as i64 + 1;

impl<'c> Emit<'c, '_> {
    /// A small power, by multiplication: in doubles beyond the third, so that powers of an `f32` are rounded
    /// twice at most.
    pub(super) fn power(
        &mut self,
        (x, elem): (BasicValueEnum<'c>, Elem),
        power: i64,
    ) -> Result<BasicValueEnum<'c>> {
        let nowhere = i64::from(u32::MAX) + 1;
        if let 2 | 3 = power {
            let square = self.apply(Op::Mul, &[(x, elem), (x, elem)], elem, nowhere)?;
            if power == 2 {
                return Ok(square);
            }
            return self.apply(Op::Mul, &[(square, elem), (x, elem)], elem, nowhere);
        }
        let wide = self.apply(Op::Cast, &[(x, elem)], Elem::F64, nowhere)?;
        let one = self.constant(Const::float(Elem::F64, 1.0))?;
        let mut product = if power == 0 { one } else { wide };
        for _ in 1..power.unsigned_abs() {
            let factors = [(product, Elem::F64), (wide, Elem::F64)];
            product = self.apply(Op::Mul, &factors, Elem::F64, nowhere)?;
        }
        if power < 0 {
            let parts = [(one, Elem::F64), (product, Elem::F64)];
            product = self.apply(Op::Div, &parts, Elem::F64, nowhere)?;
        }
        self.apply(Op::Cast, &[(product, Elem::F64)], elem, nowhere)
    }

    /// A power of two, or a small one with half an exponent left, by a root: three roundings at most.
    /// A zero of either sign counts as positive, and so does an infinity, as for every power that is no
    /// odd number.
    pub(super) fn half_power(
        &mut self,
        (x, elem): (BasicValueEnum<'c>, Elem),
        power: f64,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let floats = matches!(elem, Elem::F32 | Elem::F64) && !self.tables.checked;
        if !floats || ![2.0, 0.5, 1.5, 2.5, -0.5, -1.5].contains(&power) {
            return Ok(None);
        }
        if power == 2.0 {
            return self.apply(Op::Mul, &[(x, elem), (x, elem)], elem, NOWHERE).map(Some);
        }
        let number = |value: f64| Const::float(elem, value);
        let (zero, one) = (self.constant(number(0.0))?, self.constant(number(1.0))?);
        let infinity = self.constant(number(f64::INFINITY))?;
        let below = self.constant(number(f64::NEG_INFINITY))?;
        let of = |emit: &mut Self, op, args: &[BasicValueEnum<'c>], result| {
            let args: Vec<_> = args.iter().map(|arg| (*arg, elem)).collect();
            emit.apply(op, &args, result, NOWHERE)
        };
        let size = of(self, Op::Abs, &[x], elem)?;
        let root = of(self, Op::Sqrt, &[x], elem)?;
        let mut value = of(self, Op::Add, &[root, zero], elem)?;
        if power < 0.0 {
            value = of(self, Op::Div, &[one, value], elem)?;
        }
        for _ in 0..(power.abs() - 0.5) as u32 {
            let op = if power < 0.0 { Op::Div } else { Op::Mul };
            value = of(self, op, &[value, size], elem)?;
        }
        let least = of(self, Op::Eq, &[x, below], Elem::Bool)?;
        let then = if power < 0.0 { zero } else { infinity };
        let choice = [(least, Elem::Bool), (then, elem), (value, elem)];
        self.apply(Op::Select, &choice, elem, NOWHERE).map(Some)
    }
}
