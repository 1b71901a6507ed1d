//! Views of what stands inside `[…]`.

use super::{Expr, Name, child, children, choices, nth_child, views};

views! {
    /// `A[i, j]`
    IndexExpr = INDEX_EXPR;
    /// `[i, j else e]`
    Subscripts = SUBSCRIPTS;
    /// `[i, t in 1..T]` on the left side of a definition.
    Slots = SLOTS;
    /// `:`
    SubAll = SUB_ALL;
    /// `..name`, `..name: tensor`
    SubRest = SUB_REST;
    /// `name in range`
    SubIn = SUB_IN;
    /// `name: coordinate`
    SubCoord = SUB_COORD;
    /// `else e` after the last subscript.
    DefaultRead = DEFAULT_READ;
}

choices! {
    /// One subscript, slot or reduction index.
    Subscript {
        /// `:`
        All(SubAll),
        /// `..name`
        Rest(SubRest),
        /// `name in range`
        In(SubIn),
        /// `name: coordinate`
        Coord(SubCoord),
        /// Any expression, also a range.
        Expr(Expr),
    }
}

impl<'t> IndexExpr<'t> {
    /// What is subscripted, or the reduction or function before its indices.
    pub fn base(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// The brackets.
    pub fn subscripts(self) -> Option<Subscripts<'t>> {
        child(self.0)
    }
}

impl<'t> Subscripts<'t> {
    /// The subscripts in order.
    pub fn items(self) -> impl Iterator<Item = Subscript<'t>> {
        children(self.0)
    }

    /// The value outside the box, for a default read.
    pub fn default(self) -> Option<Expr<'t>> {
        child(child::<DefaultRead<'_>>(self.0)?.0)
    }
}

impl<'t> Slots<'t> {
    /// The slots in order.
    pub fn items(self) -> impl Iterator<Item = Subscript<'t>> {
        children(self.0)
    }
}

impl<'t> SubRest<'t> {
    /// The name of the rest.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The tensor whose axes it takes.
    pub fn of(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> SubIn<'t> {
    /// The index.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// Its range.
    pub fn range(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> SubCoord<'t> {
    /// The index.
    pub fn name(self) -> Option<Name<'t>> {
        nth_child(self.0, 0)
    }

    /// The coordinate it ranges over.
    pub fn coordinate(self) -> Option<Name<'t>> {
        nth_child(self.0, 1)
    }
}
