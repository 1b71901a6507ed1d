//! Register code: what a kernel is compiled to.
//!
//! All registers hold 64 bits: the bits of a scalar as [`einlang_tir::constant::Const`] keeps them,
//! or an index as a signed integer. Constants have registers of their own that are set once.

use einlang_index::DivOp;
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Ident};

/// A register.
pub(super) type Reg = u16;

/// A buffer.
pub(super) type Buf = u16;

/// A place in the code; a label until the code is complete.
pub(super) type Target = u32;

macro_rules! fast {
    ($($variant:ident $op:ident $elem:ident, $a:ident $b:ident => $value:expr;)*) => {
        /// An operation of two operands of one type that cannot trap.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Fast { $($variant,)* }

        impl Fast {
            /// The operation at a type, if it is one of the quick ones.
            pub(super) fn of(op: Op, elem: Elem) -> Option<Fast> {
                match (op, elem) {
                    $((Op::$op, Elem::$elem) => Some(Fast::$variant),)*
                    _ => None,
                }
            }

            /// What it gives.
            #[inline(always)]
            pub(super) fn apply(self, a: u64, b: u64) -> u64 {
                match self {
                    $(Fast::$variant => { let ($a, $b) = (a, b); $value })*
                }
            }
        }
    };
}

#[inline(always)]
fn f32s(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    u64::from(f(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
}

#[inline(always)]
fn f64s(a: u64, b: u64, f: impl Fn(f64, f64) -> f64) -> u64 {
    f(f64::from_bits(a), f64::from_bits(b)).to_bits()
}

#[inline(always)]
fn test32(a: u64, b: u64, f: impl Fn(&f32, &f32) -> bool) -> u64 {
    u64::from(f(&f32::from_bits(a as u32), &f32::from_bits(b as u32)))
}

#[inline(always)]
fn test64(a: u64, b: u64, f: impl Fn(&f64, &f64) -> bool) -> u64 {
    u64::from(f(&f64::from_bits(a), &f64::from_bits(b)))
}

#[inline(always)]
fn i32s(a: u64, b: u64, f: impl Fn(i32, i32) -> i32) -> u64 {
    i64::from(f(a as i32, b as i32)) as u64
}

#[inline(always)]
fn i64s(a: u64, b: u64, f: impl Fn(i64, i64) -> i64) -> u64 {
    f(a as i64, b as i64) as u64
}

#[inline(always)]
fn testi(a: u64, b: u64, f: impl Fn(&i64, &i64) -> bool) -> u64 {
    u64::from(f(&(a as i64), &(b as i64)))
}

fast! {
    AddF32 Add F32, a b => f32s(a, b, |x, y| x + y);
    SubF32 Sub F32, a b => f32s(a, b, |x, y| x - y);
    MulF32 Mul F32, a b => f32s(a, b, |x, y| x * y);
    DivF32 Div F32, a b => f32s(a, b, |x, y| x / y);
    MinF32 Min F32, a b => f32s(a, b, |x, y| if y < x { y } else { x });
    MaxF32 Max F32, a b => f32s(a, b, |x, y| if y > x { y } else { x });
    NegF32 Neg F32, a b => f32s(a, b, |x, _| -x);
    SqrtF32 Sqrt F32, a b => f32s(a, b, |x, _| x.sqrt());
    EqF32 Eq F32, a b => test32(a, b, |x, y| x == y);
    NeF32 Ne F32, a b => test32(a, b, |x, y| x != y);
    LtF32 Lt F32, a b => test32(a, b, |x, y| x < y);
    LeF32 Le F32, a b => test32(a, b, |x, y| x <= y);
    GtF32 Gt F32, a b => test32(a, b, |x, y| x > y);
    GeF32 Ge F32, a b => test32(a, b, |x, y| x >= y);
    AddF64 Add F64, a b => f64s(a, b, |x, y| x + y);
    SubF64 Sub F64, a b => f64s(a, b, |x, y| x - y);
    MulF64 Mul F64, a b => f64s(a, b, |x, y| x * y);
    DivF64 Div F64, a b => f64s(a, b, |x, y| x / y);
    MinF64 Min F64, a b => f64s(a, b, |x, y| if y < x { y } else { x });
    MaxF64 Max F64, a b => f64s(a, b, |x, y| if y > x { y } else { x });
    NegF64 Neg F64, a b => f64s(a, b, |x, _| -x);
    SqrtF64 Sqrt F64, a b => f64s(a, b, |x, _| x.sqrt());
    EqF64 Eq F64, a b => test64(a, b, |x, y| x == y);
    NeF64 Ne F64, a b => test64(a, b, |x, y| x != y);
    LtF64 Lt F64, a b => test64(a, b, |x, y| x < y);
    LeF64 Le F64, a b => test64(a, b, |x, y| x <= y);
    GtF64 Gt F64, a b => test64(a, b, |x, y| x > y);
    GeF64 Ge F64, a b => test64(a, b, |x, y| x >= y);
    AddI32 Add I32, a b => i32s(a, b, i32::wrapping_add);
    SubI32 Sub I32, a b => i32s(a, b, i32::wrapping_sub);
    MulI32 Mul I32, a b => i32s(a, b, i32::wrapping_mul);
    NegI32 Neg I32, a b => i32s(a, b, |x, _| x.wrapping_neg());
    MinI32 Min I32, a b => i64s(a, b, i64::min);
    MaxI32 Max I32, a b => i64s(a, b, i64::max);
    EqI32 Eq I32, a b => testi(a, b, |x, y| x == y);
    NeI32 Ne I32, a b => testi(a, b, |x, y| x != y);
    LtI32 Lt I32, a b => testi(a, b, |x, y| x < y);
    LeI32 Le I32, a b => testi(a, b, |x, y| x <= y);
    GtI32 Gt I32, a b => testi(a, b, |x, y| x > y);
    GeI32 Ge I32, a b => testi(a, b, |x, y| x >= y);
    AddI64 Add I64, a b => i64s(a, b, i64::wrapping_add);
    SubI64 Sub I64, a b => i64s(a, b, i64::wrapping_sub);
    MulI64 Mul I64, a b => i64s(a, b, i64::wrapping_mul);
    MinI64 Min I64, a b => i64s(a, b, i64::min);
    MaxI64 Max I64, a b => i64s(a, b, i64::max);
    EqI64 Eq I64, a b => testi(a, b, |x, y| x == y);
    NeI64 Ne I64, a b => testi(a, b, |x, y| x != y);
    LtI64 Lt I64, a b => testi(a, b, |x, y| x < y);
    LeI64 Le I64, a b => testi(a, b, |x, y| x <= y);
    GtI64 Gt I64, a b => testi(a, b, |x, y| x > y);
    GeI64 Ge I64, a b => testi(a, b, |x, y| x >= y);
    AndBool And Bool, a b => a & b;
    OrBool Or Bool, a b => a | b;
    NotBool Not Bool, a b => (a ^ 1) & (b | 1);
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Inst {
    /// A place that jumps lead to; gone when the code is complete.
    Label(Target),
    /// `dst = src`
    Copy { dst: Reg, src: Reg },
    /// `dst = a op b`
    Fast { op: Fast, dst: Reg, a: Reg, b: Reg },
    /// The quotient of two integers of at most 32 bits, truncated; traps on zero.
    Quotient { dst: Reg, a: Reg, b: Reg, site: u32 },
    /// The remainder of two signed integers; traps on zero.
    Remainder { dst: Reg, a: Reg, b: Reg, site: u32 },
    /// An index as an `i32`.
    ToI32 { dst: Reg, a: Reg },
    /// Any operation, by its number.
    Apply(u32),
    /// `dst = a + b` of indices.
    Add { dst: Reg, a: Reg, b: Reg },
    /// `dst = a + imm`
    AddImm { dst: Reg, a: Reg, imm: i32 },
    /// `dst = a * b`
    Mul { dst: Reg, a: Reg, b: Reg },
    /// `dst = a * imm`
    MulImm { dst: Reg, a: Reg, imm: i32 },
    /// `dst = a * b + c`
    MulAdd { dst: Reg, a: Reg, b: Reg, c: Reg },
    /// The smaller index.
    Min { dst: Reg, a: Reg, b: Reg },
    /// The larger index.
    Max { dst: Reg, a: Reg, b: Reg },
    /// `dst = a op by` of indices.
    Divide { op: DivOp, dst: Reg, a: Reg, by: i32 },
    /// `dst = a mod by`, of an index that is rarely negative.
    Wrap { dst: Reg, a: Reg, by: i32 },
    /// An index as a scalar of a type.
    ToScalar { dst: Reg, a: Reg, elem: Elem },
    /// A scalar as an index; traps beyond the largest extent.
    ToIndex { dst: Reg, a: Reg, elem: Elem, site: u32 },
    /// A scalar as a subscript; what no index can be becomes -1.
    ToSubscript { dst: Reg, a: Reg, elem: Elem },
    /// An element.
    LoadF32 { dst: Reg, buf: Buf, at: Reg },
    /// An element.
    LoadF64 { dst: Reg, buf: Buf, at: Reg },
    /// An element.
    LoadI32 { dst: Reg, buf: Buf, at: Reg },
    /// An element of any type.
    Load { dst: Reg, buf: Buf, at: Reg },
    /// Stores an element.
    StoreF32 { src: Reg, buf: Buf, at: Reg },
    /// Stores an element of any type.
    Store { src: Reg, buf: Buf, at: Reg },
    /// Remembers that an element was stored.
    Mark { buf: Buf, at: Reg },
    /// Traps unless an index lies on its axis.
    CheckAxis { a: Reg, buf: Buf, axis: u16, site: u32 },
    /// Traps unless an element was stored.
    CheckMark { buf: Buf, at: Reg, site: u32 },
    /// Jumps unless an index lies on its axis.
    UnlessOnAxis { a: Reg, buf: Buf, axis: u16, to: Target },
    /// Whether an element was stored.
    Marked { dst: Reg, buf: Buf, at: Reg },
    /// Goes on elsewhere.
    Jump(Target),
    /// Jumps where a truth value holds.
    If { a: Reg, to: Target },
    /// Jumps where it does not.
    Unless { a: Reg, to: Target },
    /// Jumps where `a >= b`, of indices.
    IfGe { a: Reg, b: Reg, to: Target },
    /// Jumps where `a < 0`.
    IfNegative { a: Reg, to: Target },
    /// Jumps where `a != 0`.
    IfNonzero { a: Reg, to: Target },
    /// `a += 1`, then jumps back while `a < end`.
    Up { a: Reg, end: Reg, to: Target },
    /// `a -= 1`, then jumps back while `a >= end`.
    Down { a: Reg, end: Reg, to: Target },
    /// Forgets the terms of a sum in pairs.
    PairsBegin(u16),
    /// A term of a sum in pairs.
    PairsTerm { state: u16, a: Reg },
    /// A point that gives no term.
    PairsGap(u16),
    /// The sum, and whether there was a term.
    PairsEnd { state: u16, dst: Reg, any: Reg },
    /// Jumps where the points of a table are sorted by their keys; otherwise it becomes empty.
    IfSorted { table: u32, to: Target },
    /// Writes down the key of the current point.
    KeysAdd { table: u32, a: Reg },
    /// All keys are written down.
    KeysEnd(u32),
    /// The points with this key are to be visited.
    Visit { table: u32, a: Reg },
    /// Goes to the next of these points, after which gaps of the sum in pairs are counted; jumps if
    /// there is none.
    VisitNext { table: u32, pairs: u16, to: Target },
    /// Gives a buffer its memory.
    Alloc(u32),
    /// Takes it away.
    Free(Buf),
    /// Makes room for one more plane of an open axis.
    Grow { buf: Buf, axis: u16, a: Reg },
    /// Copies a buffer.
    CopyBuffer { to: Buf, from: Buf },
    /// Tests the shape of an input.
    CheckShape(u32),
    /// Calls a function of the program around.
    Call(u32),
    /// Traps.
    Trap(u32),
    /// Ends.
    End,
}

/// An operation in full.
#[derive(Clone, Debug)]
pub(super) struct Apply {
    pub(super) op: Op,
    pub(super) elems: [Elem; 2],
    pub(super) result: Elem,
    pub(super) dst: Reg,
    pub(super) args: [Reg; 3],
    pub(super) site: u32,
}

/// A trap without a site: an operation that only `--checked` lets fail.
pub(super) const NO_SITE: u32 = u32::MAX;

/// A trap without a site: an address or a size that a correct kernel never has.
pub(super) const LOST: u32 = u32::MAX - 1;

/// The shape of a buffer, as registers.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) buf: Buf,
    /// One extent per dimension.
    pub(super) extents: Vec<Reg>,
    pub(super) site: u32,
}

/// A call in full.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: Ident,
    pub(super) args: Vec<(Reg, Elem)>,
    pub(super) results: Vec<(Reg, Elem)>,
    pub(super) site: u32,
}

/// The code of a kernel.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) insts: Vec<Inst>,
    pub(super) applies: Vec<Apply>,
    pub(super) shapes: Vec<Shape>,
    pub(super) calls: Vec<Call>,
    /// The types of sums in pairs.
    pub(super) pairs: Vec<Elem>,
    /// The index registers of points that are sorted by keys.
    pub(super) keys: Vec<Vec<Reg>>,
    /// Registers that hold constants.
    pub(super) constants: Vec<(Reg, u64)>,
    /// The registers of the caller's symbols.
    pub(super) sizes: Vec<(Reg, einlang_loops::ir::Size)>,
    /// The first of the registers that hold a buffer's strides.
    pub(super) strides: Vec<Reg>,
    pub(super) n_regs: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_small() {
        assert!(size_of::<Inst>() <= 16, "{}", size_of::<Inst>());
    }
}
