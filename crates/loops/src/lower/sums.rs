//! Sums over time that are added up segment by segment.
//!
//! A segment is a power of two of points, so the pairs of a sum over all points are the pairs of its
//! segments: each segment is summed as it is there, and the sums of segments are combined as a binary
//! counter carries, upwards or downwards. The result is the sum over all points, to the bit; only
//! chains in lanes would add blocks in another order without segments.
//!
//! With further indices, of `width` points together, a segment is `width` such blocks of points in
//! index order, which begin and end anywhere between two times.
//!
//! Terms of a part of the box, such as every tenth time, are combined by their places in their segment,
//! and without segments by their places in the part: there sums differ by rounding.

use einlang_index::{Domain, MinMax, Quasi, Var};
use einlang_tir::constant::Const;
use einlang_tir::module::Binding;
use einlang_tir::op::Op;
use einlang_tir::region::{Arg, Inst, Reduction, Region};
use einlang_tir::types::{Elem, Ident};

use super::integers::number;
use super::{Lower, Part, Result};
use crate::decide::{is_about_terms, sum_over};
use crate::ir::{
    Access, Block, BufferId, Combine, Condition, Fold, FoldStart, Operand, Range, Stmt, Subscript,
};

/// Memory and sizes of a sum that is added up.
#[derive(Clone, Debug)]
pub(super) struct Carries {
    /// The partial sums, by their level.
    pub(super) buffer: BufferId,
    /// How many levels there are.
    pub(super) levels: Var,
    /// How many blocks there are.
    pub(super) blocks: Var,
    /// How many blocks a segment has, and the lengths of the further indices that this comes from.
    pub(super) width: Option<(Var, Vec<Var>)>,
}

/// A sum that is being added up.
#[derive(Clone, Debug)]
pub(super) struct Partial {
    /// Its tensor.
    pub(super) name: Ident,
    /// Its partial sums.
    pub(super) carries: Carries,
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
        /// The first point of the block and the length of blocks, if there are further indices.
        block: Option<(Var, Var)>,
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
        let Some(Partial { step: Step::Add { cut: (time, from, to), block: None, .. }, .. }) =
            &self.partial
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

    /// The terms of a block of a sum with several indices; false if it is no such sum.
    pub(super) fn fold_block(
        &mut self,
        reduction: &Reduction,
        inst: &Inst,
        out: &mut Vec<Stmt>,
    ) -> Result<bool> {
        let Some(partial) = self.partial.clone() else { return Ok(false) };
        let (Step::Add { cut: (time, ..), block: Some((start, length)), .. }, Some((_, lengths))) =
            (&partial.step, &partial.carries.width)
        else {
            return Ok(false);
        };
        if reduction.domain.dims().first() != Some(time) {
            return Ok(false);
        }
        let (mut ranges, within) = super::scan::ranges_of(&reduction.domain, &self.context)?;
        let (part, within) = match within {
            Some(within) if is_about_terms(&within, reduction) => (Some(within), None),
            within => (None, within),
        };
        // The blocks are counted from where the segments start.
        if let (Some((_, first)), Some(time)) = (sum_over(reduction), ranges.first_mut()) {
            time.lo = MinMax::from(first);
        }
        let points = self.points_left(&ranges, lengths, *start, out)?;
        let (point, one) = (self.kernel.vars.index("point"), self.kernel.vars.index("one"));
        let rounds = [Quasi::from(*length), Quasi::from(points)].map(MinMax::Value);
        let hi = MinMax::min_of(rounds)?;
        let (_, body) = self.scoped(|lower, _| {
            lower.repeats();
            lower.bound.push(point);
            lower.bound.push(one);
            let mut stmts = Vec::new();
            let at = Quasi::from(*start).add(&Quasi::from(point))?;
            lower.indices_of(&ranges, lengths, &at, &mut stmts)?;
            let term = lower.term_of(reduction, part, &mut stmts)?;
            Ok(Block { stmts, results: vec![term] })
        })?;
        let result = self.result(inst)?;
        // A second index, of one round, makes it a sum by single points.
        let single = Range { var: one, lo: MinMax::from(0), hi: MinMax::from(1), down: false };
        let ranges = vec![Range { var: point, lo: MinMax::from(0), hi, down: false }, single];
        out.push(Stmt::Fold(Box::new(Fold {
            results: vec![result],
            ranges,
            within,
            guard: None,
            body,
            combine: Combine::Pairs(Op::Add),
            start: FoldStart::From(vec![Const::zero(result.elem).into()]),
            resume: None,
            key: None,
        })));
        Ok(true)
    }

