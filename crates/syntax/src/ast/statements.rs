//! Views of statements.

use super::{
    Attributed, Block, ConstItem, EnumItem, Expr, FnItem, InputItem, ModItem, Pattern, RuleItem,
    Slots, StructItem, Type, UseItem, child, child_after, children, choices, nth_child, views,
};
use crate::kind::SyntaxKind::{EQ, IN};
use crate::tree::Token;

choices! {
    /// One statement of a file or block.
    Statement {
        /// `fn f(x) { … }`
        Fn(FnItem),
        /// `@fn f(x) { … }`
        Rule(RuleItem),
        /// `struct P { … }`
        Struct(StructItem),
        /// `enum E { … }`
        Enum(EnumItem),
        /// `mod m;`
        Mod(ModItem),
        /// `use m::f;`
        Use(UseItem),
        /// `const N = 10;`
        Const(ConstItem),
        /// `input A: [f32; M];`
        Input(InputItem),
        /// `let x = …;`
        Let(LetStmt),
        /// `for x in xs { … }`
        For(ForStmt),
        /// `print(x);`
        Expr(ExprStmt),
    }
}

views! {
    /// `let pattern[slots]: type = value until condition, max n;`
    LetStmt = LET_STMT;
    /// `for pattern in iterable { … }`
    ForStmt = FOR_STMT;
    /// An expression for its effect.
    ExprStmt = EXPR_STMT;
    /// `until condition, max n`
    UntilClause = UNTIL_CLAUSE;
    /// `: type`
    TypeAscription = TYPE_ASCRIPTION;
}

impl<'t> TypeAscription<'t> {
    /// The type.
    pub fn ty(self) -> Option<Type<'t>> {
        child(self.0)
    }
}

impl<'t> Attributed<'t> for LetStmt<'t> {}

impl<'t> LetStmt<'t> {
    /// What is bound.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }

    /// The slots of an indexed definition.
    pub fn slots(self) -> Option<Slots<'t>> {
        child(self.0)
    }

    /// The annotation.
    pub fn ty(self) -> Option<Type<'t>> {
        child::<TypeAscription<'_>>(self.0)?.ty()
    }

    /// The value, with its `where` if it has one.
    pub fn value(self) -> Option<Expr<'t>> {
        child_after(self.0, EQ)
    }

    /// The `until` of an open recurrence.
    pub fn until(self) -> Option<UntilClause<'t>> {
        child(self.0)
    }
}

impl<'t> UntilClause<'t> {
    /// When to stop.
    pub fn condition(self) -> Option<Expr<'t>> {
        nth_child(self.0, 0)
    }

    /// The largest number of steps.
    pub fn max(self) -> Option<Expr<'t>> {
        nth_child(self.0, 1)
    }
}

impl<'t> ForStmt<'t> {
    /// What each element is bound to.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }

    /// The `in`.
    pub fn in_token(self) -> Option<Token<'t>> {
        self.0.token(IN)
    }

    /// What is iterated over.
    pub fn iterable(self) -> Option<Expr<'t>> {
        child_after(self.0, IN)
    }

    /// The statements.
    pub fn body(self) -> Option<Block<'t>> {
        children(self.0).last()
    }
}

impl<'t> ExprStmt<'t> {
    /// The expression; none for an empty statement.
    pub fn expr(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}
