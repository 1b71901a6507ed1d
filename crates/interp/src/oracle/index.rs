//! Index expressions and domains over slots, and the points of a domain in order.
//!
//! Arithmetic is exact: 128 bits, checked. A domain is tested by its own constraints; the ranges
//! that its points are looked for in come from projections, and may be too wide but never too
//! narrow, because every point found is tested again.

use std::collections::HashMap;

use einlang_index::{Affine, DivOp, Domain, Quasi, Set, Var};

use super::code::{OpenRef, TensorRef};
use crate::options::Meter;
use crate::stop::Stop;

/// A variable of an index expression.
#[derive(Clone, Debug)]
pub(super) enum VarRef {
    /// An index or a local symbol.
    Slot(u32),
    /// A symbol of the module.
    Symbol(u32),
    /// The extent of an axis of a parameter.
    Extent(TensorRef, usize),
    /// The run-time extent of a local group.
    Open(OpenRef),
    /// The largest of some expressions.
    Max(Vec<IndexCode>),
    /// The smallest of some expressions.
    Min(Vec<IndexCode>),
}

/// A quasi-affine expression.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexCode {
    pub(super) constant: i64,
    pub(super) terms: Vec<(VarRef, i64)>,
    pub(super) divisions: Vec<(DivOp, IndexCode, i64, i64)>,
}

/// What goes wrong when an index leaves 128 bits.
pub(super) fn too_large() -> Stop {
    Stop::internal("an index expression leaves the range of 128-bit integers")
}

impl IndexCode {
    /// Resolves the variables of an expression.
    pub(super) fn new<E>(
        expr: &Quasi,
        resolve: &mut dyn FnMut(Var) -> Result<VarRef, E>,
    ) -> Result<IndexCode, E> {
        let mut code = IndexCode { constant: expr.affine().constant_part(), ..Default::default() };
        for (var, c) in expr.affine().terms() {
            code.terms.push((resolve(*var)?, *c));
        }
        for (division, c) in expr.divisions() {
            let number = IndexCode::new(&division.number, resolve)?;
            code.divisions.push((division.op, number, division.divisor, *c));
        }
        Ok(code)
    }

    /// The value, where `value` knows the variables.
    #[inline]
    pub(super) fn eval<E: From<Stop>, F: FnMut(&VarRef) -> Result<i64, E>>(
        &self,
        value: &mut F,
    ) -> Result<i128, E> {
        let mut sum = i128::from(self.constant);
        for (var, c) in &self.terms {
            sum += i128::from(value(var)?) * i128::from(*c);
        }
        for (op, number, divisor, c) in &self.divisions {
            let number = number.eval(value)?;
            let part = divide(*op, number, i128::from((*divisor).max(1)));
            let part = part.checked_mul(i128::from(*c)).ok_or_else(too_large)?;
            sum = sum.checked_add(part).ok_or_else(too_large)?;
        }
        Ok(sum)
    }
}

fn divide(op: DivOp, number: i128, divisor: i128) -> i128 {
    match op {
        DivOp::FloorDiv => number.div_euclid(divisor),
        DivOp::FloorMod => number.rem_euclid(divisor),
        DivOp::TruncDiv => number / divisor,
        DivOp::TruncRem => number % divisor,
    }
}

/// An affine expression over positions: the dimensions of a domain, then its parameters.
#[derive(Clone, Debug)]
struct Linear {
    constant: i64,
    terms: Vec<(usize, i64)>,
}

impl Linear {
    #[inline]
    fn eval(&self, xs: &[i64]) -> i128 {
        let product =
            |(at, c): &(usize, i64)| i128::from(xs.get(*at).copied().unwrap_or(0)) * i128::from(*c);
        self.terms.iter().map(product).sum::<i128>() + i128::from(self.constant)
    }
}

#[derive(Clone, Debug)]
struct SetCode {
    eqs: Vec<Linear>,
    ges: Vec<Linear>,
    mods: Vec<(Linear, i64, i64)>,
}

