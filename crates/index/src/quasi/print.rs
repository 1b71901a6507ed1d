//! The text form of quasi-affine expressions. A dividend that is not one variable stands in
//! parentheses, and so does a division with a coefficient, so that the text reads back as written.

use std::fmt;

use super::{DivOp, Division, Quasi};
use crate::affine::{write_coeff, write_constant};
use crate::var::Named;

impl fmt::Display for Named<'_, Division> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Division { op, number, divisor } = self.item;
        let dividend = self.part(number);
        let (before, between, after) = match op {
            DivOp::FloorDiv => ("floor(", "/", ")"),
            DivOp::FloorMod => ("", "mod", ""),
            DivOp::TruncDiv => ("", "/", ""),
            DivOp::TruncRem => ("", "%", ""),
        };
        match number.as_var() {
            Some(_) => write!(f, "{before}{dividend} {between} {divisor}{after}"),
            None => write!(f, "{before}({dividend}) {between} {divisor}{after}"),
        }
    }
}

impl fmt::Display for Named<'_, Quasi> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let affine = &self.item.affine;
        let mut n_terms = affine.terms().len();
        if n_terms > 0 {
            write!(f, "{}", self.part(&affine.linear_part()))?;
        }
        for (division, c) in &self.item.divisions {
            write_coeff(f, n_terms == 0, *c)?;
            match *c {
                1 => write!(f, "{}", self.part(division))?,
                _ => write!(f, "({})", self.part(division))?,
            }
            n_terms += 1;
        }
        write_constant(f, n_terms, affine.constant_part())
    }
}
