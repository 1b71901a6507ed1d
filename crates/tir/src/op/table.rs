//! The table itself. Columns: variant, name, typing, traps, laws, derivative, doc.
//!
//! Derivatives follow section 7 of the language: selections differentiate the element they select
//! (`min`, `max`: the first extremal one), `abs` at 0 gives 0, rounding gives 0.

use super::rules::Derivative::{None as NoDerivative, Partials, Zero};
use super::rules::Identity::{AllOnes, Highest, Lowest, One, Zero as ZeroId};
use super::rules::Trap::{DivisionByZero, NegativePower, Overflow};
use super::rules::Types::{Any, Bool, Float, Int, Number};
use super::rules::Typing::{Choose, Compare, Convert, FloatInt, IntFloat, Same, Test};
use super::{Laws, OpInfo};

macro_rules! ops {
    ($($variant:ident $name:literal $typing:expr, $traps:expr, $laws:expr, $derivative:expr,
       $doc:literal;)*) => {
        /// A scalar operation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Op {
            $(#[doc = $doc] $variant,)*
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$variant,)*];

            /// The row of the table.
            pub fn info(self) -> OpInfo {
                match self {
                    $(Op::$variant => OpInfo {
                        name: $name,
                        doc: $doc,
                        typing: $typing,
                        traps: $traps,
                        laws: $laws,
                        derivative: $derivative,
                    },)*
                }
            }
        }
    };
}

const NONE: Laws = Laws::NONE;
const COMMUTES: Laws = Laws::COMMUTES;

