//! A point of a set, found by chance rather than by method.
//!
//! Most questions that planning asks have an answer that a single point gives: two accesses can meet, a distance may
//! be negative. So before variables are eliminated, one point is moved until it lies in the set: each step takes a
//! constraint that does not hold and moves one variable of it, by as much as it takes, the one that has moved least.
//!
//! Contract: true only if there is a point. False says nothing.

use crate::affine::Affine;
use crate::constraint::Congruence;
use crate::set::Set;
use crate::var::Var;

/// Steps for each constraint.
const STEPS: usize = 3;

/// Values that are larger than this are not looked at, so that nothing overflows.
const FAR: i64 = 1 << 20;

/// What a constraint wants of an expression.
#[derive(Clone, Copy)]
enum Wants {
    Zero,
    NotNegative,
    /// The rest by a modulus is at most so much.
    Rest(i64, i64),
}

/// An expression over the numbers of variables.
struct Constraint {
    wants: Wants,
    terms: Vec<(usize, i64)>,
    constant: i64,
}

/// Whether a point of the set is found.
pub(super) fn has_witness(set: &Set, vars: &[Var]) -> bool {
    let Some(all) = constraints(set, vars) else { return false };
    let mut point = vec![0_i64; vars.len()];
    let mut moves = vec![0_u32; vars.len()];
    for _ in 0..=STEPS * all.len() {
        let broken = all.iter().find_map(|constraint| {
            let missing = constraint.missing(&point)?;
            Some((constraint, missing))
        });
        let Some((constraint, missing)) = broken else { return true };
        if !constraint.repair(missing, &mut point, &mut moves) {
            return false;
        }
    }
    false
}

fn constraints(set: &Set, vars: &[Var]) -> Option<Vec<Constraint>> {
    let of = |expr: &Affine, wants: Wants| {
        let number = |var: &Var| vars.binary_search(var).ok();
        let is_small = |c: i64| (-FAR..=FAR).contains(&c);
        let terms = expr.terms().iter().map(|(var, c)| Some((number(var)?, *c)));
        let terms: Vec<(usize, i64)> = terms.collect::<Option<_>>()?;
        let fits = is_small(expr.constant_part()) && terms.iter().all(|(_, c)| is_small(*c));
        fits.then(|| Constraint { wants, terms, constant: expr.constant_part() })
    };
    let eqs = set.eqs().iter().map(|expr| of(expr, Wants::Zero));
    let ges = set.ges().iter().map(|expr| of(expr, Wants::NotNegative));
    let rest = |c: &Congruence| match c.modulus() <= FAR {
        true => of(c.expr(), Wants::Rest(c.modulus(), c.at_most())),
        false => None,
    };
    let mods = set.mods().iter().map(rest);
    eqs.chain(ges).chain(mods).collect()
}

impl Constraint {
    /// By how much the expression has to change, if it does not hold.
    fn missing(&self, point: &[i64]) -> Option<i64> {
        let value = self.terms.iter().fold(self.constant, |sum, (at, c)| sum + c * point[*at]);
        let missing = match self.wants {
            Wants::Zero => -value,
            Wants::NotNegative => (-value).max(0),
            Wants::Rest(modulus, most) if value.rem_euclid(modulus) > most => {
                modulus - value.rem_euclid(modulus)
            }
            Wants::Rest(..) => 0,
        };
        (missing != 0).then_some(missing)
    }

    /// Moves the variable that has moved least; false if none can be moved.
    fn repair(&self, missing: i64, point: &mut [i64], moves: &mut [u32]) -> bool {
        let is_exact = !matches!(self.wants, Wants::NotNegative);
        let fits = |c: i64| !is_exact || missing % c == 0;
        let able = self.terms.iter().filter(|(_, c)| fits(*c));
        let Some((at, c)) = able.min_by_key(|(at, c)| (moves[*at], c.abs(), *at)) else {
            return false;
        };
        let by = match is_exact {
            true => missing / c,
            // Away from zero, so that it suffices.
            false => missing.div_euclid(c.abs()) + i64::from(missing % c != 0),
        };
        point[*at] += if is_exact { by } else { by * c.signum() };
        moves[*at] += 1;
        point[*at].abs() <= FAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Constraint as Given;
    use crate::quasi::Quasi;
    use crate::var::Vars;

    fn holds(zero: &[&str], not_negative: &[&str]) -> bool {
        let mut vars = Vars::new();
        let mut affine = |text: &&str| {
            Quasi::parse(text, &mut vars).expect("it reads").as_affine().cloned().expect("it is")
        };
        let mut all: Vec<Given> = zero.iter().map(|text| Given::Eq(affine(text))).collect();
        all.extend(not_negative.iter().map(|text| Given::Ge(affine(text))));
        let set = Set::new(all).expect("it is small");
        has_witness(&set, &set.vars())
    }

    #[test]
    fn points_are_found_by_moving_what_moved_least() {
        assert!(holds(&[], &["i - 1", "n - i - 1", "k", "n - k - 1"]));
        assert!(holds(&["i + j - 7"], &["i", "j", "5 - i", "5 - j"]));
        assert!(holds(&["2*i - j"], &["j - 3", "n - j", "n - 10"]));
    }

    #[test]
    fn without_a_point_none_is_found() {
        assert!(!holds(&[], &["i - 1", "n - i - 1", "1 - n"]));
        assert!(!holds(&["2*i - 2*j - 1"], &["i", "j"]));
    }
}
