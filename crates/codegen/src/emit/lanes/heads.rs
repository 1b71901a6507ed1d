//! Where the vectors of a stencil begin.
//!
//! A stencil that leaves out the edge begins an element after the start of its rows, and so each of its loads
//! and stores would lie across two lines of the cache. Such a loop begins with a vector that has lanes before
//! the first round, which do not count, so that what it stores is aligned from there on, whatever the extents
//! are. The first vector and the last share the copy of the body that has a mask.

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{Access, BufferId, Layout, Loop, Stmt, Subscript};
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::values::IntValue;

use crate::emit::{Emit, Result};
use crate::optimise::has_masks;

/// The bytes of a line of the cache, and of the widest vectors.
const LINE: i64 = 64;

/// How many vectors a row has that is worth it.
const VECTORS: i64 = 4;

/// A store of a stencil.
pub(super) type Stored<'l> = (BufferId, &'l [Quasi]);

impl<'c> Emit<'c, '_> {
    /// The store that vectors begin by: that of a body that does nothing but compute one number per
    /// lane from elements side by side, some of them in several lanes.
    pub(super) fn stored<'l>(&self, of: &'l Loop, width: u32) -> Option<Stored<'l>> {
        let var = of.range.var;
        let (mut stored, mut loaded) = (None, Vec::new());
        for stmt in &of.body.stmts {
            match stmt {
                Stmt::Op { site: None, .. } => {}
                Stmt::Load { buffer, at, access: Access::Proved, .. } => {
                    let at = at.iter().map(as_index).collect::<Option<Vec<&Quasi>>>()?;
                    if along(at.iter().copied(), var)? {
                        loaded.push((*buffer, at));
                    }
                }
                Stmt::Store { buffer, at, .. } if stored.is_none() && along(at.iter(), var)? => {
                    stored = Some((*buffer, &at[..]));
                }
                _ => return None,
            }
        }
        let (buffer, _) = stored?;
        let of = |buffer: BufferId| &self.kernel.buffers[buffer.0 as usize];
        let is_whole = |buffer| of(buffer).dims.last().is_some_and(|d| d.layout == Layout::Full);
        let elem = of(buffer).elem;
        let fits = has_masks()
            && elem != Elem::Bool
            && i64::from(elem.bits() / 8 * width) == LINE
            && is_whole(buffer)
            && loaded.iter().all(|(buffer, _)| is_whole(*buffer));
        let are_neighbours = |(a, at): &(BufferId, Vec<&Quasi>), (b, other): &(_, Vec<&Quasi>)| {
            let (x, y) = (at.split_last(), other.split_last());
            a == b
                && matches!((x, y), (Some((x, rest)), Some((y, others))) if x != y && rest == others)
        };
        let mut pairs = loaded.iter().enumerate();
        let has_neighbours =
            pairs.any(|(n, one)| loaded[..n].iter().any(|other| are_neighbours(one, other)));
        (fits && has_neighbours).then_some(stored).flatten()
    }

    /// Vectors of which those are whole that lie between the first round and the last, and whose stores are
    /// aligned.
    pub(super) fn aligned_vectors(
        &mut self,
        of: &Loop,
        (lo, hi): (IntValue<'c>, IntValue<'c>),
        stored: Stored<'_>,
        width: u32,
        end: BasicBlock<'c>,
    ) -> Result<()> {
        let var = self.var_slot(of.range.var)?;
        let first = self.aligned(stored, (lo, hi), width)?;
        self.builder.build_store(var, first)?;
        let (top, inside) = (self.block("aligned"), self.block("vectors"));
        let part = self.block("part");
        self.jump(top)?;
        self.at(top);
        let begins = self.compare(IntPredicate::SLT, self.index_in(var)?, lo)?;
        self.branch(begins, part, inside)?;
        self.at(inside);
        self.vectors_that_fit(of, width, var, hi, (part, end))?;
        self.at(part);
        let index = self.index_in(var)?;
        let mask = self.mask_of_rest(index, hi, width)?;
        let before = self.builder.build_int_nsw_sub(lo, index, "before")?;
        let before = self.builder.build_int_truncate(before, self.context.i32_type(), "before")?;
        let before = self.splat(before.into(), width)?;
        let counts = self.iota(width, 32)?;
        let from = self.builder.build_int_compare(IntPredicate::SGE, counts, before, "mask")?;
        let mask = self.builder.build_and(mask, from, "mask")?;
        self.in_lanes(of, width, Some(mask))?;
        let next = self.add(index, self.i64(i64::from(width)))?;
        self.builder.build_store(var, next)?;
        let more = self.compare(IntPredicate::SLT, next, hi)?;
        self.branch(more, top, end)
    }

    /// The index of the first lane, so that a store to its place is aligned. The slot of the index holds that
    /// of the first round.
    fn aligned(
        &mut self,
        (buffer, at): Stored<'_>,
        (lo, hi): (IntValue<'c>, IntValue<'c>),
        width: u32,
    ) -> Result<IntValue<'c>> {
        let buffer = buffer.0 as usize;
        let at: Result<Vec<IntValue<'c>>> = at.iter().map(|expr| self.quasi(expr)).collect();
        let place = self.place(buffer, self.position(buffer, &at?)?)?;
        let address = self.builder.build_ptr_to_int(place, self.i64_type(), "address")?;
        let past = self.builder.build_and(address, self.i64(LINE - 1), "past")?;
        let bytes = self.i64(i64::from(self.kernel.buffers[buffer].elem.bits() / 8));
        let past = self.builder.build_int_unsigned_div(past, bytes, "past")?;
        let rounds = self.builder.build_int_nsw_sub(hi, lo, "rounds")?;
        let least = self.i64(VECTORS * i64::from(width));
        let is_long = self.compare(IntPredicate::SGE, rounds, least)?;
        let past = self.builder.build_select(is_long, past, self.i64(0), "past")?;
        Ok(self.builder.build_int_nsw_sub(lo, past.into_int_value(), "first")?)
    }
}

fn as_index(subscript: &Subscript) -> Option<&Quasi> {
    match subscript {
        Subscript::Index(expr) => Some(expr),
        Subscript::Value(_) => None,
    }
}

/// Whether subscripts go along the last axis with a variable and are the same on all others, or the same on
/// every axis; nothing if they are neither.
fn along<'q>(mut at: impl DoubleEndedIterator<Item = &'q Quasi>, var: Var) -> Option<bool> {
    let last = at.next_back();
    let goes = last.is_some_and(|last| last.mentions(var));
    let is_step =
        |last: &Quasi| last.divisions().is_empty() && last.affine().terms().contains(&(var, 1));
    (at.all(|expr| !expr.mentions(var)) && (!goes || last.is_some_and(is_step))).then_some(goes)
}
