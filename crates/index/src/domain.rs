//! Domains: unions of constraint sets over an ordered list of dimensions.
//!
//! A domain describes, for every value of its parameters (each variable that is not a dimension),
//! a set of integer points. Binary operations match dimensions by position, so the two sides may
//! name them differently; the result has the names of the left side.
//!
//! Invariant: every operation is exact for all integers, or gives up. Parts may overlap unless
//! [`Domain::make_disjoint`] or [`Domain::disjoint`] made them, and a part may be empty: emptiness
//! is only ever asked of [`Domain::is_empty`].

use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::eliminate::{eliminate, feasible, near};
use crate::error::{GaveUp, Result, Truth};
use crate::quasi::Quasi;
use crate::quasi::lower::lower_all;
use crate::set::Set;
use crate::var::{Named, Var, VarKind, Vars};

mod bounds;
mod count;
mod lexmin;
mod map;
mod points;
mod print;
mod simplify;
mod subtract;

pub use bounds::AxisBounds;
pub use lexmin::Piece;
pub use map::Map;

/// A union of sets over named dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Domain {
    dims: Vec<Var>,
    sets: Vec<Set>,
}

impl Domain {
    /// All integer points.
    pub fn everything(dims: impl Into<Vec<Var>>) -> Domain {
        Domain { dims: dims.into(), sets: vec![Set::everything()] }
    }

    /// No point.
    pub fn nothing(dims: impl Into<Vec<Var>>) -> Domain {
        Domain { dims: dims.into(), sets: Vec::new() }
    }

    /// The points of one set.
    pub fn new(dims: impl Into<Vec<Var>>, set: Set) -> Domain {
        Domain::of_sets(dims.into(), [set])
    }

    /// The points of several sets.
    pub fn of_sets(dims: impl Into<Vec<Var>>, sets: impl IntoIterator<Item = Set>) -> Domain {
        let mut domain = Domain::nothing(dims);
        sets.into_iter().for_each(|set| domain.push(set));
        domain
    }

    /// The points where all the expressions are at least zero.
    pub fn where_nonnegative(dims: impl Into<Vec<Var>>, exprs: &[Quasi]) -> Result<Domain> {
        Domain::lowered(dims.into(), exprs, 0, Constraint::Ge, &mut Budget::new())
    }

    /// The points where the expression is zero.
    pub fn where_zero(dims: impl Into<Vec<Var>>, expr: &Quasi) -> Result<Domain> {
        let exprs = std::slice::from_ref(expr);
        Domain::lowered(dims.into(), exprs, 0, Constraint::Eq, &mut Budget::new())
    }

    /// The points where the values of all the expressions satisfy a constraint. Quotients become
    /// locals from `first_local` on and are eliminated.
    pub(crate) fn lowered(
        dims: Vec<Var>,
        exprs: &[Quasi],
        first_local: u32,
        constraint: fn(Affine) -> Constraint,
        budget: &mut Budget,
    ) -> Result<Domain> {
        if let Some(affine) = exprs.iter().map(Quasi::as_affine).collect::<Option<Vec<&Affine>>>() {
            let set = Set::new(affine.into_iter().cloned().map(constraint))?;
            return Ok(Domain::of_sets(dims, [set]));
        }
        let mut domain = Domain::nothing(dims);
        for case in lower_all(exprs, first_local)? {
            let ges = case.ges.into_iter().map(Constraint::Ge);
            let set = Set::new(case.values.into_iter().map(constraint).chain(ges))?;
            let locals: Vec<Var> = (first_local..case.next_local).map(Var::local).collect();
            eliminate(&set, &locals, budget)?.into_iter().for_each(|s| domain.push(s));
        }
        Ok(domain)
    }

    /// The dimensions, in order.
    pub fn dims(&self) -> &[Var] {
        &self.dims
    }

    /// The parts of the union.
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// Adds a part unless it is plainly empty or already there.
    pub(crate) fn push(&mut self, set: Set) {
        if !set.is_nothing() && !self.sets.contains(&set) {
            self.sets.push(set);
        }
    }

    /// The same points under other names for the dimensions.
    pub fn renamed(&self, dims: &[Var]) -> Result<Domain> {
        if dims.len() != self.dims.len() {
            return Err(GaveUp::Arity);
        }
        if dims == self.dims {
            return Ok(self.clone());
        }
        let position = |v: Var| self.dims.iter().position(|d| *d == v);
        let mut rename = |v: Var| position(v).map(|at| Affine::var(dims[at]));
        let sets: Result<Vec<Set>> = self.sets.iter().map(|s| s.replace(&mut rename)).collect();
        Ok(Domain::of_sets(dims, sets?))
    }

    /// The points of both.
    pub fn intersect(&self, other: &Domain) -> Result<Domain> {
        self.intersect_within(other, &mut Budget::new())
    }

