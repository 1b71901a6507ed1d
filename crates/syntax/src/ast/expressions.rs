//! Views of expressions that begin with a token of their own, and of calls and fields.

use super::{
    BinaryExpr, CastExpr, CatchExpr, ElseExpr, IndexExpr, Name, ParamList, Path, Pattern, PipeExpr,
    RangeExpr, Statement, TryExpr, UnaryExpr, WhereExpr, WithExpr, child, child_after, children,
    choices, nth_child, views,
};
use crate::ast::AstNode;
use crate::kind::SyntaxKind::{self, *};
use crate::tree::{Element, Token};

choices! {
    /// Any expression.
    Expr {
        /// `a::b`, also a plain name.
        Path(Path),
        /// `1`, `-2.5f64`, `true`
        Literal(Literal),
        /// `"text {x:>8}"`
        String(StringExpr),
        /// `(e)`
        Paren(ParenExpr),
        /// `(a, b)`, `()`
        Tuple(TupleExpr),
        /// `[a, b]`
        Array(ArrayExpr),
        /// `[e | i in 0..n]`
        Comprehension(Comprehension),
        /// `{ …; e }`
        Block(Block),
        /// `if c { a } else { b }`
        If(IfExpr),
        /// `match e { … }`
        Match(MatchExpr),
        /// `|x| e`
        Lambda(LambdaExpr),
        /// `-x`, `!x`, `@x`
        Unary(UnaryExpr),
        /// `a + b`
        Binary(BinaryExpr),
        /// `a..b`
        Range(RangeExpr),
        /// `e as type`
        Cast(CastExpr),
        /// `f(x)`
        Call(CallExpr),
        /// `A[i, j]`
        Index(IndexExpr),
        /// `p.x`, `t.0`
        Field(FieldExpr),
        /// `P { x: 1.0 }`
        Struct(StructExpr),
        /// `x |> f`
        Pipe(PipeExpr),
        /// `x else e`
        Else(ElseExpr),
        /// `x catch |err| e`
        Catch(CatchExpr),
        /// `try e`
        Try(TryExpr),
        /// `x with [i] = e`
        With(WithExpr),
        /// `e where …`
        Where(WhereExpr),
    }
}

impl<'t> Expr<'t> {
    /// The expression inside any parentheses around it.
    pub fn without_parens(self) -> Expr<'t> {
        let mut inner = self;
        while let Expr::Paren(paren) = inner {
            match paren.inner() {
                Some(next) => inner = next,
                None => break,
            }
        }
        inner
    }

    /// The word of an expression that is a plain name.
    pub fn as_name(self) -> Option<Token<'t>> {
        match self {
            Expr::Path(path) => path.single(),
            _ => None,
        }
    }
}

views! {
    /// A number with its sign, or `true`, `false`.
    Literal = LITERAL;
    /// A string.
    StringExpr = STRING;
    /// `{expr:spec}` in a string.
    Interpolation = INTERPOLATION;
    /// An expression in parentheses.
    ParenExpr = PAREN_EXPR;
    /// `(a, b)`
    TupleExpr = TUPLE_EXPR;
    /// `[a, b]`
    ArrayExpr = ARRAY_EXPR;
    /// `[e | i in 0..n, cond, k = i + 1]`
    Comprehension = COMPREHENSION;
    /// `i in 0..n`
    CompGenerator = COMP_GENERATOR;
    /// `k = i + 1`
    CompBinding = COMP_BINDING;
    /// A condition of a comprehension.
    CompCondition = COMP_CONDITION;
    /// `{ …; e }`
    Block = BLOCK;
    /// `if c { a } else { b }`
    IfExpr = IF_EXPR;
    /// `match e { … }`
    MatchExpr = MATCH_EXPR;
    /// The arms in braces.
    MatchArmList = MATCH_ARM_LIST;
    /// `pattern where guard => e`
    MatchArm = MATCH_ARM;
    /// `where guard`
    MatchGuard = MATCH_GUARD;
    /// `|x| e`
    LambdaExpr = LAMBDA_EXPR;
    /// `f(x)`
    CallExpr = CALL_EXPR;
    /// `(x, lr = 0.1)`
    ArgList = ARG_LIST;
    /// `lr = 0.1`
    NamedArg = NAMED_ARG;
    /// `p.x`
    FieldExpr = FIELD_EXPR;
    /// `P { x: 1.0 }`
    StructExpr = STRUCT_EXPR;
    /// The fields in braces.
    StructFieldList = STRUCT_FIELD_LIST;
    /// `x: 1.0`, or `x` alone.
    StructField = STRUCT_FIELD;
}

impl<'t> Literal<'t> {
    /// The number or word.
    pub fn token(self) -> Option<Token<'t>> {
        self.0.own_tokens().find(|token| token.kind() != MINUS)
    }

    /// Whether a minus belongs to the literal.
    pub fn is_negative(self) -> bool {
        self.0.token(MINUS).is_some()
    }
}

/// A piece of a string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StringPart<'t> {
    /// Text with its escapes as written; see [`crate::literal::unescape`].
    Text(Token<'t>),
    /// An expression.
    Interpolation(Interpolation<'t>),
}

impl<'t> StringExpr<'t> {
    /// The pieces between the quotes.
    pub fn parts(self) -> impl Iterator<Item = StringPart<'t>> {
        self.0.elements().filter_map(|element| match element {
            Element::Token(token) if token.kind() == STR_TEXT => Some(StringPart::Text(token)),
            Element::Token(_) => None,
            Element::Node(node) => Interpolation::cast(node).map(StringPart::Interpolation),
        })
    }
}

