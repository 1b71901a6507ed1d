//! Views of types.

use super::{Expr, Name, Path, child, children, choices, views};
use crate::ast::AstNode;
use crate::kind::SyntaxKind::{ARROW, INT};

choices! {
    /// Any type.
    Type {
        /// `f32`, `Option<f32>`
        Path(PathType),
        /// `[f32; N, 3]`
        Tensor(TensorType),
        /// `jagged[i32; 3d]`
        Jagged(JaggedType),
        /// `(f32, i32)`
        Tuple(TupleType),
        /// `(f32) -> f32`
        Fn(FnType),
        /// `(f32)`
        Paren(ParenType),
    }
}

views! {
    /// `f32`, `Option<f32>`
    PathType = PATH_TYPE;
    /// `<f32>`
    GenericArgs = GENERIC_ARGS;
    /// `[f32; N, 3]`
    TensorType = TENSOR_TYPE;
    /// `; N, 3`
    DimList = DIM_LIST;
    /// A size, coordinate or sum of sizes.
    DimExpr = DIM_EXPR;
    /// `?`
    DimAny = DIM_ANY;
    /// `..l`
    DimRest = DIM_REST;
    /// `*`
    DimStar = DIM_STAR;
    /// `jagged[i32; 3d]`
    JaggedType = JAGGED_TYPE;
    /// `(f32, i32)`
    TupleType = TUPLE_TYPE;
    /// `(f32) -> f32`
    FnType = FN_TYPE;
    /// `(f32)`
    ParenType = PAREN_TYPE;
}

choices! {
    /// One dimension of a tensor type.
    Dim {
        /// A size, coordinate or sum of sizes.
        Expr(DimExpr),
        /// `?`
        Any(DimAny),
        /// `..l`
        Rest(DimRest),
        /// `*`
        Star(DimStar),
    }
}

impl<'t> PathType<'t> {
    /// The name of the type.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }

    /// The type arguments.
    pub fn args(self) -> impl Iterator<Item = Type<'t>> {
        child::<GenericArgs<'_>>(self.0).into_iter().flat_map(|args| children(args.0))
    }
}

impl<'t> TensorType<'t> {
    /// The element type.
    pub fn element(self) -> Option<Type<'t>> {
        child(self.0)
    }

    /// The dimensions; none for `[f32]`, which has one axis of any length.
    pub fn dims(self) -> Option<impl Iterator<Item = Dim<'t>>> {
        child::<DimList<'_>>(self.0).map(|list| children(list.0))
    }
}

impl<'t> DimExpr<'t> {
    /// The expression.
    pub fn expr(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> DimRest<'t> {
    /// The name of the rest.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }
}

impl<'t> JaggedType<'t> {
    /// The element type.
    pub fn element(self) -> Option<Type<'t>> {
        child(self.0)
    }

    /// The number of levels: 1 for `jagged[i32]`, `n` for `jagged[i32; nd]`; none when what is
    /// written there is no level.
    pub fn levels(self) -> Option<u32> {
        let Some(dims) = child::<DimList<'_>>(self.0) else { return Some(1) };
        let text = child::<DimExpr<'_>>(dims.0)?.0.token(INT)?.text();
        text.strip_suffix('d')?.parse().ok()
    }
}

impl<'t> TupleType<'t> {
    /// The element types.
    pub fn elements(self) -> impl Iterator<Item = Type<'t>> {
        children(self.0)
    }
}

impl<'t> FnType<'t> {
    /// The parameter types.
    pub fn params(self) -> impl Iterator<Item = Type<'t>> {
        let arrow = self.0.token(ARROW).map_or(usize::MAX, |token| token.range().start);
        children(self.0).filter(move |ty: &Type<'_>| ty.range().end <= arrow)
    }

    /// The result type.
    pub fn result(self) -> Option<Type<'t>> {
        super::child_after(self.0, ARROW)
    }
}

impl<'t> ParenType<'t> {
    /// The type inside.
    pub fn inner(self) -> Option<Type<'t>> {
        child(self.0)
    }
}
