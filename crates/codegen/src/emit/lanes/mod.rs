//! Loops whose rounds are lanes of vectors.
//!
//! In such a loop a scalar that depends on the lane is a vector, and one that does not stays a scalar.
//! The slot of the loop's index holds that of the first lane, so an index expression is a number for
//! the first lane and a step from lane to lane. Whole vectors come first; what is left at the end runs
//! through the same code with a mask, under which nothing is loaded or stored. A large body, and one of a
//! loop that has at most one vector, as those of tiles, is there only once, with a mask, where masks cost
//! nothing.
//!
//! | file | owns |
//! |---|---|
//! | `steps.rs` | how index expressions change from lane to lane |
//! | `chains.rs` | sums in tiles that are called instead of written out |
//! | `check.rs` | which loops can be emitted like that; the others stay scalar |
//! | `columns.rs` | stores of tiles that lie along their rows |
//! | `heads.rs` | where vectors of stencils begin, so that they are aligned |
//! | `large.rs` | which bodies are emitted once |
//! | `memory.rs` | loads, stores and tests of subscripts |
//! | `scatter.rs` | stores of lanes that lie apart, where code is made quickly |
//! | `ahead.rs` | rows that lanes fill, and panels that are fetched before they are needed |
//! | `meanwhile.rs` | what tiles need after their sums, fetched while those run |
//! | `transpose.rs` | copies that turn rows into columns |
//! | `uniform.rs` | loads of elements that all lanes have in common |
//! | `op.rs` | operations on vectors |
//! | `single.rs` | elements of small buffers, one by one |
//! | `extremes.rs` | minima and maxima, whose terms are lanes |
//!
//! Invariant: lanes never mix, so the number of lanes changes no bit of a result.

mod ahead;
mod chains;
mod check;
mod columns;
mod extremes;
mod heads;
mod large;
mod meanwhile;
mod memory;
mod op;
mod scatter;
mod single;
mod steps;
mod tile;
mod transpose;
mod uniform;

use einlang_index::{MinMax, Quasi, Var};
use einlang_loops::ir::{Block, Fold, Loop, Range};
use einlang_tir::region::Value;
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::types::{BasicType, BasicTypeEnum, VectorType};
use inkwell::values::{BasicValueEnum, IntValue, PointerValue, VectorValue};

use super::{Emit, Refused, Result};
use crate::optimise::has_masks;

pub(super) use check::{has_lanes, terms_are_lanes};
pub(super) use steps::Steps;

/// The lanes of the loop that is being emitted.
pub(super) struct Lanes<'c> {
    width: u32,
    steps: Steps,
    /// The lanes that count; all if there is none.
    mask: Option<VectorValue<'c>>,
    /// Whether it may be that none does.
    divided: bool,
}

