//! Views of expressions made by operators.

use super::{Expr, Name, Subscripts, Type, child, children, choices, nth_child, views};
use crate::ast::AstNode;
use crate::kind::SyntaxKind::{self, *};
use crate::tree::Token;

views! {
    /// `-x`, `!x`, `@x`
    UnaryExpr = UNARY_EXPR;
    /// `a + b`
    BinaryExpr = BINARY_EXPR;
    /// `a..b`
    RangeExpr = RANGE_EXPR;
    /// `e as type`
    CastExpr = CAST_EXPR;
    /// `x |> f`, `x ?> f`, `x !> f`
    PipeExpr = PIPE_EXPR;
    /// `x else e`
    ElseExpr = ELSE_EXPR;
    /// `x catch |err| e`
    CatchExpr = CATCH_EXPR;
    /// `try e`
    TryExpr = TRY_EXPR;
    /// `x with [i] = e, [j] = f`
    WithExpr = WITH_EXPR;
    /// `[i] = e`
    WithUpdate = WITH_UPDATE;
    /// `e where … else …`
    WhereExpr = WHERE_EXPR;
    /// `z = e`
    WhereBinding = WHERE_BINDING;
    /// A condition.
    WhereGuard = WHERE_GUARD;
    /// `else e`
    WhereElse = WHERE_ELSE;
}

impl<'t> UnaryExpr<'t> {
    /// The operator.
    pub fn operator(self) -> Option<Token<'t>> {
        self.0.own_tokens().next()
    }

    /// The operand.
    pub fn operand(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> BinaryExpr<'t> {
    /// The operator.
    pub fn operator(self) -> Option<Token<'t>> {
        self.0.own_tokens().next()
    }

    /// The left operand.
    pub fn left(self) -> Option<Expr<'t>> {
        nth_child(self.0, 0)
    }

    /// The right operand.
    pub fn right(self) -> Option<Expr<'t>> {
        nth_child(self.0, 1)
    }
}

impl<'t> RangeExpr<'t> {
    /// `..` or `..=`.
    pub fn operator(self) -> Option<Token<'t>> {
        self.0.own_tokens().next()
    }

    /// Whether the end belongs to the range.
    pub fn is_inclusive(self) -> bool {
        self.0.token(DOT2EQ).is_some()
    }

    /// The first value; none for `..b`.
    pub fn start(self) -> Option<Expr<'t>> {
        let dots = self.operator()?.range().start;
        children::<Expr<'_>>(self.0).find(|expr| expr.range().end <= dots)
    }

    /// The end; none for `a..`.
    pub fn end(self) -> Option<Expr<'t>> {
        let dots = self.operator()?.range().end;
        children::<Expr<'_>>(self.0).find(|expr| expr.range().start >= dots)
    }
}

impl<'t> CastExpr<'t> {
    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// The type it becomes.
    pub fn ty(self) -> Option<Type<'t>> {
        child(self.0)
    }
}

/// Declares the views of operators with a left and a right side.
macro_rules! two_sided {
    ($($view:ident)*) => {$(
        impl<'t> $view<'t> {
            /// The left side.
            pub fn left(self) -> Option<Expr<'t>> {
                nth_child(self.0, 0)
            }

            /// The right side.
            pub fn right(self) -> Option<Expr<'t>> {
                nth_child(self.0, 1)
            }
        }
    )*};
}
two_sided! { PipeExpr ElseExpr CatchExpr }

impl PipeExpr<'_> {
    /// `|>`, `?>` or `!>`.
    pub fn operator(self) -> Option<SyntaxKind> {
        self.0.own_tokens().next().map(Token::kind)
    }
}

impl<'t> TryExpr<'t> {
    /// What may fail.
    pub fn expr(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> WithExpr<'t> {
    /// What is updated.
    pub fn base(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// The updates in order.
    pub fn updates(self) -> impl Iterator<Item = WithUpdate<'t>> {
        children(self.0)
    }
}

impl<'t> WithUpdate<'t> {
    /// Which points are replaced.
    pub fn subscripts(self) -> Option<Subscripts<'t>> {
        child(self.0)
    }

    /// What replaces them.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

choices! {
    /// What stands after `where`.
    WhereItem {
        /// `z = e`, or an index equation.
        Binding(WhereBinding),
        /// A condition.
        Guard(WhereGuard),
    }
}

impl<'t> WhereExpr<'t> {
    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// Bindings and guards in order.
    pub fn items(self) -> impl Iterator<Item = WhereItem<'t>> {
        children(self.0)
    }

    /// The value where a guard is false.
    pub fn fallback(self) -> Option<Expr<'t>> {
        child(child::<WhereElse<'_>>(self.0)?.0)
    }
}

impl<'t> WhereBinding<'t> {
    /// The name.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> WhereGuard<'t> {
    /// The condition.
    pub fn expr(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}
