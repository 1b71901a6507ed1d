//! How much work a team has, estimated before it begins as `einlang_loops::threads` does, by what its
//! bounds are then.

use einlang_index::{MinMax, Var};
use einlang_loops::ir::{Block, Combine, Loop, Range, Role, Stmt};
use einlang_loops::threads::{
    EXPONENTIAL, FOLLOW, FUNCTION, MOST_WORK, at_once, is_for_wave, is_function,
};
use einlang_tir::op::Op;
use inkwell::FloatPredicate;
use inkwell::IntPredicate;
use inkwell::values::{FloatValue, IntValue};

use super::{Emit, Result};
use crate::frame::Field;

impl<'c> Emit<'c, '_> {
    /// The work of a team, not negative.
    pub(super) fn estimate(&mut self, block: &Block) -> Result<IntValue<'c>> {
        let known = self.known.clone();
        let work = self.work(block);
        self.known = known;
        let most = self.context.f64_type().const_float(MOST_WORK);
        let none = self.context.f64_type().const_zero();
        let (work, less) = (work?, FloatPredicate::OLT);
        let small = self.builder.build_float_compare(less, work, most, "small")?;
        let work = self.builder.build_select(small, work, most, "work")?.into_float_value();
        let some = self.builder.build_float_compare(FloatPredicate::OGT, work, none, "some")?;
        let work = self.builder.build_select(some, work, none, "work")?.into_float_value();
        Ok(self.builder.build_float_to_signed_int(work, self.i64_type(), "work")?)
    }

    fn work(&mut self, block: &Block) -> Result<FloatValue<'c>> {
        let ty = self.context.f64_type();
        let (mut plain, mut sum) = (0.0, ty.const_zero());
        for stmt in &block.stmts {
            let more = match stmt {
                Stmt::Op { op, .. } => {
                    plain += match op {
                        Op::Exp | Op::Log => EXPONENTIAL,
                        op if is_function(*op) => FUNCTION,
                        _ => 1.0,
                    };
                    continue;
                }
                Stmt::Barrier => {
                    sum = self.builder.build_float_sub(sum, self.wait()?, "work")?;
                    continue;
                }
                Stmt::Bind { var, expr } => {
                    let value = self.bound(expr)?;
                    let slot = self.var_slot(*var)?;
                    self.builder.build_store(slot, value)?;
                    self.note(*var, expr);
                    continue;
                }
                Stmt::Param { var, .. } => {
                    self.known.remove(var);
                    let slot = self.var_slot(*var)?;
                    self.builder.build_store(slot, self.i64(1))?;
                    continue;
                }
                Stmt::Loop(of) => self.work_of_loop(of)?,
                Stmt::Fold(fold) => {
                    let mut rounds = ty.const_float(1.0);
                    for (at, range) in fold.ranges.iter().enumerate() {
                        let inside = &fold.ranges[at + 1..];
                        let matters = matters_to_ranges(range.var, inside)
                            || matters(range.var, &fold.body)
                            || matches!(&fold.combine, Combine::Block { block, .. } if matters(range.var, block));
                        let more = self.rounds_of(range, matters)?;
                        rounds = self.builder.build_float_mul(rounds, more, "rounds")?;
                    }
                    let mut term = self.work(&fold.body)?;
                    if let Combine::Block { block, .. } = &fold.combine {
                        let combined = self.work(block)?;
                        term = self.builder.build_float_add(term, combined, "term")?;
                    }
                    self.builder.build_float_mul(rounds, term, "work")?
                }
                Stmt::If { then, .. } if is_for_wave(then) => self.work(then)?,
                Stmt::If { then, otherwise, .. } => {
                    let (a, b) = (self.work(then)?, self.work(otherwise)?);
                    self.builder.build_float_add(a, b, "work")?
                }
                _ => {
                    plain += 1.0;
                    continue;
                }
            };
            sum = self.builder.build_float_add(sum, more, "work")?;
        }
        Ok(self.builder.build_float_add(sum, ty.const_float(plain), "work")?)
    }

    /// What waiting for each other takes off.
    fn wait(&self) -> Result<FloatValue<'c>> {
        let place = self.word(self.frame, Field::wait as u64)?;
        let wait = self.builder.build_load(self.i64_type(), place, "wait")?.into_int_value();
        Ok(self.builder.build_unsigned_int_to_float(wait, self.context.f64_type(), "wait")?)
    }

    fn work_of_loop(&mut self, of: &Loop) -> Result<FloatValue<'c>> {
        let rounds = self.rounds_of(&of.range, matters(of.range.var, &of.body))?;
        let part = match of.role {
            Role::Lane(width) => 1.0 / at_once(width, &of.body),
            _ => 1.0,
        };
        let each = self.work(&of.body)?;
        let each = self.builder.build_float_mul(
            each,
            self.context.f64_type().const_float(part),
            "each",
        )?;
        let each = match (of.role, of.body.stmts.first()) {
            (Role::Wave, Some(Stmt::Loop(inner))) if of.own.is_divided() => {
                let tiles = self.rounds_of(&inner.range, false)?;
                let follow = self.context.f64_type().const_float(FOLLOW);
                let follow = self.builder.build_float_mul(tiles, follow, "follow")?;
                self.builder.build_float_sub(each, follow, "each")?
            }
            _ => each,
        };
        Ok(self.builder.build_float_mul(rounds, each, "work")?)
    }

    /// How many rounds a range has; its index gets the middle value, if that matters.
    fn rounds_of(&mut self, range: &Range, matters: bool) -> Result<FloatValue<'c>> {
        let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        self.known.remove(&range.var);
        if matters {
            let slot = self.var_slot(range.var)?;
            let both = self.add(lo, hi)?;
            let middle = self.builder.build_int_signed_div(both, self.i64(2), "middle")?;
            self.builder.build_store(slot, middle)?;
        }
        let rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
        let none = self.i64(0);
        let some = self.compare(IntPredicate::SGT, rounds, none)?;
        let rounds = self.builder.build_select(some, rounds, none, "rounds")?.into_int_value();
        Ok(self.builder.build_signed_int_to_float(rounds, self.context.f64_type(), "rounds")?)
    }
}

