//! Patterns.

use einlang_source::Span;

use super::{Ident, Literal, LocalId, Res, TypeRef};

/// A pattern with its place.
#[derive(Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it is written.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Debug)]
pub enum PatternKind {
    /// Reported already.
    Error,
    /// `_`
    Wildcard,
    /// `n`, `n @ pattern`
    Bind(LocalId, Option<Box<Pattern>>),
    /// A literal.
    Literal(Literal),
    /// `0..=9`
    Range {
        /// The first value.
        start: Literal,
        /// The end.
        end: Option<Literal>,
        /// Whether the end belongs to it.
        inclusive: bool,
    },
    /// `10 | 20`
    Or(Vec<Pattern>),
    /// `(a, b)`
    Tuple(Vec<Pattern>),
    /// `[first, ..rest]`
    Array(Vec<Pattern>),
    /// `..`, `..rest`
    Rest(Option<LocalId>),
    /// `P { x, y: 0, .. }`
    Struct {
        /// The struct or variant.
        res: Res,
        /// The fields as written.
        fields: Vec<(Ident, Pattern)>,
        /// `..` leaves out the others.
        open: bool,
    },
    /// `Some(x)`
    Variant(Res, Vec<Pattern>),
    /// A constant, or a variant without payload.
    Value(Res),
    /// `x: f32`
    Typed(Box<Pattern>, TypeRef),
}
