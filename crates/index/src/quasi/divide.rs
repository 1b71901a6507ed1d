//! Building quotients and remainders, with everything folded that the coefficients alone decide.

use super::{DivOp, Division, Quasi};
use crate::affine::Affine;
use crate::error::Result;
use crate::int::{gcd_positive, narrow, positive};

impl Quasi {
    /// The quotient rounded down. Whole multiples of the divisor move out of the division, a
    /// common factor cancels, and a floor of a floor is one floor.
    pub fn floor_div(&self, divisor: i64) -> Result<Quasi> {
        let divisor = positive(divisor)?;
        let (whole, rest) = self.split_multiples(divisor)?;
        if rest.as_constant().is_some() {
            return Ok(whole); // What is left lies in 0..divisor.
        }
        whole.add(&floor_atom(rest, divisor)?)
    }

    /// The quotient rounded up.
    pub fn ceil_div(&self, divisor: i64) -> Result<Quasi> {
        self.add_constant(positive(divisor)? - 1)?.floor_div(divisor)
    }

    /// The remainder in `0..divisor`. Coefficients count only modulo the divisor.
    pub fn floor_mod(&self, divisor: i64) -> Result<Quasi> {
        let divisor = positive(divisor)?;
        let affine = self.affine.map(|c| c.rem_euclid(divisor));
        let divisions = self.divisions.iter().map(|(d, c)| (d.clone(), c.rem_euclid(divisor)));
        let number = Quasi { affine, divisions: divisions.filter(|d| d.1 != 0).collect() };
        match number.as_constant() {
            Some(constant) => Ok(constant.into()), // Already reduced.
            None => Ok(atom(DivOp::FloorMod, number, divisor)),
        }
    }

    /// The quotient rounded toward zero: the language's `/`.
    pub fn trunc_div(&self, divisor: i64) -> Result<Quasi> {
        let divisor = positive(divisor)?;
        if let Some(constant) = self.as_constant() {
            return Ok((constant / divisor).into());
        }
        let (whole, rest) = self.split_multiples(divisor)?;
        if rest == Quasi::default() {
            return Ok(whole); // Exact, so the direction of rounding does not matter.
        }
        Ok(atom(DivOp::TruncDiv, self.clone(), divisor))
    }

    /// The remainder with the dividend's sign: the language's `%`.
    pub fn trunc_rem(&self, divisor: i64) -> Result<Quasi> {
        let divisor = positive(divisor)?;
        if let Some(constant) = self.as_constant() {
            return Ok((constant % divisor).into());
        }
        if self.split_multiples(divisor)?.1 == Quasi::default() {
            return Ok(0.into());
        }
        Ok(atom(DivOp::TruncRem, self.clone(), divisor))
    }

    /// Any of the four, by name.
    pub fn divide(&self, op: DivOp, divisor: i64) -> Result<Quasi> {
        match op {
            DivOp::FloorDiv => self.floor_div(divisor),
            DivOp::FloorMod => self.floor_mod(divisor),
            DivOp::TruncDiv => self.trunc_div(divisor),
            DivOp::TruncRem => self.trunc_rem(divisor),
        }
    }

    /// `(whole, rest)` with `self = d * whole + rest`, where `whole` holds the terms whose
    /// coefficients `d` divides and the rest's constant lies in `0..d`.
    fn split_multiples(&self, d: i64) -> Result<(Quasi, Quasi)> {
        let whole_part = |c: i64| if c % d == 0 { c / d } else { 0 };
        let constant = self.affine.constant_part().div_euclid(d);
        let affine = self.affine.map(whole_part).with_constant(constant);
        let divisions = self.divisions.iter().map(|(q, c)| (q.clone(), whole_part(*c)));
        let whole = Quasi { affine, divisions: divisions.filter(|d| d.1 != 0).collect() };
        let rest = self.combine(1, &whole, narrow(-i128::from(d))?)?;
        Ok((whole, rest))
    }
}

fn atom(op: DivOp, number: Quasi, divisor: i64) -> Quasi {
    let division = Division { op, number, divisor };
    Quasi { affine: Affine::zero(), divisions: vec![(division, 1)] }
}

/// A floor whose dividend is not constant, with common factors cancelled.
fn floor_atom(number: Quasi, divisor: i64) -> Result<Quasi> {
    let common = number.affine.terms().iter().map(|t| t.1);
    let common = common.chain(number.divisions.iter().map(|d| d.1)).fold(divisor, gcd_positive);
    let divisor = divisor / common;
    let mut number = Quasi {
        affine: number.affine.map(|c| c.div_euclid(common)),
        divisions: number.divisions.into_iter().map(|(d, c)| (d, c / common)).collect(),
    };
    if let ([(inner, 1)], true) = (&number.divisions[..], number.affine == Affine::zero())
        && inner.op == DivOp::FloorDiv
        && let Some(product) = inner.divisor.checked_mul(divisor)
    {
        number = inner.number.clone();
        return number.floor_div(product);
    }
    if divisor == 1 { Ok(number) } else { Ok(atom(DivOp::FloorDiv, number, divisor)) }
}
