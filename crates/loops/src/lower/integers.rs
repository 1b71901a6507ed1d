//! Integers that kernels compute for themselves: products and logarithms of sizes.

use einlang_index::{MinMax, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::types::Elem;

use super::{Lower, Result};
use crate::ir::{Block, Combine, Fold, FoldStart, Operand, Range, Stmt};

/// A number as an operand.
pub(super) fn number(value: i64) -> Operand {
    Const::int(Elem::I64, i128::from(value)).into()
}

impl Lower<'_> {
    /// The value of an index expression.
    pub(super) fn value_of(&mut self, expr: &Quasi, out: &mut Vec<Stmt>) -> Operand {
        let result = self.fresh(Elem::I64);
        out.push(Stmt::Index { result, expr: expr.clone() });
        result.into()
    }

    /// An operation on integers.
    pub(super) fn integer(&mut self, op: Op, args: &[Operand], out: &mut Vec<Stmt>) -> Operand {
        let elems: Vec<Elem> = args.iter().map(Operand::elem).collect();
        let elem = op.result(&elems, Elem::I64).unwrap_or(Elem::I64);
        let result = self.fresh(elem);
        let traps = op.may_trap(Elem::I64, true);
        let site = traps.then(|| self.kernel.add_site("a size", Default::default()));
        out.push(Stmt::Op { result, op, args: args.to_vec(), site });
        result.into()
    }

    /// How many of the numbers `0..end` a condition holds for.
    pub(super) fn count(
        &mut self,
        end: i64,
        holds: impl FnOnce(&mut Self, Operand, &mut Vec<Stmt>) -> Operand,
        out: &mut Vec<Stmt>,
    ) -> Operand {
        let var = self.kernel.vars.index("bit");
        let mut stmts = Vec::new();
        let bit = self.value_of(&Quasi::from(var), &mut stmts);
        let held = holds(self, bit, &mut stmts);
        let term = self.integer(Op::Cast, &[held], &mut stmts);
        let result = self.fresh(Elem::I64);
        out.push(Stmt::Fold(Box::new(Fold {
            results: vec![result],
            ranges: vec![Range { var, lo: MinMax::from(0), hi: MinMax::from(end), down: false }],
            within: None,
            guard: None,
            body: Block { stmts, results: vec![term] },
            combine: Combine::Op(Op::Add),
            start: FoldStart::From(vec![number(0)]),
            resume: None,
            key: None,
        })));
        result.into()
    }

    /// A new variable for a number that is computed.
    pub(super) fn sized(&mut self, name: &str, value: Operand, out: &mut Vec<Stmt>) -> Result<Var> {
        let var = self.kernel.vars.symbol(name);
        self.param(var, value, name, out)?;
        Ok(var)
    }
}
