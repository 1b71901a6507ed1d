//! Formulas are evaluated here, number by number, and compared with values that are known better.

use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::code::{Compare, Float, Int, Node, Truth};
use super::{Formula, formula};

/// What a node is worth: floats as bits of their type, truth values as 0 or 1.
trait Number: Copy + PartialOrd {
    fn of(number: f64) -> Self;
    fn to(self) -> f64;
    fn bits(self) -> i64;
    fn of_bits(bits: i64) -> Self;
    /// An integer that wraps at the width of the type.
    fn wrap(number: i64) -> i64;
    fn float(op: Float, x: Self, y: Self) -> Self;
    fn fma(x: Self, y: Self, z: Self) -> Self;
    fn trunc(x: Self) -> Self;
    fn scale(x: Self, n: Self) -> Self;
    fn of_int(number: i64) -> Self;
}

macro_rules! number {
    ($ty:ident $int:ident $uint:ident) => {
        impl Number for $ty {
            fn of(number: f64) -> $ty {
                number as $ty
            }
            fn to(self) -> f64 {
                f64::from(self)
            }
            fn bits(self) -> i64 {
                i64::from(self.to_bits() as $int)
            }
            fn of_bits(bits: i64) -> $ty {
                $ty::from_bits(bits as $uint)
            }
            fn wrap(number: i64) -> i64 {
                i64::from(number as $int)
            }
            fn float(op: Float, x: $ty, y: $ty) -> $ty {
                match op {
                    Float::Add => x + y,
                    Float::Sub => x - y,
                    Float::Mul => x * y,
                    Float::Div => x / y,
                    Float::CopySign => x.copysign(y),
                }
            }
            fn fma(x: $ty, y: $ty, z: $ty) -> $ty {
                x.mul_add(y, z)
            }
            fn trunc(x: $ty) -> $ty {
                x.trunc()
            }
            fn scale(x: $ty, n: $ty) -> $ty {
                let half = (n / 2.0).trunc();
                x * half.exp2() * (n - half).exp2()
            }
            fn of_int(number: i64) -> $ty {
                number as $ty
            }
        }
    };
}

number!(f32 i32 u32);
number!(f64 i64 u64);

/// The value of a formula, or nothing where it does not hold.
fn value<T: Number>(of: &Formula, args: &[T]) -> Option<T> {
    let mut values: Vec<i64> = Vec::with_capacity(of.nodes.len());
    for node in &of.nodes {
        let float = |at: usize| T::of_bits(values[at]);
        values.push(match *node {
            Node::Argument(at) => args[at].bits(),
            Node::Number(bits) => T::of(f64::from_bits(bits)).bits(),
            Node::Integer(number) => T::wrap(number),
            Node::Float(op, x, y) => T::float(op, float(x), float(y)).bits(),
            Node::Negative(x) => T::of(-float(x).to()).bits(),
            Node::Magnitude(x) => T::of(float(x).to().abs()).bits(),
            Node::Trunc(x) => T::trunc(float(x)).bits(),
            Node::Fma(x, y, z) => T::fma(float(x), float(y), float(z)).bits(),
            Node::Int(op, x, y) => {
                let (x, y) = (values[x], values[y]);
                T::wrap(match op {
                    Int::Add => x.wrapping_add(y),
                    Int::Sub => x.wrapping_sub(y),
                    Int::And => x & y,
                    Int::Xor => x ^ y,
                    Int::ShiftLeft => x.wrapping_shl(y as u32),
                    Int::ShiftRight => x.wrapping_shr(y as u32),
                })
            }
            Node::Truth(Truth::And, x, y) => values[x] & values[y],
            Node::Truth(Truth::Or, x, y) => values[x] | values[y],
            Node::Compare(how, x, y) => i64::from(match how {
                Compare::Less => float(x) < float(y),
                Compare::LessEqual => float(x) <= float(y),
                Compare::Equal => float(x) == float(y),
            }),
            Node::Same(x, y) => i64::from(values[x] == values[y]),
            Node::Choose(on, yes, no) => values[if values[on] != 0 { yes } else { no }],
            Node::Bits(x) | Node::OfBits(x) => values[x],
            Node::ToFloat(x) => T::of_int(values[x]).bits(),
            Node::Scale(x, n) => T::scale(float(x), float(n)).bits(),
        });
    }
    let holds = of.holds.is_none_or(|holds| values[holds] != 0);
    holds.then(|| T::of_bits(values[of.result]))
}

