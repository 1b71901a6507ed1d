//! The scalar operations of the language, declared once.
//!
//! The table holds one row per operation: name, typing rule, traps, laws, derivative and doc. The
//! row *declares*; oracle, executor and code generator match on [`Op`] exhaustively, so a new row
//! does not compile until every stage has it. Adding an operation means adding a row.

mod derivative;
mod rules;
mod table;

pub use derivative::{Partial, PartialError};
pub use rules::{Derivative, Holds, Identity, Laws, Trap, Types, Typing};
pub use table::Op;

use crate::constant::Const;
use crate::types::Elem;

/// Everything the table says about one operation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OpInfo {
    /// The name in the text form.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// Which operands it takes and what it gives.
    pub typing: Typing,
    /// Which traps it may raise for integer operands.
    pub traps: &'static [Trap],
    /// Algebraic laws.
    pub laws: Laws,
    /// The derivative by each operand.
    pub derivative: Derivative,
}

impl Op {
    /// The name in the text form.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The operation of this name.
    pub fn parse(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// The number of operands.
    pub fn arity(self) -> usize {
        self.info().typing.arity()
    }

    /// The type of the result, or why these operands are refused. A cast may give any type, so
    /// `wanted` is the type written down.
    pub fn result(self, args: &[Elem], wanted: Elem) -> Result<Elem, String> {
        self.info().typing.result(args, wanted).map_err(|why| format!("`{}` {why}", self.name()))
    }

    /// Whether it may trap on operands of this type. Overflow counts only under `--checked`.
    pub fn may_trap(self, elem: Elem, checked: bool) -> bool {
        let counts = |trap: &Trap| checked || *trap != Trap::Overflow;
        elem.is_int() && self.info().traps.iter().any(counts)
    }

    /// The identity at a type: `op(identity, x)` is `x`.
    pub fn identity(self, elem: Elem) -> Option<Const> {
        Some(match self.info().laws.identity? {
            Identity::Zero => Const::zero(elem),
            Identity::One => Const::one(elem),
            Identity::Lowest => Const::lowest(elem),
            Identity::Highest => Const::highest(elem),
            Identity::AllOnes => Const::from_bits(elem, u64::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for op in Op::ALL {
            assert_eq!(Op::parse(op.name()), Some(*op));
            assert!(op.info().doc.ends_with('.'), "{}", op.name());
        }
    }

    #[test]
    fn partials_fit_the_operands() {
        for op in Op::ALL {
            let Derivative::Partials(texts) = op.info().derivative else { continue };
            assert_eq!(texts.len(), op.arity(), "{}", op.name());
            for text in texts {
                let partial = Partial::parse(text);
                assert!(partial.is_ok(), "{}: {text}: {partial:?}", op.name());
            }
        }
    }

    #[test]
    fn typing_follows_the_rules() {
        use Elem::{Bool, F32, I32, I64};
        assert_eq!(Op::Add.result(&[F32, F32], F32), Ok(F32));
        assert_eq!(Op::Lt.result(&[I32, I32], Bool), Ok(Bool));
        assert_eq!(Op::Powi.result(&[F32, I64], F32), Ok(F32));
        assert_eq!(Op::Cast.result(&[F32], I32), Ok(I32));
        assert_eq!(Op::Select.result(&[Bool, F32, F32], F32), Ok(F32));
        let error = Op::Add.result(&[F32, I32], F32);
        assert_eq!(error, Err("`add` wants operands of one type, not f32 and i32".to_owned()));
        assert!(Op::Sin.result(&[I32], I32).is_err());
        assert!(Op::Sin.result(&[F32, F32], F32).is_err());
    }

    #[test]
    fn traps_are_for_integers() {
        assert!(Op::Div.may_trap(Elem::I32, false));
        assert!(!Op::Div.may_trap(Elem::F32, true));
        assert!(!Op::Add.may_trap(Elem::I32, false));
        assert!(Op::Add.may_trap(Elem::I32, true));
    }

    #[test]
    fn identities_have_their_type() {
        assert_eq!(Op::Max.identity(Elem::I8), Some(Const::int(Elem::I8, -128)));
        assert_eq!(Op::Band.identity(Elem::U8), Some(Const::int(Elem::U8, 255)));
        assert_eq!(Op::Sub.identity(Elem::F32), None);
    }
}
