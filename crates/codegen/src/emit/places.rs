//! Where elements lie in the rounds of a loop, found before the first one.
//!
//! Code that is made quickly computes in every round what it needs there, and keeps in memory what lives longer
//! than a block. Most of what a small loop does is then to find its elements again: products of indices and strides,
//! and planes of windows. So before the loop the place of an element in its first round is found, and how far it
//! moves from round to round; elements a fixed way apart have one place in common. Code that is made thoroughly
//! leaves that to LLVM.
//!
//! Only what always moves the same way is found so: subscripts of indices that the loop does not bind inside, in
//! windows whose planes the rounds go through once at most.
//!
//! Invariant: a place that is found before is the one that would be found in the round; nothing is read there that
//! would not be read.

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{Access, Block, Layout, Range, Stmt, Subscript, blocks, each_stmt};
use inkwell::values::{IntValue, PointerValue};
use rustc_hash::FxHashSet as HashSet;

use super::lanes::Steps;
use super::{Emit, Result};

/// The most places that are found before one loop; a loop that needs more gains little by any of them.
const MOST: usize = 16;

/// The places of a loop that is open.
pub(super) struct Places<'c> {
    var: Var,
    first: IntValue<'c>,
    all: Vec<Place<'c>>,
}

/// Where an element lies in the first round, and how many elements it moves with each.
struct Place<'c> {
    buffer: usize,
    at: Vec<Quasi>,
    from: PointerValue<'c>,
    moves: IntValue<'c>,
}

