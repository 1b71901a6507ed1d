//! Half-open symbolic ranges `lo..hi` that remember where each bound came from.
//!
//! A range is the intersection of its bounds: it starts at the largest lower one and ends before
//! the smallest upper one. Bounds stay in a list, each with the provenance `P` the caller gave it
//! (a span, an id of a read), so that a message can say which read set a limit. A bound without
//! provenance comes from the rules themselves: domains never go below 0.
//!
//! Invariant: upper bounds are exclusive. A range may be empty (`hi <= lo`) for some parameters;
//! its extent is then 0.

use std::fmt;

use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::domain::Domain;
use crate::error::{Result, Truth};
use crate::minmax::MinMax;
use crate::prove::Facts;
use crate::quasi::Quasi;
use crate::set::Set;
use crate::var::{Named, Var, Vars};

/// One limit of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound<P> {
    /// The limit.
    pub value: MinMax,
    /// Where it came from; `None` for the rule that domains never go below 0.
    pub from: Option<P>,
}

/// `max(lower)..min(upper)`; open at an end that has no bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range<P> {
    /// Lower bounds, inclusive.
    pub lower: Vec<Bound<P>>,
    /// Upper bounds, exclusive.
    pub upper: Vec<Bound<P>>,
}

impl<P: Clone> Range<P> {
    /// The range `lo..hi`.
    pub fn new(lo: impl Into<MinMax>, hi: impl Into<MinMax>, from: P) -> Range<P> {
        let mut range = Range::open(lo, from.clone());
        range.upper.push(Bound { value: hi.into(), from: Some(from) });
        range
    }

    /// The range `lo..` without an end.
    pub fn open(lo: impl Into<MinMax>, from: P) -> Range<P> {
        Range { lower: vec![Bound { value: lo.into(), from: Some(from) }], upper: Vec::new() }
    }

    /// The range `0..` that every inferred range starts from.
    pub fn natural() -> Range<P> {
        Range { lower: vec![Bound { value: 0.into(), from: None }], upper: Vec::new() }
    }

    /// The points of both; bounds keep their provenance.
    pub fn intersect(&self, other: &Range<P>) -> Range<P> {
        let join = |a: &[Bound<P>], b: &[Bound<P>]| [a, b].concat();
        Range { lower: join(&self.lower, &other.lower), upper: join(&self.upper, &other.upper) }
    }

    /// The first point, as one value; `None` when the range is open below.
    pub fn lo(&self) -> Option<MinMax> {
        MinMax::max_of(self.lower.iter().map(|b| b.value.clone())).ok()
    }

    /// The end (exclusive), as one value; `None` when the range is open above.
    pub fn hi(&self) -> Option<MinMax> {
        MinMax::min_of(self.upper.iter().map(|b| b.value.clone())).ok()
    }

    /// The same range without bounds that the facts show never to matter. Of bounds that are
    /// always equal, the first one stays.
    pub fn simplified(&self, facts: &Facts) -> Range<P> {
        let mut budget = Budget::new();
        let mut range = self.clone();
        for bound in range.lower.iter_mut().chain(&mut range.upper) {
            bound.value = bound.value.simplified_within(facts, &mut budget);
        }
        drop_useless(&mut range.lower, |a, b| a.at_most_within(b, facts, &mut budget));
        drop_useless(&mut range.upper, |a, b| b.at_most_within(a, facts, &mut budget));
        range
    }

    /// The number of points, 0 when there are none; `None` when an end is open.
    pub fn extent(&self) -> Option<MinMax> {
        let length = self.hi()?.sub(&self.lo()?).ok()?;
        MinMax::max_of([length, 0.into()]).ok()
    }

    /// Whether the range has no point: `True` for all parameters, `False` for none, `Unknown` when
    /// it depends.
    pub fn is_empty(&self, facts: &Facts) -> Truth {
        let (Some(lo), Some(hi)) = (self.lo(), self.hi()) else { return Truth::False };
        if hi.at_most(&lo, facts) {
            return Truth::True;
        }
        match lo.add_constant(1).is_ok_and(|lo| lo.at_most(&hi, facts)) {
            true => Truth::False,
            false => Truth::Unknown,
        }
    }

    /// Whether the first point is 0: `True` for all parameters, `False` for none, `Unknown` when
    /// it depends.
    pub fn starts_at_zero(&self, facts: &Facts) -> Truth {
        self.lo().map_or(Truth::False, |lo| facts.equal(&lo, &0.into()))
    }

