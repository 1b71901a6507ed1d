//! Lowering: quasi-affine expressions become affine ones over extra variables.
//!
//! `floor(a / d)` is the one integer `q` with `0 <= a - d*q <= d - 1`, and `a mod d` is
//! `a - d*q`. A truncating division rounds differently on the two sides of zero, so it splits the
//! points into those with `a >= 0` and those with `a <= -1`; within each [`Case`] everything is a
//! conjunction. The cases never overlap and together cover every point.

use super::{DivOp, Division, Quasi};
use crate::affine::Affine;
use crate::error::{GaveUp, Result};
use crate::var::Var;

/// How many cases truncating divisions may make: six of unknown sign in one subscript.
const MAX_CASES: usize = 64;

/// One way the divisions can turn out: the affine values of the expressions lowered so far, valid
/// where all of `ges` are non-negative for some integers in place of the locals.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The value of each lowered expression, in order.
    pub(crate) values: Vec<Affine>,
    /// What must be non-negative.
    pub(crate) ges: Vec<Affine>,
    /// Dividends already given a local quotient, so that equal divisions share it.
    quotients: Vec<(Affine, i64, bool, Var)>,
    /// The number of the next local.
    pub(crate) next_local: u32,
}

/// Lowers several expressions together; locals are numbered from `next_local`.
pub(crate) fn lower_all<'a>(
    exprs: impl IntoIterator<Item = &'a Quasi>,
    next_local: u32,
) -> Result<Vec<Case>> {
    let start = Case { values: Vec::new(), ges: Vec::new(), quotients: Vec::new(), next_local };
    let mut cases = vec![start];
    for expr in exprs {
        let mut next = Vec::with_capacity(cases.len());
        for case in cases {
            for (mut case, value) in lower(expr, case)? {
                case.values.push(value);
                next.push(case);
            }
        }
        if next.len() > MAX_CASES {
            return Err(GaveUp::Budget);
        }
        cases = next;
    }
    Ok(cases)
}

/// Lowers one expression within a case; truncating divisions split the case.
fn lower(expr: &Quasi, case: Case) -> Result<Vec<(Case, Affine)>> {
    let mut branches = vec![(case, expr.affine.clone())];
    for (division, c) in &expr.divisions {
        let mut next = Vec::with_capacity(branches.len());
        for (case, sum) in branches {
            for (case, value) in lower_division(division, case)? {
                next.push((case, sum.combine(1, &value, *c)?));
            }
        }
        if next.len() > MAX_CASES {
            return Err(GaveUp::Budget);
        }
        branches = next;
    }
    Ok(branches)
}

fn lower_division(division: &Division, case: Case) -> Result<Vec<(Case, Affine)>> {
    let mut branches = Vec::new();
    for (mut case, number) in lower(&division.number, case)? {
        let d = division.divisor;
        match division.op {
            DivOp::FloorDiv | DivOp::FloorMod => {
                let value = case.divide(division.op, &number, d, false)?;
                branches.push((case, value));
            }
            op => {
                let mut below = case.clone();
                case.ges.push(number.clone());
                let value = case.divide(op, &number, d, false)?;
                branches.push((case, value));
                below.ges.push(number.scale(-1)?.add_constant(-1)?);
                let value = below.divide(op, &number, d, true)?;
                branches.push((below, value));
            }
        }
    }
    Ok(branches)
}

impl Case {
    /// The quotient or remainder of an affine dividend; rounded up for a negative one.
    fn divide(&mut self, op: DivOp, number: &Affine, d: i64, up: bool) -> Result<Affine> {
        let quotient = Affine::var(self.quotient(number, d, up)?);
        match op {
            DivOp::FloorDiv | DivOp::TruncDiv => Ok(quotient),
            DivOp::FloorMod | DivOp::TruncRem => number.combine(1, &quotient, -d),
        }
    }

    /// A local that is the quotient of `number` by `d`, rounded down or up.
    fn quotient(&mut self, number: &Affine, d: i64, up: bool) -> Result<Var> {
        let same = |q: &&(Affine, i64, bool, Var)| q.0 == *number && q.1 == d && q.2 == up;
        if let Some(known) = self.quotients.iter().find(same) {
            return Ok(known.3);
        }
        let local = Var::local(self.next_local);
        self.next_local += 1;
        let rest = number.combine(1, &Affine::var(local), -d)?;
        let (low, high) = if up { (1 - d, 0) } else { (0, d - 1) };
        self.ges.push(rest.scale(-1)?.add_constant(high)?);
        self.ges.push(rest.add_constant(-low)?);
        self.quotients.push((number.clone(), d, up, local));
        Ok(local)
    }
}
