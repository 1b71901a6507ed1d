//! What a tile needs after its sum is fetched while that runs.
//!
//! The sums of a tile take all registers, and what is combined with them afterwards, or stored over, lies far away:
//! a processor would wait for every tile's share of it. So elements that only statements after the fold need are
//! loaded after it, and the memory of these loads and of the stores is fetched before the fold begins. Fetching
//! touches no value.

use einlang_loops::ir::{Access, Block, BufferId, Fold, FoldStart, Operand, Stmt, Subscript, Uses};
use inkwell::values::PointerValue;
use rustc_hash::FxHashSet as HashSet;

use super::memory::Position;
use crate::emit::{Emit, Result};

/// A fold with fewer states is no tile.
const FEWEST_STATES: usize = 8;

/// The bytes that memory is fetched by.
const LINE: u64 = 64;

/// The statements of a block with a tile.
struct Tile<'k> {
    before: Vec<&'k Stmt>,
    /// Loads that nothing needs before the fold has ended.
    later: Vec<&'k Stmt>,
    fold: &'k Stmt,
    after: &'k [Stmt],
}

impl<'c> Emit<'c, '_> {
    /// Emits the statements of a block around a tile in lanes; false if there is none.
    pub(in crate::emit) fn around_tile(&mut self, block: &Block) -> Result<bool> {
        if self.lanes.is_none() || self.spared.calls_chains {
            return Ok(false);
        }
        let Some(tile) = self.tile_of(block) else { return Ok(false) };
        tile.before.into_iter().try_for_each(|stmt| self.stmt(stmt))?;
        // What is named after the fold is not known yet.
        let known = tile.after.iter().take_while(|stmt| names_nothing(stmt));
        for stmt in tile.later.iter().copied().chain(known) {
            match stmt {
                Stmt::Load { buffer, at, .. } => self.fetch_lanes(*buffer, at, false)?,
                Stmt::Store { buffer, at, .. } => {
                    let at: Vec<Subscript> = at.iter().cloned().map(Subscript::Index).collect();
                    self.fetch_lanes(*buffer, &at, true)?;
                }
                _ => {}
            }
        }
        self.stmt(tile.fold)?;
        // Each of them is loaded when it is needed, since there are no registers to keep it in.
        let (mut later, mut at) = (tile.later, 0);
        while let Some(stmt) = tile.after.get(at) {
            let mut uses = Uses::default();
            uses.stmt(stmt);
            // What is stored may be what is loaded.
            let is_last = !is_plain(stmt) || matches!(stmt, Stmt::Store { .. });
            let is_due = |load: &&Stmt| is_last || is_used(load, &uses);
            let (due, rest): (Vec<&Stmt>, Vec<&Stmt>) = later.into_iter().partition(is_due);
            later = rest;
            due.into_iter().try_for_each(|load| self.stmt(load))?;
            at += self.one_or_columns(&tile.after[at..])?;
        }
        later.into_iter().try_for_each(|load| self.stmt(load))?;
        Ok(true)
    }

    /// The tile of a block that has one with a long sum, which begins with constants.
    fn tile_of<'k>(&self, block: &'k Block) -> Option<Tile<'k>> {
        let is_tile = |stmt: &Stmt| matches!(stmt, Stmt::Fold(fold) if self.is_tile(fold));
        let at = block.stmts.iter().position(is_tile)?;
        let (before, rest) = block.stmts.split_at(at);
        let (fold, after) = rest.split_first()?;
        // From the fold backwards: a load that nothing has needed so far can wait.
        let mut uses = Uses::default();
        uses.stmt(fold);
        let mut needed: HashSet<u32> = uses.values;
        let (mut now, mut later) = (Vec::new(), Vec::new());
        for stmt in before.iter().rev() {
            match stmt {
                Stmt::Load { result, at, access: Access::Proved, .. }
                    if !needed.contains(&result.number) && at.iter().all(is_index) =>
                {
                    later.push(stmt);
                }
                stmt if is_plain(stmt) && !matches!(stmt, Stmt::Store { .. }) => {
                    let mut uses = Uses::default();
                    uses.stmt(stmt);
                    needed.extend(uses.values);
                    now.push(stmt);
                }
                // Names and memory may change.
                _ => return None,
            }
        }
        now.reverse();
        later.reverse();
        Some(Tile { before: now, later, fold, after })
    }

    fn is_tile(&self, fold: &Fold) -> bool {
        let constant = |operand: &Operand| matches!(operand, Operand::Const(_));
        let is_fresh = matches!(&fold.start, FoldStart::From(start) if start.iter().all(constant));
        let is_long = matches!(&fold.ranges[..], [range] if self.few(range).is_none());
        fold.results.len() >= FEWEST_STATES && is_fresh && is_long && fold.resume.is_none()
    }

    /// Fetches the memory of lanes that lie side by side.
    fn fetch_lanes(&mut self, buffer: BufferId, at: &[Subscript], stored: bool) -> Result<()> {
        let number = buffer.0 as usize;
        if self.is_on_stack(number) || !at.iter().all(is_index) {
            return Ok(());
        }
        let width = self.n_lanes().unwrap_or(1);
        let mut along = Vec::with_capacity(at.len());
        for subscript in at {
            along.push(self.along(subscript, width)?);
        }
        let Position::Run(position, true) = self.positions(number, &along, width)? else {
            return Ok(());
        };
        let place = self.place_of_some(number, position)?;
        let bytes = u64::from(width * self.kernel.buffers[number].elem.bits().max(8) / 8);
        (0..bytes.div_ceil(LINE)).try_for_each(|line| self.fetch(place, line * LINE, stored))
    }

    fn fetch(&self, place: PointerValue<'c>, offset: u64, stored: bool) -> Result<()> {
        let address = self.builder.build_ptr_to_int(place, self.i64_type(), "place")?;
        let address = self.add(address, self.i64(offset as i64))?;
        self.prefetch(address, stored, FIRST_CACHE)
    }
}

/// Into which cache: the first, for the tile that needs it is the next one.
const FIRST_CACHE: u64 = 3;

/// Whether something uses what a statement loads.
fn is_used(load: &Stmt, uses: &Uses) -> bool {
    matches!(load, Stmt::Load { result, .. } if uses.values.contains(&result.number))
}

/// Whether a statement names nothing and has none inside.
fn is_plain(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Load { .. } | Stmt::Op { .. } | Stmt::Index { .. } | Stmt::Store { .. })
}

/// The same for a branch in which nothing else happens, as that of the first of several blocks of terms.
fn names_nothing(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::If { then, otherwise, .. } => then.stmts.iter().chain(&otherwise.stmts).all(is_plain),
        stmt => is_plain(stmt),
    }
}

fn is_index(subscript: &Subscript) -> bool {
    matches!(subscript, Subscript::Index(_))
}