    pub(crate) fn intersect_within(&self, other: &Domain, budget: &mut Budget) -> Result<Domain> {
        let renamed;
        let other = if self.dims == other.dims {
            other
        } else {
            renamed = other.renamed(&self.dims)?;
            &renamed
        };
        let mut both = Domain::nothing(&*self.dims);
        for a in &self.sets {
            for b in &other.sets {
                budget.pay(1)?;
                both.push(a.intersect(b)?);
            }
        }
        if both.sets.len() > 1 {
            both.without_empty_parts(budget);
        }
        Ok(both)
    }

    /// The points of either.
    pub fn union(&self, other: &Domain) -> Result<Domain> {
        let mut either = self.clone();
        other.renamed(&self.dims)?.sets.into_iter().for_each(|s| either.push(s));
        Ok(either)
    }

    /// The points that are left when only the dimensions `keep` are looked at, in that order.
    pub fn project(&self, keep: &[Var]) -> Result<Domain> {
        if keep.iter().any(|v| !self.dims.contains(v)) {
            return Err(GaveUp::Arity);
        }
        let doomed: Vec<Var> = self.dims.iter().copied().filter(|d| !keep.contains(d)).collect();
        self.eliminated(keep, &doomed, &mut Budget::new())
    }

    /// The parameter values for which the domain has a point, as a domain without dimensions.
    pub fn occupied(&self) -> Result<Domain> {
        self.project(&[])
    }

    /// Quantifies `doomed` away and gives the result the dimensions `dims`.
    pub(crate) fn eliminated(
        &self,
        dims: &[Var],
        doomed: &[Var],
        budget: &mut Budget,
    ) -> Result<Domain> {
        let mut result = Domain::nothing(dims);
        for set in &self.sets {
            eliminate(set, doomed, budget)?.into_iter().for_each(|s| result.push(s));
        }
        Ok(result)
    }

    /// The domain with the constraints of `set`, which may mention dimensions and parameters.
    pub fn restricted(&self, set: &Set) -> Result<Domain> {
        self.intersect(&Domain::new(&*self.dims, set.clone()))
    }

    /// Whether the domain is empty for all values of its parameters. `False` means that it has a
    /// point for some of them.
    pub fn is_empty(&self) -> Truth {
        self.always_empty_given(&Set::everything())
    }

    /// Whether the domain is empty for all values of its parameters that satisfy `assumptions`.
    pub fn always_empty_given(&self, assumptions: &Set) -> Truth {
        self.empty_within(assumptions, &mut Budget::new())
    }

    pub(crate) fn empty_within(&self, assumptions: &Set, budget: &mut Budget) -> Truth {
        let mut answer = Truth::True;
        for set in &self.sets {
            let near = near(assumptions, set.vars());
            let found = set.intersect(&near).and_then(|s| feasible(&s, budget));
            answer = answer.and(Truth::of(found).negate());
        }
        answer
    }

    /// Whether every point of `self` is one of `other`, for all values of the parameters.
    pub fn is_subset(&self, other: &Domain) -> Truth {
        self.subset_within(other, &mut Budget::new())
    }

    pub(crate) fn subset_within(&self, other: &Domain, budget: &mut Budget) -> Truth {
        match self.subtract_within(other, budget) {
            Ok(rest) => rest.empty_within(&Set::everything(), budget),
            Err(_) => Truth::Unknown,
        }
    }

    /// Whether both have the same points, for all values of the parameters.
    pub fn is_same(&self, other: &Domain) -> Truth {
        self.is_subset(other).and(other.is_subset(self))
    }

    /// True when the point, with one coordinate for each dimension, is in the domain.
    pub fn contains(&self, point: &[i64], param: &dyn Fn(Var) -> i64) -> Result<bool> {
        if point.len() != self.dims.len() {
            return Err(GaveUp::Arity);
        }
        let value = |v: Var| match self.dims.iter().position(|d| *d == v) {
            Some(at) => point[at],
            None => param(v),
        };
        for set in &self.sets {
            if set.contains(&value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The variables that are not dimensions, each once.
    pub fn params(&self) -> Vec<Var> {
        let mut params: Vec<Var> = self.sets.iter().flat_map(Set::vars).collect();
        params.retain(|v| !self.dims.contains(v));
        params.sort_unstable();
        params.dedup();
        params
    }

    /// Drops the parts that are cheaply seen to be empty.
    fn without_empty_parts(&mut self, budget: &mut Budget) {
        self.sets.retain(|s| budget.taste(|b| feasible(s, b)) != Ok(false));
    }

    /// A local number no set of the domain uses.
    pub(crate) fn free_local(&self) -> u32 {
        let vars = self.sets.iter().flat_map(Set::vars);
        let locals = vars.filter(|v| v.kind() == VarKind::Local);
        locals.map(|v| v.number() as u32 + 1).max().unwrap_or(0)
    }

    /// Prints with the names of `vars`, as `{ [i, j] : i >= 0 and i < n }`.
    pub fn display<'a>(&'a self, vars: &'a Vars) -> Named<'a, Domain> {
        Named::new(self, vars)
    }
}
