//! Copies that turn rows into columns, a square at a time.
//!
//! Lanes that store next to each other what lies next to each other along the loop around them would gather: an
//! instruction for each element. Instead, as many rounds of that loop as a vector has elements load a vector for each
//! lane, exchange elements between vectors, and store one for each round.

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{Access, BufferId, Layout, Loop, Role, Stmt, Subscript};
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::types::VectorType;
use inkwell::values::{IntValue, VectorValue};

use crate::emit::{Emit, Result};

/// The bytes of a vector.
const VECTOR: u32 = 64;

/// The most squares side by side.
const MOST_SQUARES: u32 = 4;

/// A loop that copies rows to columns.
struct Turned<'k> {
    lanes: &'k Loop,
    from: BufferId,
    to: BufferId,
    from_at: &'k [Subscript],
    to_at: &'k [Quasi],
    /// How many elements a vector has, and how many of them are lanes at most.
    n: u32,
    most: u32,
}

impl<'c> Emit<'c, '_> {
    /// The rounds of a loop that turns rows into columns, as long as they fill squares. The first round that is left.
    pub(in crate::emit) fn turned(
        &mut self,
        of: &Loop,
        lo: IntValue<'c>,
        hi: IntValue<'c>,
    ) -> Result<IntValue<'c>> {
        let Some(turned) = self.turns(of) else { return Ok(lo) };
        let range = &turned.lanes.range;
        let (first, end) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        let (n, most) = (i64::from(turned.n), i64::from(turned.most));
        let n_lanes = self.builder.build_int_nsw_sub(end, first, "lanes")?;
        let is_full = self.compare(IntPredicate::EQ, n_lanes, self.i64(most))?;
        let length = self.builder.build_int_nsw_sub(hi, lo, "length")?;
        let fits = self.compare(IntPredicate::SGE, length, self.i64(n))?;
        let some = self.builder.build_and(is_full, fits, "some")?;
        let reached = self.slot(self.i64_type().into(), "reached")?;
        self.builder.build_store(reached, lo)?;
        let (before, square, after) =
            (self.block("before"), self.block("square"), self.block("after"));
        self.branch(some, before, after)?;
        self.at(before);
        let rest = self.builder.build_int_unsigned_rem(length, self.i64(n), "rest")?;
        let whole = self.builder.build_int_nsw_sub(hi, rest, "whole")?;
        self.tick(self.mul(length, self.i64(most))?)?;
        self.jump(square)?;
        self.at(square);
        let at = self.builder.build_load(self.i64_type(), reached, "at")?.into_int_value();
        for lane in (0..most).step_by(turned.n as usize) {
            let first = self.add(first, self.i64(lane))?;
            self.square(of.range.var, at, first, &turned)?;
        }
        let next = self.add(at, self.i64(n))?;
        self.builder.build_store(reached, next)?;
        let again = self.compare(IntPredicate::NE, next, whole)?;
        self.branch(again, square, after)?;
        self.at(after);
        Ok(self.builder.build_load(self.i64_type(), reached, "left")?.into_int_value())
    }

    /// What a loop copies, if it turns rows into columns and its code is to be fast.
    fn turns<'l>(&self, of: &'l Loop) -> Option<Turned<'l>> {
        let [Stmt::Loop(lanes)] = &of.body.stmts[..] else { return None };
        let [
            Stmt::Load { result, buffer: from, at: from_at, access: Access::Proved },
            Stmt::Store { buffer: to, at: to_at, value },
        ] = &lanes.body.stmts[..]
        else {
            return None;
        };
        let is_plain = |of: &Loop| !of.range.down && of.until.is_none();
        let may = self.lanes.is_none() && !self.tables.checked && !self.spared.calls_chains;
        let (var, lane) = (of.range.var, lanes.range.var);
        let is_fixed = [&lanes.range.lo, &lanes.range.hi].iter().all(|bound| {
            let mut fixed = true;
            bound.for_each_var(&mut |other| fixed &= other != var);
            fixed
        });
        let is_copy = *value == (*result).into() && from != to;
        let elem = result.elem;
        if !may || !is_copy || !is_fixed || !is_plain(of) || !is_plain(lanes) {
            return None;
        }
        if !matches!(elem, Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64) {
            return None;
        }
        let n = VECTOR / (elem.bits() / 8);
        // What is no part of a square is none of several.
        let sides = (n / 2 + 1..=n).chain((2..=MOST_SQUARES).map(|squares| squares * n));
        let most = sides.into_iter().find(|most| lanes.range.has_at_most(*most))?;
        let fits = matches!(lanes.role, Role::Lane(_))
            && !lanes.own.is_divided()
            && self.goes_along(*from, from_at, var, lane)
            && self.is_column(*to, to_at, var, lane);
        let (from, to) = (*from, *to);
        fits.then_some(Turned { lanes, from, to, from_at, to_at, n, most })
    }

    /// Whether subscripts go to the next element with one index, which does nothing else, and elsewhere with the other.
    fn goes_along(&self, buffer: BufferId, at: &[Subscript], along: Var, other: Var) -> bool {
        let exprs = at.iter().map(|at| match at {
            Subscript::Index(expr) => Some(expr),
            Subscript::Value(_) => None,
        });
        let exprs: Option<Vec<&Quasi>> = exprs.collect();
        exprs.is_some_and(|exprs| self.is_next(buffer, &exprs, along, other))
    }

    /// The same for what is stored, with the indices exchanged: the loop around is in other dimensions only.
    fn is_column(&self, buffer: BufferId, at: &[Quasi], around: Var, lane: Var) -> bool {
        self.is_next(buffer, &at.iter().collect::<Vec<_>>(), lane, around)
    }

    fn is_next(&self, buffer: BufferId, at: &[&Quasi], along: Var, other: Var) -> bool {
        let Some((last, others)) = at.split_last() else { return false };
        let unit = last.sub(&Quasi::from(along)).is_ok_and(|rest| !rest.mentions(along));
        let dims = self.kernel.buffer(buffer).map(|buffer| &buffer.dims[..]);
        let is_full = dims.and_then(<[_]>::last).is_some_and(|dim| dim.layout == Layout::Full);
        let is_open = dims.is_none_or(|dims| dims.iter().any(|dim| dim.layout == Layout::Open));
        unit && is_full
            && !is_open
            && !last.mentions(other)
            && others.iter().all(|at| !at.mentions(along))
    }

    /// As many rounds as lanes fill, from one on.
    fn square(
        &mut self,
        var: Var,
        at: IntValue<'c>,
        first: IntValue<'c>,
        turned: &Turned<'_>,
    ) -> Result<()> {
        let (from, to) = (turned.from.0 as usize, turned.to.0 as usize);
        let lane = turned.lanes.range.var;
        self.known.remove(&var);
        self.known.remove(&lane);
        let (around, inside) = (self.var_slot(var)?, self.var_slot(lane)?);
        let ty = self.memory_vector(from, turned.n)?;
        self.builder.build_store(around, at)?;
        let mut rows = vec![ty.get_poison(); turned.n as usize];
        for (number, row) in rows.iter_mut().enumerate().take(turned.most.min(turned.n) as usize) {
            self.builder.build_store(inside, self.add(first, self.i64(number as i64))?)?;
            let at: Result<Vec<_>> = turned.from_at.iter().map(|at| self.subscript(at)).collect();
            let position = self.position(from, &at?)?;
            *row = self.run(from, position, true, turned.n, None)?;
        }
        self.builder.build_store(inside, first)?;
        let columns = self.exchanged(rows)?;
        for (number, column) in columns.into_iter().enumerate() {
            self.builder.build_store(around, self.add(at, self.i64(number as i64))?)?;
            let at: Result<Vec<_>> = turned.to_at.iter().map(|at| self.quasi(at)).collect();
            let position = self.position(to, &at?)?;
            let mask = (turned.most < turned.n).then(|| self.first_lanes(turned));
            self.store_some(to, position, column, mask)?;
        }
        Ok(())
    }

    /// Which lanes of a vector there are.
    fn first_lanes(&self, turned: &Turned<'_>) -> VectorValue<'c> {
        let ty = self.context.bool_type();
        let lanes = (0..turned.n).map(|lane| ty.const_int(u64::from(lane < turned.most), false));
        VectorType::const_vector(&lanes.collect::<Vec<_>>())
    }

    /// The vectors of first elements, of second elements, and so on. Squares beside the diagonal change places, first
    /// those of one element, then larger ones.
    pub(super) fn exchanged(&self, mut rows: Vec<VectorValue<'c>>) -> Result<Vec<VectorValue<'c>>> {
        let n = rows.len();
        let mut side = 1;
        while side < n {
            for at in (0..n).filter(|at| at & side == 0) {
                let (upper, lower) = (rows[at], rows[at | side]);
                rows[at] = self.shuffled(upper, lower, |lane| match lane & side {
                    0 => lane,
                    _ => n + (lane ^ side),
                })?;
                rows[at | side] = self.shuffled(upper, lower, |lane| match lane & side {
                    0 => lane | side,
                    _ => n + lane,
                })?;
            }
            side *= 2;
        }
        Ok(rows)
    }

    fn shuffled(
        &self,
        a: VectorValue<'c>,
        b: VectorValue<'c>,
        from: impl Fn(usize) -> usize,
    ) -> Result<VectorValue<'c>> {
        let number = self.context.i32_type();
        let n = a.get_type().get_size() as usize;
        let lanes: Vec<_> = (0..n).map(|lane| number.const_int(from(lane) as u64, false)).collect();
        let order = VectorType::const_vector(&lanes);
        Ok(self.builder.build_shuffle_vector(a, b, order, "turned")?)
    }
}
