//! Elementary functions as straight-line code on floats, the same for one number and for a vector.
//!
//! A formula is built once with the operators of Rust (`x * y + z`), as a list of nodes; `emit/math.rs`
//! turns it into LLVM IR, and the tests evaluate it. A bit of a result therefore never depends on how
//! many numbers are computed at once. Errors are at most two units in the last place, and special
//! values are those of IEEE 754; `tests.rs` looks at both.
//!
//! | file | owns |
//! |---|---|
//! | `code.rs` | the nodes, and writing them down |
//! | `exp.rs` | `exp`, `exp2`, `expm1`, `tanh` |
//! | `log.rs` | `log`, `log2`, `log10`, `log1p` |
//! | `circle.rs` | `sin`, `cos` |
//! | `error.rs` | `erf`, `erfc` |
//! | `power.rs` | `pow` |
//! | `coefficients.rs` | the polynomials, written by `math/fit.py` |

mod circle;
mod code;
mod coefficients;
mod error;
mod exp;
mod log;
mod power;
#[cfg(test)]
mod tests;

use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use code::{Code, Term};
pub(crate) use code::{Compare, Float, Int, Node, Truth};

/// A function as code.
pub(crate) struct Formula {
    /// The type that it computes in; operands of another are converted, and so is the result.
    pub(crate) elem: Elem,
    /// The nodes, each after those that it uses.
    pub(crate) nodes: Vec<Node>,
    /// The node that is the result.
    pub(crate) result: usize,
    /// The node that tells whether the result holds; where it does not, a library knows better.
    pub(crate) holds: Option<usize>,
}

/// The formula of an operation on floats of a type, if it has one, for a processor that multiplies by powers of two
/// in one step or not; its value is the same.
pub(crate) fn formula(op: Op, elem: Elem, scales: bool) -> Option<Formula> {
    let (inner, n_args) = match (op, elem) {
        (Op::Pow, Elem::F32) => (Elem::F64, 2),
        (Op::Erf | Op::Erfc, Elem::F32) => (Elem::F32, 1),
        (Op::Exp | Op::Exp2 | Op::Expm1 | Op::Tanh | Op::Sin | Op::Cos, Elem::F32 | Elem::F64)
        | (Op::Log | Op::Log2 | Op::Log10 | Op::Log1p, Elem::F32 | Elem::F64) => (elem, 1),
        _ => return None,
    };
    let code = Code::new(inner, scales);
    let args: Vec<Term<'_>> = (0..n_args).map(|at| code.argument(at)).collect();
    let mut holds = None;
    let result = match (op, &args[..]) {
        (Op::Exp, [x]) => exp::exp(*x),
        (Op::Exp2, [x]) => exp::exp2(*x),
        (Op::Expm1, [x]) => exp::expm1(*x),
        (Op::Tanh, [x]) => exp::tanh(*x),
        (Op::Log, [x]) => log::log(*x),
        (Op::Log2, [x]) => log::log2(*x),
        (Op::Log10, [x]) => log::log10(*x),
        (Op::Log1p, [x]) => log::log1p(*x),
        (Op::Sin, [x]) => circle::sin(*x, &mut holds),
        (Op::Cos, [x]) => circle::cos(*x, &mut holds),
        (Op::Erf, [x]) => error::erf(*x),
        (Op::Erfc, [x]) => error::erfc(*x),
        (Op::Pow, [x, y]) => power::pow(*x, *y),
        _ => return None,
    };
    let (result, holds) = (result.at(), holds.map(|holds| holds.at()));
    Some(Formula { elem: inner, nodes: code.nodes(), result, holds })
}
