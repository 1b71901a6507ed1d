//! The verifier: what holds for every module, and what passes have promised.
//!
//! | invariant | what it says |
//! |---|---|
//! | `unique_names` | no two tensors of a module share a name, no two functions do |
//! | `declared_symbols` | every symbol is declared once, from a source that exists |
//! | `symbolic_conditions` | assumptions and checks mention symbols only |
//! | `outputs` | outputs are inputs or bindings, each once |
//! | `defined_values` | a value is defined once, before its uses, and used at its type |
//! | `scoped_indices` | an index expression mentions only indices and symbols in scope |
//! | `single_binders` | an index is bound in one place; clauses range over their binding's axes |
//! | `readable_tensors` | a tensor is in scope where it is read, with one subscript per axis |
//! | `typed_ops` | operands and result of an operation obey the op table |
//! | `typed_insts` | every other instruction has the operands and results its kind asks for |
//! | `typed_regions` | arms, bodies, guards and combiners yield what their surroundings expect |
//! | `typed_calls` | callees exist and take the arguments given |
//! | `boxed_clauses` | a clause lies within the box of its binding |
//! | `closed_untils` | the extent of an `until` belongs to one group and to an axis of each member |
//! | `kept_properties` | after `split_clauses` clauses are disjoint; after inlining there is no call; after derivatives no Jacobian entry; `select` only after `speculate` |
//!
//! Questions about domains that could not be decided are not held against a module.

mod domains;
mod names;
mod regions;
mod scope;
mod stages;
mod typing;

use std::fmt;

use crate::module::Module;

/// One broken invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The invariant, by its name in the table above.
    pub invariant: &'static str,
    /// Where: a binding, an instruction, a symbol.
    pub entity: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.invariant, self.entity, self.message)
    }
}

impl std::error::Error for Problem {}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    pub(crate) fn add(
        &mut self,
        invariant: &'static str,
        entity: impl fmt::Display,
        message: impl Into<String>,
    ) {
        let problem = Problem { invariant, entity: entity.to_string(), message: message.into() };
        if !self.list.contains(&problem) {
            self.list.push(problem);
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.list
    }
}

/// An invariant, as a function that reports where it is broken.
type Invariant = fn(&Module, &mut Problems);

/// Every invariant, in the order of the table.
const INVARIANTS: &[Invariant] = &[
    names::unique_names,
    names::declared_symbols,
    names::symbolic_conditions,
    names::outputs,
    regions::defined_values,
    regions::scoped_indices,
    domains::single_binders,
    regions::readable_tensors,
    typing::typed_ops,
    typing::typed_insts,
    typing::typed_regions,
    typing::typed_calls,
    domains::boxed_clauses,
    domains::closed_untils,
    stages::kept_properties,
];

/// Checks every invariant; an empty list means that the module is well formed.
pub fn verify(module: &Module) -> Vec<Problem> {
    let mut problems = Problems::default();
    INVARIANTS.iter().for_each(|invariant| invariant(module, &mut problems));
    problems.into_vec()
}