/// Whether some number of rounds in a block depends on an index.
fn matters(index: Var, block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Bind { expr, .. } => mentions(expr, index),
        Stmt::Loop(of) => {
            matters_to_ranges(index, std::slice::from_ref(&of.range)) || matters(index, &of.body)
        }
        Stmt::Fold(fold) => {
            matters_to_ranges(index, &fold.ranges)
                || matters(index, &fold.body)
                || matches!(&fold.combine, Combine::Block { block, .. } if matters(index, block))
        }
        Stmt::If { then, otherwise, .. } => matters(index, then) || matters(index, otherwise),
        Stmt::Team(block) => matters(index, block),
        _ => false,
    })
}

fn matters_to_ranges(index: Var, ranges: &[Range]) -> bool {
    ranges.iter().any(|range| mentions(&range.lo, index) || mentions(&range.hi, index))
}

fn mentions(bound: &MinMax, index: Var) -> bool {
    let mut found = false;
    bound.for_each_var(&mut |var| found |= var == index);
    found
}

/// How many operations a block has, each loop being run through once, if an elementary function counts for so
/// many.
pub(super) fn weight(block: &Block, function: usize) -> usize {
    let inside = |block: &Block| weight(block, function);
    let of = |stmt: &Stmt| match stmt {
        Stmt::Op { op: Op::Exp | Op::Log, .. } => function,
        Stmt::Op { op, .. } if is_function(*op) => function,
        Stmt::Bind { .. } => 0,
        Stmt::If { then, otherwise, .. } => inside(then) + inside(otherwise),
        Stmt::Loop(of) => inside(&of.body),
        Stmt::Fold(fold) => {
            let combined = match &fold.combine {
                Combine::Block { block, .. } => inside(block),
                _ => 1,
            };
            inside(&fold.body) + combined
        }
        Stmt::Team(block) => inside(block),
        _ => 1,
    };
    block.stmts.iter().map(of).sum()
}
