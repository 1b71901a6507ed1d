//! Loops whose rounds the threads of a team take while they run.

use inkwell::IntPredicate;
use inkwell::values::IntValue;

use super::{Emit, Result};
use crate::frame::Field;

impl<'c> Emit<'c, '_> {
    /// Runs rounds between two bounds, as many at a time as the surroundings say and until there are none.
    pub(super) fn taken(
        &mut self,
        lo: IntValue<'c>,
        hi: IntValue<'c>,
        inside: impl FnOnce(&mut Self, IntValue<'c>, IntValue<'c>) -> Result<()>,
    ) -> Result<()> {
        let word = self.i64_type();
        let (place, is_first) = (self.words(2, "taken")?, self.slot(word.into(), "first")?);
        let (take, part, end) = (self.block("take"), self.block("part"), self.block("end"));
        self.builder.build_store(is_first, self.i64(1))?;
        let all = self.builder.build_int_nsw_sub(hi, lo, "all")?;
        let some = self.compare(IntPredicate::SLT, lo, hi)?;
        self.branch(some, take, end)?;
        self.at(take);
        let first = self.builder.build_load(word, is_first, "first")?.into_int_value();
        self.builder.build_store(is_first, self.i64(0))?;
        let more = self.service(Field::take, &[all.into(), first.into(), place.into()])?;
        let goes_on = self.compare(IntPredicate::NE, more, self.i64(0))?;
        self.branch(goes_on, part, end)?;
        self.at(part);
        let bound = |at: u64| -> Result<IntValue<'c>> {
            let place = self.word(place, at)?;
            let relative = self.builder.build_load(word, place, "taken")?.into_int_value();
            self.add(lo, relative)
        };
        let (lo, hi) = (bound(0)?, bound(1)?);
        inside(self, lo, hi)?;
        self.jump(take)?;
        self.at(end);
        Ok(())
    }
}
