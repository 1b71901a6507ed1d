//! Loops and folds with few rounds whose number is known are written out.
//!
//! A size that the kernel binds to a number is that number from there to the end of the block, and so
//! is the index of a loop that is written out: addresses become constants, and buffers on the stack
//! become registers.

use einlang_index::{MinMax, Quasi, Var, VarKind};
use einlang_loops::ir::{Block, Combine, Fold, Loop, Range, Role, Stmt};

use super::fold::State;
use super::sums::{LANES, Sum, is_small};
use super::{Emit, Result};
use inkwell::values::BasicValueEnum;

/// The most rounds that are written out.
const MOST_ROUNDS: i64 = 16;

impl<'c> Emit<'c, '_> {
    /// Takes note of what a variable is bound to.
    pub(super) fn note(&mut self, var: Var, expr: &MinMax) {
        self.known.remove(&var);
        if let (VarKind::Symbol, Some(value)) = (var.kind(), expr.as_constant()) {
            self.known.insert(var, value);
        }
    }

    /// The number that an expression is known to be.
    pub(super) fn number(&self, expr: &Quasi) -> Option<i64> {
        self.number_of(&MinMax::Value(expr.clone()))
    }

    fn number_of(&self, bound: &MinMax) -> Option<i64> {
        let mut known = true;
        bound.for_each_var(&mut |var| known &= self.known.contains_key(&var));
        if !known {
            return None;
        }
        let value = bound.eval(&|var| self.known.get(&var).copied().unwrap_or(0));
        i64::try_from(value.ok()?).ok()
    }

    /// The values of a range, if they are known and few.
    pub(super) fn few(&self, range: &Range) -> Option<std::ops::Range<i64>> {
        let (lo, hi) = (self.number_of(&range.lo)?, self.number_of(&range.hi)?);
        (hi.checked_sub(lo)? <= MOST_ROUNDS).then_some(lo..hi)
    }

    /// The values of a range of a fold around others, if they are known and few, and so is all that they become.
    pub(super) fn few_terms(
        &mut self,
        range: &Range,
        rest: &[Range],
        fold: &Fold,
    ) -> Option<std::ops::Range<i64>> {
        let few = self.few(range)?;
        let combined = match &fold.combine {
            Combine::Block { block, .. } => self.weight(block)?,
            _ => 1,
        };
        let term = self.weight(&fold.body)?.checked_add(combined)?;
        let mut rounds = [range].into_iter().chain(rest).map(|range| self.n_rounds(range));
        let weight = rounds.try_fold(term, usize::checked_mul)?;
        self.spared.note_loop(self.n_rounds(range), weight);
        (weight <= self.spared.most_statements).then_some(few)
    }

    /// The rounds of a loop that is written out.
    pub(super) fn short(&self, of: &Loop) -> Option<Vec<i64>> {
        if of.until.is_some() || of.own.is_divided() {
            return None;
        }
        let rounds = self.few(&of.range)?;
        let weight = self.weight_of_loop(of)?;
        (weight <= self.spared.most_statements).then(|| match of.range.down {
            false => rounds.collect(),
            true => rounds.rev().collect(),
        })
    }

    /// Takes note of a loop that stays one.
    pub(super) fn stays(&mut self, of: &Loop) {
        let may_be_short = of.until.is_none() && !of.own.is_divided();
        if may_be_short
            && self.few(&of.range).is_some()
            && let Some(weight) = self.weight_of_loop(of)
        {
            self.spared.note_loop(self.n_rounds(&of.range), weight);
        }
    }

    /// How many statements a loop becomes that is written out, vector by vector where its rounds are lanes.
    fn weight_of_loop(&self, of: &Loop) -> Option<usize> {
        let n_rounds = self.n_rounds(&of.range);
        let at_once = match self.are_rounds_lanes(of) {
            Some(width) => width as usize,
            None => 1,
        };
        self.weight(&of.body)?.checked_mul(n_rounds.div_ceil(at_once))
    }

    /// The rounds of a loop of lanes that are known to be one vector: that is its body, once.
    pub(super) fn one_vector(&self, of: &Loop) -> Option<Vec<i64>> {
        let Role::Lane(width) = of.role else { return None };
        let rounds = self.few(&of.range).filter(|_| of.until.is_none() && !of.own.is_divided())?;
        let fits = rounds.end.saturating_sub(rounds.start) <= i64::from(width);
        (fits && !of.range.down).then(|| rounds.collect())
    }

    /// Writes out rounds.
    pub(super) fn written_out(
        &mut self,
        var: Var,
        rounds: impl IntoIterator<Item = i64>,
        inside: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let slot = self.var_slot(var)?;
        self.looped_in_lanes(var);
        for round in rounds {
            self.builder.build_store(slot, self.i64(round))?;
            self.known.insert(var, round);
            inside(self)?;
        }
        self.known.remove(&var);
        Ok(())
    }

    /// A sum of few terms: the same partial sums as in `sums.rs`, without a loop. They are one block, so nothing is
    /// counted; nothing is the sum of no terms.
    pub(super) fn short_sum(
        &mut self,
        fold: &Fold,
        state: &State<'c>,
        sum: &Sum<'c>,
        range: &Range,
        rounds: std::ops::Range<i64>,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let n_terms = usize::try_from(rounds.end.saturating_sub(rounds.start)).unwrap_or(0);
        let eights = if is_small(fold) { n_terms - n_terms % LANES } else { 0 };
        let mut lanes: Vec<Option<BasicValueEnum<'c>>> = vec![None; LANES + 1];
        let mut at = 0;
        self.written_out(range.var, rounds, &mut |emit| {
            let lane = if at < eights { at % LANES } else { LANES };
            at += 1;
            emit.term(fold, state, &mut |emit, terms| {
                let Some(term) = terms.first() else { return Ok(()) };
                lanes[lane] = Some(match lanes[lane] {
                    Some(before) => emit.plus(sum, before, *term)?,
                    None => *term,
                });
                Ok(())
            })
        })?;
        while lanes.len() > 1 {
            let mut next = Vec::with_capacity(lanes.len().div_ceil(2));
            for pair in lanes.chunks(2) {
                next.push(match pair {
                    [Some(a), Some(b)] => Some(self.plus(sum, *a, *b)?),
                    _ => pair.iter().flatten().next().copied(),
                });
            }
            lanes = next;
        }
        Ok(lanes.pop().flatten())
    }

    /// How many statements a block becomes; nothing if it cannot be written out.
    pub(super) fn weight(&self, block: &Block) -> Option<usize> {
        let mut sum = 0_usize;
        for stmt in &block.stmts {
            let inside = match stmt {
                Stmt::If { then, otherwise, .. } => {
                    self.weight(then)?.checked_add(self.weight(otherwise)?)?
                }
                Stmt::Loop(of) if of.until.is_some() => return None,
                Stmt::Loop(of) => {
                    let width = match of.role {
                        Role::Lane(width) => width as usize,
                        _ => 1,
                    };
                    self.n_rounds(&of.range).div_ceil(width).checked_mul(self.weight(&of.body)?)?
                }
                Stmt::Fold(fold) if fold.resume.is_some() || fold.key.is_some() => return None,
                Stmt::Fold(fold) => {
                    let combined = match &fold.combine {
                        Combine::Block { block, .. } => self.weight(block)?,
                        _ => 1,
                    };
                    let term = self.weight(&fold.body)?.checked_add(combined)?;
                    let mut rounds = fold.ranges.iter().map(|range| self.n_rounds(range));
                    rounds.try_fold(term, usize::checked_mul)?
                }
                _ => 0,
            };
            sum = sum.checked_add(inside)?.checked_add(1)?;
        }
        Some(sum)
    }

    /// How many rounds of a range are written out; one if it stays a loop.
    fn n_rounds(&self, range: &Range) -> usize {
        let few = self.few(range);
        few.and_then(|r| usize::try_from(r.end.saturating_sub(r.start)).ok()).unwrap_or(1)
    }
}
