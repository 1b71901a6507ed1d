//! Folds: loops around a term, and a state in slots.
//!
//! A fold that goes on in the rounds of a loop around has its state set up before that loop.

use einlang_index::Var;
use einlang_loops::ir::{Block, Buffer, Combine, Fold, FoldStart, Range, Stmt, each_stmt};
use einlang_tir::region::Value;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};

use super::sums::Sum;
use super::{Emit, Refused, Result};

/// So many terms of a tile are added in a round, a power of two: more where each is one operation.
const TOGETHER: i64 = 2;
const MANY_TOGETHER: i64 = 4;

/// So many states are those of a tile.
const TILE: usize = 4;

/// The state of a fold.
pub(super) struct State<'c> {
    pub(super) slots: Vec<PointerValue<'c>>,
    /// Where it starts.
    from: Vec<BasicValueEnum<'c>>,
    /// Whether there was a term.
    pub(super) any: PointerValue<'c>,
    pub(super) sum: Option<Sum<'c>>,
    /// The first point of the next round.
    next: Option<PointerValue<'c>>,
}

impl<'c> Emit<'c, '_> {
    pub(super) fn fold(&mut self, fold: &Fold) -> Result<()> {
        let state = match fold.resume {
            None => self.begin_fold(fold)?,
            Some(var) => {
                let nowhere = || Refused("a fold goes on in no loop".to_owned());
                let before = *self.before.get(&var).ok_or_else(nowhere)?;
                let here = self.builder.get_insert_block().ok_or_else(nowhere)?;
                match before.get_terminator() {
                    Some(last) => self.builder.position_before(&last),
                    None => self.at(before),
                }
                let state = self.begin_fold(fold)?;
                self.at(here);
                state
            }
        };
        if let (Some(width), None) = (self.extreme_lanes(fold), self.few_of(fold)) {
            self.extreme(fold, &state, width)?;
            return self.end_fold(fold, &state);
        }
        if self.called_chains(fold, &state.slots)? {
            return self.end_fold(fold, &state);
        }
        match &state.sum {
            _ if fold.key.is_some() => self.visits(fold, &state)?,
            Some(sum) if fold.resume.is_none() && fold.ranges.len() == 1 => {
                let range = &fold.ranges[0];
                let plain = fold.guard.is_none() && fold.within.is_none();
                if let Some(rounds) = self.few(range).filter(|_| plain) {
                    let total = self.short_sum(fold, &state, sum, range, rounds)?;
                    let total = total.map_or_else(|| self.nothing(sum.elem), Ok)?;
                    return self.end_sum(fold, &state, sum, total);
                }
                self.blocked(fold, &state, sum)?;
            }
            _ => self.rounds(&fold.ranges, fold, &state, state.next)?,
        }
        self.end_fold(fold, &state)
    }

    /// The rounds of a fold with one index, if they are few.
    fn few_of(&self, fold: &Fold) -> Option<std::ops::Range<i64>> {
        fold.ranges.first().and_then(|range| self.few(range))
    }

    fn begin_fold(&mut self, fold: &Fold) -> Result<State<'c>> {
        let slots = self.result_slots(&fold.results)?;
        let truth = self.context.bool_type();
        let any = self.slot(truth.into(), "any")?;
        self.builder.build_store(any, truth.const_zero())?;
        let mut from = Vec::new();
        if let FoldStart::From(start) = &fold.start {
            for (operand, slot) in start.iter().zip(&slots) {
                let value = self.operand(operand)?;
                self.keep(*slot, value)?;
                from.push(value);
            }
        }
        let sum = match (&fold.combine, fold.results.first()) {
            (Combine::Pairs(op), Some(value)) => Some(self.begin_sum(*op, value.elem)?),
            _ => None,
        };
        let mut next = None;
        if let (Some(_), Some(first)) = (fold.resume, fold.ranges.first()) {
            let slot = self.slot(self.i64_type().into(), "next")?;
            self.builder.build_store(slot, self.bound(&first.lo)?)?;
            next = Some(slot);
        }
        Ok(State { slots, from, any, sum, next })
    }

    /// The loops, outermost first, around one term.
    fn rounds(
        &mut self,
        ranges: &[Range],
        fold: &Fold,
        state: &State<'c>,
        resume: Option<PointerValue<'c>>,
    ) -> Result<()> {
        let Some((range, rest)) = ranges.split_first() else {
            return self.term(fold, state, &mut |emit, terms| emit.combine(fold, state, terms));
        };
        if let (Some(rounds), None) = (self.few_terms(range, rest, fold), resume) {
            let inside = &mut |emit: &mut Self| emit.rounds(rest, fold, state, None);
            return self.written_out(range.var, rounds, inside);
        }
        let hi = self.bound(&range.hi)?;
        let lo = match resume {
            Some(slot) => self.builder.build_load(self.i64_type(), slot, "next")?.into_int_value(),
            None => self.bound(&range.lo)?,
        };
        if rest.is_empty() {
            let rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
            self.tick(rounds)?;
        }
        let outer = self.terms.replace((range.var, lo, hi));
        match self.together(fold).filter(|_| rest.is_empty()) {
            Some(n) => {
                let inside = &mut |emit: &mut Self| emit.rounds(rest, fold, state, None);
                self.each_of_several(n, (range.var, lo, hi), inside)?;
            }
            None => self.each(range.var, lo, hi, |emit| emit.rounds(rest, fold, state, None))?,
        }
        self.terms = outer;
        if let Some(slot) = resume {
            let further = self.compare(IntPredicate::SGT, hi, lo)?;
            let next = self.builder.build_select(further, hi, lo, "next")?;
            self.builder.build_store(slot, next)?;
        }
        Ok(())
    }

    /// Does something for each value of an index, upwards.
    pub(super) fn each(
        &mut self,
        var: Var,
        lo: IntValue<'c>,
        hi: IntValue<'c>,
        inside: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.known.remove(&var);
        self.looped_in_lanes(var);
        let var = self.var_slot(var)?;
        let (before, top, end) = (self.block("before"), self.block("each"), self.block("end"));
        let some = self.compare(IntPredicate::SLT, lo, hi)?;
        self.branch(some, before, end)?;
        self.at(before);
        self.builder.build_store(var, lo)?;
        self.jump(top)?;
        self.at(top);
        inside(self)?;
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let next = self.add(index, self.i64(1))?;
        self.builder.build_store(var, next)?;
        // LLVM then counts in whatever the addresses go by.
        let again = self.compare(IntPredicate::NE, next, hi)?;
        self.branch(again, top, end)?;
        self.at(end);
        Ok(())
    }

    /// How many terms are added in a round, if a fold has the states of a tile of vectors, is emitted so that it is
    /// fast, and reads panels only: rows elsewhere take a register each to be found, and then those of several terms
    /// together all the others.
    fn together(&self, fold: &Fold) -> Option<i64> {
        let (mut n_ops, mut has_panels, mut is_innermost) = (0, true, true);
        each_term(fold, &mut |stmt| match stmt {
            Stmt::Op { .. } => n_ops += 1,
            Stmt::Load { buffer, .. } => {
                has_panels &= self.kernel.buffer(*buffer).is_some_and(Buffer::has_panels);
            }
            Stmt::Fold(_) => is_innermost = false,
            _ => {}
        });
        let n = if n_ops < 2 * fold.results.len() { MANY_TOGETHER } else { TOGETHER };
        let is_tile = self.n_lanes().is_some() && fold.results.len() >= TILE;
        let fits = is_tile && has_panels && is_innermost && !self.spared.calls_chains;
        fits.then_some(n)
    }

    /// Does something for each value of an index, upwards, several in a round: then counting, and finding out where rows
    /// lie, takes less of what a processor does beside the products of a tile. What is fetched ahead is fetched by
    /// one for two.
    fn each_of_several(
        &mut self,
        n: i64,
        (var, lo, hi): (Var, IntValue<'c>, IntValue<'c>),
        inside: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.known.remove(&var);
        self.looped_in_lanes(var);
        let slot = self.var_slot(var)?;
        let (several, top) = (self.block("several"), self.block("round"));
        let (check, one, end) = (self.block("check"), self.block("one"), self.block("end"));
        let length = self.builder.build_int_nsw_sub(hi, lo, "length")?;
        self.builder.build_store(slot, lo)?;
        let some = self.compare(IntPredicate::SGE, length, self.i64(n))?;
        self.branch(some, several, check)?;
        self.at(several);
        let rest = self.builder.build_and(length, self.i64(n - 1), "rest")?;
        let whole = self.builder.build_int_nsw_sub(hi, rest, "whole")?;
        self.jump(top)?;
        self.at(top);
        let index = self.builder.build_load(self.i64_type(), slot, "index")?.into_int_value();
        let fetches = self.fetches;
        for at in 0..n {
            inside(self)?;
            self.builder.build_store(slot, self.add(index, self.i64(at + 1))?)?;
            self.fetches = fetches && at % 2 == 1;
        }
        self.fetches = fetches;
        let next = self.add(index, self.i64(n))?;
        let again = self.compare(IntPredicate::NE, next, whole)?;
        self.branch(again, top, check)?;
        self.at(check);
        let next = self.builder.build_load(self.i64_type(), slot, "index")?.into_int_value();
        let more = self.compare(IntPredicate::SLT, next, hi)?;
        self.branch(more, one, end)?;
        self.at(one);
        inside(self)?;
        let index = self.builder.build_load(self.i64_type(), slot, "index")?.into_int_value();
        self.builder.build_store(slot, self.add(index, self.i64(1))?)?;
        self.jump(check)?;
        self.at(end);
        Ok(())
    }

    /// The term of one point, if it counts, and what is done with it.
    pub(super) fn term(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        take: &mut dyn FnMut(&mut Self, &[BasicValueEnum<'c>]) -> Result<()>,
    ) -> Result<()> {
        let next = self.block("next");
        if let Some(domain) = fold.within.as_ref().filter(|_| fold.key.is_none()) {
            let inside = self.within(domain)?;
            self.skip_unless(inside, next)?;
        }
        if let Some(guard) = &fold.guard {
            self.stmts(guard)?;
            if let Some(operand) = guard.results.first() {
                let holds = self.operand(operand)?.into_int_value();
                self.skip_unless(holds, next)?;
            }
        }
        self.stmts(&fold.body)?;
        let terms: Result<Vec<_>> =
            fold.body.results.iter().map(|operand| self.operand(operand)).collect();
        take(self, &terms?)?;
        self.builder.build_store(state.any, self.context.bool_type().const_all_ones())?;
        self.jump(next)?;
        self.at(next);
        Ok(())
    }

    pub(super) fn skip_unless(&self, holds: IntValue<'c>, next: BasicBlock<'c>) -> Result<()> {
        let counts = self.block("counts");
        self.branch(holds, counts, next)?;
        self.at(counts);
        Ok(())
    }

    /// Combines a term with the state.
    pub(super) fn combine(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        terms: &[BasicValueEnum<'c>],
    ) -> Result<()> {
        if let (Some(sum), Some(term)) = (&state.sum, terms.first()) {
            return self.push_sum(sum, *term);
        }
        if matches!(fold.start, FoldStart::From(_)) {
            return self.combine_at(fold, &state.slots, terms);
        }
        let truth = self.context.bool_type();
        let any = self.builder.build_load(truth, state.any, "any")?.into_int_value();
        let (first, later, end) = (self.block("first"), self.block("later"), self.block("end"));
        self.branch(any, later, first)?;
        self.at(first);
        for (slot, term) in state.slots.iter().zip(terms) {
            self.keep(*slot, *term)?;
        }
        self.jump(end)?;
        self.at(later);
        self.combine_at(fold, &state.slots, terms)?;
        self.jump(end)?;
        self.at(end);
        Ok(())
    }

    /// Combines a term with the state in some slots.
    pub(super) fn combine_at(
        &mut self,
        fold: &Fold,
        slots: &[PointerValue<'c>],
        terms: &[BasicValueEnum<'c>],
    ) -> Result<()> {
        let mut before = Vec::with_capacity(slots.len());
        for (slot, value) in slots.iter().zip(&fold.results) {
            before.push(self.builder.build_load(self.wide_type(value.elem)?, *slot, "state")?);
        }
        match &fold.combine {
            Combine::Op(op) | Combine::Pairs(op) => {
                let (Some(value), Some(state_), Some(term)) =
                    (fold.results.first(), before.first(), terms.first())
                else {
                    return Err(Refused("a fold without a state".to_owned()));
                };
                let args = [(*state_, value.elem), (*term, value.elem)];
                let after = self.apply(*op, &args, value.elem, i64::from(u32::MAX) + 1)?;
                self.keep(slots[0], after)?;
                Ok(())
            }
            Combine::Block { left, right, block } => {
                self.bound_to(left, &before);
                self.bound_to(right, terms);
                self.yields_to(block, slots)
            }
        }
    }

    fn bound_to(&mut self, values: &[Value], are: &[BasicValueEnum<'c>]) {
        for (value, is) in values.iter().zip(are) {
            self.define(value, *is);
        }
    }

    /// Runs a block and keeps what it yields once all of it is computed.
    fn yields_to(&mut self, block: &Block, slots: &[PointerValue<'c>]) -> Result<()> {
        self.stmts(block)?;
        let values: Result<Vec<_>> =
            block.results.iter().map(|operand| self.operand(operand)).collect();
        for (slot, value) in slots.iter().zip(values?) {
            self.keep(*slot, value)?;
        }
        Ok(())
    }

    /// The results; the state stays as it is.
    fn end_fold(&mut self, fold: &Fold, state: &State<'c>) -> Result<()> {
        match &state.sum {
            Some(sum) => {
                let total = self.total(sum)?;
                self.end_sum(fold, state, sum, total)
            }
            None => {
                self.require_terms(fold, state)?;
                self.defined(&fold.results, &state.slots)
            }
        }
    }

    /// The result of a sum.
    fn end_sum(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        total: BasicValueEnum<'c>,
    ) -> Result<()> {
        self.require_terms(fold, state)?;
        let Some(value) = fold.results.first() else { return Ok(()) };
        let result = match state.from.first() {
            // Without a term the total is -0, to which anything is itself.
            Some(start) => {
                let args = [(*start, value.elem), (total, value.elem)];
                self.apply(sum.op, &args, value.elem, i64::from(u32::MAX) + 1)?
            }
            None => total,
        };
        self.define(value, result);
        Ok(())
    }

    /// Where the first term is the start, there must be one.
    fn require_terms(&mut self, fold: &Fold, state: &State<'c>) -> Result<()> {
        if let FoldStart::First(site) = &fold.start {
            let truth = self.context.bool_type();
            let any = self.builder.build_load(truth, state.any, "any")?.into_int_value();
            self.require(any, i64::from(site.0) + 1)?;
        }
        Ok(())
    }
}

/// Visits the statements of a term, and of how it is combined.
fn each_term(fold: &Fold, visit: &mut dyn FnMut(&Stmt)) {
    each_stmt(&fold.body, visit);
    if let Combine::Block { block, .. } = &fold.combine {
        each_stmt(block, visit);
    }
}
