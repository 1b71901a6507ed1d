//! Sums of floats: accurate, and the same on every computer.
//!
//! The terms of a fold with one index are added in blocks of 128: eight partial sums by position, the
//! terms behind the last multiple of eight apart, and then these nine as a tree. Eight small terms are
//! the lanes of a vector, or written out where they are vectors themselves; of a large one there is one
//! copy that takes its partial sum by number. Blocks, and the terms
//! of folds with several indices, are combined in pairs as a binary counter carries. All of that is a
//! function of positions alone.

use einlang_loops::ir::{Block, Fold, Stmt};
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};

use super::fold::State;
use super::lanes::terms_are_lanes;
use super::{Emit, Refused, Result};

/// How many partial sums there are in a block.
pub(super) const LANES: usize = 8;

/// How many terms a block has.
const BLOCK: i64 = 128;

/// How many partial sums a counter has: one for each bit of the number of blocks.
const CARRIES: u32 = 48;

/// How large a term may be to be written eight times.
const LARGEST: usize = 24;

/// A sum that is being made.
pub(super) struct Sum<'c> {
    pub(super) op: Op,
    pub(super) elem: Elem,
    /// The partial sums of the counter.
    carries: PointerValue<'c>,
    /// How many values were pushed.
    count: PointerValue<'c>,
}

