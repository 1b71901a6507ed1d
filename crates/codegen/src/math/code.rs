//! Nodes of formulas, and writing them down with the operators of Rust.
//!
//! A [`Term`] is a float, an [`Index`] an integer as wide as the float, a [`Mask`] a truth value. All
//! integers wrap. A node is written once per use of the operator; LLVM finds what is common.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitXor, Div, Mul, Neg, Sub};

use einlang_tir::types::Elem;

/// An operation on floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Float {
    Add,
    Sub,
    Mul,
    Div,
    /// The magnitude of the first with the sign of the second.
    CopySign,
}

/// An operation on integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Int {
    Add,
    Sub,
    And,
    Xor,
    ShiftLeft,
    /// Keeps the sign.
    ShiftRight,
}

/// A comparison of floats; none holds of NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Less,
    LessEqual,
    Equal,
}

/// An operation on truth values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Truth {
    And,
    Or,
}

/// A step of a formula, on earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    Argument(usize),
    /// A constant, by its bits as an `f64`.
    Number(u64),
    Integer(i64),
    Float(Float, usize, usize),
    Negative(usize),
    Magnitude(usize),
    Trunc(usize),
    /// `x * y + z` with one rounding.
    Fma(usize, usize, usize),
    Int(Int, usize, usize),
    Truth(Truth, usize, usize),
    Compare(Compare, usize, usize),
    /// Whether integers are equal.
    Same(usize, usize),
    /// One of two floats.
    Choose(usize, usize, usize),
    /// The bits of a float.
    Bits(usize),
    /// The float of some bits.
    OfBits(usize),
    /// The float nearest to an integer.
    ToFloat(usize),
    /// The first times two to the power of the second, a whole number, rounded once.
    Scale(usize, usize),
}

/// A formula that is being written.
pub(super) struct Code {
    elem: Elem,
    scales: bool,
    nodes: RefCell<Vec<Node>>,
}

/// A float.
#[derive(Clone, Copy)]
pub(super) struct Term<'a>(&'a Code, usize);

/// An integer.
#[derive(Clone, Copy)]
pub(super) struct Index<'a>(&'a Code, usize);

/// A truth value.
#[derive(Clone, Copy)]
pub(super) struct Mask<'a>(&'a Code, usize);

impl Code {
    /// A formula without nodes, for a processor that multiplies by powers of two in one step or not.
    pub(super) fn new(elem: Elem, scales: bool) -> Code {
        Code { elem, scales, nodes: RefCell::default() }
    }

    /// The nodes so far.
    pub(super) fn nodes(&self) -> Vec<Node> {
        self.nodes.borrow().clone()
    }

    fn push(&self, node: Node) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(at) = nodes.iter().position(|known| *known == node) {
            return at;
        }
        nodes.push(node);
        nodes.len() - 1
    }

    /// An operand of the function.
    pub(super) fn argument(&self, at: usize) -> Term<'_> {
        Term(self, self.push(Node::Argument(at)))
    }
}

impl<'a> Term<'a> {
    /// The number of its node.
    pub(super) fn at(self) -> usize {
        self.1
    }

    /// What depends on the type: the first for `f32`, the second for `f64`.
    pub(super) fn by_type<T>(self, single: T, double: T) -> T {
        if self.0.elem == Elem::F32 { single } else { double }
    }

    /// How many bits the fraction of the type has.
    pub(super) fn fraction(self) -> i64 {
        self.by_type(23, 52)
    }

    /// The bits of a constant of the type.
    pub(super) fn bits_of(self, number: f64) -> i64 {
        let (single, double) = ((number as f32).to_bits(), number.to_bits());
        self.by_type(i64::from(single as i32), double as i64)
    }

    fn float(self, node: Node) -> Term<'a> {
        Term(self.0, self.0.push(node))
    }

    fn truth(self, node: Node) -> Mask<'a> {
        Mask(self.0, self.0.push(node))
    }

    /// A constant.
    pub(super) fn number(self, number: f64) -> Term<'a> {
        self.float(Node::Number(number.to_bits()))
    }

    /// `self * y + z` with one rounding.
    pub(super) fn fma(self, y: impl Like<'a>, z: impl Like<'a>) -> Term<'a> {
        let (y, z) = (y.like(self), z.like(self));
        self.float(Node::Fma(self.1, y.1, z.1))
    }

    /// `self * 2^n` with one rounding, if the processor does that in one step.
    pub(super) fn scaled_at_once(self, n: Term<'a>) -> Option<Term<'a>> {
        self.0.scales.then(|| self.float(Node::Scale(self.1, n.1)))
    }

    /// The magnitude.
    pub(super) fn abs(self) -> Term<'a> {
        self.float(Node::Magnitude(self.1))
    }

    /// Rounded toward zero.
    pub(super) fn trunc(self) -> Term<'a> {
        self.float(Node::Trunc(self.1))
    }

    /// This magnitude with that sign.
    pub(super) fn with_sign(self, of: Term<'a>) -> Term<'a> {
        self.float(Node::Float(Float::CopySign, self.1, of.1))
    }

    /// Whether it is less.
    pub(super) fn less(self, than: impl Like<'a>) -> Mask<'a> {
        let than = than.like(self);
        self.truth(Node::Compare(Compare::Less, self.1, than.1))
    }

    /// Whether it is greater.
    pub(super) fn greater(self, than: impl Like<'a>) -> Mask<'a> {
        let than = than.like(self);
        self.truth(Node::Compare(Compare::Less, than.1, self.1))
    }

    /// Whether it is less or equal.
    pub(super) fn at_most(self, than: impl Like<'a>) -> Mask<'a> {
        let than = than.like(self);
        self.truth(Node::Compare(Compare::LessEqual, self.1, than.1))
    }

    /// Whether it is equal.
    pub(super) fn equals(self, to: impl Like<'a>) -> Mask<'a> {
        let to = to.like(self);
        self.truth(Node::Compare(Compare::Equal, self.1, to.1))
    }

    /// It or a bound, whichever is less; NaN stays.
    pub(super) fn up_to(self, high: f64) -> Term<'a> {
        self.greater(high).choose(high, self)
    }

    /// Its nearest neighbour in a range; NaN stays.
    pub(super) fn clamp(self, low: f64, high: f64) -> Term<'a> {
        self.less(low).choose(low, self).up_to(high)
    }

    /// Its bits.
    pub(super) fn bits(self) -> Index<'a> {
        Index(self.0, self.0.push(Node::Bits(self.1)))
    }

    /// The polynomial with these coefficients, from the constant up.
    pub(super) fn polynomial(self, coefficients: &[f64]) -> Term<'a> {
        let mut all = coefficients.iter().rev();
        let first = self.number(all.next().copied().unwrap_or(0.0));
        all.fold(first, |sum, next| sum.fma(self, *next))
    }
}

