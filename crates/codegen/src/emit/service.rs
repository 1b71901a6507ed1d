//! Calls of the surroundings, through the functions in the frame.

use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, IntValue, PointerValue};

use super::{Emit, Refused, Result};
use crate::frame::{Field, Scalar};

/// So many rounds are counted by code before the surroundings hear of them.
const MANY: i64 = 1 << 16;

/// Effects on memory that code cannot see, as LLVM encodes them.
const INACCESSIBLE_ONLY: u64 = 3 << 2;

impl<'c> Emit<'c, '_> {
    /// A word of the frame.
    pub(super) fn field(&self, field: Field) -> Result<PointerValue<'c>> {
        let place = self.word(self.frame, field as u64)?;
        let pointer = self.context.ptr_type(Default::default());
        Ok(self.builder.build_load(pointer, place, "field")?.into_pointer_value())
    }

    /// Calls a service and gives its answer.
    pub(super) fn service(
        &self,
        field: Field,
        args: &[BasicMetadataValueEnum<'c>],
    ) -> Result<IntValue<'c>> {
        let mut all = vec![self.field(Field::env)?.into()];
        all.extend_from_slice(args);
        let types: Vec<BasicMetadataTypeEnum<'c>> = all
            .iter()
            .map(|arg| match arg {
                BasicMetadataValueEnum::PointerValue(p) => p.get_type().into(),
                _ => self.i64_type().into(),
            })
            .collect();
        let ty = self.i64_type().fn_type(&types, false);
        let function = self.field(field)?;
        let call = self.builder.build_indirect_call(ty, function, &all, "done")?;
        if let Field::tick = field {
            // It sees nothing that code sees.
            let kind = Attribute::get_named_enum_kind_id("memory");
            let attribute = self.context.create_enum_attribute(kind, INACCESSIBLE_ONLY);
            call.add_attribute(AttributeLoc::Function, attribute);
        }
        let none = || Refused("a service gives no answer".to_owned());
        Ok(call.try_as_basic_value().basic().ok_or_else(none)?.into_int_value())
    }

    /// Calls a service and returns with this code if it refuses.
    pub(super) fn ask(
        &self,
        field: Field,
        args: &[BasicMetadataValueEnum<'c>],
        code: i64,
    ) -> Result<()> {
        let done = self.service(field, args)?;
        let zero = self.i64(0);
        let holds = self.builder.build_int_compare(inkwell::IntPredicate::NE, done, zero, "ok")?;
        self.require(holds, code)
    }

    /// Counts rounds, and tells the surroundings when there are many.
    pub(super) fn tick(&self, rounds: IntValue<'c>) -> Result<()> {
        let word = self.i64_type();
        let before = self.builder.build_load(word, self.rounds, "rounds")?.into_int_value();
        let after = self.add(before, rounds)?;
        self.builder.build_store(self.rounds, after)?;
        let (many, on) = (self.block("many"), self.block("on"));
        let is_many = self.compare(IntPredicate::SGT, after, self.i64(MANY))?;
        self.branch_mostly(is_many, (many, on), false)?;
        self.at(many);
        self.builder.build_store(self.rounds, self.i64(0))?;
        self.ask(Field::tick, &[after.into()], -1)?;
        self.jump(on)?;
        self.at(on);
        Ok(())
    }

    /// An operation that has no code of its own.
    pub(super) fn slow(
        &mut self,
        scalar: Scalar,
        args: &[(BasicValueEnum<'c>, Elem)],
        site: i64,
    ) -> Result<BasicValueEnum<'c>> {
        let result = scalar.result;
        let known = self.tables.scalars.iter().position(|s| *s == scalar);
        let number = known.unwrap_or(self.tables.scalars.len());
        if known.is_none() {
            self.tables.scalars.push(scalar);
        }
        let mut words = [self.i64(0); 3];
        for (word, (value, elem)) in words.iter_mut().zip(args) {
            *word = self.to_bits(*value, *elem)?;
        }
        let out = self.slot(self.i64_type().into(), "result")?;
        let [x, y, z] = words.map(BasicMetadataValueEnum::from);
        self.ask(Field::scalar, &[self.i64(number as i64).into(), x, y, z, out.into()], site)?;
        let bits = self.builder.build_load(self.i64_type(), out, "bits")?.into_int_value();
        self.of_bits(bits, result)
    }
}