impl<'t> Interpolation<'t> {
    /// The expression.
    pub fn expr(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// The format specification without its colon; see [`crate::format_spec::FormatSpec::parse`].
    pub fn spec(self) -> Option<&'t str> {
        self.0.token(INTERP_SPEC).map(|token| &token.text()[1..])
    }
}

impl<'t> ParenExpr<'t> {
    /// The expression inside.
    pub fn inner(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> TupleExpr<'t> {
    /// The elements.
    pub fn elements(self) -> impl Iterator<Item = Expr<'t>> {
        children(self.0)
    }
}

impl<'t> ArrayExpr<'t> {
    /// The elements.
    pub fn elements(self) -> impl Iterator<Item = Expr<'t>> {
        children(self.0)
    }
}

choices! {
    /// What stands after the bar of a comprehension.
    CompItem {
        /// `i in 0..n`
        Generator(CompGenerator),
        /// `k = i + 1`
        Binding(CompBinding),
        /// A condition.
        Condition(CompCondition),
    }
}

impl<'t> Comprehension<'t> {
    /// The element.
    pub fn element(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// Generators, bindings and conditions in order.
    pub fn items(self) -> impl Iterator<Item = CompItem<'t>> {
        children(self.0)
    }
}

impl<'t> CompGenerator<'t> {
    /// What each element is bound to.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }

    /// What is iterated over.
    pub fn iterable(self) -> Option<Expr<'t>> {
        child_after(self.0, IN)
    }
}

impl<'t> CompBinding<'t> {
    /// The name.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> CompCondition<'t> {
    /// The condition.
    pub fn expr(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> Block<'t> {
    /// The statements, without the value.
    pub fn statements(self) -> impl Iterator<Item = Statement<'t>> {
        children(self.0)
    }

    /// The value: the last expression without a semicolon, if the block ends with one.
    pub fn value(self) -> Option<Expr<'t>> {
        let last = self.0.children().last()?;
        match Statement::cast(last) {
            // `if c { … }` at the end needs no semicolon either, and is the value.
            Some(Statement::Expr(statement)) if statement.node().token(SEMI).is_none() => {
                statement.expr()
            }
            Some(_) => None,
            None => Expr::cast(last),
        }
    }
}

impl<'t> IfExpr<'t> {
    /// The condition.
    pub fn condition(self) -> Option<Expr<'t>> {
        child_after(self.0, IF)
    }

    /// The branch when it holds.
    pub fn then_branch(self) -> Option<Block<'t>> {
        let end = self.condition()?.range().end;
        children::<Block<'_>>(self.0).find(|block| block.range().start >= end)
    }

    /// The branch when it does not: a block or another `if`.
    pub fn else_branch(self) -> Option<Expr<'t>> {
        child_after(self.0, ELSE)
    }
}

impl<'t> MatchExpr<'t> {
    /// What is matched.
    pub fn scrutinee(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// The arms.
    pub fn arms(self) -> impl Iterator<Item = MatchArm<'t>> {
        child::<MatchArmList<'_>>(self.0).into_iter().flat_map(|list| children(list.0))
    }
}

impl<'t> MatchArm<'t> {
    /// The pattern.
    pub fn pattern(self) -> Option<Pattern<'t>> {
        child(self.0)
    }

    /// The guard.
    pub fn guard(self) -> Option<Expr<'t>> {
        child(child::<MatchGuard<'_>>(self.0)?.0)
    }

    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child_after(self.0, FAT_ARROW)
    }
}

impl<'t> LambdaExpr<'t> {
    /// The parameters.
    pub fn params(self) -> Option<ParamList<'t>> {
        child(self.0)
    }

    /// The body.
    pub fn body(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

choices! {
    /// One argument of a call.
    Arg {
        /// `lr = 0.1`
        Named(NamedArg),
        /// By position.
        Positional(Expr),
    }
}

impl<'t> CallExpr<'t> {
    /// What is called. `f[c](x)` has the subscripts in here: whether it is a reduction, a
    /// coordinate call or a call of an element, names decide.
    pub fn callee(self) -> Option<Expr<'t>> {
        child(self.0)
    }

    /// The arguments.
    pub fn args(self) -> impl Iterator<Item = Arg<'t>> {
        self.arg_list().into_iter().flat_map(|list| children(list.0))
    }

    /// The parentheses with the arguments.
    pub fn arg_list(self) -> Option<ArgList<'t>> {
        child(self.0)
    }
}

impl<'t> NamedArg<'t> {
    /// The name of the parameter.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The value.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}

impl<'t> FieldExpr<'t> {
    /// What the field belongs to.
    pub fn base(self) -> Option<Expr<'t>> {
        nth_child(self.0, 0)
    }

    /// The name or number of the field.
    pub fn field(self) -> Option<Token<'t>> {
        match child::<Name<'_>>(self.0) {
            Some(name) => name.token(),
            None => self.0.token(SyntaxKind::INT),
        }
    }
}

impl<'t> StructExpr<'t> {
    /// The struct or variant.
    pub fn path(self) -> Option<Path<'t>> {
        child(self.0)
    }

    /// The fields.
    pub fn fields(self) -> impl Iterator<Item = StructField<'t>> {
        child::<StructFieldList<'_>>(self.0).into_iter().flat_map(|list| children(list.0))
    }
}

impl<'t> StructField<'t> {
    /// The name.
    pub fn name(self) -> Option<Name<'t>> {
        child(self.0)
    }

    /// The value; none for the short form `P { x }`.
    pub fn value(self) -> Option<Expr<'t>> {
        child(self.0)
    }
}