impl<'c> Emit<'c, '_> {
    /// The rounds of a loop as lanes. It runs upwards and has no `until`.
    pub(super) fn lane_loop(&mut self, of: &Loop, width: u32) -> Result<()> {
        if let Some(rounds) = self.one_vector(of).or_else(|| self.short(of)) {
            // A few points need no more lanes than there are points.
            let enough = u32::try_from(rounds.len()).unwrap_or(width).next_power_of_two();
            return self.lanes_written_out(of, width.min(enough.max(2)), &rounds);
        }
        self.stays(of);
        self.known.remove(&of.range.var);
        let (lo, hi) = (self.bound(&of.range.lo)?, self.bound(&of.range.hi)?);
        let (lo, hi) = self.own_part(of, lo, hi)?;
        let var = self.var_slot(of.range.var)?;
        let (begin, end) = (self.block("begin"), self.block("end"));
        let some = self.compare(IntPredicate::SLT, lo, hi)?;
        self.branch(some, begin, end)?;
        self.at(begin);
        self.ticked(of, lo, hi)?;
        self.builder.build_store(var, lo)?;
        self.with_places(&of.range, &[&of.body], lo, |emit| {
            emit.vectors_between(of, width, var, (lo, hi), end)
        })?;
        self.at(end);
        Ok(())
    }

    /// The vectors of a loop that has some rounds, and goes on at its end.
    fn vectors_between(
        &mut self,
        of: &Loop,
        width: u32,
        var: PointerValue<'c>,
        (lo, hi): (IntValue<'c>, IntValue<'c>),
        end: BasicBlock<'c>,
    ) -> Result<()> {
        let is_filled = is_filled(lo, hi, width);
        match self.is_large(&of.body, width) || self.spares_copy(&of.body) {
            _ if of.range.has_at_most(width) && (is_filled || has_masks()) => {
                let rest = (!is_filled).then(|| self.mask_of_rest(lo, hi, width)).transpose()?;
                self.in_lanes(of, width, rest)?;
                self.jump(end)
            }
            true => self.vectors(of, width, var, (hi, end), is_filled),
            false if let Some(stored) = self.stored(of, width) => {
                self.aligned_vectors(of, (lo, hi), stored, width, end)
            }
            false if is_filled => self.vectors(of, width, var, (hi, end), true),
            false => self.whole_vectors(of, width, var, hi, end),
        }
    }

    /// Whole vectors, and what is left with a mask.
    fn whole_vectors(
        &mut self,
        of: &Loop,
        width: u32,
        var: PointerValue<'c>,
        hi: IntValue<'c>,
        end: BasicBlock<'c>,
    ) -> Result<()> {
        let tail = self.block("tail");
        let index = self.vectors_that_fit(of, width, var, hi, (tail, end))?;
        self.at(tail);
        let mask = self.mask_of_rest(index, hi, width)?;
        self.in_lanes(of, width, Some(mask))?;
        self.jump(end)
    }

    /// Vectors without a mask from here on, as long as they fit; then goes on to what is left, if there is
    /// something, or to the end. The index of the first lane that is left.
    fn vectors_that_fit(
        &mut self,
        of: &Loop,
        width: u32,
        var: PointerValue<'c>,
        hi: IntValue<'c>,
        (rest, end): (BasicBlock<'c>, BasicBlock<'c>),
    ) -> Result<IntValue<'c>> {
        let (check, whole, left) = (self.block("fits"), self.block("whole"), self.block("left"));
        self.jump(check)?;
        self.at(check);
        let index = self.index_in(var)?;
        let next = self.add(index, self.i64(i64::from(width)))?;
        let fits = self.compare(IntPredicate::SLE, next, hi)?;
        self.branch(fits, whole, left)?;
        self.at(whole);
        self.in_lanes(of, width, None)?;
        self.builder.build_store(var, next)?;
        self.jump(check)?;
        self.at(left);
        let more = self.compare(IntPredicate::SLT, index, hi)?;
        self.branch(more, rest, end)?;
        Ok(index)
    }

    fn index_in(&self, slot: PointerValue<'c>) -> Result<IntValue<'c>> {
        Ok(self.builder.build_load(self.i64_type(), slot, "index")?.into_int_value())
    }

    /// All vectors with the same code, under a mask unless they are all filled; there is at least one.
    fn vectors(
        &mut self,
        of: &Loop,
        width: u32,
        var: PointerValue<'c>,
        (hi, end): (IntValue<'c>, BasicBlock<'c>),
        is_filled: bool,
    ) -> Result<()> {
        let top = self.block("vectors");
        self.jump(top)?;
        self.at(top);
        let index = self.index_in(var)?;
        let next = self.add(index, self.i64(i64::from(width)))?;
        let rest = (!is_filled).then(|| self.mask_of_rest(index, hi, width)).transpose()?;
        self.in_lanes(of, width, rest)?;
        self.builder.build_store(var, next)?;
        let again = self.compare(IntPredicate::SLT, next, hi)?;
        self.branch(again, top, end)
    }

    /// The lanes that are left.
    fn mask_of_rest(
        &self,
        index: IntValue<'c>,
        hi: IntValue<'c>,
        width: u32,
    ) -> Result<VectorValue<'c>> {
        let rest = self.builder.build_int_nsw_sub(hi, index, "rest")?;
        let most = self.i64(i64::from(width));
        let less = self.compare(IntPredicate::SLT, rest, most)?;
        let rest = self.builder.build_select(less, rest, most, "rest")?.into_int_value();
        let rest = self.builder.build_int_truncate(rest, self.context.i32_type(), "rest")?;
        let rest = self.splat(rest.into(), width)?;
        let counts = self.iota(width, 32)?;
        Ok(self.builder.build_int_compare(IntPredicate::ULT, counts, rest, "mask")?)
    }

    /// Rounds whose number is known, vector by vector.
    fn lanes_written_out(&mut self, of: &Loop, width: u32, rounds: &[i64]) -> Result<()> {
        for vector in rounds.chunks(width as usize) {
            let mask = (vector.len() < width as usize).then(|| {
                let ty = self.context.bool_type();
                let counts = |lane: u32| u64::from((lane as usize) < vector.len());
                let lanes = (0..width).map(|lane| ty.const_int(counts(lane), false));
                VectorType::const_vector(&lanes.collect::<Vec<_>>())
            });
            let first = vector.iter().take(1).copied();
            self.written_out(of.range.var, first, &mut |emit| emit.in_lanes(of, width, mask))?;
        }
        Ok(())
    }

    /// The terms of a fold with one index, of so many points at once; they are the same as one by one.
    pub(super) fn terms_in_lanes(
        &mut self,
        fold: &Fold,
        range: &Range,
        width: u32,
        take: impl FnOnce(&mut Self, VectorValue<'c>) -> Result<()>,
    ) -> Result<()> {
        let steps = Steps::new(width, range.var, &range.lo);
        self.lanes = Some(Lanes { width, steps, mask: None, divided: false });
        let done = self.stmts(&fold.body).and_then(|()| {
            let none = || Refused("a fold without a term".to_owned());
            let term = self.operand(fold.body.results.first().ok_or_else(none)?)?;
            let term = self.widened(term, width)?;
            take(self, term)
        });
        self.lanes = None;
        done
    }

    /// One vector of rounds.
    fn in_lanes(&mut self, of: &Loop, width: u32, mask: Option<VectorValue<'c>>) -> Result<()> {
        let steps = Steps::new(width, of.range.var, &of.range.lo);
        self.lanes = Some(Lanes { width, steps, mask, divided: false });
        let done = self.stmts(&of.body);
        self.lanes = None;
        done
    }

    /// How many lanes there are here, if this is a loop of lanes.
    pub(super) fn n_lanes(&self) -> Option<u32> {
        self.lanes.as_ref().map(|lanes| lanes.width)
    }

    /// Whether this is a loop of lanes, and all of them count.
    pub(super) fn are_lanes_whole(&self) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.mask.is_none())
    }

    /// The vector type of an LLVM type.
    pub(super) fn vector_type(&self, ty: BasicTypeEnum<'c>, width: u32) -> Result<VectorType<'c>> {
        Ok(match ty {
            BasicTypeEnum::FloatType(ty) => ty.vec_type(width),
            BasicTypeEnum::IntType(ty) => ty.vec_type(width),
            BasicTypeEnum::PointerType(ty) => ty.vec_type(width),
            _ => return Err(Refused("a vector of what is no scalar".to_owned())),
        })
    }

    /// The type of a scalar that may differ from lane to lane.
    pub(super) fn wide_type(&self, elem: Elem) -> Result<BasicTypeEnum<'c>> {
        match self.n_lanes() {
            Some(width) => Ok(self.vector_type(self.ty(elem), width)?.as_basic_type_enum()),
            None => Ok(self.ty(elem)),
        }
    }

    /// Stores a scalar in a slot of [`Self::wide_type`].
    pub(super) fn keep(&self, slot: PointerValue<'c>, value: BasicValueEnum<'c>) -> Result<()> {
        let value = match self.n_lanes() {
            Some(width) => self.widened(value, width)?.into(),
            None => value,
        };
        self.builder.build_store(slot, value)?;
        Ok(())
    }

    /// A scalar in every lane.
    pub(super) fn splat(&self, value: BasicValueEnum<'c>, width: u32) -> Result<VectorValue<'c>> {
        let ty = self.vector_type(value.get_type(), width)?;
        let zero = self.context.i32_type().const_zero();
        let one = self.builder.build_insert_element(ty.get_poison(), value, zero, "first")?;
        let none = self.context.i32_type().vec_type(width).const_zero();
        Ok(self.builder.build_shuffle_vector(one, ty.get_poison(), none, "splat")?)
    }

    fn widened(&self, value: BasicValueEnum<'c>, width: u32) -> Result<VectorValue<'c>> {
        match value {
            BasicValueEnum::VectorValue(vector) => Ok(vector),
            scalar => self.splat(scalar, width),
        }
    }

    /// The numbers of the lanes.
    fn iota(&self, width: u32, bits: u32) -> Result<VectorValue<'c>> {
        let ty = match bits {
            32 => self.context.i32_type(),
            _ => self.context.i64_type(),
        };
        let numbers: Vec<_> = (0..u64::from(width)).map(|lane| ty.const_int(lane, false)).collect();
        Ok(VectorType::const_vector(&numbers))
    }

    /// How much larger an index expression is in the next lane.
    fn step_of(&self, expr: &Quasi) -> Result<i64> {
        let Some(lanes) = &self.lanes else { return Ok(0) };
        let step = lanes.steps.of(expr);
        step.ok_or_else(|| Refused("an index without a step".to_owned()))
    }

    /// Takes note that a variable is bound to an expression.
    pub(super) fn bound_in_lanes(&mut self, var: Var, expr: &MinMax) -> Result<()> {
        let fine = self.lanes.as_mut().is_none_or(|lanes| lanes.steps.bind(var, expr));
        if fine { Ok(()) } else { Err(Refused("an index without a step".to_owned())) }
    }

    /// Takes note that a loop inside sets a variable.
    pub(super) fn looped_in_lanes(&mut self, var: Var) {
        if let Some(lanes) = &mut self.lanes {
            lanes.steps.forget(var);
        }
    }

    /// The value of an index expression as a scalar, in every lane.
    pub(super) fn index_value(&mut self, expr: &Quasi, elem: Elem) -> Result<BasicValueEnum<'c>> {
        let first = self.quasi(expr)?;
        match (self.n_lanes(), self.step_of(expr)?) {
            (Some(width), step) if step != 0 => {
                let index = self.index_lanes(first, step, width)?;
                self.wide_cast(index, Elem::I64, elem, width)
            }
            _ => self.cast(first.into(), Elem::I64, elem),
        }
    }

    fn index_lanes(&self, first: IntValue<'c>, step: i64, width: u32) -> Result<VectorValue<'c>> {
        let first = self.splat(first.into(), width)?;
        let ty = self.i64_type();
        let steps: Vec<_> =
            (0..i64::from(width)).map(|l| ty.const_int((l * step) as u64, true)).collect();
        Ok(self.builder.build_int_add(first, VectorType::const_vector(&steps), "indices")?)
    }

    /// A branch whose condition differs from lane to lane: both blocks run, each for its lanes.
    pub(super) fn choose_lanes(
        &mut self,
        results: &[Value],
        condition: VectorValue<'c>,
        then: &Block,
        otherwise: &Block,
    ) -> Result<()> {
        let (Some(width), outer) = (self.n_lanes(), self.lanes.as_ref().and_then(|l| l.mask))
        else {
            return Err(Refused("a vector outside lanes".to_owned()));
        };
        let not = self.builder.build_not(condition, "not")?;
        let divided = self.lanes.as_ref().is_some_and(|lanes| lanes.divided);
        let mut given = Vec::with_capacity(2);
        for (holds, block) in [(condition, then), (not, otherwise)] {
            let mask = match outer {
                Some(outer) => self.builder.build_and(outer, holds, "mask")?,
                None => holds,
            };
            self.set_mask(Some(mask), true);
            self.stmts(block)?;
            let values: Result<Vec<_>> = block.results.iter().map(|o| self.operand(o)).collect();
            given.push(values?);
        }
        self.set_mask(outer, divided);
        for (at, result) in results.iter().enumerate() {
            let (Some(yes), Some(no)) = (given[0].get(at), given[1].get(at)) else {
                return Err(Refused("a branch that yields too little".to_owned()));
            };
            let (yes, no) = (self.widened(*yes, width)?, self.widened(*no, width)?);
            let value = self.builder.build_select(condition, yes, no, "choice")?;
            self.define(result, value);
        }
        Ok(())
    }

    fn set_mask(&mut self, mask: Option<VectorValue<'c>>, divided: bool) {
        if let Some(lanes) = &mut self.lanes {
            (lanes.mask, lanes.divided) = (mask, divided);
        }
    }
}

