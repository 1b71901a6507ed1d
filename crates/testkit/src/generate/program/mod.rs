//! Well-typed, meaningful programs, together with the values that they must compute.
//!
//! The generator builds a small tree of its own (`expr`), evaluates it naively (`evaluate`) and
//! writes it as text (`write`). Evaluation knows nothing of the compiler: loops over index boxes
//! in plain order, one point at a time, in 64-bit arithmetic. Whatever it would not compute exactly
//! is not generated: integers stay far from overflow, and floats are small multiples of a power of
//! two, so that every order of summation, every fused multiplication and every float type from
//! `f32` on gives the same bits. Later stages may therefore compare results with `==`.
//!
//! | module | makes |
//! |---|---|
//! | `scalars` | constants and scalar bindings |
//! | `indexed` | elementwise definitions, transposes, outer products, stencils, default reads |
//! | `reductions` | sums, products of matrices, extrema, prefix sums, histograms |
//! | `recurrences` | first and second order, descending, over a grid |
//! | `guards` | `where … else`, several clauses |
//! | `functions` | functions of scalars and of tensors |
//! | `records` | structs as values and as the state of a recurrence |
//! | `slices` | slices, rest indices, updates, arithmetic on whole tensors |
//! | `folds` | reductions with a place, an operator of one's own, over nothing, by key |
//! | `orders` | same-step, mutual, bounded, data-dependent recurrences, and `until` |
//! | `lists` | comprehensions, filtered and jagged lists, `for` |
//! | `texts` | strings and format specifications |
//! | `choices` | enums, tuples, structs, `match` |
//! | `calls` | closures, pipelines, `Option` and `Result`, `try`, recursion |
//!
//! The later ones write text at once (`say`): what they mean is worked out in plain Rust beside it.

mod arithmetic;
mod build;
mod calls;
mod choices;
mod evaluate;
mod expr;
mod facts;
mod folds;
mod functions;
mod guards;
mod indexed;
mod lists;
mod orders;
mod records;
mod recurrences;
mod reductions;
mod say;
mod scalars;
mod slices;
mod terms;
mod texts;
mod write;

pub use facts::{Element, Fact, Value};

use super::Source;
use build::Builder;

/// What a part of a program is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Section {
    /// Constants and scalar bindings.
    Scalars,
    /// Elementwise definitions and stencils.
    Indexed,
    /// Reductions.
    Reductions,
    /// Recurrences with base clauses.
    Recurrences,
    /// Guards and several clauses.
    Guards,
    /// Functions.
    Functions,
    /// Structs.
    Records,
    /// Slices, rest indices and updates.
    Slices,
    /// Further reductions.
    Folds,
    /// Recurrences in other orders, and `until`.
    Orders,
    /// Comprehensions and jagged lists.
    Lists,
    /// Strings and formatting.
    Texts,
    /// Enums, tuples and `match`.
    Choices,
    /// Closures, pipelines and failures.
    Calls,
}

impl Section {
    /// Every section, simplest first.
    pub const ALL: &[Section] = &[
        Section::Scalars,
        Section::Indexed,
        Section::Reductions,
        Section::Recurrences,
        Section::Guards,
        Section::Functions,
        Section::Records,
        Section::Slices,
        Section::Folds,
        Section::Orders,
        Section::Lists,
        Section::Texts,
        Section::Choices,
        Section::Calls,
    ];
}

/// A program and what is known about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// The source text.
    pub text: String,
    /// The sections it draws from, in order.
    pub sections: Vec<Section>,
    /// Its top-level bindings in source order, a struct as one fact per field.
    pub facts: Vec<Fact>,
    /// The lines that it prints.
    pub printed: Vec<String>,
}

/// A program of a few tensors and then `n` parts, each from one of the sections.
pub fn program(source: &mut Source<'_>, sections: &[Section], n: usize) -> Program {
    let mut builder = Builder::new(source);
    builder.operands();
    let mut drawn = Vec::new();
    for _ in 0..n {
        let section = builder.source.pick(sections);
        drawn.push(section);
        match section {
            Section::Scalars => builder.scalars(),
            Section::Indexed => builder.indexed(),
            Section::Reductions => builder.reductions(),
            Section::Recurrences => builder.recurrences(),
            Section::Guards => builder.guards(),
            Section::Functions => builder.functions(),
            Section::Records => builder.records(),
            Section::Slices => builder.slices(),
            Section::Folds => builder.folds(),
            Section::Orders => builder.orders(),
            Section::Lists => builder.lists(),
            Section::Texts => builder.texts(),
            Section::Choices => builder.choices(),
            Section::Calls => builder.calls(),
        }
    }
    Program { text: builder.text, sections: drawn, facts: builder.facts, printed: builder.printed }
}

#[cfg(test)]
mod tests;
