//! Scalar expressions with ordinary operators.
//!
//! An [`Expr`] is a tree of shared nodes. It is typed as it grows; a mistake becomes a node that
//! is reported when the module is finished, so that chains of operators need no `?`. A node that
//! is used twice is computed once per region.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use super::ix::Ix;
use crate::constant::Const;
use crate::op::Op;
use crate::region::{ReduceFlags, Value};
use crate::types::{Elem, Ident};

/// A scalar at one point.
#[derive(Clone, Debug)]
pub struct Expr(pub(super) Rc<Node>);

#[derive(Debug)]
pub(super) struct Node {
    pub(super) elem: Elem,
    pub(super) kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Const(Const),
    Value(Value),
    Index(Ix),
    Op(Op, Vec<Expr>),
    Read(Ident, Vec<Sub1>, Option<Expr>),
    If(Expr, Expr, Expr),
    Deriv((Ident, Vec<Sub1>), (Ident, Vec<Sub1>)),
    Part(Rc<Fold>, usize),
    Error(String),
}

/// A reduction; its parts are projected out.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) domain: Result<einlang_index::Domain, einlang_index::GaveUp>,
    pub(super) guard: Option<Expr>,
    pub(super) terms: Vec<Expr>,
    pub(super) combine: Combine,
    pub(super) start: FoldStart,
    pub(super) flags: ReduceFlags,
}

#[derive(Debug)]
pub(super) enum Combine {
    Op(Op),
    Region(Vec<Value>, Vec<Expr>),
}

#[derive(Debug)]
pub(super) enum FoldStart {
    Identity(Vec<Expr>),
    Init(Vec<Expr>),
}

/// One subscript: an index expression or any integer that is computed.
#[derive(Clone, Debug)]
pub enum Sub1 {
    /// An index expression.
    Index(Ix),
    /// A computed integer.
    Value(Expr),
}

impl<T: Into<Ix>> From<T> for Sub1 {
    fn from(ix: T) -> Sub1 {
        Sub1::Index(ix.into())
    }
}

impl From<Expr> for Sub1 {
    fn from(expr: Expr) -> Sub1 {
        Sub1::Value(expr)
    }
}

impl From<&Expr> for Sub1 {
    fn from(expr: &Expr) -> Sub1 {
        Sub1::Value(expr.clone())
    }
}

/// Subscripts: an array of one kind or a tuple of several.
pub trait Subscripts {
    /// The subscripts, in order.
    fn list(self) -> Vec<Sub1>;
}

impl<T: Into<Sub1>, const N: usize> Subscripts for [T; N] {
    fn list(self) -> Vec<Sub1> {
        self.into_iter().map(Into::into).collect()
    }
}

impl Subscripts for Vec<Sub1> {
    fn list(self) -> Vec<Sub1> {
        self
    }
}

macro_rules! tuple_subscripts {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Into<Sub1>),*> Subscripts for ($($name,)*) {
            fn list(self) -> Vec<Sub1> {
                vec![$(self.$at.into()),*]
            }
        }
    };
}

tuple_subscripts!();
tuple_subscripts!(A 0, B 1);
tuple_subscripts!(A 0, B 1, C 2);
tuple_subscripts!(A 0, B 1, C 2, D 3);

impl Expr {
    pub(super) fn new(elem: Elem, kind: NodeKind) -> Expr {
        Expr(Rc::new(Node { elem, kind }))
    }

    pub(super) fn error(elem: Elem, message: String) -> Expr {
        Expr::new(elem, NodeKind::Error(message))
    }

    /// A float constant.
    pub fn float(elem: Elem, value: f64) -> Expr {
        Expr::new(elem, NodeKind::Const(Const::float(elem, value)))
    }

    /// An integer constant.
    pub fn int(elem: Elem, value: i64) -> Expr {
        Expr::new(elem, NodeKind::Const(Const::int(elem, value.into())))
    }

    /// The value of an index expression.
    pub fn index(elem: Elem, ix: impl Into<Ix>) -> Expr {
        Expr::new(elem, NodeKind::Index(ix.into()))
    }

    /// The type.
    pub fn elem(&self) -> Elem {
        self.0.elem
    }

    /// An operation of the table.
    pub fn op(op: Op, args: impl IntoIterator<Item = Expr>) -> Expr {
        let args: Vec<Expr> = args.into_iter().collect();
        let elems: Vec<Elem> = args.iter().map(Expr::elem).collect();
        let wanted = elems.first().copied().unwrap_or(Elem::F32);
        match op.result(&elems, wanted) {
            Ok(elem) => Expr::new(elem, NodeKind::Op(op, args)),
            Err(message) => Expr::error(wanted, message),
        }
    }

    /// An operation with one operand.
    pub fn apply(&self, op: Op) -> Expr {
        Expr::op(op, [self.clone()])
    }

    /// The same number as another type.
    pub fn cast(&self, elem: Elem) -> Expr {
        Expr::new(elem, NodeKind::Op(Op::Cast, vec![self.clone()]))
    }

    /// A comparison or any other binary operation.
    pub fn with(&self, op: Op, other: impl Operand) -> Expr {
        Expr::op(op, [self.clone(), other.at(self.elem())])
    }

    /// `if self { then } else { otherwise }`; only the arm that is taken is computed.
    pub fn choose(&self, then: Expr, otherwise: impl Operand) -> Expr {
        let otherwise = otherwise.at(then.elem());
        if self.elem() != Elem::Bool || then.elem() != otherwise.elem() {
            let message = format!("`if` of {}, {}, {}", self.elem(), then.elem(), otherwise.elem());
            return Expr::error(then.elem(), message);
        }
        Expr::new(then.elem(), NodeKind::If(self.clone(), then, otherwise))
    }
}

/// The right side of an operator: an expression, or a number at the left side's type.
pub trait Operand {
    /// The operand at a type.
    fn at(self, elem: Elem) -> Expr;
}

impl Operand for Expr {
    fn at(self, _: Elem) -> Expr {
        self
    }
}

impl Operand for &Expr {
    fn at(self, _: Elem) -> Expr {
        self.clone()
    }
}

impl Operand for f64 {
    fn at(self, elem: Elem) -> Expr {
        match elem.is_float() {
            true => Expr::float(elem, self),
            false => Expr::error(elem, format!("the number {self} is not of type {elem}")),
        }
    }
}

impl Operand for i64 {
    fn at(self, elem: Elem) -> Expr {
        Expr::int(elem, self)
    }
}

macro_rules! expr_ops {
    ($($trait:ident $method:ident $op:ident),*; $($ty:ty),*) => {
        expr_ops!(@each [$($trait $method $op),*] $($ty),*);
    };
    (@each $ops:tt $($ty:ty),*) => {$(
        expr_ops!(@one $ty, $ops);
    )*};
    (@one $ty:ty, [$($trait:ident $method:ident $op:ident),*]) => {$(
        impl<T: Operand> $trait<T> for $ty {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                self.with(Op::$op, other)
            }
        }
    )*};
}

expr_ops!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem; Expr, &Expr);

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        self.apply(Op::Neg)
    }
}

impl Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        self.apply(Op::Neg)
    }
}
