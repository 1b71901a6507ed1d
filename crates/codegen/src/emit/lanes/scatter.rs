//! Stores of lanes that lie equally far from each other, in a large kernel that is made quickly.
//!
//! LLVM takes as long to translate a scatter as hundreds of other instructions: places and masks are many registers,
//! each of which it takes apart. So quick code keeps the lanes in a slot, and calls a function that stores one after
//! the other.
//!
//! Invariant: the lanes that count are stored where a scatter stores them, and no others.

use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::IntType;
use inkwell::values::{BasicValue, FunctionValue, IntValue, VectorValue};

use crate::emit::{Emit, Refused, Result};

impl<'c> Emit<'c, '_> {
    /// Stores lanes that begin at a position and are so many elements apart by a call; false if they are to be
    /// stored otherwise.
    pub(super) fn called_scatter(
        &mut self,
        buffer: usize,
        (first, gap): (IntValue<'c>, IntValue<'c>),
        value: VectorValue<'c>,
    ) -> Result<bool> {
        let width = value.get_type().get_size();
        let Some(mask_type) = self.type_of_bits(width).filter(|_| self.spared.calls_scatters)
        else {
            return Ok(false);
        };
        let bits = self.kernel.buffers[buffer].elem.bits().max(u8::BITS);
        let Some(elem) = self.type_of_bits(bits).filter(|_| !self.is_single(buffer, width)) else {
            return Ok(false);
        };
        let mask = match self.lanes.as_ref().and_then(|lanes| lanes.mask) {
            Some(mask) => {
                let bits = self.builder.build_bit_cast(mask, mask_type, "bits")?.into_int_value();
                self.builder.build_int_z_extend_or_bit_cast(bits, self.i64_type(), "mask")?
            }
            None => self.i64(-1),
        };
        let lanes = self.slot(value.get_type().into(), "lanes")?;
        self.builder.build_store(lanes, value)?;
        let place = self.place_of_some(buffer, first)?;
        let function = self.scatter_of(elem, width)?;
        let args = [place.into(), gap.into(), lanes.into(), mask.into()];
        self.builder.build_call(function, &args, "scattered")?;
        self.spared.note_scatter();
        Ok(true)
    }

    /// The integers of so many bits.
    fn type_of_bits(&self, bits: u32) -> Option<IntType<'c>> {
        match bits {
            8 => Some(self.context.i8_type()),
            16 => Some(self.context.i16_type()),
            32 => Some(self.context.i32_type()),
            64 => Some(self.context.i64_type()),
            _ => None,
        }
    }

    /// The function that stores so many lanes: `(first place, elements between two, lanes, mask)`.
    fn scatter_of(&self, elem: IntType<'c>, width: u32) -> Result<FunctionValue<'c>> {
        let name = format!("einlang_scatter_{}_{width}", elem.get_bit_width());
        if let Some(function) = self.module.get_function(&name) {
            return Ok(function);
        }
        let (word, pointer) = (self.i64_type(), self.context.ptr_type(Default::default()));
        let params = [pointer.into(), word.into(), pointer.into(), word.into()];
        let ty = self.context.void_type().fn_type(&params, false);
        let function = self.module.add_function(&name, ty, Some(Linkage::Internal));
        for word in ["noinline", "nounwind"] {
            let kind = Attribute::get_named_enum_kind_id(word);
            let attribute = self.context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        let outer = self.builder.get_insert_block();
        let done = self.scatter_body(function, elem, width);
        if let Some(outer) = outer {
            self.at(outer);
        }
        done.map(|()| function)
    }

    fn scatter_body(
        &self,
        function: FunctionValue<'c>,
        elem: IntType<'c>,
        width: u32,
    ) -> Result<()> {
        let missing = || Refused("a function without parameters".to_owned());
        let param = |at: u32| function.get_nth_param(at).ok_or_else(missing);
        let (place, lanes) = (param(0)?.into_pointer_value(), param(2)?.into_pointer_value());
        let (gap, mask) = (param(1)?.into_int_value(), param(3)?.into_int_value());
        let block = |name: &str| self.context.append_basic_block(function, name);
        let [entry, top, counts, next, end] = ["entry", "top", "counts", "next", "end"].map(block);
        self.at(entry);
        self.jump(top)?;
        self.at(top);
        let lane = self.builder.build_phi(self.i64_type(), "lane")?;
        let index = lane.as_basic_value().into_int_value();
        let rest = self.builder.build_right_shift(mask, index, false, "rest")?;
        let truth = self.context.bool_type();
        let is_set = self.builder.build_int_truncate(rest, truth, "is_set")?;
        self.branch(is_set, counts, next)?;
        self.at(counts);
        let from = self.element(elem, lanes, index)?;
        let value = self.builder.build_load(elem, from, "value")?;
        let to = self.element_of_some(elem, place, self.mul(index, gap)?)?;
        self.builder.build_store(to, value)?;
        self.jump(next)?;
        self.at(next);
        let after = self.add(index, self.i64(1))?;
        lane.add_incoming(&[
            (&self.i64(0) as &dyn BasicValue<'c>, entry),
            (&after as &dyn BasicValue<'c>, next),
        ]);
        let more = self.compare(IntPredicate::SLT, after, self.i64(i64::from(width)))?;
        self.branch(more, top, end)?;
        self.at(end);
        self.builder.build_return(None)?;
        Ok(())
    }
}
