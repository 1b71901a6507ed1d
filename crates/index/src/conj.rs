//! Normal form of a conjunction of equalities and inequalities.
//!
//! Each constraint is brought to lowest terms; of inequalities with the same linear part only the
//! tightest stays; two opposite inequalities that meet become an equality; two that cross are a
//! contradiction. This finds every contradiction between two constraints, and it keeps
//! Fourier–Motzkin elimination from repeating itself. What is normal stays so when one inequality is added at
//! its place, which is much cheaper than to begin anew.

use std::cmp::Ordering;

use crate::affine::Affine;
use crate::constraint::{Reduced, reduce_eq, reduce_ge};
use crate::error::Result;
use crate::var::Var;

/// Normalises in place; `false` when the constraints contradict each other.
pub(crate) fn normalise(eqs: &mut Vec<Affine>, ges: &mut Vec<Affine>) -> Result<bool> {
    if !reduce_each(ges, reduce_ge)? {
        return Ok(false);
    }
    if ges.len() > 1 && !merge_parallel(eqs, ges)? {
        return Ok(false);
    }
    if !reduce_each(eqs, reduce_eq)? {
        return Ok(false);
    }
    eqs.sort_unstable();
    eqs.dedup();
    // Equal linear parts are now neighbours; with different constants they contradict.
    if eqs.windows(2).any(|w| w[0].terms() == w[1].terms()) {
        return Ok(false);
    }
    Ok(eqs.is_empty() || drop_decided(eqs, ges))
}

/// Reduces every constraint of a list; `false` when one of them never holds.
fn reduce_each(
    list: &mut Vec<Affine>,
    reduce: impl Fn(Affine) -> Result<Reduced<Affine>>,
) -> Result<bool> {
    let mut at = 0;
    while at < list.len() {
        match reduce(std::mem::take(&mut list[at]))? {
            Reduced::Never => return Ok(false),
            Reduced::Always => {
                list.swap_remove(at);
            }
            Reduced::To(a) => {
                list[at] = a;
                at += 1;
            }
        }
    }
    Ok(true)
}

/// What became of an inequality that was added to a normal form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Added {
    /// It is in its place, or says nothing new.
    Fits,
    /// It contradicts another constraint.
    Never,
    /// It meets an opposite one: together they are an equality, so all has to be normalised.
    Meets,
}

/// Adds `ge >= 0` to constraints in normal form.
pub(crate) fn add_ge(eqs: &[Affine], ges: &mut Vec<Affine>, ge: &Affine) -> Result<Added> {
    let ge = match reduce_ge(ge.clone())? {
        Reduced::Always => return Ok(Added::Fits),
        Reduced::Never => return Ok(Added::Never),
        Reduced::To(ge) => ge,
    };
    if let Some(consistent) = decided_by(eqs, &ge) {
        return Ok(if consistent { Added::Fits } else { Added::Never });
    }
    let at = ges.partition_point(|other| compare_places(other, &ge).is_lt());
    match ges.get_mut(at).filter(|other| other.terms() == ge.terms()) {
        Some(other) if other.constant_part() <= ge.constant_part() => return Ok(Added::Fits),
        Some(other) => *other = ge,
        None => ges.insert(at, ge),
    }
    let ge = &ges[at];
    let opposite = match sign(ge.terms()) {
        1.. => ges.get(at + 1),
        _ => at.checked_sub(1).and_then(|before| ges.get(before)),
    };
    let opposite = opposite.filter(|other| compare_directions(other.terms(), ge.terms()).is_eq());
    Ok(opposite.map_or(Added::Fits, |opposite| match gap(ge, opposite) {
        Ordering::Less => Added::Never,
        Ordering::Equal => Added::Meets,
        Ordering::Greater => Added::Fits,
    }))
}

/// The order of inequalities: by direction, and the two of a direction by their signs.
fn compare_places(a: &Affine, b: &Affine) -> Ordering {
    let direction = compare_directions(a.terms(), b.terms());
    direction.then_with(|| sign(b.terms()).cmp(&sign(a.terms())))
}

/// How the sum of two opposite inequalities, a number, compares with zero.
fn gap(a: &Affine, b: &Affine) -> Ordering {
    (i128::from(a.constant_part()) + i128::from(b.constant_part())).cmp(&0)
}

/// Sorts inequalities so that parallel ones are neighbours, keeps the tightest of each direction,
/// and turns opposite ones that meet into equalities.
fn merge_parallel(eqs: &mut Vec<Affine>, ges: &mut Vec<Affine>) -> Result<bool> {
    ges.sort_unstable_by(|a, b| {
        compare_places(a, b).then_with(|| a.constant_part().cmp(&b.constant_part()))
    });
    ges.dedup_by(|later, first| later.terms() == first.terms());
    let mut at = 0;
    while at + 1 < ges.len() {
        let (a, b) = (&ges[at], &ges[at + 1]);
        if compare_directions(a.terms(), b.terms()).is_ne() {
            at += 1;
            continue;
        }
        // a >= 0 and b >= 0 with opposite linear parts: their sum is a constant.
        match gap(a, b) {
            Ordering::Less => return Ok(false),
            Ordering::Greater => at += 2,
            Ordering::Equal => {
                eqs.push(ges.remove(at));
                ges.remove(at);
            }
        }
    }
    Ok(true)
}

/// The sign of the leading coefficient.
fn sign(terms: &[(Var, i64)]) -> i64 {
    terms.first().map_or(1, |t| t.1.signum())
}

/// Compares linear parts up to their sign, each as if its leading coefficient were positive.
fn compare_directions(a: &[(Var, i64)], b: &[(Var, i64)]) -> Ordering {
    let (is_a_down, is_b_down) = (sign(a) < 0, sign(b) < 0);
    for (x, y) in a.iter().zip(b) {
        let coefficients = || match (is_a_down, is_b_down) {
            (false, false) => x.1.cmp(&y.1),
            (true, true) => y.1.cmp(&x.1),
            (false, true) => i128::from(x.1).cmp(&-i128::from(y.1)),
            (true, false) => (-i128::from(x.1)).cmp(&i128::from(y.1)),
        };
        let order = x.0.cmp(&y.0).then_with(coefficients);
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// Drops inequalities that an equality with a parallel linear part decides; `false` when one of
/// them is decided against.
fn drop_decided(eqs: &[Affine], ges: &mut Vec<Affine>) -> bool {
    let mut consistent = true;
    ges.retain(|ge| match decided_by(eqs, ge) {
        None => true,
        Some(holds) => {
            consistent &= holds;
            false
        }
    });
    consistent
}

/// Whether an inequality holds, if an equality with a parallel linear part decides it.
fn decided_by(eqs: &[Affine], ge: &Affine) -> Option<bool> {
    let eq = eqs.iter().find(|e| compare_directions(e.terms(), ge.terms()).is_eq())?;
    let same = sign(eq.terms()) == sign(ge.terms());
    let eq_constant = i128::from(eq.constant_part());
    let at_equality = if same { -eq_constant } else { eq_constant };
    Some(at_equality + i128::from(ge.constant_part()) >= 0)
}
