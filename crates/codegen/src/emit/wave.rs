//! Waves: rounds of a loop that threads take in turns, each behind the one that has the round before.
//!
//! Before a round of the loop inside a thread waits until the round before of the wave has passed it, and
//! afterwards it tells how far it is. A thread alone runs one round after the other.

use einlang_index::Var;
use einlang_loops::ir::{Loop, Stmt};
use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::team::Threads;
use super::{Emit, Result};
use crate::frame::Field;

/// The round of a wave that is being emitted.
#[derive(Clone, Copy)]
pub(super) struct Wave<'c> {
    /// The index of the loop inside.
    inner: Var,
    /// The number of the round.
    row: IntValue<'c>,
}

impl<'c> Emit<'c, '_> {
    /// The rounds of a wave that are this thread's.
    pub(super) fn wave(&mut self, of: &Loop, threads: Threads<'c>) -> Result<()> {
        let [Stmt::Loop(inner)] = &of.body.stmts[..] else { return self.stmts(&of.body) };
        self.known.remove(&of.range.var);
        let (lo, hi) = (self.bound(&of.range.lo)?, self.bound(&of.range.hi)?);
        let var = self.var_slot(of.range.var)?;
        let taking = self.service(Field::wave, &[])?;
        let goes_on = self.compare(IntPredicate::SGT, taking, self.i64(0))?;
        self.require(goes_on, -1)?;
        let (check, top, end) = (self.block("row"), self.block("wave"), self.block("end"));
        let takes = self.compare(IntPredicate::SLT, threads.number, taking)?;
        let first = self.add(lo, threads.number)?;
        let first = self.builder.build_select(takes, first, hi, "first")?;
        self.builder.build_store(var, first)?;
        self.jump(check)?;
        self.at(check);
        let index = self.builder.build_load(self.i64_type(), var, "index")?.into_int_value();
        let more = self.compare(IntPredicate::SLT, index, hi)?;
        self.branch(more, top, end)?;
        self.at(top);
        let row = self.builder.build_int_nsw_sub(index, lo, "row")?;
        let (round, outer) = (self.round.replace(of.range.var), self.wave.take());
        self.wave = Some(Wave { inner: inner.range.var, row });
        let done = self.looped(inner);
        (self.round, self.wave) = (round, outer);
        done?;
        let args = [row.into(), self.i64(0).into(), self.i64(1).into()];
        self.ask(Field::pass, &args, -1)?;
        self.builder.build_store(var, self.add(index, taking)?)?;
        self.jump(check)?;
        self.at(end);
        Ok(())
    }

    /// Whether a loop is the one inside a wave, each round of which waits for others.
    pub(super) fn is_inside_wave(&self, of: &Loop) -> bool {
        self.wave.is_some_and(|wave| wave.inner == of.range.var)
    }

    /// What a round of a loop does, behind the row before where it is the loop inside a wave.
    pub(super) fn behind(&mut self, of: &Loop) -> Result<()> {
        let Some(Wave { row, .. }) = self.wave.take_if(|wave| wave.inner == of.range.var) else {
            return self.stmts(&of.body);
        };
        let var = self.var_slot(of.range.var)?;
        let point = self.builder.build_load(self.i64_type(), var, "point")?.into_int_value();
        self.ask(Field::follow, &[row.into(), point.into()], -1)?;
        self.stmts(&of.body)?;
        self.ask(Field::pass, &[row.into(), point.into(), self.i64(0).into()], -1)
    }
}
