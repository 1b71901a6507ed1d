//! A fixed number of checkpoints, and where they are taken.
//!
//! With `n` checkpoints at hand and `r` replays of each segment at most, as many segments can be
//! reversed as there are ways to choose `n` of `n + r`: the rule of binomial checkpointing (Griewank
//! and Walther, "Revolve"). On the way from one checkpoint to a segment, the next one is taken where
//! both parts can be reversed with what is left then.
//!
//! Segments are counted in the order of the forward sweep here. A kernel keeps what it needs in two
//! small buffers: how many checkpoints there are, which segment gets the next one and which segments
//! have one; and the table of those numbers.

use einlang_index::{Affine, Constraint, Domain, MinMax, Quasi, Set, Var};
use einlang_tir::op::Op;
use einlang_tir::types::{Dim, Elem, Ident, TensorType};

use super::integers::number;
use super::sweep::Sweep;
use super::{Lower, Result};
use crate::ir::{Access, Block, BufferId, Condition, Operand, Range, Stmt, Subscript};
use crate::schedule::Replay;

/// More replays of one segment are not counted with; with many checkpoints there are never as many.
fn most_replays(n: i64) -> i64 {
    if n < 32 { 64 } else { 12 }
}

/// Larger numbers of segments are not told apart.
const MANY: i64 = 1 << 40;

/// The checkpoints of a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// How many there are at most.
    n: i64,
    /// How many replays of one segment are counted with.
    replays: i64,
    /// How many are in use, the segment of the next one, and the segments of those in use.
    taken: BufferId,
    /// How many segments can be reversed with so many checkpoints and replays.
    table: BufferId,
}