impl<'a> Index<'a> {
    /// Its number as a float.
    pub(super) fn to_float(self) -> Term<'a> {
        Term(self.0, self.0.push(Node::ToFloat(self.1)))
    }

    /// The float of these bits.
    pub(super) fn of_bits(self) -> Term<'a> {
        Term(self.0, self.0.push(Node::OfBits(self.1)))
    }

    fn with(self, op: Int, other: i64) -> Index<'a> {
        let other = self.0.push(Node::Integer(other));
        Index(self.0, self.0.push(Node::Int(op, self.1, other)))
    }

    /// Shifted to the left.
    pub(super) fn shift_left(self, by: i64) -> Index<'a> {
        self.with(Int::ShiftLeft, by)
    }

    /// Shifted to the right, with its sign.
    pub(super) fn shift_right(self, by: i64) -> Index<'a> {
        self.with(Int::ShiftRight, by)
    }

    /// Whether it is this number.
    pub(super) fn is(self, number: i64) -> Mask<'a> {
        let number = self.0.push(Node::Integer(number));
        Mask(self.0, self.0.push(Node::Same(self.1, number)))
    }
}

impl<'a> Mask<'a> {
    /// The number of its node.
    pub(super) fn at(self) -> usize {
        self.1
    }

    /// The first where it holds, else the second.
    pub(super) fn choose(self, yes: impl Like<'a>, no: Term<'a>) -> Term<'a> {
        let yes = yes.like(no);
        no.float(Node::Choose(self.1, yes.1, no.1))
    }

    /// Both.
    pub(super) fn and(self, other: Mask<'a>) -> Mask<'a> {
        Mask(self.0, self.0.push(Node::Truth(Truth::And, self.1, other.1)))
    }

    /// Either.
    pub(super) fn or(self, other: Mask<'a>) -> Mask<'a> {
        Mask(self.0, self.0.push(Node::Truth(Truth::Or, self.1, other.1)))
    }
}

/// What can stand for a float of a formula: a term or a number.
pub(super) trait Like<'a> {
    fn like(self, of: Term<'a>) -> Term<'a>;
}

impl<'a> Like<'a> for Term<'a> {
    fn like(self, _: Term<'a>) -> Term<'a> {
        self
    }
}

impl<'a> Like<'a> for f64 {
    fn like(self, of: Term<'a>) -> Term<'a> {
        of.number(self)
    }
}

macro_rules! float_operators {
    ($($name:ident $method:ident;)*) => {$(
        impl<'a, T: Like<'a>> $name<T> for Term<'a> {
            type Output = Term<'a>;
            fn $method(self, other: T) -> Term<'a> {
                let other = other.like(self);
                self.float(Node::Float(Float::$name, self.1, other.1))
            }
        }
    )*};
}

float_operators! { Add add; Sub sub; Mul mul; Div div; }

impl<'a> Neg for Term<'a> {
    type Output = Term<'a>;
    fn neg(self) -> Term<'a> {
        self.float(Node::Negative(self.1))
    }
}

impl Neg for Index<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        let zero = self.0.push(Node::Integer(0));
        Index(self.0, self.0.push(Node::Int(Int::Sub, zero, self.1)))
    }
}

macro_rules! integer_operators {
    ($($name:ident $method:ident $op:ident;)*) => {$(
        impl<'a> $name<i64> for Index<'a> {
            type Output = Index<'a>;
            fn $method(self, other: i64) -> Index<'a> {
                self.with(Int::$op, other)
            }
        }
        impl<'a> $name<Index<'a>> for Index<'a> {
            type Output = Index<'a>;
            fn $method(self, other: Index<'a>) -> Index<'a> {
                Index(self.0, self.0.push(Node::Int(Int::$op, self.1, other.1)))
            }
        }
    )*};
}

integer_operators! { Add add Add; Sub sub Sub; BitAnd bitand And; BitXor bitxor Xor; }
