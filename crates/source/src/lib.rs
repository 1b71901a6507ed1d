//! Files, spans, diagnostics and the world: what every other crate of Einlang stands on.
//!
//! | module | owns |
//! |---|---|
//! | [`span`], [`files`] | places in source text, the texts themselves, lines and columns |
//! | [`code`], [`diagnostic`] | what the tool has to say, as data |
//! | [`render`] | that data as text for people or as JSON for programs |
//! | [`apply`], [`suggest`] | carrying out edits, and "did you mean" |
//! | [`world`] | the [`World`] trait: every byte the compiler reads or writes passes through it |
//! | [`intern`], [`arena`] | small copyable handles for names and for nodes |
//! | [`map`], [`id_map`] | tables with such handles as keys |
//!
//! Invariants: this crate depends on no other crate of the workspace; it does no I/O itself (all
//! of it goes through a [`World`] that the embedder supplies); nothing here panics on any source
//! text, nor on a span that does not fit its text.

pub mod apply;
pub mod arena;
pub mod code;
pub mod diagnostic;
pub mod files;
pub mod id_map;
pub mod intern;
pub mod map;
pub mod render;
pub mod span;
pub mod suggest;
pub mod world;

pub use apply::{Overlap, apply_edits};
pub use arena::{Arena, Id};
pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, Edit, Help, Label, Severity};
pub use files::{LineRange, Sources};
pub use id_map::IdMap;
pub use intern::{Interner, Name};
pub use span::{FileId, Span};
pub use suggest::nearest;
pub use world::{MemoryWorld, World, WorldError};
