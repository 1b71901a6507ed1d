//! How index expressions change from lane to lane.

use einlang_index::{DivOp, MinMax, Quasi, Var};
use einlang_loops::ir::Range;
use rustc_hash::FxHashMap as HashMap;

/// What is known of the variables that change from lane to lane.
#[derive(Clone, Debug)]
pub(in crate::emit) struct Steps {
    width: i64,
    /// The rounds that take the place of lanes, if these are the steps from round to round.
    rounds: Option<Range>,
    /// How much larger a variable is in the next lane, and what its value in the first is a multiple
    /// of.
    vars: HashMap<Var, (i64, i64)>,
}

impl Steps {
    /// The lanes of a loop over a variable from `lo` on.
    pub(super) fn new(width: u32, var: Var, lo: &MinMax) -> Steps {
        let mut steps = Steps { width: i64::from(width), rounds: None, vars: HashMap::default() };
        // Vectors begin a multiple of the width after the first round.
        let first = gcd(steps.bound_multiple(lo), steps.width);
        steps.vars.insert(var, (1, first));
        steps
    }

    /// The steps from each round of a range to the next, whatever their number.
    pub(in crate::emit) fn through(range: &Range) -> Steps {
        let rounds = Some(range.clone());
        let mut steps = Steps { width: 1, rounds, vars: HashMap::default() };
        let first = steps.bound_multiple(&range.lo);
        steps.vars.insert(range.var, (1, first));
        steps
    }

    /// How much larger an expression is in the next lane, if it changes by steps at all.
    pub(in crate::emit) fn of(&self, expr: &Quasi) -> Option<i64> {
        let mut step = 0_i64;
        for (var, coefficient) in expr.affine().terms() {
            let of = self.vars.get(var).map_or(0, |of| of.0);
            step = step.checked_add(coefficient.checked_mul(of)?)?;
        }
        for (division, coefficient) in expr.divisions() {
            let of = match (self.of(&division.number)?, division.op) {
                (0, _) => 0,
                // All lanes lie between two multiples of the divisor.
                (1, DivOp::FloorDiv) if self.is_together(&division.number, division.divisor) => 0,
                (1, DivOp::FloorMod) if self.is_together(&division.number, division.divisor) => 1,
                _ => return None,
            };
            step = step.checked_add(coefficient.checked_mul(of)?)?;
        }
        Some(step)
    }

    /// Whether no lane but the first is a multiple of a number.
    pub(in crate::emit) fn is_together(&self, expr: &Quasi, number: i64) -> bool {
        match &self.rounds {
            None => number % self.width == 0 && self.multiple(expr) % self.width == 0,
            Some(rounds) => {
                let fits = u32::try_from(number).is_ok_and(|number| rounds.has_at_most(number));
                fits && self.multiple(expr) % number == 0
            }
        }
    }

    /// Whether an expression changes from lane to lane.
    pub(super) fn changes(&self, expr: &Quasi) -> bool {
        let mut changes = false;
        expr.for_each_var(&mut |var| changes |= self.vars.contains_key(&var));
        changes
    }

    /// Whether a bound changes from lane to lane.
    pub(super) fn changes_bound(&self, bound: &MinMax) -> bool {
        let mut changes = false;
        bound.for_each_var(&mut |var| changes |= self.vars.contains_key(&var));
        changes
    }

    /// Whether a variable changes from lane to lane.
    pub(super) fn changes_var(&self, var: Var) -> bool {
        self.vars.contains_key(&var)
    }

    /// Takes note that a variable is bound to an expression; whether that is possible.
    pub(super) fn bind(&mut self, var: Var, expr: &MinMax) -> bool {
        if !self.changes_bound(expr) {
            self.vars.remove(&var);
            return true;
        }
        let MinMax::Value(expr) = expr else { return false };
        let Some(step) = self.of(expr) else { return false };
        let multiple = self.multiple(expr);
        match step {
            0 => self.vars.remove(&var),
            _ => self.vars.insert(var, (step, multiple)),
        };
        true
    }

    /// Takes note that a variable is the same in all lanes.
    pub(super) fn forget(&mut self, var: Var) {
        self.vars.remove(&var);
    }

    /// A number that an expression is a multiple of in the first lane.
    fn multiple(&self, expr: &Quasi) -> i64 {
        if !expr.divisions().is_empty() {
            return 1;
        }
        let affine = expr.affine();
        affine.terms().iter().fold(affine.constant_part(), |all, (var, coefficient)| {
            let of = self.vars.get(var).map_or(1, |of| of.1);
            gcd(all, coefficient.checked_mul(of).unwrap_or(1))
        })
    }

    fn bound_multiple(&self, bound: &MinMax) -> i64 {
        match bound {
            MinMax::Value(expr) => self.multiple(expr),
            MinMax::Min(list) | MinMax::Max(list) => {
                list.iter().fold(0, |all, bound| gcd(all, self.bound_multiple(bound)))
            }
        }
    }
}

/// The greatest common divisor; 0 is a multiple of everything.
fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use einlang_index::Vars;

    use super::*;

    #[test]
    fn lanes_of_a_panel_lie_together() {
        let mut vars = Vars::new();
        let (tile, index) = (vars.index("T"), vars.index("j"));
        let quasi = |text: &str, vars: &mut Vars| Quasi::parse(text, vars).expect("it reads");
        let lo = MinMax::Value(quasi("32*T", &mut vars));
        let steps = Steps::new(16, index, &lo);
        let of = |text: &str, vars: &mut Vars| steps.of(&quasi(text, vars));
        assert!(!steps.changes_var(tile) && steps.changes_var(index));
        assert_eq!(of("3*j + T", &mut vars), Some(3));
        assert_eq!(of("floor(j / 32)", &mut vars), Some(0));
        assert_eq!(of("j mod 32", &mut vars), Some(1));
        assert_eq!(of("floor(j / 24)", &mut vars), None);
        assert_eq!(of("(j + 1) mod 32", &mut vars), None);
    }
}
