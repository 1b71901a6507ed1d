//! Elements that are the same for all lanes.

use inkwell::module::Linkage;
use inkwell::types::BasicType;
use inkwell::values::{BasicValueEnum, IntValue, VectorValue};

use crate::emit::{Emit, Result};

/// What is loaded for no lane.
const NOTHING: &str = "nothing";

impl<'c> Emit<'c, '_> {
    /// The same element for all lanes that count: with none there may be no such element, and what is
    /// loaded is nothing.
    pub(super) fn load_for_some(
        &self,
        buffer: usize,
        position: IntValue<'c>,
        mask: VectorValue<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let ty = mask.get_type().as_basic_type_enum();
        let any = self.intrinsic("llvm.vector.reduce.or", &[ty], &[mask.into()])?;
        let nothing = self.module.get_global(NOTHING).unwrap_or_else(|| {
            let ty = self.i64_type().array_type(2);
            let global = self.module.add_global(ty, None, NOTHING);
            global.set_initializer(&ty.const_zero());
            global.set_constant(true);
            global.set_linkage(Linkage::Internal);
            global
        });
        let place = self.place(buffer, position)?;
        let nothing = nothing.as_pointer_value();
        let place = self.builder.build_select(any.into_int_value(), place, nothing, "place")?;
        self.load_from(buffer, place.into_pointer_value())
    }
}