    /// The term of a sum at a point; nothing where the point is none of the part, or does not count.
    fn term_of(
        &mut self,
        reduction: &Reduction,
        part: Option<Domain>,
        out: &mut Vec<Stmt>,
    ) -> Result<Operand> {
        let none = || super::NotLowered::new("a term that is no scalar");
        let elem = reduction.start.args().first().and_then(Arg::elem).ok_or_else(none)?;
        let counted = |lower: &mut Self, out: &mut Vec<Stmt>| {
            let Some(guard) = &reduction.guard else {
                return lower.scalar_of(&reduction.body, out);
            };
            let parts = lower.region(guard, out)?;
            let Some((Part::Scalar(counts), rest)) = parts.split_first() else {
                return Err(none());
            };
            lower.define(&reduction.body.params, rest)?;
            let (stmts, term) = lower.scoped(|lower, out| lower.scalar_of(&reduction.body, out))?;
            Ok(lower.or_zero(Condition::Value(*counts), (stmts, term), elem, out))
        };
        let Some(part) = part else { return counted(self, out) };
        let inside = self.scoped(counted)?;
        Ok(self.or_zero(Condition::Within(part), inside, elem, out))
    }

    fn scalar_of(&mut self, region: &Region, out: &mut Vec<Stmt>) -> Result<Operand> {
        match self.region(region, out)?.first() {
            Some(Part::Scalar(term)) => Ok(*term),
            _ => Err(super::NotLowered::new("a term that is no scalar")),
        }
    }

    /// A value under a condition, otherwise zero.
    fn or_zero(
        &mut self,
        condition: Condition,
        (stmts, value): (Vec<Stmt>, Operand),
        elem: Elem,
        out: &mut Vec<Stmt>,
    ) -> Operand {
        let result = self.fresh(elem);
        let then = Block { stmts, results: vec![value] };
        let otherwise = Block { stmts: Vec::new(), results: vec![Const::zero(elem).into()] };
        out.push(Stmt::If { results: vec![result], condition, then, otherwise });
        result.into()
    }

    /// How many points there are from one on.
    fn points_left(
        &mut self,
        ranges: &[Range],
        lengths: &[Var],
        start: Var,
        out: &mut Vec<Stmt>,
    ) -> Result<Var> {
        let mut points = number(0);
        if let Some(time) = ranges.first() {
            let times = self.kernel.vars.symbol("times");
            out.push(Stmt::Bind { var: times, expr: time.hi.sub(&time.lo)? });
            self.bound.push(times);
            let value = self.value_of(&Quasi::from(times), out);
            points = self.integer(Op::Max, &[value, number(0)], out);
        }
        for length in lengths {
            let length = self.value_of(&Quasi::from(*length), out);
            points = self.integer(Op::Mul, &[points, length], out);
        }
        let start = self.value_of(&Quasi::from(start), out);
        let left = self.integer(Op::Sub, &[points, start], out);
        let left = self.integer(Op::Max, &[left, number(0)], out);
        self.sized("left", left, out)
    }

    /// Binds the indices of the point at a position in index order.
    fn indices_of(
        &mut self,
        ranges: &[Range],
        lengths: &[Var],
        at: &Quasi,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut rest = self.value_of(at, out);
        let mut places = Vec::with_capacity(ranges.len());
        for length in lengths.iter().rev() {
            let length = self.value_of(&Quasi::from(*length), out);
            places.push(self.integer(Op::Rem, &[rest, length], out));
            rest = self.integer(Op::Div, &[rest, length], out);
        }
        places.push(rest);
        for (range, place) in ranges.iter().zip(places.into_iter().rev()) {
            let place = self.sized("place", place, out)?;
            let expr = range.lo.add_scaled(&Quasi::from(place), 1)?;
            out.push(Stmt::Bind { var: range.var, expr });
            self.bound.push(range.var);
        }
        Ok(())
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
                out.push(Stmt::Store { buffer: partial.carries.buffer, at, value: sum });
                return Ok(());
            }
            (Step::Bits(count), _) => {
                // Every partial sum began with zero, so none is a negative zero.
                let start = FoldStart::From(vec![Const::zero(binding.elem).into()]);
                self.carried(binding, partial, (MinMax::from(62), start, Some(*count)), out)
            }
            (Step::Highest(levels), _) => {
                let result = self.fresh(binding.elem);
                let top = Quasi::from(*levels).add_constant(-1)?;
                let at = [top].into_iter().chain(own.iter().cloned());
                let at = at.map(Subscript::Index).collect();
                let (buffer, access) = (partial.carries.buffer, Access::Proved);
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
            buffer: partial.carries.buffer,
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