    /// The points of `domain` at which `var` lies in the range. Bounds may mention the other
    /// dimensions of the domain.
    pub fn restrict(&self, domain: &Domain, var: Var) -> Result<Domain> {
        // Bounds that are affine are one conjunction.
        let affine = |bound: &'_ Bound<P>| bound.value.as_quasi()?.as_affine().cloned();
        let mut simple = Vec::with_capacity(self.lower.len() + self.upper.len());
        for low in self.lower.iter().filter_map(affine) {
            simple.push(Constraint::ge(&Affine::var(var), &low)?);
        }
        for high in self.upper.iter().filter_map(affine) {
            simple.push(Constraint::lt(&Affine::var(var), &high)?);
        }
        let mut result = domain.restricted(&Set::new(simple)?)?;
        for bound in self.lower.iter().filter(|bound| affine(bound).is_none()) {
            let above = bound.value.at_most_domain(domain.dims(), &var.into())?;
            result = result.intersect(&above)?;
        }
        for bound in self.upper.iter().filter(|bound| affine(bound).is_none()) {
            let last = bound.value.add_constant(-1)?;
            result = result.intersect(&last.at_least_domain(domain.dims(), &var.into())?)?;
        }
        Ok(result)
    }

    /// Calls `visit` for every variable of every bound, with repetitions.
    pub fn for_each_var(&self, visit: &mut dyn FnMut(Var)) {
        self.lower.iter().chain(&self.upper).for_each(|b| b.value.for_each_var(visit));
    }

    /// Prints with the names of `vars`, as `0..min(n - 1, m)`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, Range<P>> {
        Named::new(self, vars)
    }
}

/// Drops each bound that another one makes useless, the later ones first.
fn drop_useless<P>(bounds: &mut Vec<Bound<P>>, mut useless: impl FnMut(&MinMax, &MinMax) -> bool) {
    for at in (0..bounds.len()).rev() {
        let value = &bounds[at].value;
        let mut others = bounds.iter().enumerate().filter(|(i, _)| *i != at);
        if others.any(|(_, b)| useless(value, &b.value)) {
            bounds.remove(at);
        }
    }
}

impl MinMax {
    /// The points over `dims` at which `expr <= self`.
    pub fn at_least_domain(&self, dims: &[Var], expr: &Quasi) -> Result<Domain> {
        let (list, max) = match self {
            MinMax::Value(q) => return Domain::where_nonnegative(dims, &[q.sub(expr)?]),
            MinMax::Min(list) => (list, false),
            MinMax::Max(list) => (list, true),
        };
        let start = if max { Domain::nothing(dims) } else { Domain::everything(dims) };
        list.iter().try_fold(start, |all, value| {
            let one = value.at_least_domain(dims, expr)?;
            if max { all.union(&one) } else { all.intersect(&one) }
        })
    }

    /// The points over `dims` at which `self <= expr`.
    pub fn at_most_domain(&self, dims: &[Var], expr: &Quasi) -> Result<Domain> {
        self.scale(-1)?.at_least_domain(dims, &expr.neg()?)
    }
}

impl<P: Clone> fmt::Display for Named<'_, Range<P>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lo) = self.item.lo() {
            write!(f, "{}", self.part(&lo))?;
        }
        f.write_str("..")?;
        match self.item.hi() {
            Some(hi) => write!(f, "{}", self.part(&hi)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_keep_their_origin_and_the_useless_go() {
        let mut vars = Vars::new();
        let (n, m) = (vars.symbol("n"), vars.symbol("m"));
        let mut facts = Facts::new();
        facts.assume_nonnegative(n);
        let bound = |text: &str, vars: &mut Vars| Quasi::parse(text, vars).unwrap();
        let (shorter, other) = (bound("n - 1", &mut vars), bound("m", &mut vars));
        let range = Range::natural()
            .intersect(&Range::new(0, n, "x[i]"))
            .intersect(&Range::new(-1, shorter, "x[i + 1]"))
            .intersect(&Range::new(-3, other, "y[i + 3]"));
        let range = range.simplified(&facts);
        assert_eq!(range.display(&vars).to_string(), "0..min(n - 1, m)");
        let origins: Vec<_> = range.upper.iter().map(|b| b.from).collect();
        assert_eq!((range.lower.len(), origins), (1, vec![Some("x[i + 1]"), Some("y[i + 3]")]));
        assert_eq!(range.starts_at_zero(&facts), Truth::True);
        assert_eq!(range.is_empty(&facts), Truth::Unknown);
        let extent = range.extent().unwrap();
        assert_eq!(extent.display(&vars).to_string(), "max(0, min(n - 1, m))");
        assert_eq!(extent.eval(&|v| if v == m { 9 } else { 4 }), Ok(3));
    }
}
