//! Sums in tiles that are called instead of written out, in code that is made quickly.
//!
//! What is called adds up whole chains (`crate::chains`), of products, of distances or of their squares, or finds the
//! least or the greatest of sums. Code tells it where rows, lanes and states lie and how far apart terms are along
//! each index. A fold whose states do not depend on each other is one call for each load of lanes.

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
use crate::chains::{MOST_LEVELS, MOST_VECTORS, Term, VECTOR_BITS, WORDS};
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
    Sum([Load<'k>; 2]),
    Difference([Load<'k>; 2]),
    Distance([Load<'k>; 2]),
    Square([Load<'k>; 2]),
    /// A state after a term, which may count only if an index is not negative.
    After {
        term: Term,
        of: [Load<'k>; 2],
        state: usize,
        counts: Option<&'k Quasi>,
    },
}

/// Sums with lanes in common.
pub(super) struct Group<'k> {
    term: Term,
    pub(super) lanes: Load<'k>,
    pub(super) counts: Option<&'k Quasi>,
    /// What is the same for all lanes, and the number of the state.
    pub(super) rows: Vec<(Load<'k>, usize)>,
}

/// The terms of a fold: its indices, the innermost one first, and how many values each has, and how many terms there
/// are in all.
pub(super) struct Terms<'c> {
    levels: Vec<(Var, IntValue<'c>)>,
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
        let n_statements = match &fold.combine {
            Combine::Block { block, .. } => block.stmts.len(),
            Combine::Op(_) | Combine::Pairs(_) => fold.body.stmts.len() + 1,
        };
        self.spared.note_chain(n_statements, self.n_terms(fold));
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
        counts.reverse();
        let n = match counts[..] {
            [(_, n)] => n,
            _ => {
                // None of the numbers is negative then.
                let (mut some, mut all) = (self.context.bool_type().const_all_ones(), self.i64(1));
                for (_, n) in &counts {
                    let is_some = self.compare(IntPredicate::SGT, *n, self.i64(0))?;
                    some = self.builder.build_and(some, is_some, "some")?;
                    all = self.mul(all, *n)?;
                }
                self.builder.build_select(some, all, self.i64(0), "terms")?.into_int_value()
            }
        };
        Ok(Terms { levels: counts, n })
    }

    /// The sums of a fold by their lanes, if it is nothing but chains; one call serves so many rounds.
    pub(super) fn chain_groups<'k>(
        &self,
        fold: &'k Fold,
        n_rounds: usize,
    ) -> Option<Vec<Group<'k>>> {
        let lanes =
            self.lanes.as_ref().filter(|lanes| self.spared.calls_chains && !lanes.divided)?;
        // Loops of which none depends on another one.
        let ranges = &fold.ranges[..];
        let apart = |range: &Range| ranges.iter().all(|other| !mentions(range, other.var));
        if !(1..=MOST_LEVELS).contains(&ranges.len()) || !ranges.iter().all(apart) {
            return None;
        }
        let plain = fold.within.is_none()
            && fold.guard.is_none()
            && fold.resume.is_none()
            && fold.key.is_none()
            && matches!(fold.start, FoldStart::From(_))
            && ranges.iter().all(|range| !range.down)
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
        let mut groups: Vec<Group<'k>> = Vec::new();
        for (at, is) in states_after(fold)?.into_iter().enumerate() {
            let Is::After { term, of, state, counts } = is else { return None };
            let [row, lanes] = match self.is_same(of[0]) {
                true => of,
                false => [of[1], of[0]],
            };
            let sound = state == at
                && self.is_same(row)
                && !self.is_same(lanes)
                && counts.is_none_or(|index| match ranges {
                    [range] => self.moves_down(index, range.var),
                    _ => false,
                })
                && self.kernel.buffers[row.buffer.0 as usize].elem == elem
                && self.kernel.buffers[lanes.buffer.0 as usize].elem == elem;
            let steps = |load| -> Option<Vec<_>> {
                ranges.iter().map(|range| self.steps_of(load, range.var)).collect()
            };
            let steps_of_row = steps(row).filter(|_| sound)?;
            steps(lanes)?;
            let same = |group: &&mut Group<'k>| group.lanes.number == lanes.number;
            match groups.iter_mut().find(same) {
                None => groups.push(Group { term, lanes, counts, rows: vec![(row, at)] }),
                Some(group) => {
                    let (first, _) = group.rows[0];
                    let alike = first.buffer == row.buffer
                        && steps(first).as_ref() == Some(&steps_of_row)
                        && (group.term, group.counts) == (term, counts);
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
        let first = match group.counts {
            Some(index) => {
                let first = self.quasi(index)?;
                self.builder.build_int_nsw_sub(self.i64(0), first, "first")?
            }
            None => self.i64(0),
        };
        let mut all = vec![
            self.i64(i64::from(bits)),
            self.i64(group.term as i64),
            self.i64(i64::from(n_vectors)),
            n_rows,
            self.address(lanes)?,
            self.bits_of_mask(group.lanes)?,
            self.i64(i64::from(group.counts.is_some())),
            first,
        ];
        for (var, n) in &terms.levels {
            all.extend([
                *n,
                self.bytes_between(row, *var)?,
                self.bytes_between(group.lanes, *var)?,
            ]);
        }
        let once = [1, 0, 0].map(|word| self.i64(word));
        all.extend(once.into_iter().cycle().take((WORDS as usize) - all.len()));
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

/// The states of a fold after a term, if that is nothing but terms of chains.
fn states_after(fold: &Fold) -> Option<Vec<Is<'_>>> {
    let mut known = HashMap::default();
    match &fold.combine {
        Combine::Block { left, right, block } if right.is_empty() && fold.body.stmts.is_empty() => {
            let states = left.iter().enumerate();
            known.extend(states.map(|(at, value)| (value.number, Is::State(at))));
            learn_all(&block.stmts, &mut known)?;
            block.results.iter().map(|result| is(result, &known)).collect()
        }
        Combine::Op(op @ (Op::Min | Op::Max)) => {
            learn_all(&fold.body.stmts, &mut known)?;
            let [result] = &fold.body.results[..] else { return None };
            let Is::Sum(of) = is(result, &known)? else { return None };
            let term = if *op == Op::Min { Term::Least } else { Term::Greatest };
            Some(vec![Is::After { term, of, state: 0, counts: None }])
        }
        Combine::Block { .. } | Combine::Op(_) | Combine::Pairs(_) => None,
    }
}

/// What the values of statements are, if all of them may be parts of a chain.
fn learn_all<'k>(stmts: &'k [Stmt], known: &mut HashMap<u32, Is<'k>>) -> Option<()> {
    for stmt in stmts {
        let (number, is) = value_of(stmt, known)?;
        known.insert(number, is);
    }
    Some(())
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
        Stmt::Op { result, op, args, site: None } => {
            Some((result.number, applied(*op, args, known)?))
        }
        _ => None,
    }
}

fn applied<'k>(op: Op, args: &'k [Operand], known: &HashMap<u32, Is<'k>>) -> Option<Is<'k>> {
    match (op, args) {
        (Op::Add, [x, y]) => match (is(x, known)?, is(y, known)?) {
            (Is::Load(x), Is::Load(y)) => Some(Is::Sum([x, y])),
            (Is::Distance(of), Is::State(state)) | (Is::State(state), Is::Distance(of)) => {
                Some(Is::After { term: Term::Distance, of, state, counts: None })
            }
            (Is::Square(of), Is::State(state)) | (Is::State(state), Is::Square(of)) => {
                Some(Is::After { term: Term::Square, of, state, counts: None })
            }
            _ => None,
        },
        (Op::Sub, [x, y]) => match (is(x, known)?, is(y, known)?) {
            (Is::Load(x), Is::Load(y)) => Some(Is::Difference([x, y])),
            _ => None,
        },
        (Op::Powi, [x, Operand::Const(two)]) if two.elem() == Elem::I32 && two.bits() == 2 => {
            match is(x, known)? {
                Is::Difference(of) | Is::Distance(of) => Some(Is::Square(of)),
                _ => None,
            }
        }
        (Op::Abs, [x]) => match is(x, known)? {
            Is::Difference(of) => Some(Is::Distance(of)),
            _ => None,
        },
        (Op::Fma, [x, y, z]) => match (is(x, known)?, is(y, known)?, is(z, known)?) {
            (Is::Load(x), Is::Load(y), Is::State(state)) => {
                Some(Is::After { term: Term::Product, of: [x, y], state, counts: None })
            }
            (Is::Difference(of), Is::Difference(again), Is::State(state))
                if of.map(|load| load.number) == again.map(|load| load.number) =>
            {
                Some(Is::After { term: Term::FusedSquare, of, state, counts: None })
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
                (
                    Is::Counts(index),
                    Is::After { term: Term::Product, of, state, counts: None },
                    Is::State(other),
                ) => {
                    let (term, counts) = (Term::Product, Some(index));
                    (state == other).then_some(Is::After { term, of, state, counts })
                }
                _ => None,
            }
        }
        _ => None,
    }
}
