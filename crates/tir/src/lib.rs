//! The typed tensor IR of Einlang and the host IR around it: what the checker produces and what
//! derivatives, simplification, the oracle and scheduling work on.
//!
//! | module | owns |
//! |---|---|
//! | [`types`], [`constant`] | element and tensor types, names, constants as bits |
//! | [`op`] | the table of scalar operations: typing, traps, laws, derivatives |
//! | [`module`] | modules: symbols, inputs, groups of bindings, clauses, functions, entry checks |
//! | [`region`] | what is computed at one point: instructions, reads, reductions, lazy branches |
//! | [`vars`] | the index variables and symbols of a module |
//! | [`builder`] | building modules without source text |
//! | [`text`] | printing and reading modules |
//! | [`verify`] | the invariants of modules |
//! | [`substitute`] | replacing symbols, values and tensors |
//! | [`free`] | what code mentions without defining it |
//! | `derived` | sizes that follow from the extents of arguments |
//! | [`fresh`] | copies of regions with new binders, for inlining and splitting |
//! | [`ad`], [`answer`] | derivatives: requests become ordinary code, and how |
//! | [`work`] | counting operations |
//! | [`passes`] | running passes, and the first of them |
//! | [`order`] | dependences inside a group and whether an order exists |
//! | [`graph`] | strongly connected parts of small graphs |
//! | [`host`] | host programs: strings, files, `match`, recursion, closures, running modules |
//!
//! Invariants: nothing of syntax is known here and nothing does I/O; locations are optional and no
//! part of what IR means; every module and program prints, and reads back as itself; no text and
//! no IR, however broken, makes this crate panic.
//!
//! A scalar `%7` is single-assignment and typed at every use. A tensor is a name that is read point
//! by point, so every index map is visible: derivatives transpose it and scheduling reorders it.
//! Names, value numbers and index variables are identities, each with one binder in a module.

pub mod ad;
pub mod answer;
pub mod builder;
pub mod constant;
mod derived;
pub mod free;
pub mod fresh;
pub mod graph;
pub mod host;
pub mod message;
pub mod module;
pub mod op;
pub mod order;
pub mod passes;
pub mod region;
mod small_float;
pub mod substitute;
mod symbol;
pub mod text;
pub mod types;
pub mod vars;
pub mod verify;
mod walk;
pub mod work;
