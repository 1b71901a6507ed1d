//! Rows and planes that lie apart.
//!
//! Rows that lie a large power of two apart share a few places of a cache, however large that is, and a processor
//! takes a load for one that waits for a store to another row or plane, because it compares the last digits of
//! their addresses only. Tensors that nobody outside sees get a little room after each row and each plane where
//! they would lie so.

use einlang_loops::ir::{Kernel, Layout, Stmt, each_stmt};
use einlang_loops::threads::is_of_thread;
use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::{Emit, Result};

/// Rows and planes of a multiple of so many bytes are moved apart; in tests nearly all, for theirs are short.
const ALIKE: i64 = if cfg!(debug_assertions) { 32 } else { 1024 };

/// By so many bytes: a cache line, so that rows begin with one as they did.
const ROOM: i64 = 64;

/// Which buffers may have room after their rows: shared memory of this kernel alone, whose elements are found by
/// their subscripts.
pub(super) fn may_be_apart(kernel: &Kernel) -> Vec<bool> {
    let mut fits: Vec<bool> = kernel
        .buffers
        .iter()
        .map(|buffer| {
            let rows = matches!(&buffer.dims[..], [.., _, last] if last.layout == Layout::Full);
            let open = buffer.dims.iter().any(|dim| dim.layout == Layout::Open);
            rows && !open && !buffer.marks && !buffer.stack && !is_of_thread(buffer)
        })
        .collect();
    let inputs = 0..kernel.n_inputs;
    let outputs = kernel.outputs.iter().map(|output| output.0 as usize);
    let mut seen: Vec<usize> = inputs.chain(outputs).collect();
    each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Copy { to, from } => seen.extend([to.0 as usize, from.0 as usize]),
        // Whoever is outside of a team looks up what was allocated in it.
        Stmt::Team(team) => each_stmt(team, &mut |stmt| {
            if let Stmt::Alloc(buffer) = stmt {
                seen.push(buffer.0 as usize);
            }
        }),
        _ => {}
    });
    for number in seen {
        if let Some(fits) = fits.get_mut(number) {
            *fits = false;
        }
    }
    fits
}

impl<'c> Emit<'c, '_> {
    /// How many elements lie between the beginnings of two rows or planes of a buffer that have so many.
    pub(super) fn with_room(&self, buffer: usize, size: IntValue<'c>) -> Result<IntValue<'c>> {
        if !self.apart[buffer] {
            return Ok(size);
        }
        let bytes = i64::from(self.kernel.buffers[buffer].elem.bits().max(8) / 8);
        let digits = self.builder.build_and(size, self.i64(ALIKE / bytes - 1), "digits")?;
        let alike = self.compare(IntPredicate::EQ, digits, self.i64(0))?;
        let more = self.builder.build_int_add(size, self.i64(ROOM / bytes), "more")?;
        Ok(self.builder.build_select(alike, more, size, "apart")?.into_int_value())
    }

    /// The extents that memory is asked for: rows are as much longer as all that is apart needs.
    pub(super) fn room(
        &self,
        buffer: usize,
        extents: &[IntValue<'c>],
    ) -> Result<Vec<IntValue<'c>>> {
        let mut asked = extents.to_vec();
        let Some(last) = asked.last_mut().filter(|_| self.apart[buffer]) else { return Ok(asked) };
        // What does not fit a number is refused by whoever gives memory, which never sees less than the extents.
        let times = |a, b| self.builder.build_int_mul(a, b, "size");
        let (mut size, mut n_rows) = (self.i64(1), self.i64(1));
        let dims = &self.kernel.buffers[buffer].dims;
        for (axis, dim) in dims.iter().enumerate().rev() {
            let kept = match dim.layout {
                Layout::Mod(width) => self.i64(width),
                _ => extents[axis],
            };
            let is_row = axis + 1 == dims.len();
            (size, n_rows) = match is_row {
                true => (kept, n_rows),
                false => (times(size, kept)?, times(n_rows, kept)?),
            };
            if axis > 0 {
                size = self.with_room(buffer, size)?;
            }
        }
        let some = self.compare(IntPredicate::SGT, n_rows, self.i64(0))?;
        let divisor = self.builder.build_select(some, n_rows, self.i64(1), "rows")?;
        let divisor = divisor.into_int_value();
        let rest = self.builder.build_int_sub(divisor, self.i64(1), "rest")?;
        let up = self.builder.build_int_add(size, rest, "up")?;
        let longer = self.builder.build_int_signed_div(up, divisor, "longer")?;
        let is_longer = self.compare(IntPredicate::SGT, longer, *last)?;
        let is_longer = self.builder.build_and(some, is_longer, "is_longer")?;
        *last = self.builder.build_select(is_longer, longer, *last, "room")?.into_int_value();
        Ok(asked)
    }
}
