//! Views of patterns.

use super::{
    Literal, Name, Path, StringExpr, Type, TypeAscription, child, children, choices, views,
};
use crate::ast::AstNode;
use crate::kind::SyntaxKind::{DOT2, DOT2EQ};

choices! {
    /// Any pattern.
    Pattern {
        /// `_`
        Wildcard(WildcardPat),
        /// `n`, `n @ pattern`; names decide whether a plain name is a constant or variant.
        Name(NamePat),
        /// `1`, `"text"`, `true`
        Literal(LiteralPat),
        /// `0..=9`
        Range(RangePat),
        /// `10 | 20`
        Or(OrPat),
        /// `(a, b)`
        Tuple(TuplePat),
        /// `[first, ..rest]`
        Array(ArrayPat),
        /// `..rest`
        Rest(RestPat),
        /// `P { x, y: 0 }`
        Struct(StructPat),
        /// `Some(x)`
        Variant(VariantPat),
        /// `m::NONE`
        Path(PathPat),
        /// `x: f32` inside a tuple.
        Typed(TypedPat),
        /// `(p)`
        Paren(ParenPat),
    }
}

impl<'t> Pattern<'t> {
    /// The names that the pattern may bind, in source order. Whether a plain name is a constant
    /// or variant instead, its meaning decides.
    pub fn names(self) -> impl Iterator<Item = Name<'t>> {
        self.node().descendants().filter_map(|node| {
            let name = Name::cast(node)?;
            let parent = node.parent()?;
            let short = |field: FieldPat<'_>| field.pattern().is_none();
            let binds = NamePat::cast(parent).is_some()
                || RestPat::cast(parent).is_some()
                || FieldPat::cast(parent).is_some_and(short);
            binds.then_some(name)
        })
    }
}

views! {
    /// `_`
    WildcardPat = WILDCARD_PAT;
    /// `n`, `n @ pattern`
    NamePat = NAME_PAT;
    /// A literal.
    LiteralPat = LITERAL_PAT;
    /// `0..=9`
    RangePat = RANGE_PAT;
    /// `10 | 20`
    OrPat = OR_PAT;
    /// `(a, b)`
    TuplePat = TUPLE_PAT;
    /// `[first, ..rest]`
    ArrayPat = ARRAY_PAT;
    /// `..rest`
    RestPat = REST_PAT;
    /// `P { x, y: 0 }`
    StructPat = STRUCT_PAT;
    /// `x`, `x: pattern`
    FieldPat = FIELD_PAT;
    /// `Some(x)`
    VariantPat = VARIANT_PAT;
    /// `m::NONE`
    PathPat = PATH_PAT;
    /// `x: f32`
    TypedPat = TYPED_PAT;
    /// `(p)`
    ParenPat = PAREN_PAT;
}

impl<'t> NamePat<'t> {
    /// The name.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The pattern after `@`.
    pub fn inner(self) -> Option<Pattern<'t>> {
        child(self.0)
    }
}

impl<'t> LiteralPat<'t> {
    /// A number or bool.
    pub fn literal(self) -> Option<Literal<'t>> {
        child(self.0)
    }

    /// A string.
    pub fn string(self) -> Option<StringExpr<'t>> {
        child(self.0)
    }
}

impl<'t> RangePat<'t> {
    /// The first value.
    pub fn start(self) -> Option<Literal<'t>> {
        child(self.0)
    }

    /// The last value, or one past it; none for `0..`.
    pub fn end(self) -> Option<Literal<'t>> {
        let dots = self.0.token(DOT2).or_else(|| self.0.token(DOT2EQ))?.range().end;
        children::<Literal<'_>>(self.0).find(|literal| literal.range().start >= dots)
    }

    /// Whether the end belongs to the range.
    pub fn is_inclusive(self) -> bool {
        self.0.token(DOT2EQ).is_some()
    }
}

/// Declares the patterns that are lists of patterns.
macro_rules! lists {
    ($($view:ident)*) => {$(
        impl<'t> $view<'t> {
            /// The patterns in order.
            pub fn elements(self) -> impl Iterator<Item = Pattern<'t>> {
                children(self.0)
            }
        }
    )*};
}
lists! { OrPat TuplePat ArrayPat VariantPat }

impl<'t> RestPat<'t> {
    /// The name the rest is bound to.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }
}

impl<'t> StructPat<'t> {
    /// The struct or variant.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }

    /// The fields.
    pub fn fields(self) -> impl Iterator<Item = FieldPat<'t>> {
        children(self.0)
    }

    /// The `..` that leaves out the other fields.
    pub fn rest(self) -> Option<RestPat<'t>> {
        child(self.0)
    }
}

impl<'t> FieldPat<'t> {
    /// The name of the field.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The pattern; none for the short form.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }
}

impl<'t> VariantPat<'t> {
    /// The variant.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }
}

impl<'t> PathPat<'t> {
    /// The constant or variant.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }
}

impl<'t> TypedPat<'t> {
    /// The pattern.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }

    /// The type.
    pub fn ty(self) -> Option<Type<'t>> {
        child::<TypeAscription<'_>>(self.0)?.ty()
    }
}

impl<'t> ParenPat<'t> {
    /// The pattern inside.
    pub fn inner(self) -> Option<Pattern<'t>> {
        child(self.0)
    }
}
