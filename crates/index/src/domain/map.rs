//! Quasi-affine maps between index spaces, and what they do to domains.
//!
//! A read `T[2*i + k, j / 2]` is a map from the points of a clause to the points of `T`. Its image
//! is what is read; its preimage is who reads a given part, which is what the adjoint of the read
//! gathers over. Both are exact, with divisibility.

use super::Domain;
use crate::affine::Affine;
use crate::budget::Budget;
use crate::constraint::Constraint;
use crate::eliminate::eliminate;
use crate::error::{GaveUp, Result};
use crate::quasi::Quasi;
use crate::quasi::lower::{Case, lower_all};
use crate::set::Set;
use crate::var::Var;

/// A function from points over `from` to points, one expression for each coordinate. Other
/// variables in the expressions are parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// The variables of the argument.
    pub from: Vec<Var>,
    /// The coordinates of the result.
    pub to: Vec<Quasi>,
}

impl Map {
    /// The map with these arguments and results.
    pub fn new(from: impl Into<Vec<Var>>, to: impl Into<Vec<Quasi>>) -> Map {
        Map { from: from.into(), to: to.into() }
    }

    /// The value at a point.
    pub fn apply(&self, point: &[i64], param: &dyn Fn(Var) -> i64) -> Result<Vec<i128>> {
        let value = |v: Var| match self.from.iter().position(|f| *f == v) {
            Some(at) => point.get(at).copied().unwrap_or(0),
            None => param(v),
        };
        self.to.iter().map(|q| q.eval(&value)).collect()
    }
}

impl Domain {
    /// The points over `map.from` whose value lies in `self`.
    pub fn preimage(&self, map: &Map) -> Result<Domain> {
        self.preimage_within(map, &mut Budget::new())
    }

    fn preimage_within(&self, map: &Map, budget: &mut Budget) -> Result<Domain> {
        if map.to.len() != self.dims.len() {
            return Err(GaveUp::Arity);
        }
        let mut result = Domain::nothing(&*map.from);
        for case in lower_all(&map.to, self.free_local())? {
            let position = |v: Var| self.dims.iter().position(|d| *d == v);
            let mut coordinate = |v: Var| position(v).map(|at| case.values[at].clone());
            for set in &self.sets {
                let set = conjoin(&set.replace(&mut coordinate)?, &case)?;
                let locals = locals_of(self.free_local(), &case);
                eliminate(&set, &locals, budget)?.into_iter().for_each(|s| result.push(s));
            }
        }
        Ok(result)
    }

    /// The values of the map at the points of `self`, over the dimensions `dims`.
    pub fn image(&self, map: &Map, dims: &[Var]) -> Result<Domain> {
        if map.to.len() != dims.len() {
            return Err(GaveUp::Arity);
        }
        // The arguments become locals, because `dims` may well reuse their names.
        let first = self.free_local();
        let arguments: Vec<Var> = (first..).map(Var::local).take(map.from.len()).collect();
        let domain = self.renamed(&arguments)?;
        let position = |v: Var| map.from.iter().position(|f| *f == v);
        let mut budget = Budget::new();
        let mut result = Domain::nothing(dims);
        for case in lower_all(&map.to, first + map.from.len() as u32)? {
            let mut argument = |v: Var| position(v).map(|at| Affine::var(arguments[at]));
            let case = case.replaced(&mut argument)?;
            let locals = locals_of(first, &case);
            for set in &domain.sets {
                let set = conjoin(set, &case)?;
                let values = case.values.iter().zip(dims);
                let equal: Result<Vec<Constraint>> =
                    values.map(|(v, d)| Constraint::equal(v, &Affine::var(*d))).collect();
                let set = set.intersect(&Set::new(equal?)?)?;
                eliminate(&set, &locals, &mut budget)?.into_iter().for_each(|s| result.push(s));
            }
        }
        Ok(result)
    }

    /// The parameter values for which the point, whose coordinates may depend on parameters, is in
    /// the domain; a domain without dimensions.
    pub fn at(&self, point: &[Quasi]) -> Result<Domain> {
        self.at_within(point, &mut Budget::new())
    }

    pub(super) fn at_within(&self, point: &[Quasi], budget: &mut Budget) -> Result<Domain> {
        self.preimage_within(&Map::new(Vec::new(), point), budget)
    }
}

/// The locals numbered from `first` to the last of the case.
fn locals_of(first: u32, case: &Case) -> Vec<Var> {
    (first..case.next_local).map(Var::local).collect()
}

/// The set with the conditions of the case.
fn conjoin(set: &Set, case: &Case) -> Result<Set> {
    if case.ges.is_empty() {
        return Ok(set.clone());
    }
    set.intersect(&Set::new(case.ges.iter().cloned().map(Constraint::Ge))?)
}

impl Case {
    /// The case with variables replaced.
    fn replaced(mut self, value: &mut dyn FnMut(Var) -> Option<Affine>) -> Result<Case> {
        for a in self.values.iter_mut().chain(&mut self.ges) {
            *a = a.replace(value)?;
        }
        Ok(self)
    }
}
