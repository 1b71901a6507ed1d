//! Affine expressions: an integer constant plus integer multiples of variables.
//!
//! Invariant: terms are sorted by variable, each variable occurs once and no coefficient is zero,
//! so two expressions are equal exactly when they are the same function. All arithmetic is exact;
//! what leaves `i64` is [`GaveUp::Overflow`].

use std::fmt;

use smallvec::{SmallVec, smallvec};

use crate::error::{GaveUp, Result};
use crate::int::{gcd, linear, narrow};
use crate::var::{Named, Var, Vars};

/// Most expressions have one or two terms, and those need no allocation.
type Terms = SmallVec<[(Var, i64); 2]>;

/// `constant + Σ coefficient · variable`.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Affine {
    terms: Terms,
    constant: i64,
}

impl Clone for Affine {
    /// Copies all terms at once, not one after the other: nothing is done more often.
    fn clone(&self) -> Affine {
        Affine { terms: Terms::from_slice(&self.terms), constant: self.constant }
    }
}

impl Affine {
    /// The number zero.
    pub fn zero() -> Affine {
        Affine::default()
    }

    /// A number.
    pub fn constant(constant: i64) -> Affine {
        Affine { terms: Terms::new(), constant }
    }

    /// A variable.
    pub fn var(var: Var) -> Affine {
        Affine { terms: smallvec![(var, 1)], constant: 0 }
    }

    /// The sum of the constant and the terms, in any order and with repetitions.
    pub fn new(constant: i64, terms: impl IntoIterator<Item = (Var, i64)>) -> Result<Affine> {
        let mut terms: Terms = terms.into_iter().collect();
        terms.sort_unstable_by_key(|t| t.0);
        let mut merged = Terms::new();
        for (var, c) in terms {
            match merged.last_mut() {
                Some(last) if last.0 == var => last.1 = linear(last.1, 1, c, 1)?,
                _ => merged.push((var, c)),
            }
        }
        merged.retain(|t| t.1 != 0);
        Ok(Affine { terms: merged, constant })
    }

    /// The terms, sorted by variable.
    pub fn terms(&self) -> &[(Var, i64)] {
        &self.terms
    }

    /// The part without variables.
    pub fn constant_part(&self) -> i64 {
        self.constant
    }

    /// The variables, in order.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().map(|t| t.0)
    }

    /// The coefficient of `var`, zero if it does not occur.
    pub fn coeff(&self, var: Var) -> i64 {
        match self.terms.binary_search_by_key(&var, |t| t.0) {
            Ok(at) => self.terms[at].1,
            Err(_) => 0,
        }
    }

    /// True when `var` occurs.
    pub fn mentions(&self, var: Var) -> bool {
        self.coeff(var) != 0
    }

    /// The value, if no variable occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The variable, if the expression is nothing else.
    pub fn as_var(&self) -> Option<Var> {
        match self.terms[..] {
            [(var, 1)] if self.constant == 0 => Some(var),
            _ => None,
        }
    }

    /// `self + other`.
    pub fn add(&self, other: &Affine) -> Result<Affine> {
        self.combine(1, other, 1)
    }

    /// `self - other`.
    pub fn sub(&self, other: &Affine) -> Result<Affine> {
        self.combine(1, other, -1)
    }

    /// `-self`.
    pub fn neg(&self) -> Result<Affine> {
        self.scale(-1)
    }

    /// `self + k`.
    pub fn add_constant(&self, k: i64) -> Result<Affine> {
        let constant = linear(self.constant, 1, k, 1)?;
        Ok(Affine { terms: self.terms.clone(), constant })
    }

    /// `k * self`.
    pub fn scale(&self, k: i64) -> Result<Affine> {
        if k == 0 {
            return Ok(Affine::zero());
        }
        let mut scaled = self.clone();
        for t in &mut scaled.terms {
            t.1 = linear(t.1, k, 0, 0)?;
        }
        scaled.constant = linear(self.constant, k, 0, 0)?;
        Ok(scaled)
    }

    /// `a * self + b * other`, the step of every elimination.
    pub fn combine(&self, a: i64, other: &Affine, b: i64) -> Result<Affine> {
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let mut terms = Terms::new();
        loop {
            let (var, x, y) = match (left.peek(), right.peek()) {
                (Some(l), Some(r)) if l.0 == r.0 => (l.0, l.1, r.1),
                (Some(l), Some(r)) if l.0 < r.0 => (l.0, l.1, 0),
                (Some(l), None) => (l.0, l.1, 0),
                (_, Some(r)) => (r.0, 0, r.1),
                (None, None) => break,
            };
            left.next_if(|t| t.0 == var);
            right.next_if(|t| t.0 == var);
            match linear(a, x, b, y)? {
                0 => {}
                c => terms.push((var, c)),
            }
        }
        Ok(Affine { terms, constant: linear(a, self.constant, b, other.constant)? })
    }

    /// The expression without the term of `var`.
    pub fn without(&self, var: Var) -> Affine {
        let terms = self.terms.iter().copied().filter(|t| t.0 != var).collect();
        Affine { terms, constant: self.constant }
    }

    /// The terms without the constant.
    pub(crate) fn linear_part(&self) -> Affine {
        Affine { terms: self.terms.clone(), constant: 0 }
    }

    /// The same terms with another constant.
    pub(crate) fn with_constant(mut self, constant: i64) -> Affine {
        self.constant = constant;
        self
    }

    /// The expression with `value` in place of `var`; `value` may mention `var` itself.
    pub fn substitute(&self, var: Var, value: &Affine) -> Result<Affine> {
        match self.coeff(var) {
            0 => Ok(self.clone()),
            c => self.without(var).combine(1, value, c),
        }
    }

    /// The expression with every variable replaced at once.
    pub fn replace(&self, value: &mut dyn FnMut(Var) -> Option<Affine>) -> Result<Affine> {
        let mut sum = Affine::constant(self.constant);
        for &(var, c) in &self.terms {
            let part = value(var).unwrap_or_else(|| Affine::var(var));
            sum = sum.combine(1, &part, c)?;
        }
        Ok(sum)
    }

    /// The expression with other variables, which are in the same order.
    pub(crate) fn renamed(&self, name: &dyn Fn(Var) -> Var) -> Affine {
        let mut made = self.clone();
        made.terms.iter_mut().for_each(|term| term.0 = name(term.0));
        made
    }

    /// The value at a point.
    pub fn eval(&self, value: &dyn Fn(Var) -> i64) -> Result<i128> {
        self.terms.iter().try_fold(i128::from(self.constant), |sum, &(var, c)| {
            sum.checked_add(i128::from(c) * i128::from(value(var))).ok_or(GaveUp::Overflow)
        })
    }

    /// The greatest common divisor of the coefficients; zero for a constant.
    pub fn content(&self) -> u64 {
        self.terms.iter().fold(0, |g, t| gcd(g, t.1.unsigned_abs()))
    }

    /// Divides the coefficients by `d`, which must divide each of them, and rounds the constant
    /// down: `self >= 0` means the same before and after, over the integers.
    pub(crate) fn divide_down(&mut self, d: u64) -> Result<()> {
        let d = narrow(i128::from(d))?;
        self.terms.iter_mut().for_each(|t| t.1 /= d);
        self.constant = self.constant.div_euclid(d);
        Ok(())
    }

    /// Applies `f` to each coefficient and to the constant.
    pub(crate) fn map(&self, f: impl Fn(i64) -> i64) -> Affine {
        let mut made = self.clone();
        made.terms.iter_mut().for_each(|term| term.1 = f(term.1));
        made.terms.retain(|term| term.1 != 0);
        made.constant = f(made.constant);
        made
    }

    /// Prints with the names of `vars`, as `2*i + n - 1`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, Affine> {
        Named::new(self, vars)
    }
}