impl SetCode {
    #[inline]
    fn contains(&self, xs: &[i64]) -> bool {
        self.ges.iter().all(|a| a.eval(xs) >= 0)
            && self.eqs.iter().all(|a| a.eval(xs) == 0)
            && self.mods.iter().all(|(a, modulus, most)| {
                a.eval(xs).rem_euclid(i128::from(*modulus).max(1)) <= i128::from(*most)
            })
    }
}

/// Bounds of one dimension by those before it: `coefficient * x` at least or at most an expression.
#[derive(Clone, Debug, Default)]
struct RangeCode {
    lower: Vec<(Linear, i64)>,
    upper: Vec<(Linear, i64)>,
}

/// A domain over slots.
#[derive(Debug)]
pub(super) struct DomainCode {
    /// The slots of the dimensions.
    pub(super) dims: Vec<u32>,
    /// What the constraints mention besides.
    pub(super) params: Vec<VarRef>,
    sets: Vec<SetCode>,
    /// For each dimension, one range per part of the projection onto it and those before.
    ranges: Vec<Vec<RangeCode>>,
}

impl DomainCode {
    /// Resolves the parameters of a domain. `slots` are those of its dimensions.
    pub(super) fn new<E>(
        domain: &Domain,
        slots: Vec<u32>,
        enumerated: bool,
        resolve: &mut dyn FnMut(Var) -> Result<VarRef, E>,
    ) -> Result<DomainCode, E> {
        let mut positions: HashMap<Var, usize> =
            domain.dims().iter().enumerate().map(|(at, dim)| (*dim, at)).collect();
        let mut params = Vec::new();
        for param in domain.params() {
            positions.insert(param, domain.dims().len() + params.len());
            params.push(resolve(param)?);
        }
        let sets = domain.sets().iter().map(|set| set_code(set, &positions)).collect();
        let mut ranges = Vec::new();
        if enumerated {
            for at in 0..domain.dims().len() {
                ranges.push(ranges_of(domain, at, &positions));
            }
        }
        Ok(DomainCode { dims: slots, params, sets, ranges })
    }

    /// Whether the point, followed by the parameters, is in the domain.
    #[inline]
    pub(super) fn contains(&self, xs: &[i64]) -> bool {
        self.sets.iter().any(|set| set.contains(xs))
    }
}

fn linear(a: &Affine, positions: &HashMap<Var, usize>) -> Linear {
    // A variable without a position cannot occur: every variable is a dimension or a parameter.
    let terms =
        a.terms().iter().map(|(var, c)| (positions.get(var).copied().unwrap_or(usize::MAX), *c));
    Linear { constant: a.constant_part(), terms: terms.collect() }
}

fn set_code(set: &Set, positions: &HashMap<Var, usize>) -> SetCode {
    SetCode {
        eqs: set.eqs().iter().map(|a| linear(a, positions)).collect(),
        ges: set.ges().iter().map(|a| linear(a, positions)).collect(),
        mods: set
            .mods()
            .iter()
            .map(|c| (linear(c.expr(), positions), c.modulus(), c.at_most()))
            .collect(),
    }
}

/// The ranges of one dimension. Where the projection gives up, constraints that mention no later
/// dimension still bound it.
fn ranges_of(domain: &Domain, at: usize, positions: &HashMap<Var, usize>) -> Vec<RangeCode> {
    let (dims, dim) = (domain.dims(), domain.dims()[at]);
    let projected = domain.project(&dims[..=at]);
    let sets = projected.as_ref().map_or(domain.sets(), Domain::sets);
    let known = |a: &&Affine| !dims[at + 1..].iter().any(|later| a.mentions(*later));
    let range = |set: &Set| {
        let mut range = RangeCode::default();
        for a in set.ges().iter().filter(known) {
            add_bound(&mut range, a, dim, positions, false);
        }
        for a in set.eqs().iter().filter(known) {
            add_bound(&mut range, a, dim, positions, true);
        }
        range
    };
    sets.iter().map(range).collect()
}

