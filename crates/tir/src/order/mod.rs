//! Whether a group can be computed in some order: one checker for every backend.
//!
//! A statement is a clause of a binding; a dependence says that a point of one statement reads a
//! point of another. An order is a tree: phases one after the other (clause splits), loops over a
//! linear form of the axes (permutations, directions, skews) and statements whose points may come
//! in any order. [`find_order`] searches these trees in the manner of Allen and Kennedy: what does
//! not depend on itself is split into phases; for what does, a form is sought under which no
//! dependence runs backwards and some run forwards; those are carried by the loop, and the rest is
//! ordered inside it.
//!
//! Conditions that are affine in indices and symbols restrict dependences; others count as
//! possibly true. A read with a subscript that is data imposes no order; if an order exists in
//! which it could be any point along such an axis, that order is preferred. Calls and Jacobian
//! entries must be gone. Every proof is for all values of the symbols that the module's facts
//! allow; what cannot be proved does not count as ordered.

mod affine_conditions;
mod combine;
mod depend;
mod forms;
mod print;
mod search;

pub use affine_conditions::Known;
pub use depend::{Dependence, Statement, dependences};
pub use print::{show_cycle, show_order};

use einlang_index::Facts;

use crate::module::{Group, Module};
use crate::types::Loc;

/// An order of all points of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// The points of one statement, in any order.
    Points(Statement),
    /// One after the other.
    Phases(Vec<Order>),
    /// A loop over the values of one form per statement, ascending; statements meet where their
    /// forms have equal values.
    Loop {
        /// The form of each statement inside.
        forms: Vec<(Statement, Form)>,
        /// What happens for one value.
        inner: Box<Order>,
    },
}

/// `Σ coefficient · axis + offset`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
    /// One coefficient per axis of the binding: one axis ascending or descending, or a skew.
    pub coefficients: Vec<i64>,
    /// A shift, for bindings that read each other.
    pub offset: i64,
}

impl Form {
    /// The value at a point.
    pub fn at(&self, point: &[i64]) -> i64 {
        let terms = self.coefficients.iter().zip(point).map(|(c, x)| c * x);
        terms.sum::<i64>() + self.offset
    }
}

/// One read of a cycle that no order resolves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CycleRead {
    /// Who reads.
    pub reader: Statement,
    /// Who defines what is read.
    pub writer: Statement,
    /// The read as the text form shows it, such as `h[t - 1]`.
    pub read: String,
    /// Where it was written.
    pub loc: Loc,
}

/// A group for which no order was found, with the reads that exclude each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoOrder {
    /// The reads of a smallest conflict: leave out any one, and there is an order. Each is followed,
    /// where possible, by a read of the statement that it reads.
    pub cycle: Vec<CycleRead>,
}

/// Finds an order for a group whose clauses are disjoint, or says what excludes each other.
pub fn find_order(module: &Module, group: &Group) -> Result<Order, NoOrder> {
    let all = dependences(module, group);
    let facts = module.facts();
    match known_or_all(group, &all, &facts) {
        Some(order) => Ok(order),
        None => Err(search::conflict(group, &without_data(&all), &facts)),
    }
}

/// Finds an order for a group whose clauses are disjoint, if there is one: that takes less than saying why
/// there is none.
pub fn any_order(module: &Module, group: &Group) -> Option<Order> {
    known_or_all(group, &dependences(module, group), &module.facts())
}

/// An order that respects all dependences, or else those whose subscripts are no data.
fn known_or_all(group: &Group, all: &[Dependence], facts: &Facts) -> Option<Order> {
    let found = search::search(group, all, facts);
    if found.is_some() || !all.iter().any(|dependence| dependence.by_data) {
        return found;
    }
    search::search(group, &without_data(all), facts)
}

fn without_data(all: &[Dependence]) -> Vec<Dependence> {
    all.iter().filter(|dependence| !dependence.by_data).cloned().collect()
}