/// Whether bounds are known that fill all lanes of a vector, or of several.
fn is_filled(lo: IntValue<'_>, hi: IntValue<'_>, width: u32) -> bool {
    let both = lo.get_sign_extended_constant().zip(hi.get_sign_extended_constant());
    let length = both.and_then(|(lo, hi)| hi.checked_sub(lo));
    length.is_some_and(|length| length > 0 && length % i64::from(width) == 0)
}

#[cfg(test)]
mod tests {
    use einlang_loops::ir::parse_kernel;

    use crate::emit::emit;
    use crate::optimise::{has_masks, nameless};
    use crate::rounds::Jammed;
    use crate::tiers::Quality;

    const KERNEL: &str = "kernel part {
  indices i;
  buffer 0 input x: f64[full (LENGTH)];
  buffer 1 y: f64[full (LENGTH)];
  output 1;
  body {
    alloc 1;
    loop i in (0, LENGTH) lane 8 {
      %0: f64 = load 0[(i)] proved;
      %1: f64 = exp %0;
      store 1[(i)] = %1;
    }
  }
}
";

    #[test]
    fn lanes_that_are_all_filled_have_no_mask() {
        for (length, masked) in [("1600", false), ("1601", true)] {
            let kernel = parse_kernel(&KERNEL.replace("LENGTH", length)).expect("a kernel");
            let (context, jammed) = (nameless(), Jammed::new(&kernel, Quality::Quick));
            let emitted = emit(&context, &jammed, (false, false), Quality::Quick);
            let module = emitted.map_err(|refused| refused.0).expect("it is emitted").module;
            let text = module.print_to_string().to_string();
            assert_eq!(text.contains("llvm.masked.store"), masked && has_masks(), "{length}");
        }
    }

    #[test]
    fn short_axes_are_written_out_by_vectors() {
        let more: String =
            (2..22).map(|n| format!("      %{n}: f64 = neg %{};\n", n - 1)).collect();
        let body = format!("exp %0;\n{more}      store 1[(i)] = %21");
        for (length, n_calls) in [("16", 2), ("24", 1)] {
            let text =
                KERNEL.replace("LENGTH", length).replace("exp %0;\n      store 1[(i)] = %1", &body);
            let kernel = parse_kernel(&text).expect("a kernel");
            let (context, jammed) = (nameless(), Jammed::new(&kernel, Quality::Quick));
            let emitted = emit(&context, &jammed, (false, false), Quality::Quick);
            let module = emitted.map_err(|refused| refused.0).expect("it is emitted").module;
            let calls = module
                .print_to_string()
                .to_string()
                .matches("= call <8 x double> @einlang.exp")
                .count();
            assert_eq!(calls, n_calls, "{length}");
        }
    }
}
