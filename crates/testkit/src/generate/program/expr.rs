//! The small language that generated programs are made of: a tree, not text, so that it can be
//! evaluated as well as written.

use super::facts::Value;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expr {
    Literal(Value),
    /// An index, a parameter, a constant or a scalar binding.
    Name(String),
    /// A tensor as a whole, as an argument.
    Whole(String),
    /// `name[…]`, `name[…].field`, `name.field`
    Read {
        name: String,
        subscripts: Vec<Expr>,
        field: Option<&'static str>,
    },
    /// `name[… else default]`
    ReadElse {
        name: String,
        subscripts: Vec<Expr>,
        default: Box<Expr>,
    },
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `e as f32`, of an integer.
    Cast(Box<Expr>),
    /// A call of a function of the program or of `min`, `max`, `abs`.
    Call(String, Vec<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Reduce(Box<Reduce>),
}

/// A reduction over one or two indices.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reduce {
    pub(super) by: Reduction,
    pub(super) indices: Vec<Slot>,
    pub(super) body: Expr,
    pub(super) guard: Option<Expr>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    Sum,
    Prod,
    Max,
    Min,
    All,
    Any,
    ArgMax,
    ArgMin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Operator {
    /// Whether it gives a number rather than a truth value.
    pub(super) fn is_arithmetic(self) -> bool {
        use Operator::{Add, Divide, Multiply, Power, Remainder, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Remainder | Power)
    }
}

/// An index of a definition or reduction, or one point.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Slot {
    /// `i`, whose range is inferred; the generator knows it.
    Bare { name: &'static str, extent: usize },
    /// `i in low..high`, or `i in low..=high`
    Range { name: &'static str, low: Expr, high: Expr, inclusive: bool },
    /// A point, written as a literal.
    Point(usize),
}

/// One `let name[slots] = body where guard else otherwise;`
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Clause {
    pub(super) slots: Vec<Slot>,
    pub(super) body: Body,
    pub(super) guard: Option<(Expr, Option<Expr>)>,
    /// The order in which the points depend on each other; the text does not say it.
    pub(super) descending: bool,
}

/// What a clause defines: a number, or a struct with one expression per field.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Body {
    Scalar(Expr),
    Record(String, Vec<(&'static str, Expr)>),
}

impl Clause {
    /// A clause without a guard.
    pub(super) fn new(slots: Vec<Slot>, body: Expr) -> Clause {
        Clause { slots, body: Body::Scalar(body), guard: None, descending: false }
    }
}

impl Slot {
    /// `name in 0..extent`
    pub(super) fn upto(name: &'static str, extent: usize) -> Slot {
        Slot::Range { name, low: int(0), high: int(extent as i64), inclusive: false }
    }

    /// `name in low..high`
    pub(super) fn between(name: &'static str, low: i64, high: i64) -> Slot {
        Slot::Range { name, low: int(low), high: int(high), inclusive: false }
    }
}

pub(super) fn int(value: i64) -> Expr {
    Expr::Literal(Value::Int(value))
}

pub(super) fn float(value: f64) -> Expr {
    Expr::Literal(Value::Float(value))
}

pub(super) fn name(name: &str) -> Expr {
    Expr::Name(name.to_string())
}

pub(super) fn binary(operator: Operator, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}

pub(super) fn read(tensor: &str, subscripts: Vec<Expr>) -> Expr {
    Expr::Read { name: tensor.to_string(), subscripts, field: None }
}

/// `name + offset`, without a sum where the offset is 0.
pub(super) fn shifted(index: &str, offset: i64) -> Expr {
    match offset {
        0 => name(index),
        1.. => binary(Operator::Add, name(index), int(offset)),
        _ => binary(Operator::Subtract, name(index), int(-offset)),
    }
}

pub(super) fn reduce(by: Reduction, indices: Vec<Slot>, body: Expr) -> Expr {
    Expr::Reduce(Box::new(Reduce { by, indices, body, guard: None }))
}
