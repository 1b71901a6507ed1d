//! Rounds inside of lanes whose sums are called together, in code that is made quickly.
//!
//! `jam_rounds` moves the rows of a tile inside of its lanes. Their chains are one call (`chains.rs`), so the body is
//! cut at its folds: what comes before the first one runs for all rows, then the call, then what follows for all rows,
//! and so on. What a part computes for a later one is kept for each row. A sum of blocks of terms has a call for each
//! block.
//!
//! Invariant: rounds of such a loop are independent, so each row computes what it would compute alone.

use einlang_index::Var;
use einlang_loops::ir::{
    Combine, Fold, FoldStart, Loop, Operand, Range, Role, Stmt, Subscript, Uses, results,
};
use einlang_tir::region::Value;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValueEnum, IntValue, PointerValue};

use super::chains::Group;
use crate::chains::WORDS;
use crate::emit::{Emit, Result};

/// A fold that is called for all rows together.
struct Sum<'k> {
    /// The fold over blocks of terms, if there is one.
    blocks: Option<&'k Fold>,
    chain: &'k Fold,
    groups: Vec<Group<'k>>,
}

impl<'k> Sum<'k> {
    /// The fold whose results the rest of the body sees.
    fn whole(&self) -> &'k Fold {
        self.blocks.unwrap_or(self.chain)
    }
}

/// A part of the body: statements, and the fold after them.
#[derive(Default)]
struct Part<'k> {
    stmts: Vec<&'k Stmt>,
    sum: Option<Sum<'k>>,
}

/// The rows of a tile.
struct Tile<'k, 'c> {
    parts: Vec<Part<'k>>,
    binds: Vec<&'k Stmt>,
    var: Var,
    /// The first row, and the one after the last.
    lo: IntValue<'c>,
    hi: IntValue<'c>,
}

/// What is kept for each row.
struct Kept<'c> {
    value: Value,
    ty: BasicTypeEnum<'c>,
    places: PointerValue<'c>,
}

/// Places for what is handed over, for each group, and for the states of each row, for each result.
struct Room<'c> {
    words: Vec<PointerValue<'c>>,
    states: Vec<PointerValue<'c>>,
}