/// Writes the sign and size of a coefficient before the thing it multiplies.
pub(crate) fn write_coeff(f: &mut fmt::Formatter<'_>, first: bool, c: i64) -> fmt::Result {
    f.write_str(match (first, c < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    })?;
    match c.unsigned_abs() {
        1 => Ok(()),
        size => write!(f, "{size}*"),
    }
}

/// Writes the constant at the end of a sum that has `terms` terms before it.
pub(crate) fn write_constant(f: &mut fmt::Formatter<'_>, terms: usize, k: i64) -> fmt::Result {
    match (terms, k) {
        (0, _) => write!(f, "{k}"),
        (_, 0) => Ok(()),
        (_, 1..) => write!(f, " + {k}"),
        _ => write!(f, " - {}", k.unsigned_abs()),
    }
}

impl fmt::Display for Named<'_, Affine> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, &(var, c)) in self.item.terms.iter().enumerate() {
            write_coeff(f, at == 0, c)?;
            self.vars.write_name(var, f)?;
        }
        write_constant(f, self.item.terms.len(), self.item.constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_canonical() {
        let mut vars = Vars::new();
        let (i, n) = (vars.index("i"), vars.symbol("n"));
        let e = Affine::new(-1, [(n, 1), (i, 3), (i, -1)]).unwrap();
        assert_eq!(e.display(&vars).to_string(), "2*i + n - 1");
        assert_eq!(e.sub(&e), Ok(Affine::zero()));
        let shifted = e.substitute(i, &Affine::new(1, [(i, 1)]).unwrap()).unwrap();
        assert_eq!(shifted.display(&vars).to_string(), "2*i + n + 1");
        assert_eq!(e.eval(&|v| if v == i { 4 } else { 10 }), Ok(17));
    }

    #[test]
    fn overflow_is_reported() {
        let mut vars = Vars::new();
        let i = vars.index("i");
        let huge = Affine::new(i64::MIN, [(i, i64::MAX)]).unwrap();
        assert_eq!(huge.neg(), Err(GaveUp::Overflow));
        assert_eq!(huge.add(&huge), Err(GaveUp::Overflow));
        assert_eq!(huge.display(&vars).to_string(), format!("{}*i - {}", i64::MAX, 1u64 << 63));
    }
}
