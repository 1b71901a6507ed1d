//! The vocabulary of the op table: typing rules, traps, laws and derivatives.

use crate::types::Elem;

/// A set of element types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Types {
    /// Integers and floats.
    Number,
    /// Integers.
    Int,
    /// Floats.
    Float,
    /// Truth values.
    Bool,
    /// Everything.
    Any,
}

impl Types {
    /// Whether the type belongs to the set.
    pub fn contains(self, elem: Elem) -> bool {
        match self {
            Types::Number => elem != Elem::Bool,
            Types::Int => elem.is_int(),
            Types::Float => elem.is_float(),
            Types::Bool => elem == Elem::Bool,
            Types::Any => true,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Types::Number => "numbers",
            Types::Int => "integers",
            Types::Float => "floats",
            Types::Bool => "truth values",
            Types::Any => "anything",
        }
    }
}

/// Which operands an operation takes and what it gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Typing {
    /// `n` operands of one type from the set; the result has the same type.
    Same(usize, Types),
    /// Two operands of one type from the set; the result is a truth value.
    Compare(Types),
    /// One operand from the set; the result is a truth value.
    Test(Types),
    /// A float and an integer of any width; the result has the float's type.
    FloatInt,
    /// An integer of any width and a float; the result has the float's type.
    IntFloat,
    /// One operand of any type; the result has the type written down.
    Convert,
    /// A truth value and two operands of one type, which is the result's.
    Choose,
}

impl Typing {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            Typing::Same(n, _) => n,
            Typing::Compare(_) | Typing::FloatInt | Typing::IntFloat => 2,
            Typing::Test(_) | Typing::Convert => 1,
            Typing::Choose => 3,
        }
    }

    /// The type of the result, or the end of the sentence "`op` …".
    pub(super) fn result(self, args: &[Elem], wanted: Elem) -> Result<Elem, String> {
        if args.len() != self.arity() {
            return Err(format!("takes {} operands, not {}", self.arity(), args.len()));
        }
        match (self, args) {
            (Typing::Same(_, types), [first, rest @ ..]) => same(types, *first, rest),
            (Typing::Compare(types) | Typing::Test(types), [first, rest @ ..]) => {
                same(types, *first, rest).map(|_| Elem::Bool)
            }
            (Typing::FloatInt, [float, int]) | (Typing::IntFloat, [int, float]) => {
                same(Types::Float, *float, &[])?;
                same(Types::Int, *int, &[])?;
                Ok(*float)
            }
            (Typing::Choose, [condition, first, rest @ ..]) => {
                same(Types::Bool, *condition, &[])?;
                same(Types::Any, *first, rest)
            }
            _ => Ok(wanted),
        }
    }
}

/// One type for all operands, from the set.
fn same(types: Types, first: Elem, rest: &[Elem]) -> Result<Elem, String> {
    if let Some(other) = rest.iter().find(|elem| **elem != first) {
        return Err(format!("wants operands of one type, not {first} and {other}"));
    }
    if !types.contains(first) {
        return Err(format!("wants {}, not {first}", types.as_str()));
    }
    Ok(first)
}

/// What may stop a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Trap {
    /// Integer division or remainder by zero (E0701).
    DivisionByZero,
    /// An integer to a negative integer power (E0701).
    NegativePower,
    /// An integer result that does not fit, only under `--checked` (E0704).
    Overflow,
    /// A subscript outside its axis (E0702).
    OutOfBounds,
    /// A data-dependent self-read of a point that is not computed (E0504).
    NotComputed,
    /// An assertion that failed (E0703).
    Assertion,
    /// `argmax` or `argmin` of nothing (E0706).
    EmptyReduction,
    /// Extents that must agree and do not (E0705).
    ExtentsDiffer,
    /// A file that holds another shape than the program says (E0904).
    LoadedShape,
    /// Requests nested deeper than they are written down for (E0602).
    NoDerivative,
}

