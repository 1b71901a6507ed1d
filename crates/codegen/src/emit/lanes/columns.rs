//! Stores of a tile whose lanes lie apart, and whose rows lie next to each other.
//!
//! A tile of columns by channels computes its channels in lanes, but what it stores lies along the columns. Its
//! vectors exchange elements first (`transpose.rs`); each of them is then the columns of one channel, which are one
//! store instead of one for each element.

use einlang_index::Quasi;
use einlang_loops::ir::{BufferId, Layout, Operand, Stmt};
use inkwell::types::VectorType;
use inkwell::values::{IntValue, VectorValue};

use super::Lanes;
use crate::emit::{Emit, Result};

/// Fewer rows are stored as they are.
const FEWEST: usize = 4;

/// The bytes of a vector.
const VECTOR: u32 = 64;

/// Stores to places one after the other.
struct Columns<'k> {
    buffer: BufferId,
    /// Where the first is.
    at: &'k [Quasi],
    values: Vec<Operand>,
}

impl<'c> Emit<'c, '_> {
    /// Emits the stores that statements begin with as columns, if that is what they are; how many.
    pub(in crate::emit) fn store_columns(&mut self, stmts: &[Stmt]) -> Result<usize> {
        let (Some(found), Some(lanes)) = (self.columns(stmts), self.lanes.as_ref()) else {
            return Ok(0);
        };
        let Lanes { width, mask, .. } = *lanes;
        let vectors: Result<Vec<_>> =
            found.values.iter().map(|value| self.widened(self.operand(value)?, width)).collect();
        let vectors = vectors?;
        let Some(mask) = mask else {
            self.columns_of(&found, &vectors, None)?;
            return Ok(vectors.len());
        };
        // Nearly always all lanes count, and asking each of them would take as long as what is stored.
        let all =
            self.intrinsic("llvm.vector.reduce.and", &[mask.get_type().into()], &[mask.into()]);
        let (whole, some, end) = (self.block("whole"), self.block("some"), self.block("end"));
        self.branch(all?.into_int_value(), whole, some)?;
        for (start, mask) in [(whole, None), (some, Some(mask))] {
            self.at(start);
            self.columns_of(&found, &vectors, mask)?;
            self.jump(end)?;
        }
        self.at(end);
        Ok(vectors.len())
    }

    /// Stores vectors as columns, for lanes of a mask if there is one.
    fn columns_of(
        &mut self,
        found: &Columns<'_>,
        vectors: &[VectorValue<'c>],
        mask: Option<VectorValue<'c>>,
    ) -> Result<()> {
        let (buffer, n) = (found.buffer.0 as usize, vectors.len() as u32);
        let width = self.n_lanes().unwrap_or(1);
        let side = VECTOR / (self.kernel.buffers[buffer].elem.bits() / 8);
        let at: Result<Vec<IntValue<'c>>> = found.at.iter().map(|at| self.quasi(at)).collect();
        let steps: Result<Vec<i64>> = found.at.iter().map(|at| self.step_of(at)).collect();
        let (at, steps) = (at?, steps?);
        let ty = self.memory_vector(buffer, side)?;
        for first in (0..width).step_by(side as usize) {
            let part = |vector: &VectorValue<'c>| self.part_of(*vector, first, side);
            let mut rows = vectors.iter().map(part).collect::<Result<Vec<_>>>()?;
            rows.resize(side as usize, ty.get_poison());
            for (number, column) in self.exchanged(rows)?.into_iter().enumerate() {
                let lane = first + number as u32;
                let moved = at.iter().zip(&steps).map(|(at, step)| match step {
                    0 => Ok(*at),
                    step => self.add(*at, self.i64(step * i64::from(lane))),
                });
                let position = self.position(buffer, &moved.collect::<Result<Vec<_>>>()?)?;
                let counts = mask.map(|mask| self.lane_of(mask, lane)).transpose()?;
                let mask = self.first_of(n, side, counts)?;
                self.store_some(buffer, position, column, mask)?;
            }
        }
        Ok(())
    }

    /// The columns that statements begin with.
    fn columns<'k>(&self, stmts: &'k [Stmt]) -> Option<Columns<'k>> {
        let lanes = self.lanes.as_ref()?;
        let Some(Stmt::Store { buffer, at, .. }) = stmts.first() else { return None };
        let of = self.kernel.buffer(*buffer)?;
        let bytes = of.elem.bits() / 8;
        let plain = of.elem.is_float() && matches!(bytes, 4 | 8) && !of.marks;
        let side = if plain { VECTOR / bytes } else { return None };
        let (last, others) = at.split_last()?;
        let is_full = of.dims.iter().all(|dim| dim.layout == Layout::Full);
        let is_same = |expr: &Quasi| lanes.steps.of(expr) == Some(0);
        let apart = others.iter().any(|expr| !is_same(expr));
        let fits = is_full && is_same(last) && apart && lanes.width % side == 0;
        if !fits || lanes.divided || self.spared.calls_chains || self.is_on_stack(buffer.0 as usize)
        {
            return None;
        }
        let mut values = Vec::new();
        for (number, stmt) in stmts.iter().enumerate().take(side as usize) {
            let Stmt::Store { buffer: other, at: place, value } = stmt else { break };
            let is_next = other == buffer && follows(at, place, number as i64);
            if !is_next {
                break;
            }
            values.push(*value);
        }
        (values.len() >= FEWEST).then_some(Columns { buffer: *buffer, at, values })
    }

    /// Some lanes of a vector.
    fn part_of(&self, vector: VectorValue<'c>, first: u32, n: u32) -> Result<VectorValue<'c>> {
        let number = self.context.i32_type();
        let lanes: Vec<_> =
            (first..first + n).map(|lane| number.const_int(u64::from(lane), false)).collect();
        let (none, order) = (vector.get_type().get_poison(), VectorType::const_vector(&lanes));
        Ok(self.builder.build_shuffle_vector(vector, none, order, "part")?)
    }

    fn lane_of(&self, mask: VectorValue<'c>, lane: u32) -> Result<IntValue<'c>> {
        let place = self.context.i32_type().const_int(u64::from(lane), false);
        Ok(self.builder.build_extract_element(mask, place, "counts")?.into_int_value())
    }

    /// The first lanes of a vector, if something holds.
    fn first_of(
        &self,
        n: u32,
        all: u32,
        holds: Option<IntValue<'c>>,
    ) -> Result<Option<VectorValue<'c>>> {
        let ty = self.context.bool_type();
        let lanes: Vec<_> = (0..all).map(|lane| ty.const_int(u64::from(lane < n), false)).collect();
        let lanes = VectorType::const_vector(&lanes);
        Ok(match holds {
            None => (n < all).then_some(lanes),
            Some(holds) => {
                let holds = self.splat(holds.into(), all)?;
                Some(self.builder.build_and(lanes, holds, "mask")?)
            }
        })
    }
}

/// Whether a place is so many elements after another, along the last dimension.
fn follows(first: &[Quasi], other: &[Quasi], by: i64) -> bool {
    let (Some((a, before)), Some((b, others))) = (first.split_last(), other.split_last()) else {
        return false;
    };
    let apart = b.sub(a).ok().and_then(|apart| apart.as_constant());
    before == others && apart == Some(by)
}
