//! Types as written, with their names resolved.

use einlang_source::Span;

use super::{ExprId, LocalId, Res};

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeRef {
    /// What it is.
    pub kind: TypeKind,
    /// Where it is written.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// Reported already.
    Error,
    /// `f32`, `i64`, `str` …
    Scalar(Scalar),
    /// A type parameter of the function or item, by position.
    Param(u32),
    /// A struct, enum or builtin generic with its arguments.
    Named(Res, Vec<TypeRef>),
    /// `[f32; N, 3]`
    Tensor(Box<TypeRef>, Vec<Dim>),
    /// `jagged[i32; 3d]`
    Jagged(Box<TypeRef>, u32),
    /// `(f32, i32)`
    Tuple(Vec<TypeRef>),
    /// `(f32) -> f32`
    Fn(Vec<TypeRef>, Box<TypeRef>),
}

/// A dimension of a tensor type.
#[derive(Clone, Debug)]
pub enum Dim {
    /// `?`, and the single axis of `[f32]`
    Any(Span),
    /// `*`
    AnyRank(Span),
    /// `..l`
    Rest(LocalId, Span),
    /// A size or coordinate by its name.
    Extent(Res, Span),
    /// A number or a sum of sizes.
    Expr(ExprId),
}

/// The scalar types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F8e4m3,
    F16,
    Bf16,
    F32,
    F64,
    Str,
}

impl Scalar {
    /// Every scalar type with its spelling, aliases included.
    pub const SPELLINGS: &[(&str, Scalar)] = &[
        ("bool", Scalar::Bool),
        ("i8", Scalar::I8),
        ("i16", Scalar::I16),
        ("i32", Scalar::I32),
        ("i64", Scalar::I64),
        ("u8", Scalar::U8),
        ("u16", Scalar::U16),
        ("u32", Scalar::U32),
        ("u64", Scalar::U64),
        ("f8e4m3", Scalar::F8e4m3),
        ("f16", Scalar::F16),
        ("bf16", Scalar::Bf16),
        ("f32", Scalar::F32),
        ("f64", Scalar::F64),
        ("str", Scalar::Str),
        ("int", Scalar::I32),
        ("float", Scalar::F32),
    ];

    /// The scalar type with this spelling.
    pub fn parse(text: &str) -> Option<Scalar> {
        Scalar::SPELLINGS.iter().find(|(spelling, _)| *spelling == text).map(|(_, scalar)| *scalar)
    }

    /// The spelling, without aliases.
    pub fn as_str(self) -> &'static str {
        let found = Scalar::SPELLINGS.iter().find(|(_, scalar)| *scalar == self);
        found.map_or("?", |(spelling, _)| spelling)
    }
}