/// `a >= 0` with `a = c * dim + rest`: `c * dim >= -rest`.
fn add_bound(
    range: &mut RangeCode,
    a: &Affine,
    dim: Var,
    positions: &HashMap<Var, usize>,
    equal: bool,
) {
    let c = a.coeff(dim);
    if c == 0 {
        return;
    }
    let rest = linear(&a.without(dim), positions);
    if c > 0 || equal {
        range.lower.push((rest.clone(), c));
    }
    if c < 0 || equal {
        range.upper.push((rest, c));
    }
}

impl RangeCode {
    /// The range, `None` where it is open on a side.
    fn eval(&self, xs: &[i64]) -> Option<(i128, i128)> {
        // The rounded quotient of -rest by c, up for a lower bound and down for an upper one.
        let quotient = |(rest, c): &(Linear, i64), up: bool| {
            let sign = i128::from(c.signum());
            let (number, c) = (-rest.eval(xs) * sign, i128::from(*c).abs());
            if up { -(-number).div_euclid(c) } else { number.div_euclid(c) }
        };
        let low = self.lower.iter().map(|bound| quotient(bound, true)).max()?;
        let high = self.upper.iter().map(|bound| quotient(bound, false)).min()?;
        Some((low, high))
    }
}

/// The points of a domain, one after the other in index order.
#[derive(Debug)]
pub(super) struct Points {
    /// The point, then the parameters.
    pub(super) xs: Vec<i64>,
    high: Vec<i64>,
    n_dims: usize,
    started: bool,
}

impl Points {
    /// Starts before the first point.
    pub(super) fn new(n_dims: usize, params: &[i64]) -> Points {
        let mut xs = vec![0; n_dims];
        xs.extend(params);
        Points { xs, high: vec![0; n_dims], n_dims, started: false }
    }

    /// Goes to the next point; false after the last one.
    pub(super) fn advance(&mut self, domain: &DomainCode, meter: &Meter) -> Result<bool, Stop> {
        let first = !std::mem::replace(&mut self.started, true);
        if self.n_dims == 0 {
            return Ok(first && domain.contains(&self.xs));
        }
        let mut at = 0;
        if first {
            self.enter(0, domain)?;
        } else {
            at = self.n_dims - 1;
            self.next(at);
        }
        loop {
            meter.step(1)?;
            if self.xs[at] > self.high[at] {
                if at == 0 {
                    return Ok(false);
                }
                at -= 1;
                self.next(at);
            } else if at + 1 < self.n_dims {
                at += 1;
                self.enter(at, domain)?;
            } else if domain.contains(&self.xs) {
                return Ok(true);
            } else {
                self.next(at);
            }
        }
    }

    fn next(&mut self, at: usize) {
        match self.xs[at].checked_add(1) {
            Some(next) => self.xs[at] = next,
            None => self.high[at] = i64::MIN,
        }
    }

    /// The first candidate of a dimension, with those before it fixed.
    fn enter(&mut self, at: usize, domain: &DomainCode) -> Result<(), Stop> {
        let mut all: Option<(i128, i128)> = None;
        for range in &domain.ranges[at] {
            let unbounded = || Stop::internal("a reduction runs over an unbounded domain");
            let (low, high) = range.eval(&self.xs).ok_or_else(unbounded)?;
            if low <= high {
                let (lowest, highest) = all.unwrap_or((low, high));
                all = Some((lowest.min(low), highest.max(high)));
            }
        }
        // Nothing between 1 and 0.
        let (low, high) = all.unwrap_or((1, 0));
        let narrow = |x: i128| i64::try_from(x).map_err(|_| too_large());
        (self.xs[at], self.high[at]) = (narrow(low)?, narrow(high)?);
        Ok(())
    }
}
