//! Sums of products in tiles that are called instead of written out, in code that is made quickly.
//!
//! What is called adds up whole chains (`crate::chains`). Code tells it where rows, lanes and states lie and how
//! far apart terms are. A fold whose states do not depend on each other is one call for each load of lanes.

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{
    Access, BufferId, Combine, Fold, FoldStart, Layout, Operand, Range, Stmt, Subscript,
};
use einlang_tir::op::Op;
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::values::{IntValue, PointerValue};
use rustc_hash::FxHashMap as HashMap;

use super::memory::Position;
use crate::chains::{MOST_VECTORS, VECTOR_BITS, WORDS};
use crate::emit::{Emit, Result};
use crate::frame::Field;
use crate::optimise::has_masks;

/// The least products that are worth a call, where their number is known.
const LEAST_PRODUCTS: usize = 16;

/// An element that a term loads.
#[derive(Clone, Copy)]
pub(super) struct Load<'k> {
    number: u32,
    buffer: BufferId,
    pub(super) at: &'k [Subscript],
}

/// What a value of a term is.
#[derive(Clone, Copy)]
enum Is<'k> {
    Load(Load<'k>),
    State(usize),
    Index(&'k Quasi),
    /// Whether an index is not negative.
    Counts(&'k Quasi),
    /// A product that is added to a state, if an index is not negative.
    Sum {
        factors: [Load<'k>; 2],
        state: usize,
        counts: Option<&'k Quasi>,
    },
}

/// Sums with lanes in common.
pub(super) struct Group<'k> {
    pub(super) lanes: Load<'k>,
    pub(super) counts: Option<&'k Quasi>,
    /// What is the same for all lanes, and the number of the state.
    pub(super) rows: Vec<(Load<'k>, usize)>,
}

/// The terms of a fold: the index that goes through them and how many there are, the same of the loop around, and how
/// many there are in all.
#[derive(Clone, Copy)]
pub(super) struct Terms<'c> {
    term: Var,
    n_terms: IntValue<'c>,
    round: Option<Var>,
    n_rounds: IntValue<'c>,
    pub(super) n: IntValue<'c>,
}

impl<'c> Emit<'c, '_> {
    /// Adds up a fold by calls; false if it must be written out.
    pub(in crate::emit) fn called_chains(
        &mut self,
        fold: &Fold,
        states: &[PointerValue<'c>],
    ) -> Result<bool> {
        let Some(groups) = self.chain_groups(fold, 1) else { return Ok(false) };
        let terms = self.begin_chains(fold)?;
        let mut places = Vec::with_capacity(groups.len());
        for group in &groups {
            let Some(place) = self.place_of_lanes(group.lanes)? else { return Ok(false) };
            places.push(place);
        }
        self.tick(terms.n)?;
        for (group, place) in groups.iter().zip(places) {
            self.call_chains(group, &terms, place, states)?;
        }
        self.note_chains(fold);
        Ok(true)
    }

    /// Takes note that a fold is added up by calls.
    pub(super) fn note_chains(&mut self, fold: &Fold) {
        if let Combine::Block { block, .. } = &fold.combine {
            self.spared.note_chain(block.stmts.len(), self.n_terms(fold));
        }
    }

    /// Sets the indices of a fold to its first term.
    pub(super) fn begin_chains(&mut self, fold: &Fold) -> Result<Terms<'c>> {
        let mut counts = Vec::with_capacity(fold.ranges.len());
        for range in &fold.ranges {
            let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
            self.known.remove(&range.var);
            self.looped_in_lanes(range.var);
            let slot = self.var_slot(range.var)?;
            self.builder.build_store(slot, lo)?;
            let n = self.builder.build_int_nsw_sub(hi, lo, "terms")?;
            counts.push((range.var, n));
        }
        let (term, n_terms) = counts[counts.len() - 1];
        let (round, n_rounds) = match counts[..] {
            [around, _] => (Some(around.0), around.1),
            _ => (None, self.i64(1)),
        };
        let n = match round {
            // Neither number is negative then.
            Some(_) => {
                let some = |n| self.compare(IntPredicate::SGT, n, self.i64(0));
                let both = self.builder.build_and(some(n_rounds)?, some(n_terms)?, "some")?;
                let n = self.mul(n_rounds, n_terms)?;
                self.builder.build_select(both, n, self.i64(0), "terms")?.into_int_value()
            }
            None => n_terms,
        };
        Ok(Terms { term, n_terms, round, n_rounds, n })
    }

    /// The sums of a fold by their lanes, if it is nothing but chains; one call serves so many rounds.
    pub(super) fn chain_groups<'k>(
        &self,
        fold: &'k Fold,
        n_rounds: usize,
    ) -> Option<Vec<Group<'k>>> {
        let lanes =
            self.lanes.as_ref().filter(|lanes| self.spared.calls_chains && !lanes.divided)?;
        // At most one loop around that of the terms, of which that does not depend.
        let (range, around) = match &fold.ranges[..] {
            [range] => (range, None),
            [around, range] if !mentions(range, around.var) => (range, Some(around)),
            _ => return None,
        };
        let Combine::Block { left, right, block } = &fold.combine else { return None };
        let plain = fold.within.is_none()
            && fold.guard.is_none()
            && fold.resume.is_none()
            && fold.key.is_none()
            && fold.body.stmts.is_empty()
            && right.is_empty()
            && matches!(fold.start, FoldStart::From(_))
            && fold.ranges.iter().all(|range| !range.down)
            && self
                .n_terms(fold)
                .is_none_or(|n| n * fold.results.len() * n_rounds >= LEAST_PRODUCTS);
        let elem = fold.results.first()?.elem;
        let bits = lanes.width * elem.bits();
        let fits = matches!(elem, Elem::F32 | Elem::F64)
            && bits % VECTOR_BITS == 0
            && (1..=MOST_VECTORS).contains(&(bits / VECTOR_BITS))
            && fold.results.iter().all(|result| result.elem == elem);
        if !plain || !fits || !has_masks() {
            return None;
        }
        let mut known: HashMap<u32, Is<'k>> =
            left.iter().enumerate().map(|(at, value)| (value.number, Is::State(at))).collect();
        for stmt in &block.stmts {
            let (number, is) = value_of(stmt, &known)?;
            known.insert(number, is);
        }
        let mut groups: Vec<Group<'k>> = Vec::new();
        for (at, result) in block.results.iter().enumerate() {
            let Is::Sum { factors, state, counts } = is(result, &known)? else { return None };
            let [row, lanes] = match self.is_same(factors[0]) {
                true => factors,
                false => [factors[1], factors[0]],
            };
            let sound = state == at
                && self.is_same(row)
                && !self.is_same(lanes)
                && counts.is_none_or(|index| around.is_none() && self.moves_down(index, range.var))
                && self.kernel.buffers[row.buffer.0 as usize].elem == elem
                && self.kernel.buffers[lanes.buffer.0 as usize].elem == elem;
            self.steps_of(row, range.var).filter(|_| sound)?;
            self.steps_of(lanes, range.var)?;
            if let Some(around) = around {
                self.steps_of(row, around.var)?;
                self.steps_of(lanes, around.var)?;
            }
            let both = |load| {
                let around = around.map(|around| self.steps_of(load, around.var));
                (self.steps_of(load, range.var), around)
            };
            let same = |group: &&mut Group<'k>| group.lanes.number == lanes.number;
            match groups.iter_mut().find(same) {
                None => groups.push(Group { lanes, counts, rows: vec![(row, at)] }),
                Some(group) => {
                    let (first, _) = group.rows[0];
                    let alike = first.buffer == row.buffer
                        && both(first) == both(row)
                        && group.counts == counts;
                    alike.then(|| group.rows.push((row, at)))?;
                }
            }
        }
        Some(groups)
    }

    /// How many terms a fold has, if that is known and not much.
    fn n_terms(&self, fold: &Fold) -> Option<usize> {
        fold.ranges.iter().try_fold(1usize, |n, range| n.checked_mul(self.few(range)?.count()))
    }

    /// Whether an element is the same for all lanes.
    fn is_same(&self, load: Load<'_>) -> bool {
        load.at.iter().all(|at| match at {
            Subscript::Index(expr) => self.step_of(expr).is_ok_and(|step| step == 0),
            Subscript::Value(_) => false,
        })
    }

    /// Whether an index is one more in the next lane and one less in the next term.
    fn moves_down(&self, index: &Quasi, term: Var) -> bool {
        let per_term = index.as_affine().map(|affine| affine.coeff(term));
        per_term == Some(-1) && self.step_of(index).is_ok_and(|step| step == 1)
    }

    /// How far a term moves along each axis, if that is always the same.
    fn steps_of(&self, load: Load<'_>, term: Var) -> Option<Vec<i64>> {
        let dims = &self.kernel.buffers[load.buffer.0 as usize].dims;
        let step = |(at, layout): (&Subscript, Layout)| match at {
            Subscript::Index(expr) if !expr.mentions(term) => Some(0),
            Subscript::Index(expr) if layout == Layout::Full => Some(expr.as_affine()?.coeff(term)),
            _ => None,
        };
        load.at.iter().zip(dims.iter().map(|dim| dim.layout)).map(step).collect()
    }

    /// How many bytes lie between two terms.
    fn bytes_between(&self, load: Load<'_>, term: Var) -> Result<IntValue<'c>> {
        let buffer = load.buffer.0 as usize;
        let mut sum = self.i64(0);
        for (axis, step) in self.steps_of(load, term).into_iter().flatten().enumerate() {
            if step != 0 {
                sum = self.add(sum, self.mul(self.stride(buffer, axis)?, self.i64(step))?)?;
            }
        }
        self.mul(sum, self.i64(i64::from(self.kernel.buffers[buffer].elem.bits() / 8)))
    }

    /// Where the first lane of a term lies, if the others follow.
    pub(super) fn place_of_lanes(&mut self, load: Load<'_>) -> Result<Option<PointerValue<'c>>> {
        let (number, width) = (load.buffer.0 as usize, self.n_lanes().unwrap_or(1));
        let mut along = Vec::with_capacity(load.at.len());
        for subscript in load.at {
            along.push(self.along(subscript, width)?);
        }
        Ok(match self.positions(number, &along, width)? {
            Position::Run(position, true) => Some(self.place_of_some(number, position)?),
            _ => None,
        })
    }

    pub(super) fn place_of_row(&mut self, load: Load<'_>) -> Result<PointerValue<'c>> {
        let mut at = Vec::with_capacity(load.at.len());
        for subscript in load.at {
            at.push(self.subscript(subscript)?);
        }
        let position = self.position(load.buffer.0 as usize, &at)?;
        self.place_of_some(load.buffer.0 as usize, position)
    }

    fn call_chains(
        &mut self,
        group: &Group<'_>,
        terms: &Terms<'c>,
        lanes: PointerValue<'c>,
        states: &[PointerValue<'c>],
    ) -> Result<()> {
        let n_rows = group.rows.len();
        let words = self.words(WORDS as usize + 2 * n_rows, "chains")?;
        for (at, (row, state)) in (WORDS..).zip(&group.rows) {
            let place = self.place_of_row(*row)?;
            let address = self.address(place)?;
            self.builder.build_store(self.word(words, at)?, address)?;
            let address = self.address(states[*state])?;
            self.builder.build_store(self.word(words, at + n_rows as u64)?, address)?;
        }
        let n_rows = self.i64(n_rows as i64);
        self.call_with_places(group, terms, lanes, (words, n_rows))
    }

    /// The call, once the places of all rows and states are written.
    pub(super) fn call_with_places(
        &mut self,
        group: &Group<'_>,
        terms: &Terms<'c>,
        lanes: PointerValue<'c>,
        (words, n_rows): (PointerValue<'c>, IntValue<'c>),
    ) -> Result<()> {
        let bits = self.kernel.buffers[group.lanes.buffer.0 as usize].elem.bits();
        let n_vectors = self.n_lanes().unwrap_or(1) * bits / VECTOR_BITS;
        let (row, _) = group.rows[0];
        let Terms { term, n_terms, round, n_rounds, .. } = *terms;
        let between_rounds = |load| match round {
            Some(round) => self.bytes_between(load, round),
            None => Ok(self.i64(0)),
        };
        let (round_rows, round_lanes) = (between_rounds(row)?, between_rounds(group.lanes)?);
        let first = match group.counts {
            Some(index) => {
                let first = self.quasi(index)?;
                self.builder.build_int_nsw_sub(self.i64(0), first, "first")?
            }
            None => self.i64(0),
        };
        let all = [
            self.i64(i64::from(bits)),
            self.i64(i64::from(n_vectors)),
            n_rows,
            n_terms,
            self.bytes_between(row, term)?,
            self.address(lanes)?,
            self.bytes_between(group.lanes, term)?,
            n_rounds,
            round_rows,
            round_lanes,
            self.bits_of_mask(group.lanes)?,
            self.i64(i64::from(group.counts.is_some())),
            first,
        ];
        for (at, word) in all.into_iter().enumerate() {
            let place = self.word(words, at as u64)?;
            self.builder.build_store(place, word)?;
        }
        self.service(Field::chains, &[words.into()])?;
        Ok(())
    }

    pub(super) fn address(&self, place: PointerValue<'c>) -> Result<IntValue<'c>> {
        Ok(self.builder.build_ptr_to_int(place, self.i64_type(), "address")?)
    }

    /// The lanes that a load must keep to, as bits.
    fn bits_of_mask(&self, load: Load<'_>) -> Result<IntValue<'c>> {
        let Some(mask) = self.mask_of_load(load.buffer.0 as usize, load.at) else {
            return Ok(self.i64(-1));
        };
        let ty = match mask.get_type().get_size() {
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            _ => self.context.i32_type(),
        };
        let bits = self.builder.build_bit_cast(mask, ty, "bits")?.into_int_value();
        Ok(self.builder.build_int_z_extend(bits, self.i64_type(), "mask")?)
    }
}

/// Whether a range depends on an index.
fn mentions(range: &Range, var: Var) -> bool {
    let mut found = false;
    for bound in [&range.lo, &range.hi] {
        bound.for_each_var(&mut |of| found |= of == var);
    }
    found
}

fn is<'k>(operand: &Operand, known: &HashMap<u32, Is<'k>>) -> Option<Is<'k>> {
    match operand {
        Operand::Value(value) => known.get(&value.number).copied(),
        Operand::Const(_) => None,
    }
}

/// What a statement of a term computes, if that may be part of a chain.
fn value_of<'k>(stmt: &'k Stmt, known: &HashMap<u32, Is<'k>>) -> Option<(u32, Is<'k>)> {
    match stmt {
        Stmt::Load { result, buffer, at, access: Access::Proved | Access::Ahead(_) } => {
            let (number, buffer) = (result.number, *buffer);
            Some((number, Is::Load(Load { number, buffer, at })))
        }
        Stmt::Index { result, expr } => Some((result.number, Is::Index(expr))),
        Stmt::Op { result, op, args, .. } => Some((result.number, applied(*op, args, known)?)),
        _ => None,
    }
}

fn applied<'k>(op: Op, args: &'k [Operand], known: &HashMap<u32, Is<'k>>) -> Option<Is<'k>> {
    match (op, args) {
        (Op::Fma, [x, y, z]) => match (is(x, known)?, is(y, known)?, is(z, known)?) {
            (Is::Load(x), Is::Load(y), Is::State(state)) => {
                Some(Is::Sum { factors: [x, y], state, counts: None })
            }
            _ => None,
        },
        (Op::Ge, [x, Operand::Const(zero)]) if zero.elem() == Elem::I64 && zero.bits() == 0 => {
            match is(x, known)? {
                Is::Index(index) => Some(Is::Counts(index)),
                _ => None,
            }
        }
        (Op::Select, [condition, yes, no]) => {
            match (is(condition, known)?, is(yes, known)?, is(no, known)?) {
                (Is::Counts(index), Is::Sum { factors, state, counts: None }, Is::State(other)) => {
                    let counts = Some(index);
                    (state == other).then_some(Is::Sum { factors, state, counts })
                }
                _ => None,
            }
        }
        _ => None,
    }
}
