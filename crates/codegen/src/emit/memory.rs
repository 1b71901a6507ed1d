//! Buffers: where they lie, the addresses of elements, and tests of subscripts.
//!
//! Everything about a buffer that can change lives in slots: where its elements and marks lie, its
//! extents and its strides. They are set when the buffer gets its memory, and LLVM sees how strides
//! come from extents.

#![allow(unsafe_code)]

use einlang_index::{Quasi, Var};
use einlang_loops::ir::{Access, Buffer, BufferId, Layout, Stmt, Subscript, is_of_sizes};
use einlang_loops::threads::{MOST_ON_STACK, is_of_thread};
use einlang_tir::types::Elem;
use inkwell::IntPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::llvm_sys::core::LLVMBuildGEP2;
use inkwell::types::{AsTypeRef, BasicType};
use inkwell::values::{
    AsValueRef, BasicValue, BasicValueEnum, InstructionValue, IntValue, PointerValue, VectorValue,
};

use super::{Emit, Refused, Result};
use crate::frame::{Field, Told, VIEW_WORDS};
use crate::optimise::SMALL;

/// The bytes of a cache line, and of the longest vectors.
const CACHE_LINE: u32 = 64;

/// The most elements of a buffer on the stack that are cleared by storing them.
const MOST_STORED: i64 = 16;

/// The slots of one buffer.
pub(super) struct Slots<'c> {
    pub(super) data: PointerValue<'c>,
    marks: PointerValue<'c>,
    extents: Vec<PointerValue<'c>>,
    strides: Vec<PointerValue<'c>>,
    /// The strides of a buffer that lies on the stack.
    fixed: Option<Vec<i64>>,
    /// The number that a piece was told, where it may be that of another buffer in every call.
    told: Option<IntValue<'c>>,
}

impl<'c> Slots<'c> {
    /// Slots of a buffer that is not used.
    pub(super) fn nowhere(&self) -> Slots<'c> {
        let (extents, strides) = (self.extents.clone(), self.strides.clone());
        let (data, marks, fixed) = (self.data, self.marks, self.fixed.clone());
        Slots { data, marks, extents, strides, fixed, told: None }
    }
}

