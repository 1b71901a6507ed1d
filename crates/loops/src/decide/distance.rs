//! How many rounds of a loop lie between a write and a read.

use einlang_index::{Affine, Domain, Facts, Quasi, Result};
use einlang_tir::module::Group;
use einlang_tir::order::{Dependence, Form};

/// The largest number of rounds that is looked for.
pub(super) const FARTHEST: i64 = 4096;

/// The value of a form at a point given by expressions.
pub(super) fn form_at(form: &Form, at: &[Quasi]) -> Result<Quasi> {
    let mut sum = Quasi::from(form.offset);
    for (coefficient, expr) in form.coefficients.iter().zip(at) {
        sum = sum.combine(1, expr, *coefficient)?;
    }
    Ok(sum)
}

/// How many rounds later the reader is than what it reads.
pub(super) fn distance(
    group: &Group,
    dependence: &Dependence,
    reader: &Form,
    writer: &Form,
) -> Result<Quasi> {
    let axes = group.bindings[dependence.reader.binding].dims();
    let own: Vec<Quasi> = axes.into_iter().map(|var| Quasi::from(Affine::var(var))).collect();
    form_at(reader, &own)?.sub(&form_at(writer, &dependence.at)?)
}

/// Whether an expression is never negative.
pub(super) fn never_negative(facts: &Facts, over: &Domain, expr: &Quasi) -> bool {
    facts.prove(over, expr).is_true()
}

/// The smallest number, within limits, that the expression never exceeds.
pub(super) fn most(facts: &Facts, over: &Domain, expr: &Quasi) -> Option<i64> {
    let at_most = |bound: i64| {
        let slack = Quasi::from(bound).sub(expr);
        slack.is_ok_and(|slack| never_negative(facts, over, &slack))
    };
    // What does not depend on the point needs one proof, that there are points.
    if let Some(number) = expr.as_constant().filter(|number| number.abs() < FARTHEST)
        && !at_most(number - 1)
    {
        return Some(number);
    }
    // Nearly all answers are small: first the scale, then the number.
    let mut high = 1;
    while !at_most(high) {
        if high >= FARTHEST || (high == 1 && !at_most(FARTHEST)) {
            return None;
        }
        high *= 2;
    }
    let mut low = if high > 1 { high / 2 } else { -1 };
    if low == -1 && at_most(low) {
        low = -FARTHEST;
        if at_most(low) {
            return Some(low);
        }
        high = -1;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at_most(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The largest number, within limits, that the expression is never below.
pub(super) fn least(facts: &Facts, over: &Domain, expr: &Quasi) -> Option<i64> {
    let negated = Quasi::from(0).sub(expr).ok()?;
    most(facts, over, &negated).map(|most| -most)
}
