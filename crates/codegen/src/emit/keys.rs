//! Folds over the points that have a key. The first time, all points are written down and sorted;
//! afterwards those of one key are visited.

use einlang_loops::ir::{Fold, Key, Range};
use inkwell::IntPredicate;
use inkwell::values::PointerValue;

use super::fold::State;
use super::{Emit, Result};
use crate::frame::Field;

impl<'c> Emit<'c, '_> {
    /// The points of one key.
    pub(super) fn visits(&mut self, fold: &Fold, state: &State<'c>) -> Result<()> {
        let Some(key) = &fold.key else { return Ok(()) };
        let table = self.i64(self.tables.n_keys as i64);
        self.tables.n_keys += 1;
        let dims = self.i64(fold.ranges.len() as i64);
        let point = self.words(fold.ranges.len(), "point")?;
        let bin = self.to_bits(self.operand(&key.bin)?, key.bin.elem())?;
        let (sorting, visiting) = (self.block("sorting"), self.block("visiting"));
        let (top, body, end) = (self.block("next"), self.block("visit"), self.block("end"));
        let sorted = self.service(Field::sorted, &[table.into(), dims.into()])?;
        let sorted = self.compare(IntPredicate::NE, sorted, self.i64(0))?;
        self.branch(sorted, visiting, sorting)?;
        self.at(sorting);
        self.sorting(&fold.ranges, fold, key, (table, dims, point))?;
        self.ask(Field::sort, &[table.into()], -1)?;
        self.jump(visiting)?;
        self.at(visiting);
        self.service(Field::visit, &[table.into(), bin.into()])?;
        self.jump(top)?;
        self.at(top);
        let more = self.service(Field::next, &[table.into(), dims.into(), point.into()])?;
        let fine = self.compare(IntPredicate::SGE, more, self.i64(0))?;
        self.require(fine, -1)?;
        let more = self.compare(IntPredicate::NE, more, self.i64(0))?;
        self.branch(more, body, end)?;
        self.at(body);
        for (at, range) in fold.ranges.iter().enumerate() {
            let place = self.word(point, at as u64)?;
            let index = self.builder.build_load(self.i64_type(), place, "index")?;
            let slot = self.var_slot(range.var)?;
            self.builder.build_store(slot, index)?;
        }
        self.term(fold, state, &mut |emit, terms| emit.combine(fold, state, terms))?;
        self.jump(top)?;
        self.at(end);
        Ok(())
    }

    /// Loops over all points that write down their keys.
    fn sorting(
        &mut self,
        ranges: &[Range],
        fold: &Fold,
        key: &Key,
        to: (inkwell::values::IntValue<'c>, inkwell::values::IntValue<'c>, PointerValue<'c>),
    ) -> Result<()> {
        let Some((range, rest)) = ranges.split_first() else {
            return self.write_down(fold, key, to);
        };
        let (lo, hi) = (self.bound(&range.lo)?, self.bound(&range.hi)?);
        self.each(range.var, lo, hi, |emit| emit.sorting(rest, fold, key, to))
    }

    fn write_down(
        &mut self,
        fold: &Fold,
        key: &Key,
        (table, dims, point): (
            inkwell::values::IntValue<'c>,
            inkwell::values::IntValue<'c>,
            PointerValue<'c>,
        ),
    ) -> Result<()> {
        let next = self.block("next");
        if let Some(domain) = &fold.within {
            let inside = self.within(domain)?;
            self.skip_unless(inside, next)?;
        }
        self.stmts(&key.block)?;
        if let Some(operand) = key.block.results.first() {
            let bits = self.to_bits(self.operand(operand)?, operand.elem())?;
            for (at, range) in fold.ranges.iter().enumerate() {
                let place = self.word(point, at as u64)?;
                self.builder.build_store(place, self.var(range.var)?)?;
            }
            let args = [table.into(), dims.into(), bits.into(), point.into()];
            self.service(Field::add_key, &args)?;
        }
        self.jump(next)?;
        self.at(next);
        Ok(())
    }
}
