//! Exponentials, logarithms and angles of whole vectors.
//!
//! Arguments are reduced to a small interval, where a series is summed; what the reduction took off is
//! put back as a power of two or a quadrant. The coefficients are those of the series, cut where the
//! next term is less than a rounding. Results are within two units in the last place of the exact ones;
//! infinities, zeros and NaN are exact. Lanes never mix: an angle that is too large for the reduction is
//! left to the scalar function, in its own lane.

use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use inkwell::types::{BasicType, VectorType};
use inkwell::values::{BasicValueEnum, VectorValue};
use inkwell::{FloatPredicate, IntPredicate};

use crate::emit::{Emit, Refused, Result};

/// What `f64::consts::LN_2` leaves of the logarithm of two.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;

/// The largest angle that is reduced here.
const LARGEST_ANGLE: f64 = 30_000.0;

/// A type of floats in vectors.
#[derive(Clone, Copy)]
struct Floats<'c> {
    ty: VectorType<'c>,
    int: VectorType<'c>,
    width: u32,
    double: bool,
}

type Vector<'c> = VectorValue<'c>;

impl<'c> Emit<'c, '_> {
    /// A function of vectors that is computed here; nothing for others.
    pub(super) fn wide_math(
        &mut self,
        op: Op,
        x: Vector<'c>,
        elem: Elem,
        width: u32,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let double = match elem {
            Elem::F32 => false,
            Elem::F64 => true,
            _ => return Ok(None),
        };
        let int = if double { self.context.i64_type() } else { self.context.i32_type() };
        let of = Floats { ty: x.get_type(), int: int.vec_type(width), width, double };
        Ok(Some(match op {
            Op::Exp => self.exp_lanes(of, x)?.into(),
            Op::Log => self.log_lanes(of, x)?.into(),
            Op::Tanh if !double => self.tanh_lanes(of, x)?.into(),
            Op::Sin | Op::Cos if !double => self.angle_lanes(of, op, x)?,
            _ => return Ok(None),
        }))
    }

    fn number_lanes(&self, of: Floats<'c>, value: f64) -> Vector<'c> {
        let one = match of.double {
            true => self.context.f64_type().const_float(value),
            false => self.context.f32_type().const_float(value),
        };
        VectorType::const_vector(&vec![one; of.width as usize])
    }

    fn integer_lanes(&self, of: Floats<'c>, value: i64) -> Vector<'c> {
        let one = match of.double {
            true => self.context.i64_type().const_int(value as u64, true),
            false => self.context.i32_type().const_int(value as u64, true),
        };
        VectorType::const_vector(&vec![one; of.width as usize])
    }

    fn fma_lanes(&self, a: Vector<'c>, b: Vector<'c>, c: Vector<'c>) -> Result<Vector<'c>> {
        let ty = a.get_type().as_basic_type_enum();
        let value = self.intrinsic("llvm.fma", &[ty], &[a.into(), b.into(), c.into()])?;
        Ok(value.into_vector_value())
    }

    fn unary_lanes(&self, name: &str, x: Vector<'c>) -> Result<Vector<'c>> {
        let ty = x.get_type().as_basic_type_enum();
        Ok(self.intrinsic(name, &[ty], &[x.into()])?.into_vector_value())
    }

    fn either(&self, on: Vector<'c>, yes: Vector<'c>, no: Vector<'c>) -> Result<Vector<'c>> {
        Ok(self.builder.build_select(on, yes, no, "choice")?.into_vector_value())
    }

    /// The sum of a series: the last coefficient first.
    fn series(&self, of: Floats<'c>, x: Vector<'c>, coefficients: &[f64]) -> Result<Vector<'c>> {
        let mut sum: Option<Vector<'c>> = None;
        for coefficient in coefficients {
            let next = self.number_lanes(of, *coefficient);
            sum = Some(match sum {
                Some(sum) => self.fma_lanes(sum, x, next)?,
                None => next,
            });
        }
        sum.ok_or_else(|| Refused("a series without terms".to_owned()))
    }

    /// `x` between two numbers; NaN stays.
    fn clamped(&self, of: Floats<'c>, x: Vector<'c>, lo: f64, hi: f64) -> Result<Vector<'c>> {
        let (lo, hi) = (self.number_lanes(of, lo), self.number_lanes(of, hi));
        let below = self.builder.build_float_compare(FloatPredicate::OLT, x, lo, "test")?;
        let x = self.either(below, lo, x)?;
        let above = self.builder.build_float_compare(FloatPredicate::OGT, x, hi, "test")?;
        self.either(above, hi, x)
    }

    /// `2 ** n` for integers that have such a number.
    fn power_of_two(&self, of: Floats<'c>, n: Vector<'c>) -> Result<Vector<'c>> {
        let (bias, shift) = if of.double { (1023, 52) } else { (127, 23) };
        let biased = self.builder.build_int_add(n, self.integer_lanes(of, bias), "biased")?;
        let bits = self.builder.build_left_shift(biased, self.integer_lanes(of, shift), "bits")?;
        Ok(self.builder.build_bit_cast(bits, of.ty, "power")?.into_vector_value())
    }

    /// `x = n * ln 2 + r`, and `e ** r - 1`.
    fn reduced_exp(&self, of: Floats<'c>, x: Vector<'c>) -> Result<(Vector<'c>, Vector<'c>)> {
        let times = self.number_lanes(of, std::f64::consts::LOG2_E);
        let scaled = self.builder.build_float_mul(x, times, "scaled")?;
        let n = self.unary_lanes("llvm.rint", scaled)?;
        let (hi, lo) = match of.double {
            true => (std::f64::consts::LN_2, LN_2_REST),
            false => {
                let hi = f64::from(std::f32::consts::LN_2);
                (hi, std::f64::consts::LN_2 - hi)
            }
        };
        let r = self.fma_lanes(n, self.number_lanes(of, -hi), x)?;
        let r = self.fma_lanes(n, self.number_lanes(of, -lo), r)?;
        // e ** r - 1 = r + r * r * (1/2! + r/3! + …)
        let last = if of.double { 14 } else { 8 };
        let mut factorial = 1.0;
        let mut coefficients = Vec::new();
        for k in 2..=last {
            factorial *= f64::from(k);
            coefficients.push(1.0 / factorial);
        }
        coefficients.reverse();
        let q = self.series(of, r, &coefficients)?;
        let square = self.builder.build_float_mul(r, r, "square")?;
        let less = self.fma_lanes(square, q, r)?;
        Ok((n, less))
    }

    fn exp_lanes(&self, of: Floats<'c>, x: Vector<'c>) -> Result<Vector<'c>> {
        let (least, most) = if of.double { (-746.0, 710.0) } else { (-104.0, 89.0) };
        let within = self.clamped(of, x, least, most)?;
        let (n, less) = self.reduced_exp(of, within)?;
        let one = self.number_lanes(of, 1.0);
        let small = self.builder.build_float_add(less, one, "small")?;
        let n = self.builder.build_float_to_signed_int(n, of.int, "n")?;
        // In two steps, for powers that are no normal numbers.
        let half = self.builder.build_right_shift(n, self.integer_lanes(of, 1), true, "half")?;
        let rest = self.builder.build_int_sub(n, half, "rest")?;
        let (a, b) = (self.power_of_two(of, half)?, self.power_of_two(of, rest)?);
        let large = self.builder.build_float_mul(small, a, "large")?;
        let value = self.builder.build_float_mul(large, b, "value")?;
        let nan = self.builder.build_float_compare(FloatPredicate::UNO, x, x, "nan")?;
        self.either(nan, x, value)
    }

    /// `1 - 2 / (e ** 2x + 1)` of the size, with the sign; near zero the continued fraction.
    fn tanh_lanes(&self, of: Floats<'c>, x: Vector<'c>) -> Result<Vector<'c>> {
        let b = &self.builder;
        let size = self.unary_lanes("llvm.fabs", x)?;
        let within = self.clamped(of, size, 0.0, 10.0)?;
        let power = self.exp_lanes(of, b.build_float_add(within, within, "twice")?)?;
        let one = self.number_lanes(of, 1.0);
        let plus = b.build_float_add(power, one, "plus")?;
        let part = b.build_float_div(self.number_lanes(of, 2.0), plus, "part")?;
        let far = b.build_float_sub(one, part, "far")?;
        // x / (1 + z / (3 + z / (5 + …))) with z = x * x, as x less a small part of it.
        let z = b.build_float_mul(within, within, "z")?;
        let above = self.series(of, z, &[1.0, 189.0, 3465.0])?;
        let below = self.series(of, z, &[1.0, 210.0, 4725.0, 10395.0])?;
        let cube = b.build_float_mul(within, z, "cube")?;
        let part = b.build_float_div(above, below, "part")?;
        let less = b.build_float_mul(cube, part, "less")?;
        let near = b.build_float_sub(within, less, "near")?;
        let small = self.number_lanes(of, 0.625);
        let small = b.build_float_compare(FloatPredicate::OLT, within, small, "small")?;
        let value = self.either(small, near, far)?;
        let ty = of.ty.as_basic_type_enum();
        let signed = self.intrinsic("llvm.copysign", &[ty], &[value.into(), x.into()])?;
        let nan = b.build_float_compare(FloatPredicate::UNO, x, x, "nan")?;
        self.either(nan, x, signed.into_vector_value())
    }

    /// `ln x = k * ln 2 + ln m` with `m` around one, and `ln m` by the series of `atanh`.
    fn log_lanes(&self, of: Floats<'c>, x: Vector<'c>) -> Result<Vector<'c>> {
        let b = &self.builder;
        let (shift, normal, up, by) = match of.double {
            true => (52, f64::MIN_POSITIVE, 18_014_398_509_481_984.0, 54),
            false => (23, f64::from(f32::MIN_POSITIVE), 33_554_432.0, 25),
        };
        let tiny =
            b.build_float_compare(FloatPredicate::OLT, x, self.number_lanes(of, normal), "tiny")?;
        let scaled = b.build_float_mul(x, self.number_lanes(of, up), "scaled")?;
        let y = self.either(tiny, scaled, x)?;
        let bits = b.build_bit_cast(y, of.int, "bits")?.into_vector_value();
        let root = match of.double {
            true => std::f64::consts::FRAC_1_SQRT_2.to_bits() as i64,
            false => i64::from(std::f32::consts::FRAC_1_SQRT_2.to_bits()),
        };
        let above = b.build_int_sub(bits, self.integer_lanes(of, root), "above")?;
        let k = b.build_right_shift(above, self.integer_lanes(of, shift), true, "k")?;
        let part = b.build_left_shift(k, self.integer_lanes(of, shift), "part")?;
        let m = b.build_int_sub(bits, part, "m")?;
        let m = b.build_bit_cast(m, of.ty, "m")?.into_vector_value();
        let down = self.either(tiny, self.integer_lanes(of, by), self.integer_lanes(of, 0))?;
        let k = b.build_int_sub(k, down, "k")?;
        let k = b.build_signed_int_to_float(k, of.ty, "k")?;
        let f = b.build_float_sub(m, self.number_lanes(of, 1.0), "f")?;
        let sum = b.build_float_add(f, self.number_lanes(of, 2.0), "sum")?;
        let s = b.build_float_div(f, sum, "s")?;
        let z = b.build_float_mul(s, s, "z")?;
        // ln(1 + f) = f - s * (f - 2 z (1/3 + z/5 + …)), because 2 s = f - s f.
        let last: u32 = if of.double { 12 } else { 6 };
        let coefficients: Vec<f64> = (1..=last).rev().map(|n| 2.0 / f64::from(2 * n + 1)).collect();
        let p = self.series(of, z, &coefficients)?;
        let zp = b.build_float_mul(z, p, "zp")?;
        let inner = b.build_float_sub(f, zp, "inner")?;
        let (hi, lo) = split_ln_2(of.double);
        let low = b.build_float_mul(k, self.number_lanes(of, lo), "low")?;
        let less = b.build_float_mul(s, inner, "less")?;
        let less = b.build_float_sub(less, low, "less")?;
        let near = b.build_float_sub(f, less, "near")?;
        let value = self.fma_lanes(k, self.number_lanes(of, hi), near)?;
        self.log_edges(of, x, value)
    }

    /// The logarithm of what is no positive number.
    fn log_edges(&self, of: Floats<'c>, x: Vector<'c>, value: Vector<'c>) -> Result<Vector<'c>> {
        let b = &self.builder;
        let (zero, infinity) = (self.number_lanes(of, 0.0), self.number_lanes(of, f64::INFINITY));
        let none = b.build_float_compare(FloatPredicate::OEQ, x, zero, "zero")?;
        let value = self.either(none, self.number_lanes(of, f64::NEG_INFINITY), value)?;
        let all = b.build_float_compare(FloatPredicate::OEQ, x, infinity, "infinite")?;
        let value = self.either(all, infinity, value)?;
        let wrong = b.build_float_compare(FloatPredicate::ULT, x, zero, "negative")?;
        let nan = b.build_float_compare(FloatPredicate::UNO, x, x, "nan")?;
        let value = self.either(wrong, self.number_lanes(of, f64::NAN), value)?;
        self.either(nan, x, value)
    }

    /// A sine or cosine: the quadrant, and the series of what is left.
    fn angle_lanes(&mut self, of: Floats<'c>, op: Op, x: Vector<'c>) -> Result<BasicValueEnum<'c>> {
        let fast = self.small_angle(of, op, x)?;
        let size = self.unary_lanes("llvm.fabs", x)?;
        let limit = self.number_lanes(of, LARGEST_ANGLE);
        let large = self.builder.build_float_compare(FloatPredicate::UGT, size, limit, "large")?;
        let ty = large.get_type().as_basic_type_enum();
        let any = self.intrinsic("llvm.vector.reduce.or", &[ty], &[large.into()])?;
        let slot = self.slot(of.ty.as_basic_type_enum(), "angle")?;
        self.builder.build_store(slot, fast)?;
        let (rare, end) = (self.block("rare"), self.block("end"));
        self.branch(any.into_int_value(), rare, end)?;
        self.at(rare);
        let slow = self.by_lane(op, &[x], &[(x.into(), Elem::F32)], Elem::F32, of.width)?;
        let value = self.either(large, slow.into_vector_value(), fast)?;
        self.builder.build_store(slot, value)?;
        self.jump(end)?;
        self.at(end);
        Ok(self.builder.build_load(of.ty, slot, "angle")?)
    }

    fn small_angle(&self, of: Floats<'c>, op: Op, x: Vector<'c>) -> Result<Vector<'c>> {
        let b = &self.builder;
        let times = self.number_lanes(of, std::f64::consts::FRAC_2_PI);
        let n = self.unary_lanes("llvm.rint", b.build_float_mul(x, times, "scaled")?)?;
        let mut r = x;
        let mut left = std::f64::consts::FRAC_PI_2;
        for _ in 0..3 {
            let part = f64::from(left as f32);
            left -= part;
            r = self.fma_lanes(n, self.number_lanes(of, -part), r)?;
        }
        let z = b.build_float_mul(r, r, "z")?;
        let odd = [1.0 / 362_880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0];
        let odd = self.series(of, z, &odd)?;
        let cube = b.build_float_mul(z, r, "cube")?;
        let sine = self.fma_lanes(cube, odd, r)?;
        let even = [-1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0];
        let even = self.series(of, z, &even)?;
        let fourth = b.build_float_mul(z, z, "fourth")?;
        let half = self.fma_lanes(z, self.number_lanes(of, -0.5), self.number_lanes(of, 1.0))?;
        let cosine = self.fma_lanes(fourth, even, half)?;
        let quadrant = b.build_float_to_signed_int(n, of.int, "quadrant")?;
        let turned = i64::from(op == Op::Cos);
        let quadrant = b.build_int_add(quadrant, self.integer_lanes(of, turned), "quadrant")?;
        let bit = |at: i64| -> Result<Vector<'c>> {
            let set = b.build_and(quadrant, self.integer_lanes(of, at), "bit")?;
            let zero = self.integer_lanes(of, 0);
            Ok(b.build_int_compare(IntPredicate::NE, set, zero, "set")?)
        };
        let value = self.either(bit(1)?, cosine, sine)?;
        let negative = b.build_float_neg(value, "negative")?;
        let value = self.either(bit(2)?, negative, value)?;
        if op == Op::Cos {
            return Ok(value);
        }
        let zero = self.number_lanes(of, 0.0);
        let zero = b.build_float_compare(FloatPredicate::OEQ, x, zero, "zero")?;
        self.either(zero, x, value)
    }
}

/// The logarithm of two as a short number, of which small multiples are exact, and the rest.
fn split_ln_2(double: bool) -> (f64, f64) {
    let whole = std::f64::consts::LN_2;
    let cut = if double { 21 } else { 43 };
    let hi = f64::from_bits(whole.to_bits() >> cut << cut);
    (hi, whole - hi + LN_2_REST)
}
