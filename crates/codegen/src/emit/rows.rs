//! Rows that lie apart.
//!
//! Rows that lie a large power of two apart share a few places of a cache, however large that is, and a processor
//! takes a load for one that waits for a store to another row, because it compares the last digits of their
//! addresses only. Tensors that nobody outside sees get a little room after each row where rows would lie so.

use einlang_loops::ir::{Kernel, Layout, Stmt, each_stmt};
use einlang_loops::threads::is_of_thread;
use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::{Emit, Result};

/// Rows of a multiple of so many bytes are moved apart.
const ALIKE: i64 = 1024;

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
    each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Copy { to, from } = stmt {
            seen.extend([to.0 as usize, from.0 as usize]);
        }
    });
    for number in seen {
        if let Some(fits) = fits.get_mut(number) {
            *fits = false;
        }
    }
    fits
}

impl<'c> Emit<'c, '_> {
    /// How many elements lie between the beginnings of two rows of a buffer.
    pub(super) fn row(&self, buffer: usize, extent: IntValue<'c>) -> Result<IntValue<'c>> {
        if !self.apart.get(buffer).copied().unwrap_or(false) {
            return Ok(extent);
        }
        let bytes = i64::from(self.kernel.buffers[buffer].elem.bits().max(8) / 8);
        let digits = self.builder.build_and(extent, self.i64(ALIKE / bytes - 1), "digits")?;
        let alike = self.compare(IntPredicate::EQ, digits, self.i64(0))?;
        let more = self.add(extent, self.i64(ROOM / bytes))?;
        Ok(self.builder.build_select(alike, more, extent, "row")?.into_int_value())
    }
}
