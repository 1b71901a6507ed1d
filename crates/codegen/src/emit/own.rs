//! Memory of one thread, for what belongs to one round of a loop.

use einlang_loops::ir::Layout;
use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::{Emit, Result};
use crate::frame::Field;

impl<'c> Emit<'c, '_> {
    /// Gives a buffer memory of this thread, which is not zero.
    pub(super) fn own(&mut self, number: usize) -> Result<()> {
        let of = &self.kernel.buffers[number];
        let extents = self.wanted(of)?;
        let (words, kept) =
            (self.words(extents.len(), "extents")?, self.words(extents.len() + 2, "kept")?);
        let put = |words, at: u64, value: IntValue<'c>| -> Result<()> {
            let place = self.word(words, at)?;
            self.builder.build_store(place, value)?;
            Ok(())
        };
        put(kept, 0, self.i64(extents.len() as i64 + 1))?;
        put(kept, 1, self.i64(i64::from(of.elem.bits().max(8) / 8)))?;
        for (at, (extent, dim)) in extents.iter().zip(&of.dims).enumerate() {
            put(words, at as u64, *extent)?;
            let factor = match dim.layout {
                Layout::Mod(width) => self.i64(width),
                _ => *extent,
            };
            put(kept, at as u64 + 2, factor)?;
        }
        let args = [self.i64(number as i64).into(), words.into(), kept.into()];
        let place = self.service(Field::own, &args)?;
        let fine = self.compare(IntPredicate::NE, place, self.i64(0))?;
        self.require(fine, -1)?;
        let pointer = self.context.ptr_type(Default::default());
        let place = self.builder.build_int_to_ptr(place, pointer, "own")?;
        self.builder.build_store(self.buffers[number].data, place)?;
        self.set_shape(number, &extents)
    }
}
