//! Statements, branches and loops.

use einlang_loops::ir::{
    Block, BufferId, Condition, Loop, Operand, Own, Role, Stmt, Subscript, UntilLoop,
};
use einlang_tir::region::Value;
use einlang_tir::types::{ElemKind, Ident};
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};

use super::lanes::has_lanes;
use super::steps::STEPS;
use super::{Emit, Result};
use crate::frame::{Call, Field};

impl<'c> Emit<'c, '_> {
    pub(super) fn stmts(&mut self, block: &Block) -> Result<()> {
        if self.around_tile(block)? {
            return Ok(());
        }
        let mut at = 0;
        while at < block.stmts.len() {
            at += self.one_or_columns(&block.stmts[at..])?;
        }
        Ok(())
    }

    /// The first of some statements, or as many as are stores of columns; how many.
    pub(super) fn one_or_columns(&mut self, stmts: &[Stmt]) -> Result<usize> {
        let n = self.store_columns(stmts)?;
        if let (0, Some(stmt)) = (n, stmts.first()) {
            self.stmt(stmt)?;
        }
        Ok(n.max(1))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        self.note_work(stmt);
        match stmt {
            Stmt::Op { result, op, args, site } => {
                let code = site.map_or(i64::from(u32::MAX) + 1, |site| i64::from(site.0) + 1);
                let value = self.op(*op, args, result.elem, code)?;
                self.define(result, value);
            }
            Stmt::Index { result, expr } => {
                let value = self.index_value(expr, result.elem)?;
                self.define(result, value);
            }
            Stmt::Bind { var, expr } => {
                let value = self.bound(expr)?;
                let slot = self.var_slot(*var)?;
                self.builder.build_store(slot, value)?;
                self.note(*var, expr);
                self.bound_in_lanes(*var, expr)?;
            }
            Stmt::Param { var, value, site } => {
                let signed = value.elem().kind() == ElemKind::Signed;
                let value = self.widen(self.operand(value)?.into_int_value(), signed)?;
                let (least, most) = (self.i64(-(1 << 40)), self.i64(1 << 40));
                let low = self.compare(IntPredicate::SGE, value, least)?;
                let high = self.compare(IntPredicate::SLE, value, most)?;
                let both = self.builder.build_and(low, high, "fits")?;
                self.require(both, i64::from(site.0) + 1)?;
                let slot = self.var_slot(*var)?;
                self.builder.build_store(slot, value)?;
            }
            Stmt::Load { result, buffer, at, access } => {
                if self.passing.contains(&result.number) && self.are_lanes_whole() {
                    self.fetch_passing(*buffer, at)?;
                }
                let value = match self.n_lanes() {
                    Some(width) => self.load_lanes(*buffer, at, *access, width)?,
                    None => self.load(*buffer, at, *access)?,
                };
                self.define(result, value);
            }
            Stmt::Probe { result, buffer, at, marked } => {
                let value = match self.n_lanes() {
                    Some(width) => self.probe_lanes(*buffer, at, width)?,
                    None => self.probe(*buffer, at, *marked)?,
                };
                self.define(result, value);
            }
            Stmt::Store { buffer, at, value } if self.lanes.is_some() => {
                let (value, width) = (self.operand(value)?, self.n_lanes().unwrap_or(1));
                self.store_lanes(*buffer, at, value, width)?;
            }
            Stmt::Store { buffer, at, value } => {
                let value = self.operand(value)?;
                self.store(*buffer, at, value)?;
            }
            Stmt::If { results, condition, then, otherwise } => {
                self.choose(results, condition, then, otherwise)?;
            }
            Stmt::Loop(of) => {
                if !self.piece(of)? {
                    self.looped(of)?;
                }
            }
            Stmt::Fold(fold) => {
                if !self.fold_piece(fold)? {
                    self.in_loop(|emit| emit.fold(fold))?;
                }
            }
            Stmt::CheckShape(buffer, site) => self.check_shape(*buffer, i64::from(site.0) + 1)?,
            Stmt::Alloc(buffer) => self.alloc(*buffer)?,
            Stmt::Free(buffer) if self.is_on_stack(buffer.0 as usize) => {}
            Stmt::Free(buffer) => {
                self.service(Field::free, &[self.i64(i64::from(buffer.0)).into()])?;
            }
            Stmt::Copy { to, from } => {
                let (a, b) = (self.i64(i64::from(to.0)), self.i64(i64::from(from.0)));
                self.ask(Field::copy, &[a.into(), b.into()], -1)?;
                self.look(to.0 as usize)?;
            }
            Stmt::Call { results, function, args, site } => {
                self.call(results, function, args, i64::from(site.0) + 1)?;
            }
            Stmt::Assert { condition, site } => {
                let holds = self.condition(condition)?;
                self.require(holds, i64::from(site.0) + 1)?;
            }
            Stmt::Trap(site) => {
                self.builder.build_return(Some(&self.i64(i64::from(site.0) + 1)))?;
                self.at(self.block("after"));
            }
            Stmt::Team(block) => self.team(block)?,
            Stmt::Barrier => self.barrier()?,
        }
        Ok(())
    }

    pub(super) fn condition(&self, condition: &Condition) -> Result<IntValue<'c>> {
        match condition {
            Condition::Value(operand) => Ok(self.operand(operand)?.into_int_value()),
            Condition::Within(domain) => self.within(domain),
        }
    }

    fn probe(
        &mut self,
        buffer: BufferId,
        at: &[Subscript],
        marked: bool,
    ) -> Result<BasicValueEnum<'c>> {
        let number = buffer.0 as usize;
        let mut inside = self.context.bool_type().const_all_ones();
        let mut indices = Vec::with_capacity(at.len());
        for (axis, subscript) in at.iter().enumerate() {
            let index = self.subscript(subscript)?;
            let on = self.on_axis(number, axis, index)?;
            inside = self.builder.build_and(inside, on, "inside")?;
            indices.push(index);
        }
        if !(marked && self.kernel.buffers[number].marks) {
            return Ok(inside.into());
        }
        let slot = self.slot(self.context.bool_type().into(), "there")?;
        self.builder.build_store(slot, inside)?;
        let (look, end) = (self.block("look"), self.block("end"));
        self.branch(inside, look, end)?;
        self.at(look);
        let position = self.position(number, &indices)?;
        let there = self.is_marked(number, position)?;
        self.builder.build_store(slot, there)?;
        self.jump(end)?;
        self.at(end);
        Ok(self.builder.build_load(self.context.bool_type(), slot, "there")?)
    }

    fn choose(
        &mut self,
        results: &[Value],
        condition: &Condition,
        then: &Block,
        otherwise: &Block,
    ) -> Result<()> {
        if let Condition::Value(operand) = condition
            && let BasicValueEnum::VectorValue(holds) = self.operand(operand)?
        {
            return self.choose_lanes(results, holds, then, otherwise);
        }
        let slots = self.result_slots(results)?;
        let holds = self.condition(condition)?;
        let (yes, no, end) = (self.block("then"), self.block("else"), self.block("end"));
        self.branch(holds, yes, no)?;
        for (start, block) in [(yes, then), (no, otherwise)] {
            self.at(start);
            let known = self.known.clone();
            self.stmts(block)?;
            self.known = known;
            self.yielded(block, &slots)?;
            self.jump(end)?;
        }
        self.at(end);
        self.defined(results, &slots)
    }

    /// Slots for values that several blocks may give.
    pub(super) fn result_slots(&self, results: &[Value]) -> Result<Vec<PointerValue<'c>>> {
        results.iter().map(|value| self.slot(self.wide_type(value.elem)?, "result")).collect()
    }

    /// Keeps what a block yields.
    pub(super) fn yielded(&self, block: &Block, slots: &[PointerValue<'c>]) -> Result<()> {
        for (operand, slot) in block.results.iter().zip(slots) {
            self.keep(*slot, self.operand(operand)?)?;
        }
        Ok(())
    }

    /// Defines values by their slots.
    pub(super) fn defined(&mut self, results: &[Value], slots: &[PointerValue<'c>]) -> Result<()> {
        for (value, slot) in results.iter().zip(slots) {
            let is = self.builder.build_load(self.wide_type(value.elem)?, *slot, "result")?;
            self.define(value, is);
        }
        Ok(())
    }

    pub(super) fn looped(&mut self, of: &Loop) -> Result<()> {
        self.in_loop(|emit| emit.in_part(of, |emit| emit.rounds_of_loop(of)))
    }

    fn rounds_of_loop(&mut self, of: &Loop) -> Result<()> {
        if let Some(threads) = self.threads.filter(|_| of.role == Role::Wave) {
            return self.wave(of, threads);
        }
        if let Some(width) = self.are_rounds_lanes(of) {
            return self.lane_loop(of, width);
        }
        if self.called_tile(of)? {
            return Ok(());
        }
        if let Some(rounds) = self.short(of).filter(|_| !self.is_inside_wave(of)) {
            return self.written_out(of.range.var, rounds, &mut |emit| emit.stmts(&of.body));
        }
        self.stays(of);
        self.known.remove(&of.range.var);
        self.looped_in_lanes(of.range.var);
        let range = &of.range;
        let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        match self.threads {
            Some(_) if of.own == Own::Taken => {
                self.taken(lo, hi, |emit, lo, hi| emit.rounds_between(of, lo, hi))
            }
            _ => {
                let (lo, hi) = self.own_part(of, lo, hi)?;
                self.rounds_between(of, lo, hi)
            }
        }
    }

    /// How many rounds of a loop are lanes, if they are.
    pub(super) fn are_rounds_lanes(&self, of: &Loop) -> Option<u32> {
        let may_be = self.lanes.is_none() && !self.tables.checked;
        has_lanes(self.kernel, of).filter(|_| may_be)
    }

    /// The rounds of a loop from one to another.
    fn rounds_between(&mut self, of: &Loop, lo: IntValue<'c>, hi: IntValue<'c>) -> Result<()> {
        if !self.has_short_steps(of) {
            let lo = self.turned(of, lo, hi)?;
            return self.rounds_together(of, lo, hi, 1);
        }
        let n_rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
        let rest = self.builder.build_int_signed_rem(n_rounds, self.i64(STEPS), "rest")?;
        let whole = self.builder.build_int_nsw_sub(hi, rest, "whole")?;
        self.rounds_together(of, lo, whole, STEPS)?;
        self.rounds_together(of, whole, hi, 1)
    }

    /// The rounds of a loop from one to another, of which so many are written out.
    fn rounds_together(
        &mut self,
        of: &Loop,
        lo: IntValue<'c>,
        hi: IntValue<'c>,
        n: i64,
    ) -> Result<()> {
        let range = &of.range;
        let var = self.var_slot(range.var)?;
        let (before, top) = (self.block("before"), self.block("round"));
        let (finished, end) = (self.block("finished"), self.block("end"));
        let open = of.until.as_ref().map(|until| self.open(until, hi)).transpose()?;
        let some = self.compare(IntPredicate::SLT, lo, hi)?;
        self.branch(some, before, end)?;
        self.at(before);
        let first = match range.down {
            false => lo,
            true => self.add(hi, self.i64(-1))?,
        };
        self.builder.build_store(var, first)?;
        self.ticked(of, lo, hi)?;
        let outer = self.before.insert(range.var, before);
        let round = self.round.replace(range.var);
        // The extent of an open axis changes in every round, and so does where its buffers lie.
        let body: &[&Block] = if open.is_some() { &[] } else { &[&of.body] };
        self.with_places(range, body, first, |emit| {
            emit.jump(top)?;
            emit.at(top);
            match (&of.until, &open) {
                (Some(until), Some(open)) => emit.open_round(of, until, open, var, end)?,
                _ => emit.behind(of)?,
            }
            for at in 1..n {
                if at == 1 {
                    emit.fetch_for_steps(of)?;
                }
                let index =
                    emit.builder.build_load(emit.i64_type(), var, "index")?.into_int_value();
                emit.builder.build_store(var, emit.add(index, emit.i64(1))?)?;
                emit.behind(of)?;
            }
            Ok(())
        })?;
        self.round = round;
        self.before.remove(&range.var);
        if let Some(outer) = outer {
            self.before.insert(range.var, outer);
        }
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let again = match range.down {
            false => {
                let next = self.add(index, self.i64(1))?;
                self.builder.build_store(var, next)?;
                self.compare(IntPredicate::SLT, next, hi)?
            }
            true => {
                let next = self.add(index, self.i64(-1))?;
                self.builder.build_store(var, next)?;
                self.compare(IntPredicate::SGE, next, lo)?
            }
        };
        self.branch(again, top, finished)?;
        self.at(finished);
        if let Some((extent, _)) = open {
            self.builder.build_store(extent, hi)?;
        }
        self.jump(end)?;
        self.at(end);
        if let (Some(until), Some((_, converged))) = (&of.until, &open) {
            self.defined(std::slice::from_ref(&until.converged), &[*converged])?;
        }
        Ok(())
    }

    /// Counts the rounds of a loop without loops in it, before the first; the others are counted by
    /// those inside them. Limits and interruptions are seen between such loops, not within one.
    pub(super) fn ticked(&mut self, of: &Loop, lo: IntValue<'c>, hi: IntValue<'c>) -> Result<()> {
        if of.until.is_some() || self.has_loops(&of.body) {
            return Ok(());
        }
        let rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
        self.tick(rounds)
    }

    /// The slots of an open axis: its extent and whether the condition ended it.
    fn open(
        &mut self,
        until: &UntilLoop,
        hi: IntValue<'c>,
    ) -> Result<(PointerValue<'c>, PointerValue<'c>)> {
        let extent = self.var_slot(until.extent)?;
        let converged = self.slot(self.context.bool_type().into(), "converged")?;
        self.builder.build_store(converged, self.context.bool_type().const_zero())?;
        let zero = self.i64(0);
        let negative = self.compare(IntPredicate::SLT, hi, zero)?;
        let most = self.builder.build_select(negative, zero, hi, "extent")?;
        self.builder.build_store(extent, most)?;
        Ok((extent, converged))
    }

    /// A round of an open axis: room for its planes, the points, the condition.
    fn open_round(
        &mut self,
        of: &Loop,
        until: &UntilLoop,
        (extent, converged): &(PointerValue<'c>, PointerValue<'c>),
        var: PointerValue<'c>,
        stop: BasicBlock<'c>,
    ) -> Result<()> {
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let planes = self.add(index, self.i64(1))?;
        self.builder.build_store(*extent, planes)?;
        self.tick(self.i64(1))?;
        for buffer in &until.buffers {
            let dims = &self.kernel.buffers[buffer.0 as usize].dims;
            let axis = dims.iter().position(|dim| dim.extent.as_var() == Some(until.extent));
            if let Some(axis) = axis {
                self.grow(buffer.0 as usize, axis, planes)?;
            }
        }
        self.stmts(&of.body)?;
        let (asks, again) = (self.block("asks"), self.block("again"));
        let first = self.bound(&until.first)?;
        let late = self.compare(IntPredicate::SGE, index, first)?;
        self.branch(late, asks, again)?;
        self.at(asks);
        self.stmts(&until.condition)?;
        self.yielded(&until.condition, std::slice::from_ref(converged))?;
        let truth = self.context.bool_type();
        let done = self.builder.build_load(truth, *converged, "done")?.into_int_value();
        self.branch(done, stop, again)?;
        self.at(again);
        Ok(())
    }

    fn call(
        &mut self,
        results: &[Value],
        function: &Ident,
        args: &[Operand],
        code: i64,
    ) -> Result<()> {
        let number = self.tables.calls.len() as i64;
        self.tables.calls.push(Call {
            function: function.clone(),
            args: args.iter().map(Operand::elem).collect(),
            results: results.iter().map(|value| value.elem).collect(),
        });
        let (given, out) = (self.words(args.len(), "args")?, self.words(results.len(), "results")?);
        for (at, arg) in args.iter().enumerate() {
            let bits = self.to_bits(self.operand(arg)?, arg.elem())?;
            let place = self.word(given, at as u64)?;
            self.builder.build_store(place, bits)?;
        }
        self.ask(Field::call, &[self.i64(number).into(), given.into(), out.into()], code)?;
        for (at, result) in results.iter().enumerate() {
            let place = self.word(out, at as u64)?;
            let bits = self.builder.build_load(self.i64_type(), place, "bits")?.into_int_value();
            let value = self.of_bits(bits, result.elem)?;
            self.define(result, value);
        }
        Ok(())
    }

    /// Whether a block has loops in it: then they count themselves.
    fn has_loops(&self, block: &Block) -> bool {
        block.stmts.iter().any(|stmt| match stmt {
            Stmt::Loop(of) if self.one_vector(of).is_some() => self.has_loops(&of.body),
            Stmt::Loop(of) => self.short(of).is_none() || self.has_loops(&of.body),
            Stmt::If { then, otherwise, .. } => self.has_loops(then) || self.has_loops(otherwise),
            _ => false,
        })
    }
}
