//! Index expressions, bounds, and conditions on indices.
//!
//! Sizes and indices are at most 2^40, so sums and products of a few of them never wrap, and LLVM is
//! told so.

use einlang_index::{Affine, DivOp, Domain, MinMax, Quasi, Set, Var};
use einlang_loops::ir::Subscript;
use einlang_tir::types::ElemKind;
use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::{Emit, Refused, Result};

/// Whether a value is known to be a number.
fn is_number(value: IntValue<'_>, number: i64) -> bool {
    value.get_sign_extended_constant() == Some(number)
}

impl<'c> Emit<'c, '_> {
    pub(super) fn var(&self, var: Var) -> Result<IntValue<'c>> {
        if let Some(number) = self.known.get(&var) {
            return Ok(self.i64(*number));
        }
        let Some(slot) = self.vars.get(&var) else {
            let name = self.kernel.vars.name(var).unwrap_or("?");
            return Err(Refused(format!("`{name}` has no value")));
        };
        Ok(self.builder.build_load(self.i64_type(), *slot, "index")?.into_int_value())
    }

    /// A sum; zeros need no instruction, which somebody would have to take away again.
    pub(super) fn add(&self, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        if is_number(a, 0) {
            return Ok(b);
        }
        if is_number(b, 0) {
            return Ok(a);
        }
        Ok(self.builder.build_int_nsw_add(a, b, "sum")?)
    }

    /// A product; ones need no instruction.
    pub(super) fn mul(&self, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>> {
        if is_number(a, 1) {
            return Ok(b);
        }
        if is_number(b, 1) {
            return Ok(a);
        }
        Ok(self.builder.build_int_nsw_mul(a, b, "product")?)
    }

    pub(super) fn compare(
        &self,
        how: IntPredicate,
        a: IntValue<'c>,
        b: IntValue<'c>,
    ) -> Result<IntValue<'c>> {
        Ok(self.builder.build_int_compare(how, a, b, "test")?)
    }

    fn affine(&self, affine: &Affine) -> Result<IntValue<'c>> {
        let mut sum: Option<IntValue<'c>> = None;
        for (var, coefficient) in affine.terms() {
            let var = self.var(*var)?;
            let term = match coefficient {
                1 => var,
                _ => self.mul(var, self.i64(*coefficient))?,
            };
            sum = Some(match sum {
                Some(sum) => self.add(sum, term)?,
                None => term,
            });
        }
        let constant = self.i64(affine.constant_part());
        match sum {
            None => Ok(constant),
            Some(sum) if affine.constant_part() == 0 => Ok(sum),
            Some(sum) => self.add(sum, constant),
        }
    }

    /// The value of an index expression.
    pub(super) fn quasi(&self, expr: &Quasi) -> Result<IntValue<'c>> {
        let mut sum = self.affine(expr.affine())?;
        for (division, coefficient) in expr.divisions() {
            let number = self.quasi(&division.number)?;
            let part = self.divide(division.op, number, division.divisor)?;
            sum = self.add(sum, self.mul(part, self.i64(*coefficient))?)?;
        }
        Ok(sum)
    }

    /// The value of a bound.
    pub(super) fn bound(&self, bound: &MinMax) -> Result<IntValue<'c>> {
        let (list, how) = match bound {
            MinMax::Value(expr) => return self.quasi(expr),
            MinMax::Min(list) => (list, IntPredicate::SLT),
            MinMax::Max(list) => (list, IntPredicate::SGT),
        };
        let mut best: Option<IntValue<'c>> = None;
        for item in list {
            let value = self.bound(item)?;
            best = Some(match best {
                None => value,
                Some(best) => {
                    let better = self.compare(how, value, best)?;
                    self.builder.build_select(better, value, best, "bound")?.into_int_value()
                }
            });
        }
        best.ok_or_else(|| Refused("a bound of nothing".to_owned()))
    }

    /// Whether the variables lie in a domain.
    pub(super) fn within(&self, domain: &Domain) -> Result<IntValue<'c>> {
        let truth = self.context.bool_type();
        let mut any = truth.const_zero();
        for set in domain.sets() {
            let inside = self.inside(set)?;
            any = self.builder.build_or(any, inside, "within")?;
        }
        Ok(any)
    }

    fn inside(&self, set: &Set) -> Result<IntValue<'c>> {
        let mut all = self.context.bool_type().const_all_ones();
        let zero = self.i64(0);
        let mut and = |emit: &Self, test: IntValue<'c>| -> Result<()> {
            all = emit.builder.build_and(all, test, "inside")?;
            Ok(())
        };
        for a in set.ges() {
            and(self, self.compare(IntPredicate::SGE, self.affine(a)?, zero)?)?;
        }
        for a in set.eqs() {
            and(self, self.compare(IntPredicate::EQ, self.affine(a)?, zero)?)?;
        }
        for congruence in set.mods() {
            let number = self.affine(congruence.expr())?;
            let rest = self.divide(DivOp::FloorMod, number, congruence.modulus())?;
            let most = self.i64(congruence.at_most());
            and(self, self.compare(IntPredicate::SLE, rest, most)?)?;
        }
        Ok(all)
    }

    /// A subscript as an index; an integer that is no index becomes -1.
    pub(super) fn subscript(&self, at: &Subscript) -> Result<IntValue<'c>> {
        match at {
            Subscript::Index(expr) => self.quasi(expr),
            Subscript::Value(operand) => {
                let signed = operand.elem().kind() == ElemKind::Signed;
                let value = self.operand(operand)?.into_int_value();
                let wide = self.widen(value, signed)?;
                if value.get_type().get_bit_width() < 41 {
                    return Ok(wide);
                }
                let most = self.i64(1 << 40);
                let fits = self.compare(IntPredicate::ULE, wide, most)?;
                Ok(self.builder.build_select(fits, wide, self.i64(-1), "index")?.into_int_value())
            }
        }
    }
}