impl<'c> Emit<'c, '_> {
    /// Emits the rounds of a range over some blocks, whose index has its first value here, with places that are
    /// found before where that is worth something.
    pub(super) fn with_places<T>(
        &mut self,
        range: &Range,
        body: &[&Block],
        first: IntValue<'c>,
        rounds: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if !self.spared.finds_places {
            return rounds(self);
        }
        let all = self.places_of(range, body)?;
        self.places.push(Places { var: range.var, first, all });
        let done = rounds(self);
        self.places.pop();
        done
    }

    fn places_of(&mut self, range: &Range, body: &[&Block]) -> Result<Vec<Place<'c>>> {
        let changed = Changed::by(body);
        let steps = Steps::through(range);
        let mut all: Vec<Place<'c>> = Vec::new();
        let mut elements = Vec::new();
        for block in body {
            self.elements_of(block, &mut elements);
        }
        for (buffer, at) in elements {
            if all.len() == MOST {
                break;
            }
            let is_known = changed.buffers.contains(&buffer)
                || !self.are_bound(&at, range.var, &changed.vars)
                || all.iter().any(|place| self.apart(place, buffer, &at).is_some());
            if is_known {
                continue;
            }
            let Some(moves) = self.moves(buffer, &at, &steps)? else { continue };
            let indices: Vec<_> = at.iter().map(|expr| self.quasi(expr)).collect::<Result<_>>()?;
            let position = self.position(buffer, &indices)?;
            // It need not be there if the first round does not look at it.
            let from = self.place_of_some(buffer, position)?;
            all.push(Place { buffer, at, from, moves });
        }
        Ok(all)
    }

    /// The elements that a block looks at, but for loops and folds inside, which look at more: of those that are
    /// written out vector by vector, the elements of the first.
    fn elements_of(&mut self, block: &Block, found: &mut Vec<(usize, Vec<Quasi>)>) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Load { buffer, at, access: Access::Proved | Access::Ahead(_), .. } => {
                    let at = at.iter().map(index_of);
                    found.extend(self.settled(at).map(|at| (buffer.0 as usize, at)));
                }
                Stmt::Store { buffer, at, .. } => {
                    let at = at.iter().map(Some);
                    found.extend(self.settled(at).map(|at| (buffer.0 as usize, at)));
                }
                Stmt::If { .. } => {
                    blocks(stmt).into_iter().for_each(|block| self.elements_of(block, found));
                }
                Stmt::Loop(of) if self.are_rounds_lanes(of).is_some() => {
                    let rounds = self.one_vector(of).or_else(|| self.short(of));
                    let Some(first) = rounds.and_then(|rounds| rounds.first().copied()) else {
                        continue;
                    };
                    let known = self.known.insert(of.range.var, first);
                    self.elements_of(&of.body, found);
                    self.known.remove(&of.range.var);
                    self.known.extend(known.map(|known| (of.range.var, known)));
                }
                _ => {}
            }
        }
    }

    /// Subscripts with the numbers of variables that are known, if all are indices.
    fn settled<'q>(&self, at: impl Iterator<Item = Option<&'q Quasi>>) -> Option<Vec<Quasi>> {
        let settled = |expr: &Quasi| {
            let mut known = Vec::new();
            expr.for_each_var(&mut |var| known.extend(self.known.get(&var).map(|of| (var, *of))));
            let numbers = known.into_iter().map(|(var, number)| (var, Quasi::from(number)));
            let settled = numbers
                .into_iter()
                .try_fold(expr.clone(), |expr, (var, number)| expr.substitute(var, &number));
            settled.unwrap_or_else(|_| expr.clone())
        };
        at.map(|expr| expr.map(settled)).collect()
    }

    /// Whether all variables of some subscripts have their values here, and keep them but for the index; whatever is
    /// the same number everywhere needs no place.
    fn are_bound(&self, at: &[Quasi], index: Var, changed: &HashSet<Var>) -> bool {
        let (mut bound, mut varies) = (true, false);
        for expr in at {
            expr.for_each_var(&mut |var| {
                let is_number = self.known.contains_key(&var) && var != index;
                bound &= !changed.contains(&var) && (is_number || self.vars.contains_key(&var));
                varies |= !is_number;
            });
        }
        bound && varies
    }

    /// How many elements a place moves with each round, if that is always the same.
    fn moves(&self, buffer: usize, at: &[Quasi], steps: &Steps) -> Result<Option<IntValue<'c>>> {
        let dims = &self.kernel.buffers[buffer].dims;
        let unit = dims.len().wrapping_sub(1);
        let mut sum = self.i64(0);
        for (axis, expr) in at.iter().enumerate() {
            let step = match (steps.of(expr), dims[axis].layout) {
                (_, Layout::Open) | (None, _) => return Ok(None),
                (Some(0), _) | (_, Layout::Mod(1)) => continue,
                (Some(step), Layout::Full) => step,
                (Some(1), Layout::Mod(planes)) if steps.is_together(expr, planes) => 1,
                (Some(_), Layout::Mod(_)) => return Ok(None),
            };
            let stride = if axis == unit { self.i64(1) } else { self.stride(buffer, axis)? };
            sum = self.add(sum, self.mul(stride, self.i64(step))?)?;
        }
        Ok(Some(sum))
    }

    /// How many elements another one of the same buffer lies behind a place, if that is a number.
    fn apart(&self, place: &Place<'c>, buffer: usize, at: &[Quasi]) -> Option<i64> {
        if place.buffer != buffer || place.at.len() != at.len() {
            return None;
        }
        let dims = &self.kernel.buffers[buffer].dims;
        let mut apart = 0;
        for (axis, (here, there)) in place.at.iter().zip(at).enumerate() {
            if here == there {
                continue;
            }
            let is_unit = axis + 1 == at.len() && dims[axis].layout == Layout::Full;
            apart = there.sub(here).ok().filter(|_| is_unit)?.as_constant()?;
        }
        Some(apart)
    }

    /// The place of what a load looks at, if it was found before a loop and needs no test.
    pub(super) fn found_load(
        &self,
        buffer: usize,
        at: &[Subscript],
        access: Access,
    ) -> Result<Option<PointerValue<'c>>> {
        match access {
            Access::Proved | Access::Ahead(_) => self.found(buffer, at.iter().map(index_of)),
            Access::Site(..) => Ok(None),
        }
    }

    /// The place of an element in this round, or that of its first lane, if it was found before a loop.
    pub(super) fn found<'q>(
        &self,
        buffer: usize,
        at: impl Iterator<Item = Option<&'q Quasi>>,
    ) -> Result<Option<PointerValue<'c>>> {
        if self.places.is_empty() {
            return Ok(None);
        }
        let Some(at) = self.settled(at) else { return Ok(None) };
        for places in self.places.iter().rev() {
            let found = places
                .all
                .iter()
                .find_map(|place| self.apart(place, buffer, &at).map(|apart| (place, apart)));
            let Some((place, apart)) = found else { continue };
            let ty = self.memory_type(self.kernel.buffers[buffer].elem);
            let mut from = place.from;
            if place.moves.get_sign_extended_constant() != Some(0) {
                let index = self.var(places.var)?;
                let rounds = self.builder.build_int_nsw_sub(index, places.first, "past")?;
                from = self.element_of_some(ty, from, self.mul(rounds, place.moves)?)?;
            }
            return Ok(Some(match apart {
                0 => from,
                _ => self.element_of_some(ty, from, self.i64(apart))?,
            }));
        }
        Ok(None)
    }
}

/// What a body changes.
#[derive(Default)]
struct Changed {
    vars: HashSet<Var>,
    /// Buffers that get other memory.
    buffers: HashSet<usize>,
}

