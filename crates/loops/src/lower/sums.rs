//! Sums over time that are added up segment by segment.
//!
//! A segment is a power of two of points, so the pairs of a sum over all points are the pairs of its
//! segments: each segment is summed as it is there, and the sums of segments are combined as a binary
//! counter carries, upwards or downwards. The result is the sum over all points, to the bit.

use einlang_index::{MinMax, Quasi, Var};
use einlang_tir::module::Binding;
use einlang_tir::op::Op;
use einlang_tir::region::Reduction;
use einlang_tir::types::Ident;

use super::integers::number;
use super::{Lower, Result};
use crate::ir::{
    Access, Block, BufferId, Combine, Fold, FoldStart, Operand, Range, Stmt, Subscript,
};

/// A sum that is being added up.
#[derive(Clone, Debug)]
pub(super) struct Partial {
    /// Its tensor.
    pub(super) name: Ident,
    /// The partial sums, by their level.
    pub(super) carries: BufferId,
    /// What happens now.
    pub(super) step: Step,
}

/// What happens to a sum.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The terms from one time to another are added.
    Add {
        /// Time, where the segment starts and where it ends.
        cut: (Var, Var, Var),
        /// How many carries are combined with them.
        joined: Var,
        /// Where the result is kept.
        place: Var,
    },
    /// The carries of the bits of a number are combined.
    Bits(Var),
    /// The carry of the highest level is the sum.
    Highest(Var),
}

impl Partial {
    /// Whether all terms have been added.
    pub(super) fn is_complete(&self) -> bool {
        !matches!(self.step, Step::Add { .. })
    }
}

impl Lower<'_> {
    /// A reduction as far as this segment goes.
    pub(super) fn within_segment(&self, reduction: &Reduction) -> Result<Option<Reduction>> {
        let Some(Partial { step: Step::Add { cut: (time, from, to), .. }, .. }) = &self.partial
        else {
            return Ok(None);
        };
        if reduction.domain.dims().first() != Some(time) {
            return Ok(None);
        }
        let set = super::sweep::between(*time, *from, *to)?;
        let domain = reduction.domain.restricted(&set)?.into();
        Ok(Some(Reduction { domain, ..reduction.clone() }))
    }

    /// Adds the sum of a segment, or makes the sum of all.
    pub(super) fn store_partial(
        &mut self,
        binding: &Binding,
        partial: &Partial,
        value: Option<Operand>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let own: Vec<Quasi> = binding.dims().into_iter().map(Quasi::from).collect();
        let total = match (&partial.step, value) {
            (Step::Add { joined, place, .. }, Some(value)) => {
                let hi = MinMax::Value(Quasi::from(*joined));
                let start = FoldStart::From(vec![value]);
                let sum = self.carried(binding, partial, (hi, start, None), out);
                let mut at = own;
                at.insert(0, Quasi::from(*place));
                out.push(Stmt::Store { buffer: partial.carries, at, value: sum });
                return Ok(());
            }
            (Step::Bits(count), _) => {
                let site = self.kernel.add_site("a sum of no segments", Default::default());
                let hi = MinMax::from(62);
                self.carried(binding, partial, (hi, FoldStart::First(site), Some(*count)), out)
            }
            (Step::Highest(levels), _) => {
                let result = self.fresh(binding.elem);
                let top = Quasi::from(*levels).add_constant(-1)?;
                let at = [top].into_iter().chain(own.iter().cloned());
                let at = at.map(Subscript::Index).collect();
                let (buffer, access) = (partial.carries, Access::Proved);
                out.push(Stmt::Load { result, buffer, at, access });
                result.into()
            }
            (Step::Add { .. }, None) => return Ok(()),
        };
        let buffer = self.tensors[&binding.name];
        out.push(Stmt::Store { buffer, at: own, value: total });
        Ok(())
    }

    /// Carries of levels from 0 on, one after the other; only those of the bits of a number if one is
    /// given.
    fn carried(
        &mut self,
        binding: &Binding,
        partial: &Partial,
        (hi, start, bits): (MinMax, FoldStart, Option<Var>),
        out: &mut Vec<Stmt>,
    ) -> Operand {
        let level = self.kernel.vars.index("level");
        let guard = bits.map(|bits| {
            let mut stmts = Vec::new();
            let of = self.value_of(&Quasi::from(bits), &mut stmts);
            let by = self.value_of(&Quasi::from(level), &mut stmts);
            let shifted = self.integer(Op::Shr, &[of, by], &mut stmts);
            let bit = self.integer(Op::Band, &[shifted, number(1)], &mut stmts);
            let set = self.integer(Op::Ne, &[bit, number(0)], &mut stmts);
            Block { stmts, results: vec![set] }
        });
        let (term, result) = (self.fresh(binding.elem), self.fresh(binding.elem));
        let at = [level].into_iter().chain(binding.dims()).map(Quasi::from);
        let load = Stmt::Load {
            result: term,
            buffer: partial.carries,
            at: at.map(Subscript::Index).collect(),
            access: Access::Proved,
        };
        out.push(Stmt::Fold(Box::new(Fold {
            results: vec![result],
            ranges: vec![Range { var: level, lo: MinMax::from(0), hi, down: false }],
            within: None,
            guard,
            body: Block { stmts: vec![load], results: vec![term.into()] },
            combine: Combine::Op(Op::Add),
            start,
            resume: None,
            key: None,
        })));
        result.into()
    }
}
