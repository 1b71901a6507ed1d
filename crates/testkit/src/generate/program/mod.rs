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

mod arithmetic;
mod build;
mod evaluate;
mod expr;
mod facts;
mod functions;
mod guards;
mod indexed;
mod records;
mod recurrences;
mod reductions;
mod scalars;
mod terms;
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
        }
    }
    Program { text: builder.text, sections: drawn, facts: builder.facts }
}

#[cfg(test)]
mod tests;