ops! {
    // Arithmetic.
    Add "add" Same(2, Number), &[Overflow], Laws::ring(ZeroId), Partials(&["1", "1"]),
        "`x + y`; integers wrap.";
    Sub "sub" Same(2, Number), &[Overflow], NONE, Partials(&["1", "-1"]),
        "`x - y`; integers wrap.";
    Mul "mul" Same(2, Number), &[Overflow], Laws::ring(One), Partials(&["y", "x"]),
        "`x * y`; integers wrap.";
    Div "div" Same(2, Number), &[DivisionByZero, Overflow], NONE,
        Partials(&["div(1, y)", "neg(div(r, y))"]),
        "`x / y`; integers truncate toward zero.";
    Rem "rem" Same(2, Number), &[DivisionByZero], NONE,
        Partials(&["1", "neg(trunc(div(x, y)))"]),
        "`x % y` and `fmod`: the remainder with the sign of `x`.";
    Neg "neg" Same(1, Number), &[Overflow], NONE, Partials(&["-1"]),
        "`-x`; the smallest integer stays itself.";
    Abs "abs" Same(1, Number), &[Overflow], NONE, Partials(&["sign(x)"]),
        "The magnitude.";
    Sign "sign" Same(1, Number), &[], NONE, Zero,
        "-1, 0 or 1; NaN stays NaN and both zeros give 0.";
    Min "min" Same(2, Number), &[], Laws::lattice(Highest),
        Partials(&["select(lt(y, x), 0, 1)", "select(lt(y, x), 1, 0)"]),
        "`if y < x { y } else { x }`.";
    Max "max" Same(2, Number), &[], Laws::lattice(Lowest),
        Partials(&["select(gt(y, x), 0, 1)", "select(gt(y, x), 1, 0)"]),
        "`if y > x { y } else { x }`.";
    Fma "fma" Same(3, Float), &[], NONE, Partials(&["y", "x", "1"]),
        "`x * y + z` with one rounding.";
    Pow "pow" Same(2, Float), &[], NONE,
        Partials(&["mul(y, pow(x, sub(y, 1)))", "select(eq(x, 0), 0, mul(r, log(x)))"]),
        "`x ** y` of floats.";
    Powi "powi" FloatInt, &[], NONE,
        Partials(&["mul(cast(y), pow(x, sub(cast(y), 1)))", "0"]),
        "`x ** n`, a float to an integer power.";
    Ipow "ipow" Same(2, Int), &[NegativePower, Overflow], NONE, NoDerivative,
        "`x ** y` of integers.";
    // Comparisons.
    Eq "eq" Compare(Any), &[], COMMUTES, NoDerivative, "`x == y`.";
    Ne "ne" Compare(Any), &[], COMMUTES, NoDerivative, "`x != y`.";
    Lt "lt" Compare(Any), &[], NONE, NoDerivative, "`x < y`.";
    Le "le" Compare(Any), &[], NONE, NoDerivative, "`x <= y`.";
    Gt "gt" Compare(Any), &[], NONE, NoDerivative, "`x > y`.";
    Ge "ge" Compare(Any), &[], NONE, NoDerivative, "`x >= y`.";
    IsNan "is_nan" Test(Float), &[], NONE, NoDerivative, "Whether `x` is not a number.";
    IsFinite "is_finite" Test(Float), &[], NONE, NoDerivative,
        "Whether `x` is neither infinite nor NaN.";
    // Truth values; the language's `&&` and `||` are lazy and become `if`.
    And "and" Same(2, Bool), &[], Laws::logic(One), NoDerivative, "Both.";
    Or "or" Same(2, Bool), &[], Laws::logic(ZeroId), NoDerivative, "Either.";
    Not "not" Same(1, Bool), &[], NONE, NoDerivative, "`!x`.";
    // Bits.
    Band "band" Same(2, Int), &[], Laws::logic(AllOnes), NoDerivative, "Bitwise and.";
    Bor "bor" Same(2, Int), &[], Laws::logic(ZeroId), NoDerivative, "Bitwise or.";
    Bxor "bxor" Same(2, Int), &[], Laws::ring(ZeroId), NoDerivative, "Bitwise exclusive or.";
    Bnot "bnot" Same(1, Int), &[], NONE, NoDerivative, "Every bit inverted.";
    Shl "shl" Same(2, Int), &[], NONE, NoDerivative,
        "Shift left; the distance counts modulo the width.";
    Shr "shr" Same(2, Int), &[], NONE, NoDerivative,
        "Shift right, arithmetic for signed types; the distance counts modulo the width.";
    // Rounding.
    Floor "floor" Same(1, Float), &[], NONE, Zero, "Rounded down.";
    Ceil "ceil" Same(1, Float), &[], NONE, Zero, "Rounded up.";
    Round "round" Same(1, Float), &[], NONE, Zero, "Rounded to nearest, halves away from zero.";
    Trunc "trunc" Same(1, Float), &[], NONE, Zero, "Rounded toward zero.";
    // Powers and logarithms.
    Sqrt "sqrt" Same(1, Float), &[], NONE, Partials(&["div(0.5, r)"]), "The square root.";
    Cbrt "cbrt" Same(1, Float), &[], NONE, Partials(&["div(1, mul(3, mul(r, r)))"]),
        "The cube root.";
    Hypot "hypot" Same(2, Float), &[], COMMUTES, Partials(&["div(x, r)", "div(y, r)"]),
        "`sqrt(x*x + y*y)` without overflow.";
    Exp "exp" Same(1, Float), &[], NONE, Partials(&["r"]), "The exponential.";
    Exp2 "exp2" Same(1, Float), &[], NONE, Partials(&["mul(r, 0.6931471805599453)"]),
        "Two to the power `x`.";
    Expm1 "expm1" Same(1, Float), &[], NONE, Partials(&["add(r, 1)"]),
        "`exp(x) - 1`, exact near 0.";
    Log "log" Same(1, Float), &[], NONE, Partials(&["div(1, x)"]), "The natural logarithm.";
    Log2 "log2" Same(1, Float), &[], NONE, Partials(&["div(1.4426950408889634, x)"]),
        "The logarithm to base 2.";
    Log10 "log10" Same(1, Float), &[], NONE, Partials(&["div(0.4342944819032518, x)"]),
        "The logarithm to base 10.";
    Log1p "log1p" Same(1, Float), &[], NONE, Partials(&["div(1, add(1, x))"]),
        "`log(1 + x)`, exact near 0.";
    // Circles and hyperbolas.
    Sin "sin" Same(1, Float), &[], NONE, Partials(&["cos(x)"]), "The sine.";
    Cos "cos" Same(1, Float), &[], NONE, Partials(&["neg(sin(x))"]), "The cosine.";
    Tan "tan" Same(1, Float), &[], NONE, Partials(&["add(1, mul(r, r))"]), "The tangent.";
    Asin "asin" Same(1, Float), &[], NONE, Partials(&["div(1, sqrt(sub(1, mul(x, x))))"]),
        "The inverse sine.";
    Acos "acos" Same(1, Float), &[], NONE, Partials(&["div(-1, sqrt(sub(1, mul(x, x))))"]),
        "The inverse cosine.";
    Atan "atan" Same(1, Float), &[], NONE, Partials(&["div(1, add(1, mul(x, x)))"]),
        "The inverse tangent.";
    Atan2 "atan2" Same(2, Float), &[], NONE,
        Partials(&["div(y, add(mul(x, x), mul(y, y)))", "neg(div(x, add(mul(x, x), mul(y, y))))"]),
        "The angle of the point with ordinate `x` and abscissa `y`.";
    Sinh "sinh" Same(1, Float), &[], NONE, Partials(&["cosh(x)"]), "The hyperbolic sine.";
    Cosh "cosh" Same(1, Float), &[], NONE, Partials(&["sinh(x)"]), "The hyperbolic cosine.";
    Tanh "tanh" Same(1, Float), &[], NONE, Partials(&["sub(1, mul(r, r))"]),
        "The hyperbolic tangent.";
    Asinh "asinh" Same(1, Float), &[], NONE, Partials(&["div(1, sqrt(add(mul(x, x), 1)))"]),
        "The inverse hyperbolic sine.";
    Acosh "acosh" Same(1, Float), &[], NONE,
        Partials(&["div(1, mul(sqrt(sub(x, 1)), sqrt(add(x, 1))))"]),
        "The inverse hyperbolic cosine.";
    Atanh "atanh" Same(1, Float), &[], NONE, Partials(&["div(1, sub(1, mul(x, x)))"]),
        "The inverse hyperbolic tangent.";
    // Special functions.
    Erf "erf" Same(1, Float), &[], NONE,
        Partials(&["mul(1.1283791670955126, exp(neg(mul(x, x))))"]), "The error function.";
    Erfc "erfc" Same(1, Float), &[], NONE,
        Partials(&["mul(-1.1283791670955126, exp(neg(mul(x, x))))"]), "`1 - erf(x)`.";
    Gamma "gamma" Same(1, Float), &[], NONE, Partials(&["mul(r, digamma(x))"]),
        "The gamma function.";
    Lgamma "lgamma" Same(1, Float), &[], NONE, Partials(&["digamma(x)"]),
        "The logarithm of the magnitude of the gamma function.";
    Digamma "digamma" Same(1, Float), &[], NONE, Partials(&["trigamma(x)"]),
        "The derivative of `lgamma`.";
    Trigamma "trigamma" Same(1, Float), &[], NONE, Partials(&["polygamma(2, x)"]),
        "The derivative of `digamma`, for which most libraries have a name of its own.";
    Polygamma "polygamma" IntFloat, &[], NONE, Partials(&["0", "polygamma(add(x, 1), y)"]),
        "The derivative of order `x` of `digamma` at `y`.";
    BesselJ0 "bessel_j0" Same(1, Float), &[], NONE, Partials(&["neg(bessel_j1(x))"]),
        "The Bessel function of the first kind of order 0.";
    BesselJ1 "bessel_j1" Same(1, Float), &[], NONE,
        Partials(&["select(eq(x, 0), 0.5, sub(bessel_j0(x), div(r, x)))"]),
        "The Bessel function of the first kind of order 1.";
    // Everything else.
    Cast "cast" Convert, &[], NONE, Partials(&["1"]),
        "`x as T`: float to integer truncates and saturates, integers wrap.";
    Bitcast "bitcast" Convert, &[], NONE, NoDerivative,
        "The same bits as another type of the same width.";
    Select "select" Choose, &[], NONE, Partials(&["0", "select(x, 1, 0)", "select(x, 0, 1)"]),
        "`y` where `x` holds, else `z`, both evaluated; exists only after `speculate`.";
    Detach "detach" Same(1, Any), &[], NONE, Zero, "`x` with derivative zero.";
}
