//! Minima and maxima along an axis: the terms of a fold as lanes.
//!
//! `min` and `max` give the same however their terms are grouped, but for the sign of a zero among
//! zeros, so the terms are compared lane by lane, and the lanes at the end. A term that does not count
//! is the identity. Only terms that lie next to each other in memory, or do not change, are taken so.

use einlang_loops::ir::{
    Access, Block, Combine, Fold, FoldStart, Loop, Own, Role, Stmt, Subscript,
};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::types::VectorType;
use inkwell::values::{BasicValueEnum, PointerValue, VectorValue};

use super::steps::Steps;
use super::{Lanes, has_lanes};
use crate::emit::fold::State;
use crate::emit::{Emit, Refused, Result};

/// The bytes of the terms that are compared at once.
const BYTES: u32 = 256;

/// The most statements of a term.
const LARGEST: usize = 32;

impl<'c> Emit<'c, '_> {
    /// How many terms of a fold are compared at once, if it is an extreme.
    pub(in crate::emit) fn extreme_lanes(&self, fold: &Fold) -> Option<u32> {
        let ([range], [value]) = (&fold.ranges[..], &fold.results[..]) else { return None };
        let plain = fold.resume.is_none() && fold.key.is_none() && fold.within.is_none();
        let extreme = matches!(fold.combine, Combine::Op(Op::Min | Op::Max));
        let from = matches!(&fold.start, FoldStart::From(list) if list.len() == 1);
        let fits = matches!(value.elem, Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64);
        if self.lanes.is_some() || range.down || !(plain && extreme && from && fits) {
            return None;
        }
        let width = BYTES / (value.elem.bits() / 8);
        let mut steps = Steps::new(width, range.var, &range.lo);
        let guarded = fold.guard.is_some();
        let stmts = || fold.guard.iter().chain([&fold.body]).flat_map(|block| &block.stmts);
        let simple = stmts().all(|stmt| match stmt {
            Stmt::Op { site, .. } => site.is_none(),
            Stmt::Index { .. } => true,
            Stmt::Bind { var, expr } => steps.bind(*var, expr),
            Stmt::Load { at, access, .. } => {
                let n_axes = at.len();
                let next = at.iter().enumerate().all(|(axis, at)| match at {
                    Subscript::Index(expr) => match steps.of(expr) {
                        Some(0) => true,
                        Some(1) => axis + 1 == n_axes,
                        _ => false,
                    },
                    Subscript::Value(_) => false,
                });
                next && (!guarded || !matches!(access, Access::Site(..)))
            }
            _ => false,
        });
        let stmts: Vec<Stmt> = stmts().cloned().collect();
        if !simple || stmts.len() > LARGEST {
            return None;
        }
        let body = Block { stmts, results: Vec::new() };
        let role = Role::Lane(width);
        let of = Loop { range: range.clone(), role, own: Own::All, until: None, body };
        has_lanes(self.kernel, &of)
    }

    /// The extreme of the terms of a fold, so many at once.
    pub(in crate::emit) fn extreme(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        width: u32,
    ) -> Result<()> {
        let none = || Refused("an extreme of nothing".to_owned());
        let (Combine::Op(op), [range], Some(value), Some(slot)) =
            (&fold.combine, &fold.ranges[..], fold.results.first(), state.slots.first())
        else {
            return Err(none());
        };
        let (op, elem) = (*op, value.elem);
        let identity = self.constant(op.identity(elem).ok_or_else(none)?)?;
        let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        self.known.remove(&range.var);
        let var = self.var_slot(range.var)?;
        let ty = self.vector_type(self.ty(elem), width)?;
        let best = self.slot(ty.into(), "best")?;
        let identity = self.splat(identity, width)?;
        self.builder.build_store(best, identity)?;
        let (begin, tail, end) = (self.block("begin"), self.block("tail"), self.block("end"));
        let some = self.compare(IntPredicate::SLT, lo, hi)?;
        self.branch(some, begin, end)?;
        self.at(begin);
        let rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
        self.tick(rounds)?;
        self.builder.build_store(var, lo)?;
        self.with_places(range, &[&fold.body], lo, |emit| {
            emit.while_they_fit(var, (i64::from(width), hi), |emit, _| {
                emit.compared(fold, op, (width, None), (best, identity))
            })?;
            let index = emit.builder.build_load(emit.i64_type(), var, "index")?.into_int_value();
            let more = emit.compare(IntPredicate::SLT, index, hi)?;
            emit.branch(more, tail, end)?;
            emit.at(tail);
            let rest = emit.builder.build_int_nsw_sub(hi, index, "rest")?;
            let (counts, rest) = (emit.iota(width, 64)?, emit.splat(rest.into(), width)?);
            let mask = emit.builder.build_int_compare(IntPredicate::ULT, counts, rest, "mask")?;
            emit.compared(fold, op, (width, Some(mask)), (best, identity))?;
            emit.jump(end)
        })?;
        self.at(end);
        let all = self.builder.build_load(ty, best, "best")?.into_vector_value();
        let total = self.across(op, elem, all, width)?;
        let before = self.builder.build_load(self.ty(elem), *slot, "state")?;
        let args = [(before, elem), (total, elem)];
        let after = self.apply(op, &args, elem, i64::from(u32::MAX) + 1)?;
        self.keep(*slot, after)
    }

    /// Compares a vector of terms with the best so far.
    fn compared(
        &mut self,
        fold: &Fold,
        op: Op,
        (width, mask): (u32, Option<VectorValue<'c>>),
        (best, identity): (PointerValue<'c>, VectorValue<'c>),
    ) -> Result<()> {
        let (range, elem) = (&fold.ranges[0], fold.results[0].elem);
        let steps = Steps::new(width, range.var, &range.lo);
        self.lanes = Some(Lanes { width, steps, mask, divided: false });
        let made = self.counted_term(fold, width, mask, identity);
        let after = made.and_then(|term| {
            let before = self.builder.build_load(identity.get_type(), best, "best")?;
            self.wide_apply(op, &[(before, elem), (term.into(), elem)], elem)
        });
        self.lanes = None;
        self.builder.build_store(best, after?)?;
        Ok(())
    }

    /// A vector of terms; the identity where one does not count.
    fn counted_term(
        &mut self,
        fold: &Fold,
        width: u32,
        mask: Option<VectorValue<'c>>,
        identity: VectorValue<'c>,
    ) -> Result<VectorValue<'c>> {
        let mut counts = mask;
        if let Some(guard) = &fold.guard {
            self.stmts(guard)?;
            if let Some(operand) = guard.results.first() {
                let holds = self.operand(operand)?;
                let holds = self.widened(holds, width)?;
                counts = Some(match counts {
                    Some(mask) => self.builder.build_and(mask, holds, "counts")?,
                    None => holds,
                });
            }
        }
        self.stmts(&fold.body)?;
        let none = || Refused("a fold without a term".to_owned());
        let term = self.operand(fold.body.results.first().ok_or_else(none)?)?;
        let term = self.widened(term, width)?;
        match counts {
            Some(counts) => {
                let term = self.builder.build_select(counts, term, identity, "term")?;
                Ok(term.into_vector_value())
            }
            None => Ok(term),
        }
    }

    /// The extreme of the lanes of a vector.
    fn across(
        &self,
        op: Op,
        elem: Elem,
        all: VectorValue<'c>,
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        let (mut all, mut width) = (all, width);
        let ty = self.context.i32_type();
        let none = || Refused("an extreme that has no code".to_owned());
        while width > 1 {
            width /= 2;
            let half = |from: u32| -> Result<VectorValue<'c>> {
                let at = (from..from + width).map(|lane| ty.const_int(u64::from(lane), false));
                let at = VectorType::const_vector(&at.collect::<Vec<_>>());
                Ok(self.builder.build_shuffle_vector(
                    all,
                    all.get_type().get_poison(),
                    at,
                    "half",
                )?)
            };
            let halves = [half(0)?, half(width)?];
            let found = match elem.is_float() {
                true => self.wide_float(op, elem, &halves)?,
                false => self.wide_integer(op, &halves, true)?,
            };
            all = found.ok_or_else(none)?.into_vector_value();
        }
        Ok(self.builder.build_extract_element(all, ty.const_zero(), "extreme")?)
    }
}