impl<'c> Emit<'c, '_> {
    /// All that changes about a buffer: where its elements and marks lie, and its extents.
    pub(super) fn described(&self, buffer: usize) -> Result<Vec<BasicValueEnum<'c>>> {
        let slots = &self.buffers[buffer];
        let pointer = self.context.ptr_type(Default::default());
        let mut all = vec![self.builder.build_load(pointer, slots.data, "data")?];
        if self.kernel.buffers[buffer].marks {
            all.push(self.builder.build_load(pointer, slots.marks, "marks")?);
        }
        for extent in &slots.extents {
            all.push(self.builder.build_load(self.i64_type(), *extent, "extent")?);
        }
        Ok(all)
    }

    /// Whether the surroundings know where a buffer that has memory lies, and its extents; the same for all that
    /// one piece may be called with. Of rows that lie apart they know how much memory there is.
    fn is_viewed(&self, buffer: usize) -> bool {
        let of = &self.kernel.buffers[buffer];
        let open = of.dims.iter().any(|dim| dim.layout == Layout::Open);
        !of.stack && !open && !self.apart[buffer]
    }

    /// What a piece is told about a buffer: its number, where the surroundings know it, for that is less
    /// code than all that changes about it; of other buffers what does not follow from sizes.
    pub(super) fn told(&self, buffer: usize) -> Result<Vec<BasicValueEnum<'c>>> {
        if self.is_viewed(buffer) {
            let told = self.buffers[buffer].told;
            return Ok(vec![told.unwrap_or_else(|| self.i64(buffer as i64)).into()]);
        }
        let mut all = self.described(buffer)?;
        let extents = all.split_off(all.len() - self.kernel.buffers[buffer].dims.len());
        let others = extents.into_iter().enumerate();
        all.extend(others.filter(|(axis, _)| !self.follows(buffer, *axis)).map(|(_, is)| is));
        Ok(all)
    }

    /// Whether an extent follows from sizes, which are the same wherever a piece is called: its pattern has them.
    fn follows(&self, buffer: usize, axis: usize) -> bool {
        let dim = &self.kernel.buffers[buffer].dims[axis];
        let may_follow = axis > 0 && dim.layout != Layout::Open && buffer >= self.kernel.n_inputs;
        may_follow && is_of_sizes(self.kernel, &dim.extent)
    }

    /// The sizes that a piece must know to take over a buffer.
    pub(super) fn sizes_of(&self, buffer: usize) -> Vec<Var> {
        let mut sizes = Vec::new();
        for (axis, dim) in self.kernel.buffers[buffer].dims.iter().enumerate() {
            if !self.is_viewed(buffer) && self.follows(buffer, axis) {
                dim.extent.for_each_var(&mut |var| sizes.push(var));
            }
        }
        sizes
    }

    /// Sets up the slots of a buffer in a piece by what that was told.
    pub(super) fn take_told(
        &mut self,
        buffer: usize,
        outer: &Slots<'c>,
        told: &mut dyn Iterator<Item = BasicValueEnum<'c>>,
    ) -> Result<()> {
        let missing = || Refused("a buffer is not told".to_owned());
        if !self.is_viewed(buffer) {
            let of = &self.kernel.buffers[buffer];
            let mut described: Vec<BasicValueEnum<'c>> =
                (&mut *told).take(1 + usize::from(of.marks)).collect();
            for (axis, dim) in of.dims.iter().enumerate() {
                described.push(match self.follows(buffer, axis) {
                    true => self.quasi(&dim.extent)?.into(),
                    false => told.next().ok_or_else(missing)?,
                });
            }
            return self.take_over(buffer, outer, &mut described.into_iter());
        }
        let number = told.next().ok_or_else(missing)?.into_int_value();
        let at = self.mul(number, self.i64(VIEW_WORDS as i64))?;
        let view = self.element(self.i64_type(), self.field(Field::views)?, at)?;
        let described = self.seen(buffer, view)?;
        self.buffers[buffer].told = Some(number);
        self.take_over(buffer, outer, &mut described.into_iter())
    }

    /// All that changes about a buffer, as the surroundings know it.
    fn seen(&self, buffer: usize, view: PointerValue<'c>) -> Result<Vec<BasicValueEnum<'c>>> {
        let of = &self.kernel.buffers[buffer];
        let pointer = self.context.ptr_type(Default::default());
        let at = |at: u64| {
            self.builder.build_load(pointer, self.word(view, at)?, "seen").map_err(Refused::from)
        };
        let mut all = vec![at(0)?];
        if of.marks {
            all.push(at(1)?);
        }
        let shape = at(2)?.into_pointer_value();
        for axis in 0..of.dims.len() {
            let place = self.word(shape, axis as u64)?;
            all.push(self.builder.build_load(self.i64_type(), place, "extent")?);
        }
        Ok(all)
    }

    /// Sets up the slots of a buffer in another function by what was described.
    pub(super) fn take_over(
        &mut self,
        buffer: usize,
        outer: &Slots<'c>,
        described: &mut dyn Iterator<Item = BasicValueEnum<'c>>,
    ) -> Result<()> {
        let missing = || Refused("a buffer is not described".to_owned());
        self.buffers[buffer].fixed = outer.fixed.clone();
        let (slots, has_marks) = (&self.buffers[buffer], self.kernel.buffers[buffer].marks);
        for slot in [slots.data].into_iter().chain(has_marks.then_some(slots.marks)) {
            self.builder.build_store(slot, described.next().ok_or_else(missing)?)?;
        }
        let tests =
            |stmt: &Stmt| matches!(stmt, Stmt::CheckShape(of, _) if of.0 as usize == buffer);
        let is_checked = buffer >= self.kernel.n_inputs || self.kernel.body.stmts.iter().any(tests);
        let mut extents = Vec::new();
        for dim in &self.kernel.buffers[buffer].dims {
            let given = described.next().ok_or_else(missing)?.into_int_value();
            // Sizes say more than numbers: strides that come from them are the same for all buffers.
            let mut is_size = dim.layout != Layout::Open && is_checked;
            dim.extent.for_each_var(&mut |var| {
                is_size &= self.kernel.sizes.iter().any(|(size, _)| *size == var)
                    && (self.vars.contains_key(&var) || self.known.contains_key(&var));
            });
            extents.push(if is_size { self.quasi(&dim.extent)? } else { given });
        }
        self.set_shape(buffer, &extents)
    }

    /// Slots for a buffer.
    pub(super) fn slots(&self, buffer: usize) -> Result<Slots<'c>> {
        let of = &self.kernel.buffers[buffer];
        let pointer = self.context.ptr_type(Default::default());
        let word = self.i64_type();
        let per_axis = |what: &str| -> Result<Vec<PointerValue<'c>>> {
            of.dims.iter().map(|_| self.slot(word.into(), what)).collect()
        };
        Ok(Slots {
            data: self.slot(pointer.into(), "data")?,
            marks: self.slot(pointer.into(), "marks")?,
            extents: per_axis("extent")?,
            strides: per_axis("stride")?,
            fixed: None,
            told: None,
        })
    }

    /// The place `at` elements after another.
    pub(super) fn element(
        &self,
        ty: impl BasicType<'c>,
        from: PointerValue<'c>,
        at: IntValue<'c>,
    ) -> Result<PointerValue<'c>> {
        // SAFETY: the places computed here are inside what `from` points to: subscripts are proved
        // or tested before, and words of frames and slots are counted by their makers.
        Ok(unsafe { self.builder.build_in_bounds_gep(ty, from, &[at], "place")? })
    }

    /// The place `at` words after another.
    pub(super) fn word(&self, from: PointerValue<'c>, at: u64) -> Result<PointerValue<'c>> {
        self.element(self.i64_type(), from, self.i64(at as i64))
    }

    /// Looks where a buffer lies.
    pub(super) fn look(&self, buffer: usize) -> Result<()> {
        let view = self.word(self.field(Field::views)?, buffer as u64 * VIEW_WORDS)?;
        let pointer = self.context.ptr_type(Default::default());
        let slots = &self.buffers[buffer];
        for (at, slot) in [slots.data, slots.marks].into_iter().enumerate() {
            let place = self.word(view, at as u64)?;
            let value = self.builder.build_load(pointer, place, "where")?;
            if at == 0 {
                self.tell_size(buffer, value.as_instruction_value())?;
            }
            self.builder.build_store(slot, value)?;
        }
        Ok(())
    }

    /// Tells LLVM how much memory certainly lies at a place, so that loads may come earlier.
    fn tell_size(&self, buffer: usize, place: Option<InstructionValue<'c>>) -> Result<()> {
        let of = &self.kernel.buffers[buffer];
        let width = i64::from(of.elem.bits().max(8) / 8);
        let mut bytes = width;
        for dim in &of.dims {
            let kept = match dim.layout {
                Layout::Full => dim.extent.as_constant(),
                Layout::Mod(planes) => Some(planes),
                Layout::Open => None,
            };
            bytes = kept.filter(|kept| *kept > 0).and_then(|k| bytes.checked_mul(k)).unwrap_or(0);
        }
        // The shape of an input is only tested later.
        let certain = buffer >= self.kernel.n_inputs || of.dims.is_empty();
        let Some(place) = place.filter(|_| bytes > 0 && certain) else { return Ok(()) };
        for (name, number) in [("dereferenceable", bytes), ("align", width)] {
            let number = self.context.metadata_node(&[self.i64(number).into()]);
            let refuse = |_| Refused("metadata was refused".to_owned());
            place.set_metadata(number, self.context.get_kind_id(name)).map_err(refuse)?;
        }
        Ok(())
    }

    /// Takes over the extents of an input as it was given.
    pub(super) fn given_shape(&self, buffer: usize) -> Result<()> {
        let view = self.word(self.field(Field::views)?, buffer as u64 * VIEW_WORDS)?;
        let pointer = self.context.ptr_type(Default::default());
        let place = self.word(view, 2)?;
        let shape = self.builder.build_load(pointer, place, "shape")?.into_pointer_value();
        let mut extents = Vec::new();
        for axis in 0..self.buffers[buffer].extents.len() {
            let place = self.word(shape, axis as u64)?;
            let extent = self.builder.build_load(self.i64_type(), place, "extent")?;
            extents.push(extent.into_int_value());
        }
        self.set_shape(buffer, &extents)
    }

    /// Sets the extents and the strides that follow from them.
    pub(super) fn set_shape(&self, buffer: usize, extents: &[IntValue<'c>]) -> Result<()> {
        let of = &self.kernel.buffers[buffer];
        let mut stride = self.i64(1);
        let (slots, zero) = (&self.buffers[buffer], self.i64(0));
        let mut open = Vec::new();
        for (axis, dim) in of.dims.iter().enumerate().rev() {
            let negative = self.compare(IntPredicate::SLT, extents[axis], zero)?;
            let extent = self.builder.build_select(negative, zero, extents[axis], "extent")?;
            self.builder.build_store(slots.extents[axis], extent)?;
            let kept = match dim.layout {
                Layout::Open => {
                    open.push(axis);
                    continue;
                }
                Layout::Mod(width) => self.i64(width),
                Layout::Full => extent.into_int_value(),
            };
            self.builder.build_store(slots.strides[axis], stride)?;
            stride = self.with_room(buffer, self.mul(stride, kept)?)?;
        }
        for axis in open {
            self.builder.build_store(slots.strides[axis], stride)?;
        }
        Ok(())
    }

    /// The extents of a buffer as the kernel computes them.
    pub(super) fn wanted(&self, of: &Buffer) -> Result<Vec<IntValue<'c>>> {
        let mut extents = Vec::with_capacity(of.dims.len());
        for dim in &of.dims {
            let mut known = true;
            dim.extent.for_each_var(&mut |var| {
                known &= self.vars.contains_key(&var) || self.known.contains_key(&var);
            });
            extents.push(match dim.layout {
                // An open axis starts without a plane, and a window has its own width.
                Layout::Open => self.i64(0),
                Layout::Mod(width) if !known => self.i64(width),
                _ => self.quasi(&dim.extent)?,
            });
        }
        Ok(extents)
    }

    /// Whether a buffer lies on the stack here.
    pub(super) fn is_on_stack(&self, buffer: usize) -> bool {
        self.buffers[buffer].fixed.is_some()
    }

    /// Gives a buffer a place on the stack if it may have one and is known to be small.
    fn on_stack(&mut self, buffer: usize) -> Result<bool> {
        let of = &self.kernel.buffers[buffer];
        self.buffers[buffer].fixed = None;
        let mut strides = vec![0; of.dims.len()];
        let mut size = 1_i64;
        for (axis, dim) in of.dims.iter().enumerate().rev() {
            let kept = match dim.layout {
                Layout::Open => None,
                Layout::Mod(width) => Some(width),
                Layout::Full => self.number(&dim.extent),
            };
            strides[axis] = size;
            match kept.and_then(|kept| size.checked_mul(kept)) {
                Some(all @ 1..=MOST_ON_STACK) => size = all,
                _ => return Ok(false),
            }
        }
        // What the threads of a team share lies with none of them.
        let is_shared = self.threads.is_some_and(|threads| !threads.divided);
        if !of.stack || of.marks || is_shared {
            return Ok(false);
        }
        let elem = self.memory_type(of.elem);
        let ty = elem.array_type(u32::try_from(size).unwrap_or(1));
        let place = self.slot(ty.into(), "stack")?;
        // A vector that lies across two cache lines takes twice as long.
        if let Some(place) = place.as_instruction().filter(|_| size > 1) {
            let refuse = |_| Refused("an alignment was refused".to_owned());
            place.set_alignment(CACHE_LINE).map_err(refuse)?;
            let attribute = self.context.create_string_attribute(SMALL, "");
            self.function.add_attribute(AttributeLoc::Function, attribute);
        }
        match size > MOST_STORED {
            // One store of all elements would become one for each.
            true => {
                let (none, bytes) = (self.context.i8_type().const_zero(), ty.size_of());
                let refuse = || Refused("a buffer without a size".to_owned());
                let bytes = bytes.ok_or_else(refuse)?;
                self.builder
                    .build_memset(place, CACHE_LINE, none, bytes)
                    .map_err(|_| Refused("an alignment was refused".to_owned()))?;
            }
            false => {
                self.builder.build_store(place, ty.const_zero())?;
            }
        }
        self.builder.build_store(self.buffers[buffer].data, place)?;
        self.buffers[buffer].fixed = Some(strides);
        Ok(true)
    }

    pub(super) fn alloc(&mut self, buffer: BufferId) -> Result<()> {
        let number = buffer.0 as usize;
        if self.on_stack(number)? {
            let extents = self.wanted(&self.kernel.buffers[number])?;
            return self.set_shape(number, &extents);
        }
        if is_of_thread(&self.kernel.buffers[number]) {
            return self.own(number);
        }
        if self.threads.is_some_and(|threads| threads.divided) {
            return Err(Refused("a thread needs memory of its own".to_owned()));
        }
        let of = &self.kernel.buffers[number];
        let extents = self.wanted(of)?;
        let words = self.words(extents.len(), "extents")?;
        for (at, extent) in self.room(number, &extents)?.into_iter().enumerate() {
            let place = self.word(words, at as u64)?;
            self.builder.build_store(place, extent)?;
        }
        self.ask(Field::alloc, &[self.i64(number as i64).into(), words.into()], -1)?;
        self.look(number)?;
        self.set_shape(number, &extents)
    }

    pub(super) fn check_shape(&self, buffer: BufferId, code: i64) -> Result<()> {
        let number = buffer.0 as usize;
        let extents = self.wanted(&self.kernel.buffers[number])?;
        for (extent, slot) in extents.iter().zip(&self.buffers[number].extents) {
            let given = self.builder.build_load(self.i64_type(), *slot, "given")?;
            let same = self.compare(IntPredicate::EQ, given.into_int_value(), *extent)?;
            self.require(same, code)?;
        }
        self.set_shape(number, &extents)
    }

    /// Makes room on the open axis of a buffer.
    pub(super) fn grow(&self, buffer: usize, axis: usize, extent: IntValue<'c>) -> Result<()> {
        let (number, axis_word) = (self.i64(buffer as i64), self.i64(axis as i64));
        self.ask(Field::grow, &[number.into(), axis_word.into(), extent.into()], -1)?;
        self.look(buffer)?;
        self.builder.build_store(self.buffers[buffer].extents[axis], extent)?;
        Ok(())
    }

    /// Whether a subscript lies on its axis.
    pub(super) fn on_axis(
        &self,
        buffer: usize,
        axis: usize,
        index: IntValue<'c>,
    ) -> Result<IntValue<'c>> {
        let extent = self.extent(buffer, axis)?;
        // As unsigned numbers, negative indices are larger than any extent.
        self.compare(IntPredicate::ULT, index, extent)
    }

    /// The extent of an axis.
    pub(super) fn extent(&self, buffer: usize, axis: usize) -> Result<IntValue<'c>> {
        let slot = self.buffers[buffer].extents[axis];
        Ok(self.builder.build_load(self.i64_type(), slot, "extent")?.into_int_value())
    }

    /// How far apart two elements that follow each other on an axis lie.
    pub(super) fn stride(&self, buffer: usize, axis: usize) -> Result<IntValue<'c>> {
        if let Some(strides) = &self.buffers[buffer].fixed {
            return Ok(self.i64(strides[axis]));
        }
        let slot = self.buffers[buffer].strides[axis];
        Ok(self.builder.build_load(self.i64_type(), slot, "stride")?.into_int_value())
    }

    /// The position of an element among those of its buffer.
    pub(super) fn position(&self, buffer: usize, at: &[IntValue<'c>]) -> Result<IntValue<'c>> {
        let of = &self.kernel.buffers[buffer];
        let unit = of.dims.iter().rposition(|dim| dim.layout != Layout::Open);
        let mut sum = self.i64(0);
        for (axis, index) in at.iter().enumerate() {
            let mut index = *index;
            if let Layout::Mod(1) = of.dims[axis].layout {
                continue;
            }
            if let Layout::Mod(width) = of.dims[axis].layout {
                index = self.ring(index, width)?;
            }
            let part = match Some(axis) == unit {
                true => index,
                false => {
                    let stride = self.stride(buffer, axis)?;
                    self.mul(index, stride)?
                }
            };
            sum = self.add(sum, part)?;
        }
        Ok(sum)
    }

    /// The place of an element.
    pub(super) fn place(&self, buffer: usize, position: IntValue<'c>) -> Result<PointerValue<'c>> {
        let pointer = self.context.ptr_type(Default::default());
        let data = self.builder.build_load(pointer, self.buffers[buffer].data, "data")?;
        let ty = self.memory_type(self.kernel.buffers[buffer].elem);
        self.element(ty, data.into_pointer_value(), position)
    }

    /// The place of an element of the first lane, which may not count: nothing is said about where it is.
    pub(super) fn place_of_some(
        &self,
        buffer: usize,
        position: IntValue<'c>,
    ) -> Result<PointerValue<'c>> {
        let pointer = self.context.ptr_type(Default::default());
        let data = self.builder.build_load(pointer, self.buffers[buffer].data, "data")?;
        let ty = self.memory_type(self.kernel.buffers[buffer].elem);
        self.element_of_some(ty, data.into_pointer_value(), position)
    }

    /// The place `at` elements after another, either of which may be one of a lane that does not count.
    pub(super) fn element_of_some(
        &self,
        ty: impl BasicType<'c>,
        from: PointerValue<'c>,
        at: IntValue<'c>,
    ) -> Result<PointerValue<'c>> {
        // SAFETY: it is used under the mask of the lanes that count.
        Ok(unsafe { self.builder.build_gep(ty, from, &[at], "place")? })
    }

    /// The places of elements by their positions, one per lane. A lane that does not count may have any
    /// position, so nothing is said about its place.
    pub(super) fn places_at(
        &self,
        buffer: usize,
        positions: VectorValue<'c>,
    ) -> Result<VectorValue<'c>> {
        let pointer = self.context.ptr_type(Default::default());
        let data = self.builder.build_load(pointer, self.buffers[buffer].data, "data")?;
        let ty = self.memory_type(self.kernel.buffers[buffer].elem);
        let mut index = positions.as_value_ref();
        // SAFETY: the builder stands in a block, all values are of its context, and a base with a vector
        // of numbers is a vector of addresses. They are used under the mask of the lanes that count.
        Ok(unsafe {
            VectorValue::new(LLVMBuildGEP2(
                self.builder.as_mut_ptr(),
                ty.as_type_ref(),
                data.as_value_ref(),
                &mut index,
                1,
                c"places".as_ptr(),
            ))
        })
    }

    fn mark(&self, buffer: usize, position: IntValue<'c>) -> Result<PointerValue<'c>> {
        let pointer = self.context.ptr_type(Default::default());
        let marks = self.builder.build_load(pointer, self.buffers[buffer].marks, "marks")?;
        self.element(self.context.i8_type(), marks.into_pointer_value(), position)
    }

    /// The type of an element in memory: a truth value takes a byte.
    pub(super) fn memory_type(&self, elem: Elem) -> inkwell::types::BasicTypeEnum<'c> {
        match elem {
            Elem::Bool => self.context.i8_type().into(),
            other => self.ty(other),
        }
    }

    pub(super) fn load(
        &self,
        buffer: BufferId,
        at: &[Subscript],
        access: Access,
    ) -> Result<BasicValueEnum<'c>> {
        let number = buffer.0 as usize;
        if let Some(place) = self.found_load(number, at, access)? {
            return self.load_from(number, place);
        }
        let mut indices = Vec::with_capacity(at.len());
        for subscript in at {
            indices.push(self.subscript(subscript)?);
        }
        if let Access::Site(site, _) = access {
            for (axis, index) in indices.iter().enumerate() {
                let fine = self.on_axis(number, axis, *index)?;
                self.require_or(fine, i64::from(site.0) + 1, |emit| {
                    let extent = emit.extent(number, axis)?;
                    emit.tell_fault(Told::Outside, &[emit.i64(axis as i64), *index, extent])
                })?;
            }
        }
        let position = self.position(number, &indices)?;
        let of = &self.kernel.buffers[number];
        if let Access::Site(site, true) = access
            && of.marks
        {
            let marked = self.is_marked(number, position)?;
            let missing = |emit: &Self| emit.tell_fault(Told::Missing, &[]);
            self.require_or(marked, i64::from(site.0) + 1, missing)?;
        }
        self.load_at(number, position)
    }

    /// The element at a position.
    pub(super) fn load_at(
        &self,
        buffer: usize,
        position: IntValue<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let place = self.place(buffer, position)?;
        self.load_from(buffer, place)
    }

    /// The element of a buffer at a place.
    pub(super) fn load_from(
        &self,
        buffer: usize,
        place: PointerValue<'c>,
    ) -> Result<BasicValueEnum<'c>> {
        let elem = self.kernel.buffers[buffer].elem;
        let value = self.builder.build_load(self.memory_type(elem), place, "element")?;
        self.tell(buffer, value.as_instruction_value())?;
        match elem {
            Elem::Bool => {
                let byte = value.into_int_value();
                let zero = byte.get_type().const_zero();
                Ok(self.compare(IntPredicate::NE, byte, zero)?.into())
            }
            _ => Ok(value),
        }
    }

    pub(super) fn is_marked(&self, buffer: usize, position: IntValue<'c>) -> Result<IntValue<'c>> {
        let place = self.mark(buffer, position)?;
        let byte = self.builder.build_load(self.context.i8_type(), place, "mark")?;
        let byte = byte.into_int_value();
        self.compare(IntPredicate::NE, byte, byte.get_type().const_zero())
    }

    pub(super) fn store(
        &self,
        buffer: BufferId,
        at: &[Quasi],
        value: BasicValueEnum<'c>,
    ) -> Result<()> {
        let number = buffer.0 as usize;
        let of = &self.kernel.buffers[number];
        if !of.marks
            && let Some(place) = self.found(number, at.iter().map(Some))?
        {
            return self.store_at(number, place, value);
        }
        let at: Vec<_> = at.iter().map(|expr| self.quasi(expr)).collect::<Result<_>>()?;
        let position = self.position(number, &at)?;
        self.store_at(number, self.place(number, position)?, value)?;
        if of.marks {
            let place = self.mark(number, position)?;
            self.builder.build_store(place, self.context.i8_type().const_int(1, false))?;
        }
        Ok(())
    }

    fn store_at(
        &self,
        buffer: usize,
        place: PointerValue<'c>,
        value: BasicValueEnum<'c>,
    ) -> Result<()> {
        let value = match self.kernel.buffers[buffer].elem {
            Elem::Bool => {
                let (truth, byte) = (value.into_int_value(), self.context.i8_type());
                self.builder.build_int_z_extend(truth, byte, "byte")?.into()
            }
            _ => value,
        };
        let stored = self.builder.build_store(place, value)?;
        self.tell(buffer, Some(stored))
    }
}