impl Lower<'_> {
    /// Memory for what is known of checkpoints.
    pub(super) fn slots(&mut self, n: u32, out: &mut Vec<Stmt>) -> Result<Slots> {
        let n = i64::from(n);
        let replays = most_replays(n);
        let ty = |extents: &[i64]| TensorType {
            elem: Elem::I64,
            dims: extents.iter().map(|extent| Dim::from(Quasi::from(*extent))).collect(),
        };
        let taken = self.extra_buffer(&Ident::new("checkpoints"), ty(&[n + 2]), None, out);
        let sizes = ty(&[n + 2, replays + 2]);
        let table = self.extra_buffer(&Ident::new("checkpoints.table"), sizes, None, out);
        let (row, column) = (self.kernel.vars.index("row"), self.kernel.vars.index("column"));
        let (at_row, at_column) = (Quasi::from(row), Quasi::from(column));
        let store = |value: Operand| Stmt::Store {
            buffer: table,
            at: vec![at_row.clone(), at_column.clone()],
            value,
        };
        let mut sum = Vec::new();
        let up = vec![at_row.add_constant(-1)?, at_column.clone()];
        let left = vec![at_row.clone(), at_column.add_constant(-1)?];
        let (up, left) = (self.entry_at(table, up, &mut sum), self.entry_at(table, left, &mut sum));
        let both = self.integer(Op::Add, &[up, left], &mut sum);
        let both = self.integer(Op::Min, &[both, number(MANY)], &mut sum);
        sum.push(store(both));
        let inner = looped(column, (1, replays + 2), sum);
        let first = looped(column, (0, 1), vec![store(number(1))]);
        out.push(looped(
            row,
            (0, 1),
            vec![looped(column, (0, replays + 2), vec![store(number(1))])],
        ));
        out.push(looped(row, (1, n + 2), vec![first, inner]));
        Ok(Slots { n, replays, taken, table })
    }

    fn entry_at(&mut self, buffer: BufferId, at: Vec<Quasi>, out: &mut Vec<Stmt>) -> Operand {
        let at = at.into_iter().map(Subscript::Index).collect();
        self.entry_of(buffer, at, out)
    }

    fn entry_of(&mut self, buffer: BufferId, at: Vec<Subscript>, out: &mut Vec<Stmt>) -> Operand {
        let result = self.fresh(Elem::I64);
        out.push(Stmt::Load { result, buffer, at, access: Access::Proved });
        result.into()
    }

    fn set(&mut self, slots: Slots, at: i64, value: Operand, out: &mut Vec<Stmt>) {
        out.push(Stmt::Store { buffer: slots.taken, at: vec![Quasi::from(at)], value });
    }

    /// The place of a segment in the order of the forward sweep.
    pub(super) fn ordinal(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        out: &mut Vec<Stmt>,
    ) -> Result<Operand> {
        let at = match replay.down {
            false => Quasi::from(sweep.segment),
            true => Quasi::from(sweep.count).add_constant(-1)?.sub(&sweep.segment.into())?,
        };
        Ok(self.value_of(&at, out))
    }

    /// Forgets all checkpoints; the first segment needs none.
    pub(super) fn no_slots(&mut self, slots: Slots, last: Operand, out: &mut Vec<Stmt>) {
        self.set(slots, 0, number(0), out);
        self.next_slot(slots, number(0), last, out);
    }

    /// Decides which segment on the way from one to another gets the next checkpoint.
    fn next_slot(&mut self, slots: Slots, from: Operand, to: Operand, out: &mut Vec<Stmt>) {
        let used = self.entry_at(slots.taken, vec![Quasi::from(0)], out);
        let free = self.integer(Op::Sub, &[number(slots.n), used], out);
        let way = self.integer(Op::Sub, &[to, from], out);
        let length = self.integer(Op::Add, &[way, number(1)], out);
        let row = self.integer(Op::Add, &[free, number(1)], out);
        let replays = self.count(
            slots.replays,
            |lower, column, out| {
                let at = [row, column].map(Subscript::Value).to_vec();
                let most = lower.entry_of(slots.table, at, out);
                lower.integer(Op::Lt, &[most, length], out)
            },
            out,
        );
        let less = self.integer(Op::Sub, &[replays, number(1)], out);
        let less = self.integer(Op::Max, &[less, number(0)], out);
        let first = self.entry_of(slots.table, [row, less].map(Subscript::Value).to_vec(), out);
        let first = self.integer(Op::Min, &[first, way], out);
        let next = self.integer(Op::Add, &[from, first], out);
        let some = self.integer(Op::Gt, &[free, number(0)], out);
        let far = self.integer(Op::Gt, &[way, number(0)], out);
        let due = self.integer(Op::And, &[some, far], out);
        let next = self.integer(Op::Select, &[due, next, number(-1)], out);
        self.set(slots, 1, next, out);
    }

    /// Takes a checkpoint before a segment if it is its turn.
    pub(super) fn take_slot(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        slots: Slots,
        (at, to): (Operand, Operand),
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let next = self.entry_at(slots.taken, vec![Quasi::from(1)], out);
        let due = self.integer(Op::Eq, &[at, next], out);
        let (stmts, ()) = self.scoped(|lower, out| {
            let used = lower.entry_at(slots.taken, vec![Quasi::from(0)], out);
            let slot = lower.sized("slot", used, out)?;
            lower.checkpoint(replay, sweep, slot, true, out)?;
            let place = vec![Quasi::from(slot).add_constant(2)?];
            out.push(Stmt::Store { buffer: slots.taken, at: place, value: at });
            let more = lower.integer(Op::Add, &[used, number(1)], out);
            lower.set(slots, 0, more, out);
            lower.next_slot(slots, at, to, out);
            Ok(())
        })?;
        out.push(Stmt::when(Condition::Value(due), stmts));
        Ok(())
    }

    /// Computes a segment again from the last checkpoint before it, and takes more on the way.
    pub(super) fn again_from_slot(
        &mut self,
        replay: &Replay,
        sweep: Sweep,
        slots: Slots,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let again = || replay.forward.iter().filter(|part| part.again);
        let ahead = self.set_aside(again(), sweep, !replay.down, out)?;
        let to = self.ordinal(replay, sweep, out)?;
        let (left, from) = self.last_slot(slots, to, out);
        let (first, end) = (self.sized("first", from, out)?, self.sized("last", to, out)?);
        let inner = Sweep {
            segment: self.kernel.vars.symbol("segment"),
            origin: self.kernel.vars.symbol("origin"),
            ..sweep
        };
        self.segments.values_mut().for_each(|of| of.origin = inner.origin);
        let round = self.kernel.vars.index("replayed");
        let (stmts, ()) = self.in_loop(round, false, |lower, out| {
            let at = lower.value_of(&Quasi::from(round), out);
            let segment = match replay.down {
                false => Quasi::from(round),
                true => Quasi::from(sweep.count).add_constant(-1)?.sub(&round.into())?,
            };
            let segment = lower.value_of(&segment, out);
            lower.param(inner.segment, segment, "segment", out)?;
            let parts = lower.parts(replay, inner, out)?;
            let begins = Set::new([Constraint::equal(&Affine::var(round), &Affine::var(first))?])?;
            let (restored, ()) = lower.scoped(|lower, out| {
                lower.forget(again(), out)?;
                let some = lower.integer(Op::Gt, &[left, number(0)], out);
                let (stmts, ()) = lower.scoped(|lower, out| {
                    let slot = lower.integer(Op::Sub, &[left, number(1)], out);
                    let slot = lower.sized("slot", slot, out)?;
                    lower.checkpoint(replay, inner, slot, false, out)
                })?;
                out.push(Stmt::when(Condition::Value(some), stmts));
                Ok(())
            })?;
            let (moved, ()) = lower.scoped(|lower, out| {
                lower.move_planes(again(), inner, replay.down, out)?;
                lower.take_slot(replay, inner, slots, (at, to), out)
            })?;
            out.push(Stmt::If {
                results: Vec::new(),
                condition: Condition::Within(Domain::new([], begins)),
                then: Block { stmts: restored, results: Vec::new() },
                otherwise: Block { stmts: moved, results: Vec::new() },
            });
            let mut parts_again = again();
            parts_again
                .try_for_each(|part| lower.run_part(replay, part, inner, replay.down, &parts, out))
        })?;
        self.segments.values_mut().for_each(|of| of.origin = sweep.origin);
        let (lo, hi) = (Quasi::from(first), Quasi::from(end).add_constant(1)?);
        let range = Range { var: round, lo: lo.into(), hi: hi.into(), down: false };
        out.push(Stmt::rounds(range, stmts));
        self.bring_back(again(), &ahead, sweep, !replay.down, out)
    }

    /// Gives back the checkpoints behind a segment: how many are left, and the segment of the last.
    pub(super) fn last_slot(
        &mut self,
        slots: Slots,
        to: Operand,
        out: &mut Vec<Stmt>,
    ) -> (Operand, Operand) {
        let used = self.entry_at(slots.taken, vec![Quasi::from(0)], out);
        let left = self.count(
            slots.n,
            |lower, slot, out| {
                let place = lower.integer(Op::Add, &[slot, number(2)], out);
                let segment = lower.entry_of(slots.taken, vec![Subscript::Value(place)], out);
                let before = lower.integer(Op::Le, &[segment, to], out);
                let taken = lower.integer(Op::Lt, &[slot, used], out);
                lower.integer(Op::And, &[before, taken], out)
            },
            out,
        );
        self.set(slots, 0, left, out);
        let some = self.integer(Op::Gt, &[left, number(0)], out);
        let place = self.integer(Op::Add, &[left, number(1)], out);
        let place = self.integer(Op::Max, &[place, number(2)], out);
        let segment = self.entry_of(slots.taken, vec![Subscript::Value(place)], out);
        let from = self.integer(Op::Select, &[some, segment, number(0)], out);
        self.next_slot(slots, from, to, out);
        (left, from)
    }
}

/// A loop between two numbers.
fn looped(var: Var, (lo, hi): (i64, i64), stmts: Vec<Stmt>) -> Stmt {
    let range = Range { var, lo: MinMax::from(lo), hi: MinMax::from(hi), down: false };
    Stmt::rounds(range, stmts)
}
