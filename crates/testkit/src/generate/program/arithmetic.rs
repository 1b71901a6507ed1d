//! Arithmetic in 64-bit numbers.
//!
//! Invariant: a value that comes back is exact. Whatever could depend on the order of evaluation
//! or on the width of a type is [`Rejected`], and the generator tries something else.

use super::expr::{Operator, Reduction};
use super::facts::Value;

/// Integers stay below this, so that no product of two intermediate sums leaves `i32`.
const MOST_INT: i64 = 40_000;
/// Floats stay below this and are multiples of `1 / PARTS`: 22 bits, which `f32` holds.
const MOST_FLOAT: f64 = 4096.0;
const PARTS: f64 = 1024.0;

/// The program would compute something that is not known exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rejected;

/// The value, when it is one that every backend computes exactly.
pub(super) fn exact(value: Value) -> Result<Value, Rejected> {
    let fits = match value {
        Value::Int(value) => value.abs() <= MOST_INT,
        Value::Float(value) => value.abs() <= MOST_FLOAT && (value * PARTS).fract() == 0.0,
        Value::Bool(_) => true,
    };
    // A zero with a sign compares equal but prints otherwise.
    let signed_zero = matches!(value, Value::Float(zero) if zero == 0.0 && zero.is_sign_negative());
    if fits && !signed_zero { Ok(value) } else { Err(Rejected) }
}

/// An operator applied to two values.
pub(super) fn apply(operator: Operator, left: Value, right: Value) -> Result<Value, Rejected> {
    use Operator::*;
    use Value::{Bool, Float, Int};
    Ok(match (operator, left, right) {
        (Or, Bool(a), Bool(b)) => Bool(a || b),
        (And, Bool(a), Bool(b)) => Bool(a && b),
        (Equal, a, b) => Bool(a == b),
        (NotEqual, a, b) => Bool(a != b),
        (Less, Int(a), Int(b)) => Bool(a < b),
        (Less, Float(a), Float(b)) => Bool(a < b),
        (LessEqual, Int(a), Int(b)) => Bool(a <= b),
        (LessEqual, Float(a), Float(b)) => Bool(a <= b),
        (Add, Int(a), Int(b)) => Int(a + b),
        (Add, Float(a), Float(b)) => Float(a + b),
        (Subtract, Int(a), Int(b)) => Int(a - b),
        (Subtract, Float(a), Float(b)) => Float(a - b),
        (Multiply, Int(a), Int(b)) => Int(a * b),
        (Multiply, Float(a), Float(b)) => Float(a * b),
        (Divide, Int(a), Int(b)) => Int(a.checked_div(b).ok_or(Rejected)?),
        (Remainder, Int(a), Int(b)) => Int(a.checked_rem(b).ok_or(Rejected)?),
        (Power, Int(a), Int(b @ 0..=4)) => Int(a.checked_pow(b as u32).ok_or(Rejected)?),
        (Power, Float(a), Int(b @ 0..=4)) => Float(a.powi(b as i32)),
        _ => return Err(Rejected),
    })
}

/// `min`, `max` and `abs`.
pub(super) fn builtin(name: &str, arguments: &[Value]) -> Result<Value, Rejected> {
    use Value::{Float, Int};
    Ok(match (name, arguments) {
        ("min", [Int(a), Int(b)]) => Int(*a.min(b)),
        ("max", [Int(a), Int(b)]) => Int(*a.max(b)),
        ("min", [Float(a), Float(b)]) => Float(if b < a { *b } else { *a }),
        ("max", [Float(a), Float(b)]) => Float(if b > a { *b } else { *a }),
        ("abs", [Int(a)]) => Int(a.abs()),
        ("abs", [Float(a)]) => Float(a.abs()),
        _ => return Err(Rejected),
    })
}

/// The terms of a reduction taken together. Sums and products are bounded by the sum of
/// magnitudes and the product of those above one, so that every partial result is exact too.
pub(super) fn combine(by: Reduction, terms: &[(i64, Value)]) -> Result<Value, Rejected> {
    let values = || terms.iter().map(|(_, value)| *value);
    let ints =
        || values().map(|value| if let Value::Int(n) = value { Ok(n) } else { Err(Rejected) });
    let bools = || values().map(|value| value == Value::Bool(true));
    match by {
        Reduction::Sum => sum(values()),
        Reduction::Prod => {
            let all: Vec<i64> = ints().collect::<Result<_, _>>()?;
            let bound = all.iter().try_fold(1_i64, |bound, n| bound.checked_mul(n.abs().max(1)));
            exact(Value::Int(bound.ok_or(Rejected)?))?;
            Ok(Value::Int(all.iter().product()))
        }
        Reduction::All => Ok(Value::Bool(bools().all(|value| value))),
        Reduction::Any => Ok(Value::Bool(bools().any(|value| value))),
        Reduction::Max => first_extremal(terms, true).map(|(_, value)| value),
        Reduction::Min => first_extremal(terms, false).map(|(_, value)| value),
        Reduction::ArgMax => first_extremal(terms, true).map(|(at, _)| Value::Int(at)),
        Reduction::ArgMin => first_extremal(terms, false).map(|(at, _)| Value::Int(at)),
    }
}

fn sum(terms: impl Iterator<Item = Value>) -> Result<Value, Rejected> {
    let (mut total, mut bound) = (None, None);
    for term in terms {
        let magnitude = match term {
            Value::Int(term) => Value::Int(term.abs()),
            Value::Float(term) => Value::Float(term.abs()),
            Value::Bool(_) => return Err(Rejected),
        };
        let add = |sum: Option<Value>, term| match sum {
            Some(sum) => apply(Operator::Add, sum, term),
            None => Ok(term),
        };
        (total, bound) = (Some(add(total, term)?), Some(exact(add(bound, magnitude)?)?));
    }
    total.ok_or(Rejected)
}

fn first_extremal(terms: &[(i64, Value)], largest: bool) -> Result<(i64, Value), Rejected> {
    let mut best = *terms.first().ok_or(Rejected)?;
    for term in terms {
        let (low, high) = if largest { (best.1, term.1) } else { (term.1, best.1) };
        if apply(Operator::Less, low, high)? == Value::Bool(true) {
            best = *term;
        }
    }
    Ok(best)
}