impl<'c> Emit<'c, '_> {
    pub(super) fn begin_sum(&mut self, op: Op, elem: Elem) -> Result<Sum<'c>> {
        let ty = self.wide_type(elem)?;
        let list = inkwell::types::BasicType::array_type(&ty, CARRIES);
        let carries = self.slot(list.into(), "carries")?;
        let count = self.slot(self.i64_type().into(), "count")?;
        self.builder.build_store(count, self.i64(0))?;
        Ok(Sum { op, elem, carries, count })
    }

    pub(super) fn nothing(&self, elem: Elem) -> Result<BasicValueEnum<'c>> {
        self.constant(Const::float(elem, -0.0))
    }

    pub(super) fn plus(
        &mut self,
        sum: &Sum<'c>,
        a: BasicValueEnum<'c>,
        b: BasicValueEnum<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let (op, elem) = (sum.op, sum.elem);
        self.apply(op, &[(a, elem), (b, elem)], elem, i64::from(u32::MAX) + 1)
    }

    /// Adds one value to the counter: as long as a bit of the count is set, it carries.
    pub(super) fn push_sum(&mut self, sum: &Sum<'c>, term: BasicValueEnum<'c>) -> Result<()> {
        let ty = self.wide_type(sum.elem)?;
        let (value, at) = (self.slot(ty, "carry")?, self.slot(self.i64_type().into(), "bit")?);
        self.keep(value, term)?;
        self.builder.build_store(at, self.i64(0))?;
        let (look, carry, place) = (self.block("look"), self.block("carry"), self.block("place"));
        let count = self.builder.build_load(self.i64_type(), sum.count, "count")?.into_int_value();
        self.jump(look)?;
        self.at(look);
        let bit = self.builder.build_load(self.i64_type(), at, "bit")?.into_int_value();
        let shifted = self.builder.build_right_shift(count, bit, false, "shifted")?;
        let one = self.builder.build_and(shifted, self.i64(1), "one")?;
        let set = self.compare(IntPredicate::NE, one, self.i64(0))?;
        self.branch(set, carry, place)?;
        self.at(carry);
        let from = self.element(ty, sum.carries, bit)?;
        let left = self.builder.build_load(ty, from, "left")?;
        let right = self.builder.build_load(ty, value, "right")?;
        let joined = self.plus(sum, left, right)?;
        self.keep(value, joined)?;
        self.builder.build_store(at, self.add(bit, self.i64(1))?)?;
        self.jump(look)?;
        self.at(place);
        let to = self.element(ty, sum.carries, bit)?;
        let last = self.builder.build_load(ty, value, "last")?;
        self.keep(to, last)?;
        self.builder.build_store(sum.count, self.add(count, self.i64(1))?)?;
        Ok(())
    }

    /// The sum of everything that was pushed, -0 of nothing.
    pub(super) fn total(&mut self, sum: &Sum<'c>) -> Result<BasicValueEnum<'c>> {
        let ty = self.wide_type(sum.elem)?;
        let (value, at) = (self.slot(ty, "total")?, self.slot(self.i64_type().into(), "bit")?);
        self.keep(value, self.nothing(sum.elem)?)?;
        self.builder.build_store(at, self.i64(0))?;
        let (top, add, next, end) =
            (self.block("total"), self.block("add"), self.block("next"), self.block("end"));
        let count = self.builder.build_load(self.i64_type(), sum.count, "count")?.into_int_value();
        self.jump(top)?;
        self.at(top);
        let bit = self.builder.build_load(self.i64_type(), at, "bit")?.into_int_value();
        let shifted = self.builder.build_right_shift(count, bit, false, "shifted")?;
        let more = self.compare(IntPredicate::NE, shifted, self.i64(0))?;
        let test = self.block("test");
        self.branch(more, test, end)?;
        self.at(test);
        let one = self.builder.build_and(shifted, self.i64(1), "one")?;
        let set = self.compare(IntPredicate::NE, one, self.i64(0))?;
        self.branch(set, add, next)?;
        self.at(add);
        let from = self.element(ty, sum.carries, bit)?;
        let left = self.builder.build_load(ty, from, "left")?;
        let right = self.builder.build_load(ty, value, "right")?;
        let joined = self.plus(sum, left, right)?;
        self.keep(value, joined)?;
        self.jump(next)?;
        self.at(next);
        self.builder.build_store(at, self.add(bit, self.i64(1))?)?;
        self.jump(top)?;
        self.at(end);
        Ok(self.builder.build_load(ty, value, "total")?)
    }

    /// The terms of a fold with one index, in blocks.
    pub(super) fn blocked(&mut self, fold: &Fold, state: &State<'c>, sum: &Sum<'c>) -> Result<()> {
        let [range] = &fold.ranges[..] else {
            return Err(Refused("a sum with several indices has no blocks".to_owned()));
        };
        let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        self.known.remove(&range.var);
        self.looped_in_lanes(range.var);
        let var = self.var_slot(range.var)?;
        let (before, top) = (self.block("blocks"), self.block("block"));
        let end = self.block("end");
        let some = self.compare(IntPredicate::SLT, lo, hi)?;
        self.branch(some, before, end)?;
        self.at(before);
        self.builder.build_store(var, lo)?;
        self.with_places(range, &[&fold.body], lo, |emit| {
            emit.blocks_between(fold, state, sum, (var, hi), (top, end))
        })?;
        self.at(end);
        Ok(())
    }

    /// The blocks of a sum that has some terms, up to the last one.
    fn blocks_between(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        (var, hi): (PointerValue<'c>, IntValue<'c>),
        (top, end): (BasicBlock<'c>, BasicBlock<'c>),
    ) -> Result<()> {
        self.jump(top)?;
        self.at(top);
        self.tick(self.i64(BLOCK))?;
        let start = self.builder.build_load(self.i64_type(), var, "start")?.into_int_value();
        let far = self.add(start, self.i64(BLOCK))?;
        let short = self.compare(IntPredicate::SLT, hi, far)?;
        let stop = self.builder.build_select(short, hi, far, "stop")?.into_int_value();
        let as_vectors = self.lanes.is_none()
            && !self.tables.checked
            && is_small(fold)
            && terms_are_lanes(self.kernel, fold, LANES as u32);
        let block = match as_vectors {
            true => self.in_vectors(fold, state, sum, (var, stop))?,
            false => self.one_by_one(fold, state, sum, (var, start, stop))?,
        };
        self.push_sum(sum, block)?;
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let again = self.compare(IntPredicate::SLT, index, hi)?;
        self.branch(again, top, end)
    }

    /// The sum of a block whose partial sums are the lanes of a vector.
    fn in_vectors(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        (var, stop): (PointerValue<'c>, IntValue<'c>),
    ) -> Result<BasicValueEnum<'c>> {
        let ty = self.ty(sum.elem);
        let vector = self.vector_type(ty, LANES as u32)?;
        let (lanes, rest) = (self.slot(vector.into(), "lanes")?, self.slot(ty, "lane")?);
        let nothing = self.nothing(sum.elem)?;
        self.builder.build_store(lanes, self.splat(nothing, LANES as u32)?)?;
        self.builder.build_store(rest, nothing)?;
        self.while_they_fit(var, (LANES as i64, stop), |emit, _| {
            emit.terms_in_lanes(fold, &fold.ranges[0], LANES as u32, |emit, terms| {
                let before = emit.builder.build_load(vector, lanes, "lanes")?;
                let after = emit.plus(sum, before, terms.into())?;
                emit.keep(lanes, after)
            })?;
            emit.builder.build_store(state.any, emit.context.bool_type().const_all_ones())?;
            Ok(())
        })?;
        self.rest(fold, state, sum, var, stop, rest)?;
        let all = self.builder.build_load(vector, lanes, "lanes")?.into_vector_value();
        let mut level = Vec::with_capacity(LANES + 1);
        for lane in 0..LANES as u64 {
            let lane = self.context.i32_type().const_int(lane, false);
            level.push(self.builder.build_extract_element(all, lane, "lane")?);
        }
        level.push(self.builder.build_load(ty, rest, "lane")?);
        self.tree(sum, level)
    }

    /// The sum of a block, eight terms at a time or one after the other.
    fn one_by_one(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        (var, start, stop): (PointerValue<'c>, IntValue<'c>, IntValue<'c>),
    ) -> Result<BasicValueEnum<'c>> {
        let ty = self.wide_type(sum.elem)?;
        let wide = is_small(fold);
        let list = inkwell::types::BasicType::array_type(&ty, LANES as u32 + 1);
        let all = if wide { None } else { Some(self.slot(list.into(), "lanes")?) };
        let mut lanes = Vec::with_capacity(LANES + 1);
        for at in 0..=LANES {
            let slot = match all {
                Some(all) => self.element(ty, all, self.i64(at as i64))?,
                None => self.slot(ty, "lane")?,
            };
            self.keep(slot, self.nothing(sum.elem)?)?;
            lanes.push(slot);
        }
        match all {
            Some(all) => self.in_turn(fold, state, sum, (var, start, stop), all)?,
            None => self.eights(fold, state, sum, var, stop, &lanes)?,
        }
        self.rest(fold, state, sum, var, stop, lanes[LANES])?;
        let mut level = Vec::with_capacity(LANES + 1);
        for lane in lanes {
            level.push(self.builder.build_load(ty, lane, "lane")?);
        }
        self.tree(sum, level)
    }

    /// Eight terms at a time, as long as there are eight.
    fn eights(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        var: PointerValue<'c>,
        stop: IntValue<'c>,
        lanes: &[PointerValue<'c>],
    ) -> Result<()> {
        self.while_they_fit(var, (LANES as i64, stop), |emit, index| {
            for (at, lane) in lanes.iter().take(LANES).enumerate() {
                emit.builder.build_store(var, emit.add(index, emit.i64(at as i64))?)?;
                emit.lane(fold, state, sum, *lane)?;
            }
            Ok(())
        })
    }

    /// Rounds of an index that take so many of its values at once, from where it is for as long as they fit. They are
    /// tested at the end, so that what goes from round to round stays in one block.
    pub(super) fn while_they_fit(
        &mut self,
        var: PointerValue<'c>,
        (n, stop): (i64, IntValue<'c>),
        round: impl FnOnce(&mut Self, IntValue<'c>) -> Result<()>,
    ) -> Result<()> {
        let (top, end) = (self.block("fits"), self.block("end"));
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let far = self.add(index, self.i64(n))?;
        let fits = self.compare(IntPredicate::SLE, far, stop)?;
        self.branch(fits, top, end)?;
        self.at(top);
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        round(self, index)?;
        let next = self.add(index, self.i64(n))?;
        self.builder.build_store(var, next)?;
        let far = self.add(next, self.i64(n))?;
        let fits = self.compare(IntPredicate::SLE, far, stop)?;
        self.branch(fits, top, end)?;
        self.at(end);
        Ok(())
    }

    /// One term after the other, each to its partial sum, as long as there are eight.
    fn in_turn(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        (var, start, stop): (PointerValue<'c>, IntValue<'c>, IntValue<'c>),
        lanes: PointerValue<'c>,
    ) -> Result<()> {
        let ty = self.wide_type(sum.elem)?;
        let length = self.builder.build_int_sub(stop, start, "length")?;
        let whole = self.builder.build_and(length, self.i64(-(LANES as i64)), "whole")?;
        let stop = self.add(start, whole)?;
        let (check, body, end) = (self.block("check"), self.block("turn"), self.block("end"));
        self.jump(check)?;
        self.at(check);
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let more = self.compare(IntPredicate::SLT, index, stop)?;
        self.branch(more, body, end)?;
        self.at(body);
        let past = self.builder.build_int_sub(index, start, "past")?;
        let number = self.builder.build_and(past, self.i64(LANES as i64 - 1), "number")?;
        let lane = self.element(ty, lanes, number)?;
        self.lane(fold, state, sum, lane)?;
        self.builder.build_store(var, self.add(index, self.i64(1))?)?;
        self.jump(check)?;
        self.at(end);
        Ok(())
    }

    /// What is left of a block, one term at a time.
    fn rest(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        var: PointerValue<'c>,
        stop: IntValue<'c>,
        lane: PointerValue<'c>,
    ) -> Result<()> {
        let (check, body, end) = (self.block("check"), self.block("one"), self.block("end"));
        self.jump(check)?;
        self.at(check);
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let more = self.compare(IntPredicate::SLT, index, stop)?;
        self.branch(more, body, end)?;
        self.at(body);
        self.lane(fold, state, sum, lane)?;
        self.builder.build_store(var, self.add(index, self.i64(1))?)?;
        self.jump(check)?;
        self.at(end);
        Ok(())
    }

    fn lane(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        lane: PointerValue<'c>,
    ) -> Result<()> {
        let ty = self.wide_type(sum.elem)?;
        self.term(fold, state, &mut |emit, terms| {
            let Some(term) = terms.first() else { return Ok(()) };
            let before = emit.builder.build_load(ty, lane, "lane")?;
            let after = emit.plus(sum, before, *term)?;
            emit.keep(lane, after)?;
            Ok(())
        })
    }

    fn tree(
        &mut self,
        sum: &Sum<'c>,
        mut level: Vec<BasicValueEnum<'c>>,
    ) -> Result<BasicValueEnum<'c>> {
        while level.len() > 1 {
            let mut next = Vec::with_capacity(level.len().div_ceil(2));
            for pair in level.chunks(2) {
                next.push(match pair {
                    [a, b] => self.plus(sum, *a, *b)?,
                    [a, ..] => *a,
                    [] => continue,
                });
            }
            level = next;
        }
        level.pop().ok_or_else(|| Refused("a sum without lanes".to_owned()))
    }
}

/// Whether a term is a few plain operations, so that eight of them are still small.
pub(super) fn is_small(fold: &Fold) -> bool {
    let plain = |block: &Block| {
        block.stmts.len() <= LARGEST
            && block.stmts.iter().all(|stmt| {
                matches!(
                    stmt,
                    Stmt::Op { .. } | Stmt::Index { .. } | Stmt::Bind { .. } | Stmt::Load { .. }
                )
            })
    };
    fold.guard.is_none() && fold.within.is_none() && plain(&fold.body)
}
