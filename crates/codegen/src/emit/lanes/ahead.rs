//! Panels: rows of memory that all lanes fill, and the next panel, which is fetched in time.
//!
//! A tile of a product goes through one panel for each tile of rows and then through the next one. The
//! first tile of rows would wait for memory all the way; therefore each round fetches a part of what its
//! sum goes through in the panel that comes next, a little with every vector that it loads. Fetching
//! touches no value.

use einlang_index::{DivOp, Quasi, Var};
use einlang_loops::ir::{Layout, Subscript};
use inkwell::IntPredicate;
use inkwell::values::{BasicValue, IntValue, VectorValue};

use crate::emit::{Emit, Refused, Result};

/// Into which cache: the second, for a panel waits there for all rows of the one before it.
const SECOND_CACHE: u64 = 2;

impl<'c> Emit<'c, '_> {
    /// Fetches what belongs to a load of the part of the next plane that this round of the loop around
    /// fetches.
    pub(super) fn fetch_ahead(
        &mut self,
        buffer: usize,
        at: &[Subscript],
        parts: u32,
    ) -> Result<()> {
        if !self.fetches {
            return Ok(());
        }
        let under = at.iter().position(is_panel).unwrap_or(0);
        let Some((Subscript::Index(plane), inside)) = at[under..].split_first() else {
            return Ok(());
        };
        let zeros = vec![self.i64(0); under + 1];
        let (plane, mut indices) = (self.quasi(plane)?, zeros.clone());
        let (mut start, mut length) = (zeros, None);
        let mut around = Vec::with_capacity(at.len());
        for (axis, subscript) in at.iter().enumerate() {
            around.push(if axis < under { self.subscript(subscript)? } else { self.i64(0) });
        }
        let around = self.position(buffer, &around)?;
        for (at, subscript) in inside.iter().enumerate() {
            let index = self.subscript(subscript)?;
            indices.push(index);
            // What the fold around reads of a plane begins with its first term.
            let term = match (subscript, self.terms) {
                (Subscript::Index(expr), Some((var, lo, hi)))
                    if let Some(first) = before_term(expr, var) =>
                {
                    let terms = self.builder.build_int_nsw_sub(hi, lo, "terms")?;
                    length = Some(self.mul(terms, self.stride(buffer, under + at + 1)?)?);
                    let first = self.quasi(&first)?;
                    self.add(lo, first)?
                }
                _ => index,
            };
            start.push(term);
        }
        let (parts, stride) = (self.i64(i64::from(parts.max(1))), self.stride(buffer, under)?);
        let round = match self.round {
            Some(var) => self.builder.build_int_unsigned_rem(self.var(var)?, parts, "round")?,
            None => self.i64(0),
        };
        // Behind the last panel there may be no memory.
        let next = self.add(plane, self.i64(1))?;
        let is_last = self.compare(IntPredicate::SGE, next, self.extent(buffer, under)?)?;
        let next = self.builder.build_select(is_last, plane, next, "next")?.into_int_value();
        let next = self.mul(next, stride)?;
        let next = self.add(around, next)?;
        let start = match length {
            Some(_) => self.position(buffer, &start)?,
            None => self.i64(0),
        };
        let part = self.builder.build_int_unsigned_div(length.unwrap_or(stride), parts, "part")?;
        let first = self.add(self.add(next, start)?, self.mul(part, round)?)?;
        let inside = self.position(buffer, &indices)?;
        let inside = self.builder.build_int_nsw_sub(inside, start, "inside")?;
        let inside = self.builder.build_int_unsigned_div(inside, parts, "inside")?;
        let bytes = i64::from(self.kernel.buffers[buffer].elem.bits().max(8) / 8);
        let offset = self.mul(self.add(first, inside)?, self.i64(bytes))?;
        let pointer = self.context.ptr_type(Default::default());
        let data = self.builder.build_load(pointer, self.buffers[buffer].data, "data")?;
        let data =
            self.builder.build_ptr_to_int(data.into_pointer_value(), self.i64_type(), "data")?;
        let place = self.builder.build_int_add(data, offset, "ahead")?;
        self.prefetch(place, false, SECOND_CACHE)
    }

    /// Fetches the line of memory at an address into a cache, to be read or to be stored to.
    pub(in crate::emit) fn prefetch(
        &self,
        place: IntValue<'c>,
        stored: bool,
        cache: u64,
    ) -> Result<()> {
        let pointer = self.context.ptr_type(Default::default());
        let place = self.builder.build_int_to_ptr(place, pointer, "ahead")?;
        let number = |value: u64| self.context.i32_type().const_int(value, false).into();
        let args = [place.into(), number(u64::from(stored)), number(cache), number(1)];
        let missing = || Refused("LLVM has no `llvm.prefetch`".to_owned());
        let found = inkwell::intrinsics::Intrinsic::find("llvm.prefetch").ok_or_else(missing)?;
        let types = [place.as_basic_value_enum().get_type()];
        let function = found.get_declaration(&self.module, &types).ok_or_else(missing)?;
        self.builder.build_call(function, &args, "ahead")?;
        Ok(())
    }

    /// The lanes that a load must keep to. A row of a panel that has as many elements as there are lanes is
    /// loaded as a whole: what no lane asked for counts nowhere.
    pub(super) fn mask_of_load(&self, buffer: usize, at: &[Subscript]) -> Option<VectorValue<'c>> {
        let lanes = self.lanes.as_ref()?;
        let mask = lanes.mask?;
        let of = &self.kernel.buffers[buffer];
        let (Some(dim), Some(Subscript::Index(last))) = (of.dims.last(), at.last()) else {
            return Some(mask);
        };
        let width = i64::from(lanes.width);
        let row = dim.layout == Layout::Full && dim.extent.as_constant() == Some(width);
        let whole = row && of.elem.is_float() && !lanes.divided && is_rest(last, width);
        if whole && lanes.steps.of(last) == Some(1) { None } else { Some(mask) }
    }
}

/// What a subscript adds to the index of a term, if that is all that it does with it.
fn before_term(subscript: &Quasi, term: Var) -> Option<Quasi> {
    let rest = subscript.sub(&Quasi::from(term)).ok()?;
    (!rest.mentions(term)).then_some(rest)
}

/// Whether a subscript is the number of a panel.
fn is_panel(subscript: &Subscript) -> bool {
    let Subscript::Index(expr) = subscript else { return false };
    matches!(expr.divisions(), [(division, 1)] if division.op == DivOp::FloorDiv)
}

/// Whether an expression is the rest of a division by a number, and nothing else: with lanes that lie
/// together, the first one has none.
fn is_rest(expr: &Quasi, by: i64) -> bool {
    let alone = expr.affine().terms().is_empty() && expr.affine().constant_part() == 0;
    let rest = match expr.divisions() {
        [(division, 1)] => division.op == DivOp::FloorMod && division.divisor == by,
        _ => false,
    };
    alone && rest
}
