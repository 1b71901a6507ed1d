//! Expressions.

use einlang_source::Span;
use einlang_syntax::format_spec::FormatSpec;

use super::{Block, ExprId, Ident, LocalId, Param, Pattern, Res, TypeRef};
use crate::builtins::Reduction;

/// An expression with its place.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is written.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug)]
pub enum ExprKind {
    /// Reported already.
    Error,
    /// A number, bool or string without interpolation.
    Literal(Literal),
    /// A string with interpolations.
    Format(Vec<FormatPart>),
    /// A name.
    Name(Res),
    /// `last` inside a subscript: the last point of that axis.
    Last,
    /// A bare subscript in the arguments of a coordinate call that names nothing in scope: the
    /// axis of that coordinate, passed through whole.
    Coordinate(Ident),
    /// `(a, b)`
    Tuple(Vec<ExprId>),
    /// `[a, b]`
    Array(Vec<ExprId>),
    /// `[e | i in 0..n, cond]`
    Comprehension {
        /// The element.
        element: ExprId,
        /// Generators, bindings and conditions in order.
        items: Vec<CompItem>,
    },
    /// `{ …; e }`
    Block(Block),
    /// `if c { a } else { b }`
    If {
        /// The condition.
        condition: ExprId,
        /// The value when it holds.
        then: ExprId,
        /// The value when it does not.
        otherwise: Option<ExprId>,
    },
    /// `match e { … }`
    Match {
        /// What is matched.
        scrutinee: ExprId,
        /// The arms in order.
        arms: Vec<Arm>,
    },
    /// `|x| e`
    Lambda {
        /// The parameters.
        params: Vec<Param>,
        /// The body.
        body: ExprId,
    },
    /// `-x`, `!x`
    Unary(UnaryOp, ExprId),
    /// `@x`
    Differential(ExprId),
    /// `a + b`
    Binary(BinaryOp, ExprId, ExprId),
    /// `a..b`
    Range {
        /// The first value.
        start: Option<ExprId>,
        /// The end.
        end: Option<ExprId>,
        /// Whether the end belongs to it.
        inclusive: bool,
    },
    /// `e as type`
    Cast(ExprId, TypeRef),
    /// `f(x, lr = 0.1)`, also from `x |> f`.
    Call {
        /// What is called.
        callee: ExprId,
        /// The arguments.
        args: Vec<Arg>,
    },
    /// `sum[k](e)`
    Reduce {
        /// The reduction.
        op: Reduction,
        /// Its indices.
        indices: Vec<Subscript>,
        /// What is reduced.
        body: ExprId,
    },
    /// `reduce[k](init, |a, b| …)(e)`
    UserReduce {
        /// The indices, visible in the body only.
        indices: Vec<Subscript>,
        /// The first value.
        init: ExprId,
        /// The operator.
        combine: ExprId,
        /// What is reduced.
        body: ExprId,
    },
    /// `softmax[class](logits)`
    CoordCall {
        /// The function.
        callee: ExprId,
        /// The coordinates, bound in the arguments.
        indices: Vec<Subscript>,
        /// The arguments.
        args: Vec<Arg>,
    },
    /// `A[i, j else e]`
    Access {
        /// What is read.
        base: ExprId,
        /// The subscripts.
        subscripts: Vec<Subscript>,
        /// The value outside the box.
        default: Option<ExprId>,
    },
    /// `p.x`, `t.0`
    Field(ExprId, Ident),
    /// `P { x: 1.0 }`
    Struct {
        /// The struct or variant.
        res: Res,
        /// The fields as written.
        fields: Vec<(Ident, ExprId)>,
    },
    /// `x ?> f`: continue on `Some`.
    AndThen(ExprId, ExprId),
    /// `x !> f`: continue on `Ok`.
    OkThen(ExprId, ExprId),
    /// `x else e`
    OrElse(ExprId, ExprId),
    /// `x catch |err| e`
    Catch(ExprId, ExprId),
    /// `try e`
    Try(ExprId),
    /// `x with [i] = e`
    With {
        /// What is updated.
        base: ExprId,
        /// The updates in order.
        updates: Vec<(Vec<Subscript>, ExprId)>,
    },
    /// `e where …`
    Where {
        /// The value.
        value: ExprId,
        /// Bindings and guards in order.
        items: Vec<WhereItem>,
        /// The value where a guard is false.
        otherwise: Option<ExprId>,
    },
}

/// A literal.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// An integer with its sign and suffix.
    Int(i128, Option<String>),
    /// A float, with its suffix.
    Float(f64, Option<String>),
    /// `true`, `false`
    Bool(bool),
    /// A string.
    Str(String),
}

/// A piece of a string.
#[derive(Debug)]
pub enum FormatPart {
    /// Text.
    Text(String),
    /// A value with its format.
    Value(ExprId, FormatSpec),
}

/// `-x`, `!x`
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// An operator between two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum BinaryOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Gt,
    Le,
    Ge,
    In,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
}

impl BinaryOp {
    /// The operator as it is written.
    pub fn spelling(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Gt => ">",
            BinaryOp::Le => "<=",
            BinaryOp::Ge => ">=",
            BinaryOp::In => "in",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Pow => "**",
        }
    }
}

/// One argument of a call.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    /// The name of the parameter, when it is given.
    pub name: Option<Ident>,
    /// The value.
    pub value: ExprId,
}

/// A subscript, slot or reduction index.
#[derive(Debug)]
pub enum Subscript {
    /// `:`
    All(Span),
    /// An index that is introduced here.
    Index(IndexBinder),
    /// `..b`, introduced here or referring to one in scope.
    Rest {
        /// The rest.
        local: Res,
        /// The tensor whose axes it takes.
        of: Option<ExprId>,
        /// Where it is written.
        span: Span,
    },
    /// A point or a range.
    Expr(ExprId),
}

/// An index with what is said of its range.
#[derive(Debug)]
pub struct IndexBinder {
    /// The index.
    pub local: LocalId,
    /// `in range`
    pub range: Option<ExprId>,
    /// `: coordinate`
    pub coordinate: Option<(Ident, Res)>,
    /// What the name meant before: an integer or size makes it an error, decided with types.
    pub shadows: Option<Res>,
}

/// What stands after the bar of a comprehension.
#[derive(Debug)]
pub enum CompItem {
    /// `i in 0..n`
    Generator(Pattern, ExprId),
    /// `k = i + 1`
    Binding(LocalId, ExprId),
    /// A condition.
    Condition(ExprId),
}

/// An arm of a `match`.
#[derive(Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// The guard.
    pub guard: Option<ExprId>,
    /// The value.
    pub value: ExprId,
}

/// What stands after `where`.
#[derive(Debug)]
pub enum WhereItem {
    /// `z = e`, or an equation for an index.
    Binding(LocalId, ExprId),
    /// A condition.
    Guard(ExprId),
}