/// The distance of a number from the value it should have, in units of its last place.
fn ulps32(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got == nearest || got.is_nan() && nearest.is_nan() {
        return 0.0;
    }
    let size = (nearest.abs().min(f32::MAX).to_bits().max(1 << 23)) >> 23;
    let unit = (f64::from(size) - 150.0).exp2();
    if !got.is_finite() && exact.abs() < f64::from(f32::MAX) + unit {
        return f64::INFINITY;
    }
    (f64::from(got) - exact).abs() / unit
}

/// A function that is known better.
type Reference = fn(f64) -> f64;

/// The worst error over floats of all sizes, and where it is.
fn worst(op: Op, scales: bool, reference: Reference, skip: u32) -> (f64, f32) {
    let of = formula(op, Elem::F32, scales).expect("it has a formula");
    let mut worst = (0.0, 0.0);
    for bits in (0..=u32::MAX).step_by(skip as usize) {
        let x = f32::from_bits(bits);
        let Some(got) = value::<f32>(&of, &[x]) else { continue };
        let error = ulps32(got, reference(f64::from(x)));
        if error > worst.0 || error.is_nan() {
            worst = (error, x);
        }
    }
    worst
}

#[test]
fn singles_are_right_to_two_units_in_the_last_place() {
    let functions: [(Op, Reference); 12] = [
        (Op::Exp, f64::exp),
        (Op::Exp2, f64::exp2),
        (Op::Expm1, f64::exp_m1),
        (Op::Tanh, f64::tanh),
        (Op::Log, f64::ln),
        (Op::Log2, f64::log2),
        (Op::Log10, f64::log10),
        (Op::Log1p, f64::ln_1p),
        (Op::Sin, f64::sin),
        (Op::Cos, f64::cos),
        (Op::Erf, libm::erf),
        (Op::Erfc, libm::erfc),
    ];
    // The step is prime, so that all last bits occur.
    let skip =
        std::env::var("EINLANG_MATH_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(65_537);
    for (op, reference) in functions {
        for scales in [false, true] {
            let (error, at) = worst(op, scales, reference, skip);
            println!("{op:?} {error:.3} at {at:e}");
            assert!(error <= 2.0, "{op:?} is {error} units off at {at:e}");
        }
    }
}

#[test]
fn doubles_are_right_to_two_units_in_the_last_place() {
    let mut errors: Vec<(Op, f64, f64)> = Vec::new();
    for line in include_str!("values.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let op = Op::parse(words[0]).expect("an operation");
        let number = |word| f64::from_bits(u64::from_str_radix(word, 16).expect("bits"));
        let (x, exact) = (number(words[1]), number(words[2]));
        let [of, at_once] =
            [false, true].map(|scales| formula(op, Elem::F64, scales).expect("it has a formula"));
        let got = value::<f64>(&of, &[x]).expect("it holds");
        let same = value::<f64>(&at_once, &[x]).expect("it holds");
        assert_eq!(got.to_bits(), same.to_bits(), "{op:?} of {x:e}");
        let units = (got.to_bits() as i64 - exact.to_bits() as i64).unsigned_abs() as f64;
        match errors.iter_mut().find(|(of, ..)| *of == op) {
            Some((_, worst, _)) if *worst >= units => {}
            Some(found) => *found = (op, units, x),
            None => errors.push((op, units, x)),
        }
    }
    println!("{errors:?}");
    assert_eq!(errors.len(), 10);
    for (op, error, at) in errors {
        assert!(error <= 2.0, "{op:?} is {error} units off at {at:e}");
    }
}

#[test]
fn special_values_are_exact() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cases: &[(Op, f64, f64)] = &[
        (Op::Exp, 0.0, 1.0),
        (Op::Exp, -0.0, 1.0),
        (Op::Exp, inf, inf),
        (Op::Exp, -inf, 0.0),
        (Op::Exp, nan, nan),
        (Op::Exp2, 10.0, 1024.0),
        (Op::Exp2, -3.0, 0.125),
        (Op::Exp2, inf, inf),
        (Op::Exp2, -inf, 0.0),
        (Op::Exp2, nan, nan),
        (Op::Expm1, -0.0, -0.0),
        (Op::Expm1, inf, inf),
        (Op::Expm1, -inf, -1.0),
        (Op::Expm1, nan, nan),
        (Op::Tanh, -0.0, -0.0),
        (Op::Tanh, inf, 1.0),
        (Op::Tanh, -inf, -1.0),
        (Op::Tanh, nan, nan),
        (Op::Log, 1.0, 0.0),
        (Op::Log, 0.0, -inf),
        (Op::Log, -0.0, -inf),
        (Op::Log, -1.0, nan),
        (Op::Log, inf, inf),
        (Op::Log, nan, nan),
        (Op::Log2, 1.0, 0.0),
        (Op::Log2, 1024.0, 10.0),
        (Op::Log2, 0.125, -3.0),
        (Op::Log2, 0.0, -inf),
        (Op::Log10, 1.0, 0.0),
        (Op::Log10, 10.0, 1.0),
        (Op::Log10, 100.0, 2.0),
        (Op::Log10, 1000.0, 3.0),
        (Op::Log10, 1e6, 6.0),
        (Op::Log10, -1.0, nan),
        (Op::Log1p, 0.0, 0.0),
        (Op::Log1p, -0.0, -0.0),
        (Op::Log1p, -1.0, -inf),
        (Op::Log1p, -2.0, nan),
        (Op::Log1p, inf, inf),
        (Op::Log1p, nan, nan),
        (Op::Sin, 0.0, 0.0),
        (Op::Sin, -0.0, -0.0),
        (Op::Cos, 0.0, 1.0),
        (Op::Cos, -0.0, 1.0),
        (Op::Erf, 0.0, 0.0),
        (Op::Erf, -0.0, -0.0),
        (Op::Erf, inf, 1.0),
        (Op::Erf, -inf, -1.0),
        (Op::Erf, nan, nan),
        (Op::Erfc, 0.0, 1.0),
        (Op::Erfc, inf, 0.0),
        (Op::Erfc, -inf, 2.0),
        (Op::Erfc, nan, nan),
    ];
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for (op, x, expected) in cases {
        for scales in [false, true] {
            let of = formula(*op, Elem::F32, scales).expect("it has a formula");
            let got = value::<f32>(&of, &[*x as f32]).expect("it holds");
            assert!(same(f64::from(got), *expected), "{op:?} of {x} is {got}");
            if let Some(of) = formula(*op, Elem::F64, scales) {
                let got = value::<f64>(&of, &[*x]).expect("it holds");
                assert!(same(got, *expected), "{op:?} of {x} is {got}");
            }
        }
    }
}

#[test]
fn powers_of_singles_are_right() {
    let of = formula(Op::Pow, Elem::F32, true).expect("it has a formula");
    let specials = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e-40, 3e38, f32::MIN];
    let more = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 2.5, -7.25, 101.0, 16_777_216.0];
    let all: Vec<f32> = specials.into_iter().chain(more).collect();
    for x in &all {
        for y in &all {
            let got = value::<f64>(&of, &[f64::from(*x), f64::from(*y)]).expect("it holds") as f32;
            let expected = x.powf(*y);
            let units = i64::from(got.to_bits()) - i64::from(expected.to_bits());
            let fine = units.abs() <= 1 || got.is_nan() && expected.is_nan();
            assert!(fine, "{x} ** {y} is {got}, not {expected}");
        }
    }
}
