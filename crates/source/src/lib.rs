//! Files, spans, diagnostics and the world: what every other crate of Einlang stands on.
//!
//! Invariants: this crate depends on no other crate of the workspace; it does no I/O itself (all
//! of it goes through a `World` that the embedder supplies); nothing here panics on any source
//! text.

pub mod code;
pub mod diagnostic;
pub mod span;

pub use code::Code;
pub use diagnostic::{Diagnostic, Edit, Help, Label, Severity};
pub use span::{FileId, Span};