impl Trap {
    /// Every trap.
    pub const ALL: &[Trap] = &[
        Trap::DivisionByZero,
        Trap::NegativePower,
        Trap::Overflow,
        Trap::OutOfBounds,
        Trap::NotComputed,
        Trap::Assertion,
        Trap::EmptyReduction,
        Trap::ExtentsDiffer,
        Trap::LoadedShape,
        Trap::NoDerivative,
    ];

    /// The name in the text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Trap::DivisionByZero => "division_by_zero",
            Trap::NegativePower => "negative_power",
            Trap::Overflow => "overflow",
            Trap::OutOfBounds => "out_of_bounds",
            Trap::NotComputed => "not_computed",
            Trap::Assertion => "assertion",
            Trap::EmptyReduction => "empty_reduction",
            Trap::ExtentsDiffer => "extents_differ",
            Trap::LoadedShape => "loaded_shape",
            Trap::NoDerivative => "no_derivative",
        }
    }

    /// The trap of this name.
    pub fn parse(name: &str) -> Option<Trap> {
        Trap::ALL.iter().copied().find(|trap| trap.as_str() == name)
    }
}

/// For which element types a law holds exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// For none.
    Never,
    /// For integers and truth values; floats break it by rounding, NaN or the sign of zero.
    Exactly,
    /// For all.
    Always,
}

impl Holds {
    /// Whether the law holds at a type.
    pub fn at(self, elem: Elem) -> bool {
        match self {
            Holds::Never => false,
            Holds::Exactly => !elem.is_float(),
            Holds::Always => true,
        }
    }
}

/// Algebraic laws of a binary operation. Which reductions may be reassociated is not a law but a
/// flag of the reduction: the language allows more there than bits would.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Laws {
    /// `op(a, b)` is `op(b, a)`.
    pub commutative: Holds,
    /// `op(op(a, b), c)` is `op(a, op(b, c))`.
    pub associative: Holds,
    /// `op(a, a)` is `a`.
    pub idempotent: Holds,
    /// The value `e` with `op(e, x) = x`.
    pub identity: Option<Identity>,
}

impl Laws {
    /// No law.
    pub const NONE: Laws = Laws {
        commutative: Holds::Never,
        associative: Holds::Never,
        idempotent: Holds::Never,
        identity: None,
    };

    /// Commutative, and nothing else.
    pub const COMMUTES: Laws = Laws { commutative: Holds::Always, ..Laws::NONE };

    /// Sums and products: floats commute but round differently when associated differently.
    pub const fn ring(identity: Identity) -> Laws {
        Laws {
            commutative: Holds::Always,
            associative: Holds::Exactly,
            idempotent: Holds::Never,
            identity: Some(identity),
        }
    }

    /// Minimum and maximum: NaN and the two zeros keep floats from commuting.
    pub const fn lattice(identity: Identity) -> Laws {
        Laws {
            commutative: Holds::Exactly,
            associative: Holds::Exactly,
            idempotent: Holds::Always,
            identity: Some(identity),
        }
    }

    /// Conjunction and disjunction.
    pub const fn logic(identity: Identity) -> Laws {
        Laws {
            commutative: Holds::Always,
            associative: Holds::Always,
            idempotent: Holds::Always,
            identity: Some(identity),
        }
    }
}

/// The identity of an operation, for every type it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Identity {
    /// Zero or `false`.
    Zero,
    /// One or `true`.
    One,
    /// Minus infinity or the smallest value.
    Lowest,
    /// Infinity or the largest value.
    Highest,
    /// All bits set.
    AllOnes,
}

/// How an operation is differentiated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Derivative {
    /// Its result is not a differentiable quantity (truth values, bits).
    None,
    /// Zero everywhere by the language's definition.
    Zero,
    /// One expression per operand, in terms of the operands `x y z` and the result `r`; see
    /// [`super::Partial`]. The expression of an integer operand is `0`.
    Partials(&'static [&'static str]),
}
