//! The integer mathematics behind indices: symbolic integers, quasi-affine maps, domains, ranges
//! and the range solver.
//!
//! From the bottom up:
//!
//! | module | owns |
//! |---|---|
//! | [`var`] | index variables and symbols, and their names |
//! | [`affine`], [`quasi`], [`minmax`] | expressions: affine; with `/` and `%` by constants; minima and maxima of those |
//! | [`constraint`], [`set`] | conditions on integers and their conjunctions |
//! | `eliminate` | exact elimination of variables, on which everything else stands |
//! | [`domain`] | unions of sets: boolean operations, projection, images, first points, counts |
//! | [`prove`] | what holds for all points and parameters; which questions are always decided |
//! | `sample` | points that may break a goal, tried before anything is proved |
//! | [`range`], [`solve`] | symbolic ranges with provenance, and the solver that infers them |
//! | [`text`] | the text forms, which read back as printed |
//!
//! ```
//! use einlang_index::{Domain, Facts, Quasi, Vars};
//!
//! let mut vars = Vars::new();
//! let reads = Domain::parse("{ [i, k] : 0 <= i < n - m + 1 and 0 <= k < m }", &mut vars)?;
//! let room = Quasi::parse("n - 1 - (i + k)", &mut vars)?;
//! assert!(Facts::new().prove(&reads, &room).is_true());
//! # Ok::<(), einlang_index::ParseError>(())
//! ```
//!
//! Invariants: this crate depends on no other crate of the workspace and does no I/O. All
//! arithmetic is exact: what leaves 64 bits, or takes more work than [`budget`] allows, is reported
//! as [`GaveUp`] or [`Truth::Unknown`], never as a wrong answer and never as a panic. Answers
//! depend on the input alone.
//!
//! Absences: nothing here knows of tensors, source text or error codes, and no set carries an
//! `exists`: quantifiers are eliminated when they are built.

pub mod affine;
pub mod budget;
mod conj;
pub mod constraint;
pub mod domain;
mod eliminate;
pub mod error;
mod int;
pub mod minmax;
pub mod prove;
pub mod quasi;
pub mod range;
mod sample;
pub mod set;
pub mod solve;
pub mod text;
pub mod var;

pub use affine::Affine;
pub use constraint::{Congruence, Constraint};
pub use domain::{AxisBounds, Domain, Map, Piece};
pub use error::{GaveUp, Result, Truth};
pub use minmax::MinMax;
pub use prove::{Facts, Verdict};
pub use quasi::{Direction, DivOp, Division, Quasi};
pub use range::{Bound, Range};
pub use set::Set;
pub use text::ParseError;
pub use var::{Named, Var, VarKind, Vars};
