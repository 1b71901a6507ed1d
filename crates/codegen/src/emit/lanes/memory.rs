//! Loads and stores of vectors, and tests of subscripts in every lane.
//!
//! An access whose lanes lie one after the other is one load or store, upwards or downwards; any
//! other is a gather or scatter.

use einlang_index::Quasi;
use einlang_loops::ir::{Access, BufferId, Layout, Subscript};
use einlang_tir::types::{Elem, ElemKind};
use inkwell::IntPredicate;
use inkwell::types::{BasicType, BasicTypeEnum, VectorType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValue, BasicValueEnum, InstructionValue, IntValue, PointerValue,
    ValueKind, VectorValue,
};

use super::Lanes;
use crate::emit::places::index_of;
use crate::emit::{Emit, Refused, Result};
use crate::frame::Told;

/// A subscript: the same in all lanes, a number and a step, or anything.
pub(super) enum Along<'c> {
    Same(IntValue<'c>),
    Stepped(IntValue<'c>, i64, Quasi),
    Any(VectorValue<'c>),
}

/// Where the elements of all lanes lie.
pub(super) enum Position<'c> {
    Same(IntValue<'c>),
    /// Beginning here, upwards or downwards by one.
    Run(IntValue<'c>, bool),
    /// Beginning here, so many elements apart.
    Stepped(IntValue<'c>, IntValue<'c>),
    Any(VectorValue<'c>),
}

/// How the elements of all lanes lie: all in one place, or each behind the one before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    Same,
    Upwards,
}

impl<'c> Emit<'c, '_> {
    pub(super) fn along(&mut self, at: &Subscript, width: u32) -> Result<Along<'c>> {
        match at {
            Subscript::Index(expr) => self.along_index(expr),
            Subscript::Value(operand) => match self.operand(operand)? {
                BasicValueEnum::VectorValue(vector) => {
                    let elem = operand.elem();
                    let wide = match elem.kind() {
                        ElemKind::Signed => self.wide_cast(vector, elem, Elem::I64, width)?,
                        _ => self.wide_cast(vector, elem, Elem::U64, width)?,
                    };
                    Ok(Along::Any(wide.into_vector_value()))
                }
                _ => Ok(Along::Same(self.subscript(at)?)),
            },
        }
    }

    fn along_index(&mut self, expr: &Quasi) -> Result<Along<'c>> {
        let first = self.quasi(expr)?;
        Ok(match self.step_of(expr)? {
            0 => Along::Same(first),
            step => Along::Stepped(first, step, expr.clone()),
        })
    }

    fn lanes_of(&self, along: &Along<'c>, width: u32) -> Result<VectorValue<'c>> {
        match along {
            Along::Same(index) => self.splat((*index).into(), width),
            Along::Stepped(first, step, _) => self.index_lanes(*first, *step, width),
            Along::Any(vector) => Ok(*vector),
        }
    }

    /// Whether a subscript lies on its axis.
    fn is_on_axis(
        &self,
        buffer: usize,
        axis: usize,
        along: &Along<'c>,
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        if let Along::Same(index) = along {
            return Ok(self.on_axis(buffer, axis, *index)?.into());
        }
        let index = self.lanes_of(along, width)?;
        let extent = self.splat(self.extent(buffer, axis)?.into(), width)?;
        Ok(self.builder.build_int_compare(IntPredicate::ULT, index, extent, "test")?.into())
    }

    /// Returns unless a test holds in all lanes that count; code that tells what goes wrong does so before that,
    /// of the first lane in which it does not.
    fn require_lanes(
        &self,
        holds: BasicValueEnum<'c>,
        code: i64,
        before: impl FnOnce(&Self, Option<IntValue<'c>>) -> Result<()>,
    ) -> Result<()> {
        let vector = match holds {
            BasicValueEnum::VectorValue(vector) => vector,
            scalar => {
                return self.require_or(scalar.into_int_value(), code, |emit| before(emit, None));
            }
        };
        let vector = match self.lanes.as_ref().and_then(|lanes| lanes.mask) {
            Some(mask) => {
                let not = self.builder.build_not(mask, "not")?;
                self.builder.build_or(vector, not, "fine")?
            }
            None => vector,
        };
        let ty = vector.get_type().as_basic_type_enum();
        let all = self.intrinsic("llvm.vector.reduce.and", &[ty], &[vector.into()])?;
        self.require_or(all.into_int_value(), code, |emit| {
            before(emit, Some(emit.first_false(vector)?))
        })
    }

    /// The first lane in which a test does not hold.
    fn first_false(&self, test: VectorValue<'c>) -> Result<IntValue<'c>> {
        let width = test.get_type().get_size();
        let (truth, ty) = (self.context.bool_type(), self.i64_type());
        let lane = |lane: u32| ty.const_int(u64::from(lane), false);
        let mut first = lane(0);
        for at in (0..width).rev() {
            let place = self.context.i32_type().const_int(u64::from(at), false);
            let holds = self.builder.build_extract_element(test, place, "holds")?.into_int_value();
            let fails = self.builder.build_xor(holds, truth.const_int(1, false), "fails")?;
            first = self.builder.build_select(fails, lane(at), first, "first")?.into_int_value();
        }
        Ok(first)
    }

    /// Whether lanes that follow each other on an axis do so in memory.
    fn is_run(&self, layout: Layout, step: i64, expr: &Quasi) -> bool {
        match layout {
            Layout::Full => true,
            Layout::Mod(planes) => {
                let lanes = self.lanes.as_ref();
                step == 1 && lanes.is_some_and(|lanes| lanes.steps.is_together(expr, planes))
            }
            Layout::Open => false,
        }
    }

    /// Where the elements lie.
    pub(super) fn positions(
        &mut self,
        buffer: usize,
        at: &[Along<'c>],
        width: u32,
    ) -> Result<Position<'c>> {
        let dims = &self.kernel.buffers[buffer].dims;
        let unit = dims.iter().rposition(|dim| dim.layout != Layout::Open);
        let mut run = None;
        let mut same = Vec::with_capacity(at.len());
        for (axis, along) in at.iter().enumerate() {
            match along {
                Along::Same(index) => same.push(*index),
                Along::Stepped(first, step @ (1 | -1), expr)
                    if Some(axis) == unit && self.is_run(dims[axis].layout, *step, expr) =>
                {
                    run = Some(*step);
                    same.push(*first);
                }
                _ => break,
            }
        }
        if same.len() == at.len() {
            let position = self.position(buffer, &same)?;
            return Ok(match run {
                None => Position::Same(position),
                Some(step) => Position::Run(position, step > 0),
            });
        }
        if let Some((first, gap)) = self.stepped(buffer, at)? {
            return Ok(Position::Stepped(first, gap));
        }
        let mut sum = self.splat(self.i64(0).into(), width)?;
        for (axis, along) in at.iter().enumerate() {
            let mut index = self.lanes_of(along, width)?;
            if let Layout::Mod(planes) = self.kernel.buffers[buffer].dims[axis].layout {
                let is_power = planes & (planes - 1) == 0;
                let by = self.i64(if is_power { planes - 1 } else { planes });
                let by = self.splat(by.into(), width)?;
                index = match is_power {
                    true => self.builder.build_and(index, by, "ring")?,
                    false => self.builder.build_int_unsigned_rem(index, by, "ring")?,
                };
            }
            let stride = self.splat(self.stride(buffer, axis)?.into(), width)?;
            let part = self.builder.build_int_mul(index, stride, "part")?;
            sum = self.builder.build_int_add(sum, part, "position")?;
        }
        Ok(Position::Any(sum))
    }

    /// Where the elements lie, if they are equally far from each other.
    fn stepped(
        &mut self,
        buffer: usize,
        at: &[Along<'c>],
    ) -> Result<Option<(IntValue<'c>, IntValue<'c>)>> {
        let mut first = Vec::with_capacity(at.len());
        let mut steps = Vec::new();
        for (axis, along) in at.iter().enumerate() {
            match along {
                Along::Same(index) => first.push(*index),
                Along::Stepped(index, step, _)
                    if self.kernel.buffers[buffer].dims[axis].layout == Layout::Full =>
                {
                    first.push(*index);
                    steps.push((axis, *step));
                }
                _ => return Ok(None),
            }
        }
        let mut gap = self.i64(0);
        for (axis, step) in steps {
            let stride = self.stride(buffer, axis)?;
            gap = self.add(gap, self.mul(stride, self.i64(step))?)?;
        }
        Ok(Some((self.position(buffer, &first)?, gap)))
    }

    /// The positions of lanes that are equally far from each other.
    fn positions_of_steps(
        &self,
        (first, gap): (IntValue<'c>, IntValue<'c>),
        width: u32,
    ) -> Result<VectorValue<'c>> {
        let gap = self.splat(gap.into(), width)?;
        let apart = self.builder.build_int_mul(gap, self.iota(width, 64)?, "apart")?;
        let first = self.splat(first.into(), width)?;
        Ok(self.builder.build_int_add(first, apart, "positions")?)
    }

    /// The numbers of the lanes from the last to the first.
    fn reversed(&self, vector: VectorValue<'c>, width: u32) -> Result<VectorValue<'c>> {
        let ty = self.context.i32_type();
        let order: Vec<_> =
            (0..u64::from(width)).rev().map(|lane| ty.const_int(lane, false)).collect();
        let none = vector.get_type().get_poison();
        let order = VectorType::const_vector(&order);
        Ok(self.builder.build_shuffle_vector(vector, none, order, "reversed")?)
    }

    /// A vector access that may lie anywhere between elements.
    fn unaligned(&self, buffer: usize, access: InstructionValue<'c>) -> Result<()> {
        let bytes = self.kernel.buffers[buffer].elem.bits() / 8;
        let refuse = |_| Refused("an alignment was refused".to_owned());
        access.set_alignment(bytes.max(1)).map_err(refuse)?;
        self.tell(buffer, Some(access))
    }

    pub(in crate::emit) fn load_lanes(
        &mut self,
        buffer: BufferId,
        at: &[Subscript],
        access: Access,
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        let number = buffer.0 as usize;
        if let Some(value) = self.load_found(number, at, access, width)? {
            return Ok(value);
        }
        let mut along = Vec::with_capacity(at.len());
        for subscript in at {
            along.push(self.along(subscript, width)?);
        }
        if let Access::Site(site, _) = access {
            for (axis, along) in along.iter().enumerate() {
                let fine = self.is_on_axis(number, axis, along, width)?;
                self.require_lanes(fine, i64::from(site.0) + 1, |emit, lane| {
                    let extent = emit.extent(number, axis)?;
                    let index = match (along, lane) {
                        (Along::Same(index), _) => *index,
                        (_, Some(lane)) => {
                            let index = emit.lanes_of(along, width)?;
                            emit.builder
                                .build_extract_element(index, lane, "index")?
                                .into_int_value()
                        }
                        (_, None) => return Ok(()),
                    };
                    emit.tell_fault(Told::Outside, &[emit.i64(axis as i64), index, extent])
                })?;
            }
        }
        let elem = self.kernel.buffers[number].elem;
        let value = match self.positions(number, &along, width)? {
            Position::Same(position) => {
                return match &self.lanes {
                    Some(Lanes { divided: true, mask: Some(mask), .. }) => {
                        self.load_for_some(number, position, *mask)
                    }
                    _ => self.load_at(number, position),
                };
            }
            Position::Run(position, up) => {
                if let Access::Ahead(parts) = access {
                    self.fetch_ahead(number, at, parts)?;
                }
                self.run(number, position, up, width, self.mask_of_load(number, at))?
            }
            Position::Stepped(first, gap) => {
                let position = self.positions_of_steps((first, gap), width)?;
                return self.gathered(number, position, width);
            }
            Position::Any(position) => return self.gathered(number, position, width),
        };
        self.of_memory(value, elem, width)
    }

    /// What a load gives whose place was found before a loop.
    fn load_found(
        &mut self,
        buffer: usize,
        at: &[Subscript],
        access: Access,
        width: u32,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let is_divided =
            self.lanes.as_ref().is_some_and(|lanes| lanes.divided && lanes.mask.is_some());
        let indices: Option<Vec<&Quasi>> = at.iter().map(index_of).collect();
        let Some(lie) = indices.and_then(|at| self.lie(buffer, at.into_iter())) else {
            return Ok(None);
        };
        if lie == Lie::Same && is_divided {
            return Ok(None);
        }
        let Some(place) = self.found_load(buffer, at, access)? else { return Ok(None) };
        if lie == Lie::Same {
            return self.load_from(buffer, place).map(Some);
        }
        if let Access::Ahead(parts) = access {
            self.fetch_ahead(buffer, at, parts)?;
        }
        let value = self.run_from(buffer, place, width, self.mask_of_load(buffer, at))?;
        self.of_memory(value, self.kernel.buffers[buffer].elem, width).map(Some)
    }

    /// How the elements of all lanes lie, if that is one of two ways.
    fn lie<'q>(&self, buffer: usize, at: impl Iterator<Item = &'q Quasi>) -> Option<Lie> {
        let dims = &self.kernel.buffers[buffer].dims;
        let mut lie = Lie::Same;
        for (axis, expr) in at.enumerate() {
            match self.step_of(expr).ok()? {
                0 => {}
                1 if axis + 1 == dims.len() && self.is_run(dims[axis].layout, 1, expr) => {
                    lie = Lie::Upwards;
                }
                _ => return None,
            }
        }
        Some(lie)
    }

    /// Truth values take a byte in memory.
    fn of_memory(
        &self,
        value: VectorValue<'c>,
        elem: Elem,
        _width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        Ok(match elem {
            Elem::Bool => {
                let zero = value.get_type().const_zero();
                self.builder.build_int_compare(IntPredicate::NE, value, zero, "truth")?.into()
            }
            _ => value.into(),
        })
    }

    pub(super) fn run(
        &self,
        buffer: usize,
        position: IntValue<'c>,
        up: bool,
        width: u32,
        mask: Option<VectorValue<'c>>,
    ) -> Result<VectorValue<'c>> {
        let first = match up {
            true => position,
            false => self.add(position, self.i64(1 - i64::from(width)))?,
        };
        let mask = match mask {
            Some(mask) if !up => Some(self.reversed(mask, width)?),
            mask => mask,
        };
        let place = match mask {
            None => self.place(buffer, first)?,
            Some(_) => self.place_of_some(buffer, first)?,
        };
        let value = self.run_from(buffer, place, width, mask)?;
        if up { Ok(value) } else { self.reversed(value, width) }
    }

    /// Elements that lie one after the other from a place on, those of a mask if there is one.
    fn run_from(
        &self,
        buffer: usize,
        place: PointerValue<'c>,
        width: u32,
        mask: Option<VectorValue<'c>>,
    ) -> Result<VectorValue<'c>> {
        let ty = self.memory_vector(buffer, width)?;
        Ok(match mask {
            None => {
                let value = self.builder.build_load(ty, place, "elements")?;
                if let BasicValueEnum::VectorValue(value) = value {
                    if let Some(load) = value.as_instruction() {
                        self.unaligned(buffer, load)?;
                    }
                    value
                } else {
                    return Err(Refused("a vector that is none".to_owned()));
                }
            }
            Some(mask) => {
                let args = [place.into(), mask.into(), ty.const_zero().into()];
                self.masked(
                    buffer,
                    "llvm.masked.load",
                    &[ty.into(), place.get_type().into()],
                    &args,
                    1,
                )?
                .ok_or_else(|| Refused("a load that gives nothing".to_owned()))?
                .into_vector_value()
            }
        })
    }

    fn gathered(
        &self,
        buffer: usize,
        position: VectorValue<'c>,
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        if self.is_single(buffer, width) {
            let value = self.load_each(buffer, position, width)?;
            return self.of_memory(value, self.kernel.buffers[buffer].elem, width);
        }
        let (ty, places) = self.places(buffer, position, width)?;
        let mask = self.mask_or_all(width)?;
        let args = [places.into(), mask.into(), ty.const_zero().into()];
        let types = [ty.into(), places.get_type().as_basic_type_enum()];
        let value = self.masked(buffer, "llvm.masked.gather", &types, &args, 1)?;
        let value = value.ok_or_else(|| Refused("a gather that gives nothing".to_owned()))?;
        let elem = self.kernel.buffers[buffer].elem;
        self.of_memory(value.into_vector_value(), elem, width)
    }

    fn mask_or_all(&self, width: u32) -> Result<VectorValue<'c>> {
        match self.lanes.as_ref().and_then(|lanes| lanes.mask) {
            Some(mask) => Ok(mask),
            None => {
                let yes = self.context.bool_type().const_all_ones();
                Ok(VectorType::const_vector(&vec![yes; width as usize]))
            }
        }
    }

    /// One place per lane.
    fn places(
        &self,
        buffer: usize,
        position: VectorValue<'c>,
        width: u32,
    ) -> Result<(VectorType<'c>, VectorValue<'c>)> {
        Ok((self.memory_vector(buffer, width)?, self.places_at(buffer, position)?))
    }

    pub(super) fn memory_vector(&self, buffer: usize, width: u32) -> Result<VectorType<'c>> {
        self.vector_type(self.memory_type(self.kernel.buffers[buffer].elem), width)
    }

    /// Calls a masked access, with or without an operand for the alignment, as LLVM wants it.
    fn masked(
        &self,
        buffer: usize,
        name: &str,
        types: &[BasicTypeEnum<'c>],
        args: &[BasicMetadataValueEnum<'c>],
        align_at: usize,
    ) -> Result<Option<BasicValueEnum<'c>>> {
        let missing = || Refused(format!("LLVM has no `{name}`"));
        let found = inkwell::intrinsics::Intrinsic::find(name).ok_or_else(missing)?;
        let function = found.get_declaration(&self.module, types).ok_or_else(missing)?;
        let mut all = args.to_vec();
        if function.count_params() as usize > args.len() {
            all.insert(align_at, self.context.i32_type().const_int(1, false).into());
        }
        let call = self.builder.build_call(function, &all, "masked")?;
        let made = match call.try_as_basic_value() {
            ValueKind::Basic(value) => value.as_instruction_value(),
            ValueKind::Instruction(made) => Some(made),
        };
        self.tell(buffer, made)?;
        Ok(call.try_as_basic_value().basic())
    }

    pub(in crate::emit) fn probe_lanes(
        &mut self,
        buffer: BufferId,
        at: &[Subscript],
        width: u32,
    ) -> Result<BasicValueEnum<'c>> {
        let number = buffer.0 as usize;
        let mut inside: BasicValueEnum<'c> = self.context.bool_type().const_all_ones().into();
        for (axis, subscript) in at.iter().enumerate() {
            let along = self.along(subscript, width)?;
            let on = self.is_on_axis(number, axis, &along, width)?;
            inside = match (inside, on) {
                (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                    self.builder.build_and(a, b, "inside")?.into()
                }
                (a, b) => {
                    let (a, b) = (self.widened(a, width)?, self.widened(b, width)?);
                    self.builder.build_and(a, b, "inside")?.into()
                }
            };
        }
        Ok(inside)
    }

    pub(in crate::emit) fn store_lanes(
        &mut self,
        buffer: BufferId,
        at: &[Quasi],
        value: BasicValueEnum<'c>,
        width: u32,
    ) -> Result<()> {
        let number = buffer.0 as usize;
        let mut value = self.widened(value, width)?;
        if self.kernel.buffers[number].elem == Elem::Bool {
            let ty = self.context.i8_type().vec_type(width);
            value = self.builder.build_int_z_extend(value, ty, "bytes")?;
        }
        if self.lie(number, at.iter()) == Some(Lie::Upwards)
            && let Some(place) = self.found(number, at.iter().map(Some))?
        {
            return self.store_from(number, place, value, self.lanes_that_count());
        }
        let mut along = Vec::with_capacity(at.len());
        for expr in at {
            along.push(self.along_index(expr)?);
        }
        match self.positions(number, &along, width)? {
            Position::Run(position, true) => self.store_run(number, position, value),
            Position::Run(position, false) => {
                let position = self.index_lanes(position, -1, width)?;
                self.scatter(number, position, value, width)
            }
            Position::Stepped(first, gap) => {
                if self.called_scatter(number, (first, gap), value)? {
                    return Ok(());
                }
                let position = self.positions_of_steps((first, gap), width)?;
                self.scatter(number, position, value, width)
            }
            Position::Any(position) => self.scatter(number, position, value, width),
            Position::Same(_) => Err(Refused("lanes that store to one element".to_owned())),
        }
    }

    fn store_run(
        &self,
        buffer: usize,
        position: IntValue<'c>,
        value: VectorValue<'c>,
    ) -> Result<()> {
        self.store_some(buffer, position, value, self.lanes_that_count())
    }

    fn lanes_that_count(&self) -> Option<VectorValue<'c>> {
        self.lanes.as_ref().and_then(|lanes| lanes.mask)
    }

    /// Stores the lanes of a mask, or all, one next to the other.
    pub(super) fn store_some(
        &self,
        buffer: usize,
        position: IntValue<'c>,
        value: VectorValue<'c>,
        mask: Option<VectorValue<'c>>,
    ) -> Result<()> {
        let place = match mask {
            None => self.place(buffer, position)?,
            Some(_) => self.place_of_some(buffer, position)?,
        };
        self.store_from(buffer, place, value, mask)
    }

    /// Stores lanes one after the other from a place on, those of a mask if there is one.
    fn store_from(
        &self,
        buffer: usize,
        place: PointerValue<'c>,
        value: VectorValue<'c>,
        mask: Option<VectorValue<'c>>,
    ) -> Result<()> {
        let Some(mask) = mask else {
            let store = self.builder.build_store(place, value)?;
            return self.unaligned(buffer, store);
        };
        let types = [value.get_type().as_basic_type_enum(), place.get_type().into()];
        let args = [value.into(), place.into(), mask.into()];
        self.masked(buffer, "llvm.masked.store", &types, &args, 2)?;
        Ok(())
    }

    fn scatter(
        &self,
        buffer: usize,
        position: VectorValue<'c>,
        value: VectorValue<'c>,
        width: u32,
    ) -> Result<()> {
        if self.is_single(buffer, width) {
            return self.store_each(buffer, position, value, width);
        }
        let (_, places) = self.places(buffer, position, width)?;
        let mask = self.mask_or_all(width)?;
        let types = [value.get_type().as_basic_type_enum(), places.get_type().as_basic_type_enum()];
        let args = [value.into(), places.into(), mask.into()];
        self.masked(buffer, "llvm.masked.scatter", &types, &args, 2)?;
        Ok(())
    }
}
