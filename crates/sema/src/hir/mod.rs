//! The resolved program: what the source says once every name has found its definition.
//!
//! The tree of the parser is turned into arenas with ids. Sugar that needs no types is gone
//! (parentheses, pipes, doc comments), every name is a [`Res`], every index knows the clause,
//! reduction or comprehension that introduces it, and clauses of one binding are gathered. Types,
//! coordinates and ranges are not decided here: what depends on them keeps its written form.
//!
//! Invariants: ids are valid in the [`Program`] or [`Body`] that made them; each expression has
//! the span of its source text; a place that could not be understood is [`ExprKind::Error`] and
//! has already been reported.

mod body;
mod expr;
mod items;
mod pattern;
mod print;
mod print_expr;
mod types;

pub use body::*;
pub use expr::*;
pub use items::*;
pub use pattern::*;
pub use print::print;
pub use types::*;

use einlang_source::{Id, Name, Span};

/// A module.
pub type ModuleId = Id<Module>;
/// An item: function, rule, struct, enum, constant or input.
pub type DefId = Id<Def>;
/// The statements of a module, or the body of a function, constant or default value.
pub type BodyId = Id<Body>;
/// A binding inside a body.
pub type LocalId = Id<Local>;
/// An expression of a body.
pub type ExprId = Id<Expr>;

/// A name where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it is written.
    pub span: Span,
}

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Res {
    /// A binding of the same body.
    Local(LocalId),
    /// A binding of a body around: captured.
    Outer(BodyId, LocalId),
    /// An item.
    Def(DefId),
    /// A variant of an enum, by position.
    Variant(DefId, u32),
    /// A module, which is no value.
    Module(ModuleId),
    /// Something every program has without importing it.
    Builtin(crate::builtins::Builtin),
    /// Something of Python, by its dotted path. Whether it is there is known when Python runs.
    Python(Name),
    /// A path into a library that is not loaded: nothing is known of it.
    External,
    /// Nothing: reported already.
    Error,
}
