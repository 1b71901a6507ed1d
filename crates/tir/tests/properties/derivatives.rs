//! The derivatives of the op table against central differences, for every operation that the
//! standard library of Rust can evaluate.

use einlang_tir::op::{Derivative, Op, Partial};

fn eval(op: Op, a: &[f64]) -> Option<f64> {
    let bool = |holds: bool| Some(f64::from(u8::from(holds)));
    match (op, a) {
        (Op::Add, [x, y]) => Some(x + y),
        (Op::Sub, [x, y]) => Some(x - y),
        (Op::Mul, [x, y]) => Some(x * y),
        (Op::Div, [x, y]) => Some(x / y),
        (Op::Rem, [x, y]) => Some(x % y),
        (Op::Neg, [x]) => Some(-x),
        (Op::Abs, [x]) => Some(x.abs()),
        (Op::Sign, [x]) => Some(if *x == 0.0 { 0.0 } else { x.signum() }),
        (Op::Min, [x, y]) => Some(if y < x { *y } else { *x }),
        (Op::Max, [x, y]) => Some(if y > x { *y } else { *x }),
        (Op::Fma, [x, y, z]) => Some(x.mul_add(*y, *z)),
        (Op::Pow, [x, y]) => Some(x.powf(*y)),
        (Op::Eq, [x, y]) => bool(x == y),
        (Op::Lt, [x, y]) => bool(x < y),
        (Op::Gt, [x, y]) => bool(x > y),
        (Op::Select, [c, x, y]) => Some(if *c != 0.0 { *x } else { *y }),
        (Op::Trunc, [x]) => Some(x.trunc()),
        (Op::Cast, [x]) => Some(*x),
        (Op::Hypot, [x, y]) => Some(x.hypot(*y)),
        (Op::Atan2, [x, y]) => Some(x.atan2(*y)),
        (op, [x]) => unary(op).map(|f| f(*x)),
        _ => None,
    }
}

fn unary(op: Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::Sqrt => f64::sqrt,
        Op::Cbrt => f64::cbrt,
        Op::Exp => f64::exp,
        Op::Exp2 => f64::exp2,
        Op::Expm1 => f64::exp_m1,
        Op::Log => f64::ln,
        Op::Log2 => f64::log2,
        Op::Log10 => f64::log10,
        Op::Log1p => f64::ln_1p,
        Op::Sin => f64::sin,
        Op::Cos => f64::cos,
        Op::Tan => f64::tan,
        Op::Asin => f64::asin,
        Op::Acos => f64::acos,
        Op::Atan => f64::atan,
        Op::Sinh => f64::sinh,
        Op::Cosh => f64::cosh,
        Op::Tanh => f64::tanh,
        Op::Asinh => f64::asinh,
        Op::Acosh => f64::acosh,
        Op::Atanh => f64::atanh,
        _ => return None,
    })
}

fn partial(of: &Partial, args: &[f64], result: f64) -> Option<f64> {
    match of {
        Partial::Arg(at) => args.get(*at).copied(),
        Partial::Result => Some(result),
        Partial::Number(number) => Some(*number),
        Partial::Apply(op, inner) => {
            let inner: Option<Vec<f64>> =
                inner.iter().map(|inner| partial(inner, args, result)).collect();
            eval(*op, &inner?)
        }
    }
}

#[test]
fn partials_agree_with_differences() {
    let mut n_checked = 0;
    for op in Op::ALL.iter().filter(|op| **op != Op::Select) {
        let Derivative::Partials(texts) = op.info().derivative else { continue };
        // Inside the domain of every function: acosh wants more than 1, asin less.
        let args: &[f64] = if *op == Op::Acosh { &[1.7] } else { &[0.37, 0.61, 0.23] };
        let args = &args[..op.arity()];
        let Some(result) = eval(*op, args) else { continue };
        for (at, text) in texts.iter().enumerate() {
            let stated = partial(&Partial::parse(text).unwrap(), args, result);
            let Some(stated) = stated else { continue };
            let shifted = |step: f64| {
                let mut args = args.to_vec();
                args[at] += step;
                eval(*op, &args).unwrap()
            };
            let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            let close = (stated - difference).abs() <= 1e-6 * (1.0 + difference.abs());
            assert!(close, "{} by operand {at}: {stated} and {difference}", op.name());
            n_checked += 1;
        }
    }
    assert!(n_checked >= 40, "only {n_checked} partials were checked");
}
