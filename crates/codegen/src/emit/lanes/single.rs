//! Elements of small buffers, one by one.
//!
//! A buffer on the stack becomes registers if every access is to places that are known. A gather from it
//! would wait until everything that was stored has reached memory, so its lanes are loaded one by one.

use inkwell::values::{BasicValue, BasicValueEnum, IntValue, VectorValue};

use crate::emit::{Emit, Result};

/// More lanes are not taken one by one.
const MOST: u32 = 16;

impl<'c> Emit<'c, '_> {
    /// Whether the lanes of an access that is no run are taken one by one.
    pub(super) fn is_single(&self, buffer: usize, width: u32) -> bool {
        let masked = self.lanes.as_ref().is_some_and(|lanes| lanes.mask.is_some());
        self.is_on_stack(buffer) && width <= MOST && !masked
    }

    /// The elements at some positions.
    pub(super) fn load_each(
        &self,
        buffer: usize,
        positions: VectorValue<'c>,
        width: u32,
    ) -> Result<VectorValue<'c>> {
        let ty = self.memory_vector(buffer, width)?;
        let element = ty.get_element_type();
        let mut all = ty.get_poison();
        for (lane, position) in self.lanes_at(positions, width)? {
            let place = self.place(buffer, position)?;
            let one = self.builder.build_load(element, place, "element")?;
            self.tell(buffer, one.as_instruction_value())?;
            all = self.builder.build_insert_element(all, one, lane, "elements")?;
        }
        Ok(all)
    }

    /// Stores elements at some positions.
    pub(super) fn store_each(
        &self,
        buffer: usize,
        positions: VectorValue<'c>,
        value: VectorValue<'c>,
        width: u32,
    ) -> Result<()> {
        for (lane, position) in self.lanes_at(positions, width)? {
            let place = self.place(buffer, position)?;
            let one: BasicValueEnum<'c> =
                self.builder.build_extract_element(value, lane, "element")?;
            let store = self.builder.build_store(place, one)?;
            self.tell(buffer, Some(store))?;
        }
        Ok(())
    }

    /// The numbers of the lanes, and their positions.
    fn lanes_at(
        &self,
        positions: VectorValue<'c>,
        width: u32,
    ) -> Result<Vec<(IntValue<'c>, IntValue<'c>)>> {
        let number = self.context.i32_type();
        let one = |lane| {
            let lane = number.const_int(u64::from(lane), false);
            let position = self.builder.build_extract_element(positions, lane, "position")?;
            Ok((lane, position.into_int_value()))
        };
        (0..width).map(one).collect()
    }
}