impl Changed {
    fn by(body: &[&Block]) -> Changed {
        let mut changed = Changed::default();
        for block in body {
            each_stmt(block, &mut |stmt| changed.stmt(stmt));
        }
        changed
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Bind { var, .. } | Stmt::Param { var, .. } => {
                self.vars.insert(*var);
            }
            Stmt::Loop(of) => {
                self.vars.insert(of.range.var);
                self.vars.extend(of.until.as_ref().map(|until| until.extent));
            }
            Stmt::Fold(fold) => self.vars.extend(fold.ranges.iter().map(|range| range.var)),
            Stmt::Alloc(buffer) | Stmt::Free(buffer) | Stmt::Copy { to: buffer, .. } => {
                self.buffers.insert(buffer.0 as usize);
            }
            _ => {}
        }
    }
}

/// A subscript that is an index.
pub(super) fn index_of(at: &Subscript) -> Option<&Quasi> {
    match at {
        Subscript::Index(expr) => Some(expr),
        Subscript::Value(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use einlang_index::{MinMax, Vars};
    use einlang_loops::ir::parse_kernel;

    use super::*;
    use crate::emit::emit;
    use crate::optimise::{has_masks, nameless};
    use crate::rounds::Jammed;
    use crate::tiers::Quality;

    /// Rounds over a window of rows.
    fn kernel(rounds: &str, row: &str) -> String {
        format!(
            "kernel part {{
  symbols N, M;
  indices T, i, j;
  size N = shape 0 0;
  size M = shape 0 1;
  buffer 0 input x: f64[full (N), full (M)];
  buffer 1 y: f64[mod 48 (N), full (M)];
  output 1;
  body {{
    alloc 1;
    loop T in (0, floor((N + 47) / 48)) seq {{
      {rounds} {{
        %0: f64 = load 0[({row}), (j)] proved;
        %1: f64 = load 1[({row}), (j)] proved;
        %2: f64 = add %0, %1;
        store 1[({row}), (j)] = %2;
      }}
    }}
  }}
}}
"
        )
    }

    /// How often the blocks that are their own successors do something.
    fn in_rounds(what: &str, kernel: &str, quality: Quality) -> usize {
        let kernel = parse_kernel(kernel).expect("a kernel");
        let (jammed, context) = (Jammed::new(&kernel, quality), nameless());
        let emitted = emit(&context, &jammed, (false, false), quality);
        let text = emitted.map_err(|no| no.0).expect("it is emitted").module.print_to_string();
        let text = text.to_string();
        let blocks = text.split("\n\n").filter_map(|block| {
            let (label, rest) = block.trim().split_once(':')?;
            Some((label, rest))
        });
        let rounds = blocks.filter(|(label, rest)| {
            let to = format!("label %{label},");
            rest.lines().any(|line| line.contains("br i1") && line.contains(&to))
        });
        rounds.flat_map(|(_, rest)| rest.lines()).filter(|line| line.contains(what)).count()
    }

    #[test]
    fn quick_code_finds_places_once() {
        let lanes = "loop j in (0, M) lane 8";
        let within = "bind j = (T); loop i in (48*T, min(48*T + 48, N)) seq";
        let across = "bind j = (T); loop i in (T, min(T + 48, N)) seq";
        let quick = |what, rounds, row| in_rounds(what, &kernel(rounds, row), Quality::Quick);
        assert_eq!(quick("einlang.floor", within, "i"), 0, "no remainder is computed");
        assert!(
            quick("einlang.floor", across, "i") > 0,
            "planes of a window begin again in between"
        );
        if has_masks() {
            assert_eq!(quick(" mul ", lanes, "T"), 0);
            assert_eq!(quick("llvm.masked.store", lanes, "T"), 1);
        }
        assert!(in_rounds(" urem ", &kernel(within, "i"), Quality::Thorough) > 0, "LLVM does that");
    }

    #[test]
    fn rounds_that_stay_in_a_window_move_on() {
        let mut vars = Vars::new();
        let (tile, var) = (vars.index("T"), vars.index("i"));
        let mut quasi = |text: &str| Quasi::parse(text, &mut vars).expect("it reads");
        let lo = MinMax::Value(quasi("48*T"));
        let range = |hi| Range { var, lo: lo.clone(), hi: MinMax::Value(hi), down: false };
        let within = Steps::through(&range(quasi("48*T + 48")));
        let beyond = Steps::through(&range(quasi("48*T + 49")));
        for (text, step, stays) in [("i", 1, true), ("i + 48", 1, true), ("i + 1", 1, false)] {
            let expr = quasi(text);
            assert_eq!(within.of(&expr), Some(step), "{text}");
            assert_eq!(within.is_together(&expr, 48), stays, "{text}");
            assert!(!beyond.is_together(&expr, 48), "{text}");
        }
        assert_eq!(within.of(&quasi("i mod 48")), Some(1));
        assert_eq!(within.of(&quasi("floor(i / 48)")), Some(0));
        assert_eq!(beyond.of(&quasi("i mod 48")), None);
        assert_eq!(within.of(&Quasi::from(tile)), Some(0));
    }
}