impl<'c> Emit<'c, '_> {
    /// Emits the rows of a tile; false if it is none.
    pub(in crate::emit) fn called_tile(&mut self, of: &Loop) -> Result<bool> {
        let Role::Unroll(most) = of.role else { return Ok(false) };
        let (lo, hi) = (self.bound(&of.range.lo)?, self.bound(&of.range.hi)?);
        let Some(binds) = self.binds(of, most, lo)? else { return Ok(false) };
        let Some(parts) = self.parts(of, most as usize) else { return Ok(false) };
        for sum in parts.iter().filter_map(|part| part.sum.as_ref()) {
            // Whatever is the first term, lanes lie one after the other or they do not.
            for range in
                sum.blocks.iter().flat_map(|blocks| &blocks.ranges).chain(&sum.chain.ranges)
            {
                self.known.remove(&range.var);
                self.looped_in_lanes(range.var);
                let slot = self.var_slot(range.var)?;
                self.builder.build_store(slot, self.i64(0))?;
            }
            for group in &sum.groups {
                if self.place_of_lanes(group.lanes)?.is_none() {
                    return Ok(false);
                }
            }
        }
        let tile = Tile { parts, binds, var: of.range.var, lo, hi };
        let mut kept: Vec<Kept<'c>> = Vec::new();
        for (at, part) in tile.parts.iter().enumerate() {
            let room = part.sum.as_ref().map(|sum| self.room_of(sum, most)).transpose()?;
            let states = match &part.sum {
                Some(sum) => self.states(sum.whole(), most)?,
                None => Vec::new(),
            };
            let mut here = Vec::new();
            self.rows(&tile, &kept, |emit, row| {
                part.stmts.iter().try_for_each(|stmt| emit.stmt(stmt))?;
                here = emit.kept_of(part, &tile.parts[at + 1..], (row, most))?;
                part.sum.as_ref().map_or(Ok(()), |sum| emit.start(sum.whole(), &states, row))
            })?;
            kept.extend(here);
            let (Some(sum), Some(room)) = (&part.sum, room) else { continue };
            match sum.blocks {
                None => {
                    self.chains_of_rows(&tile, sum, &Room { states: states.clone(), ..room })?
                }
                Some(blocks) => self.each_of(&blocks.ranges, &mut |emit| {
                    emit.rows(&tile, &kept, |emit, row| emit.start(sum.chain, &room.states, row))?;
                    emit.chains_of_rows(&tile, sum, &room)?;
                    emit.rows(&tile, &[], |emit, row| {
                        let terms = emit.of_row(sum.chain, &room.states, row)?;
                        let mut slots = Vec::with_capacity(states.len());
                        for (value, all) in blocks.results.iter().zip(&states) {
                            slots.push(emit.element(emit.wide_type(value.elem)?, *all, row)?);
                        }
                        emit.combine_at(blocks, &slots, &terms)
                    })
                })?,
            }
            self.note_chains(sum.chain);
            for (value, places) in sum.whole().results.iter().zip(states) {
                kept.push(Kept { value: *value, ty: self.wide_type(value.elem)?, places });
            }
        }
        Ok(true)
    }

    /// What a loop of at most so many rounds binds, once it is bound for the first round.
    fn binds<'k>(
        &mut self,
        of: &'k Loop,
        most: u32,
        lo: IntValue<'c>,
    ) -> Result<Option<Vec<&'k Stmt>>> {
        let is_tile = self.spared.calls_chains
            && self.lanes.as_ref().is_some_and(|lanes| !lanes.divided)
            && of.until.is_none()
            && !of.own.is_divided()
            && !of.range.down
            && of.range.has_at_most(most)
            && of.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Fold(_)))
            && !of.body.stmts.iter().any(|stmt| matches!(stmt, Stmt::Param { .. }));
        if !is_tile {
            return Ok(None);
        }
        self.known.remove(&of.range.var);
        self.looped_in_lanes(of.range.var);
        let slot = self.var_slot(of.range.var)?;
        self.builder.build_store(slot, lo)?;
        let stmts = of.body.stmts.iter();
        let binds: Vec<&Stmt> = stmts.filter(|stmt| matches!(stmt, Stmt::Bind { .. })).collect();
        binds.iter().try_for_each(|bind| self.stmt(bind))?;
        Ok(Some(binds))
    }

    /// The parts of a loop of at most so many rows, if some fold of it can be called for all rows together.
    fn parts<'k>(&self, of: &'k Loop, n_rows: usize) -> Option<Vec<Part<'k>>> {
        let mut parts = vec![Part::default()];
        let mut changing = vec![of.range.var];
        for stmt in &of.body.stmts {
            let part = parts.last_mut()?;
            match stmt {
                Stmt::Bind { var, expr } => {
                    let mut changes = false;
                    expr.for_each_var(&mut |var| changes |= changing.contains(&var));
                    changing.extend(changes.then_some(*var));
                }
                Stmt::Fold(fold) if let Some(sum) = self.sum_of_rows(fold, n_rows, &changing) => {
                    part.sum = Some(sum);
                    parts.push(Part::default());
                }
                _ => part.stmts.push(stmt),
            }
        }
        (parts.len() > 1).then_some(parts)
    }

    /// A fold as chains that have their terms and lanes in common.
    fn sum_of_rows<'k>(&self, fold: &'k Fold, n_rows: usize, changing: &[Var]) -> Option<Sum<'k>> {
        if let Some(groups) = self.chain_groups(fold, n_rows) {
            let is_same = same_terms(fold, changing) && same_lanes(&groups, changing);
            return is_same.then_some(Sum { blocks: None, chain: fold, groups });
        }
        let [Stmt::Fold(chain)] = &fold.body.stmts[..] else { return None };
        let groups = self.chain_groups(chain, n_rows)?;
        let all = chain.results.iter().map(|value| Operand::from(*value));
        let is_plain = fold.within.is_none()
            && fold.guard.is_none()
            && fold.resume.is_none()
            && fold.key.is_none()
            && fold.ranges.iter().all(|range| !range.down)
            && matches!(fold.combine, Combine::Op(_))
            && matches!(fold.start, FoldStart::From(_))
            && fold.body.results.iter().copied().eq(all);
        let is_same = same_terms(fold, changing)
            && same_terms(chain, changing)
            && same_lanes(&groups, changing);
        (is_plain && is_same).then_some(Sum { blocks: Some(fold), chain, groups })
    }

    /// Does something for each row, given what was kept for it.
    fn rows(
        &mut self,
        tile: &Tile<'_, 'c>,
        kept: &[Kept<'c>],
        inside: impl FnOnce(&mut Self, IntValue<'c>) -> Result<()>,
    ) -> Result<()> {
        self.each(tile.var, tile.lo, tile.hi, |emit| {
            tile.binds.iter().try_for_each(|bind| emit.stmt(bind))?;
            let index = emit.var(tile.var)?;
            let row = emit.builder.build_int_nsw_sub(index, tile.lo, "row")?;
            for Kept { value, ty, places } in kept {
                let place = emit.element(*ty, *places, row)?;
                let is = emit.builder.build_load(*ty, place, "kept")?;
                emit.define(value, is);
            }
            inside(emit, row)
        })
    }

    /// Does something for each point of some ranges.
    fn each_of(
        &mut self,
        ranges: &[Range],
        inside: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let Some((range, rest)) = ranges.split_first() else { return inside(self) };
        let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        self.each(range.var, lo, hi, |emit| emit.each_of(rest, inside))
    }

    fn room_of(&mut self, sum: &Sum<'_>, most: u32) -> Result<Room<'c>> {
        let mut words = Vec::with_capacity(sum.groups.len());
        for group in &sum.groups {
            let n_words = WORDS as usize + 2 * group.rows.len() * most as usize;
            words.push(self.words(n_words, "chains")?);
        }
        // Without blocks the states are those of the fold itself.
        let states = match sum.blocks {
            Some(_) => self.states(sum.chain, most)?,
            None => Vec::new(),
        };
        Ok(Room { words, states })
    }

    /// Places for the states of a fold, of all rows.
    fn states(&self, fold: &Fold, most: u32) -> Result<Vec<PointerValue<'c>>> {
        let place = |value: &Value| {
            let ty = self.wide_type(value.elem)?.array_type(most);
            self.slot(ty.into(), "states")
        };
        fold.results.iter().map(place).collect()
    }

    /// Begins the states of a row.
    fn start(&mut self, fold: &Fold, states: &[PointerValue<'c>], row: IntValue<'c>) -> Result<()> {
        let FoldStart::From(start) = &fold.start else { return Ok(()) };
        for ((value, all), from) in fold.results.iter().zip(states).zip(start) {
            let place = self.element(self.wide_type(value.elem)?, *all, row)?;
            self.keep(place, self.operand(from)?)?;
        }
        Ok(())
    }

    /// The states of a row.
    fn of_row(
        &self,
        fold: &Fold,
        states: &[PointerValue<'c>],
        row: IntValue<'c>,
    ) -> Result<Vec<BasicValueEnum<'c>>> {
        let state = |(value, all): (&Value, &PointerValue<'c>)| {
            let ty = self.wide_type(value.elem)?;
            Ok(self.builder.build_load(ty, self.element(ty, *all, row)?, "state")?)
        };
        fold.results.iter().zip(states).map(state).collect()
    }

    /// Keeps what a part computes for later ones.
    fn kept_of(
        &mut self,
        part: &Part<'_>,
        later: &[Part<'_>],
        (row, most): (IntValue<'c>, u32),
    ) -> Result<Vec<Kept<'c>>> {
        let mut uses = Uses::default();
        part.sum.iter().for_each(|sum| uses.start(sum.chain));
        for part in later {
            part.stmts.iter().for_each(|stmt| uses.stmt(stmt));
            if let Some(sum) = &part.sum {
                uses.start(sum.whole());
                uses.start(sum.chain);
            }
        }
        let mut kept = Vec::new();
        for value in part.stmts.iter().flat_map(|stmt| results(stmt)) {
            if uses.values.contains(&value.number) {
                let is = self.operand(&(*value).into())?;
                let ty = is.get_type();
                let places = self.slot(ty.array_type(most).into(), "rows")?;
                self.builder.build_store(self.element(ty, places, row)?, is)?;
                kept.push(Kept { value: *value, ty, places });
            }
        }
        Ok(kept)
    }

    /// Adds up the chains of all rows, whose states have begun.
    fn chains_of_rows(
        &mut self,
        tile: &Tile<'_, 'c>,
        sum: &Sum<'_>,
        room: &Room<'c>,
    ) -> Result<()> {
        let terms = self.begin_chains(sum.chain)?;
        let n_rows = self.builder.build_int_nsw_sub(tile.hi, tile.lo, "rows")?;
        self.rows(tile, &[], |emit, row| {
            for (group, words) in sum.groups.iter().zip(&room.words) {
                emit.hand_over_row(sum.chain, group, *words, (row, n_rows), &room.states)?;
            }
            Ok(())
        })?;
        self.tick(terms.n)?;
        for (group, words) in sum.groups.iter().zip(&room.words) {
            let n = self.mul(n_rows, self.i64(group.rows.len() as i64))?;
            if let Some(lanes) = self.place_of_lanes(group.lanes)? {
                self.call_with_places(group, &terms, lanes, (*words, n))?;
            }
        }
        Ok(())
    }

    /// Tells where a row and its states lie.
    fn hand_over_row(
        &mut self,
        chain: &Fold,
        group: &Group<'_>,
        words: PointerValue<'c>,
        (row, n_rows): (IntValue<'c>, IntValue<'c>),
        states: &[PointerValue<'c>],
    ) -> Result<()> {
        let n = self.i64(group.rows.len() as i64);
        let first = self.add(self.mul(row, n)?, self.i64(WORDS as i64))?;
        let beyond = self.mul(n_rows, n)?;
        for (at, (load, state)) in (0..).zip(&group.rows) {
            let at = self.add(first, self.i64(at))?;
            let place = self.place_of_row(*load)?;
            let state =
                self.element(self.wide_type(chain.results[*state].elem)?, states[*state], row)?;
            for (at, place) in [(at, place), (self.add(at, beyond)?, state)] {
                let word = self.element(self.i64_type(), words, at)?;
                self.builder.build_store(word, self.address(place)?)?;
            }
        }
        Ok(())
    }
}

/// Whether a fold has the same terms for all rows.
fn same_terms(fold: &Fold, changing: &[Var]) -> bool {
    let mut same = true;
    for range in &fold.ranges {
        for bound in [&range.lo, &range.hi] {
            bound.for_each_var(&mut |var| same &= !changing.contains(&var));
        }
    }
    same
}

/// Whether chains have the same lanes for all rows.
fn same_lanes(groups: &[Group<'_>], changing: &[Var]) -> bool {
    let mut same = true;
    for group in groups {
        let indices = group.lanes.at.iter().map(|subscript| match subscript {
            Subscript::Index(expr) => Some(expr),
            Subscript::Value(_) => None,
        });
        for index in indices.chain(group.counts.map(Some)) {
            match index {
                Some(expr) => expr.for_each_var(&mut |var| same &= !changing.contains(&var)),
                None => same = false,
            }
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use einlang_loops::ir::parse_kernel;

    use crate::emit::emit;
    use crate::optimise::{has_masks, nameless};
    use crate::rounds::Jammed;
    use crate::tiers::{Quality, Sums};

    /// Sums below a diagonal, of so many rows at a time and with few terms.
    fn triangular(n_rows: u32, n_terms: u32) -> String {
        format!(
            "kernel part {{
  symbols N, M;
  indices i, i', i'', a, b;
  size N = shape 0 0;
  size M = shape 1 1;
  buffer 0 input x: f64[full (N), full (M)];
  buffer 1 input l: f64[full (M), full (M)];
  buffer 2 y: f64[full (N), full (M)];
  output 2;
  body {{
    alloc 2;
    loop i' in (0, floor((N + {n_rows} - 1) / {n_rows})) par {{
      loop i'' in ({n_rows}*i', min(N, {n_rows}*i' + {n_rows})) unroll {n_rows} {{
        bind i = (i'');
        loop a in (0, M) lane 16 {{
          %0: f64 = fold block from (0.0f64) over (b in (0, {n_terms})) {{
          }} combine (%1: f64) () {{
            %2: i64 = index (a - b - 1);
            %3: bool = ge %2, 0i64;
            %4: f64 = load 1[(b), (a)] proved;
            %5: f64 = load 0[(i), (b)] proved;
            %6: f64 = fma %4, %5, %1;
            %7: f64 = select %3, %6, %1;
            yield %7;
          }}
          store 2[(i), (a)] = %0;
        }}
      }}
    }}
  }}
}}
"
        )
    }

    /// What becomes of the sums of a kernel in code that is made quickly.
    fn quick_sums(text: &str) -> Sums {
        let kernel = parse_kernel(text).expect("a kernel");
        let jammed = Jammed::new(&kernel, Quality::Quick);
        let context = nameless();
        let emitted = emit(&context, &jammed, (false, false), Quality::Quick);
        emitted.map_err(|refused| refused.0).expect("it is emitted").sums
    }

    /// How many terms a sum must have for a call counts all rows that it serves.
    #[test]
    fn short_sums_of_many_rows_are_called() {
        for (n_rows, n_terms, called) in [(12, 15, true), (12, 2, true), (12, 1, false)] {
            let sums = quick_sums(&triangular(n_rows, n_terms));
            let is_called = sums == Sums::Called;
            assert_eq!(is_called, called && has_masks(), "{n_rows} rows, {n_terms} terms");
        }
    }

    /// A tile of so many loops over terms that does something with each of them.
    fn tile(ranges: &str, at: [&str; 2], fold: &str) -> String {
        format!(
            "kernel part {{
  symbols N, K, M;
  indices i, i', i'', a, b, c, d, e;
  size N = shape 0 0;
  size K = shape 0 1;
  size M = shape 1 1;
  buffer 0 input x: f64[full (N), full (K)];
  buffer 1 input y: f64[full (K), full (M)];
  buffer 2 out: f64[full (N), full (M)];
  output 2;
  body {{
    alloc 2;
    loop i' in (0, floor((N + 11) / 12)) par {{
      loop i'' in (12*i', min(N, 12*i' + 12)) unroll 12 {{
        bind i = (i'');
        loop a in (0, M) lane 16 {{
          {}
          store 2[(i), (a)] = %0;
        }}
      }}
    }}
  }}
}}
",
            fold.replace("RANGES", ranges).replace(
                "LOADS",
                &format!(
                    "%3: f64 = load 0[(i), ({})] proved; %4: f64 = load 1[({}), (a)] proved;",
                    at[0], at[1]
                )
            )
        )
    }

    #[test]
    fn chains_of_several_operations_and_loops_are_called() {
        let folds = [
            "%0: f64 = fold block from (0.0f64) over (RANGES) { } combine (%1: f64) () {
               LOADS %5: f64 = fma %3, %4, %1; yield %5; }",
            "%0: f64 = fold block from (0.0f64) over (RANGES) { } combine (%1: f64) () {
               LOADS %5: f64 = sub %3, %4; %6: f64 = abs %5; %7: f64 = add %6, %1; yield %7; }",
            "%0: f64 = fold block from (0.0f64) over (RANGES) { } combine (%1: f64) () {
               LOADS %5: f64 = sub %4, %3; %6: f64 = powi %5, 2i32; %7: f64 = add %1, %6; yield %7; }",
            "%0: f64 = fold block from (0.0f64) over (RANGES) { } combine (%1: f64) () {
               LOADS %5: f64 = sub %3, %4; %6: f64 = fma %5, %5, %1; yield %6; }",
            "%0: f64 = fold min from (inff64) over (RANGES) { LOADS %5: f64 = add %3, %4; yield %5; }",
            "%0: f64 = fold max from (-inff64) over (RANGES) { LOADS %5: f64 = add %4, %3; yield %5; }",
        ];
        let others = [
            "%0: f64 = fold min from (inff64) over (RANGES) { LOADS %5: f64 = mul %3, %4; yield %5; }",
            "%0: f64 = fold block from (0.0f64) over (RANGES) { } combine (%1: f64) () {
               LOADS %5: f64 = sub %3, %4; %6: f64 = powi %5, 3i32; %7: f64 = add %1, %6; yield %7; }",
        ];
        let one = ("b in (0, K)", ["b", "b"]);
        let three = (
            "c in (0, floor(K / 64)), d in (0, 8), e in (0, 8)",
            ["64*c + 8*d + e", "64*c + 8*e + d"],
        );
        for (ranges, at) in [one, three] {
            let sums = |fold: &&str| quick_sums(&tile(ranges, at, fold));
            for fold in &folds {
                assert_eq!(sums(fold) == Sums::Called, has_masks(), "{ranges}: {fold}");
            }
            assert!(others.iter().all(|fold| sums(fold) == Sums::OfTiles), "{ranges}");
        }
        let dependent = ("b in (0, K), c in (0, b)", ["b", "c"]);
        assert_eq!(quick_sums(&tile(dependent.0, dependent.1, folds[0])), Sums::OfTiles);
    }
}
