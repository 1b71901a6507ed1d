//! The machine: one loop over the instructions.

use einlang_index::DivOp;
use einlang_loops::ir::{Kernel, SiteId, Size};
use einlang_tir::constant::Const;

use super::Fault;
use super::buffer::{Data, Memory};
use super::code::{Call, Code, Inst, LOST, Reg};
use super::keys::{Keys, place};
use super::pairs::Pairs;
use crate::host::HostFunctions;
use crate::options::Meter;
use crate::scalar::{apply, cast, int_of};
use crate::stop::Stop;
use crate::tensor::{Storage, TensorValue};

/// No extent and no index may be larger, so that addresses fit 64 bits.
pub(crate) const LARGEST: i64 = 1 << 40;

/// How many rounds of loops pass between two looks at the limits.
const ROUNDS: i64 = 2048;

const N_REGS: usize = 1 << 16;

/// A kernel that is running.
pub(super) struct Machine<'r> {
    kernel: &'r Kernel,
    code: &'r Code,
    regs: Box<[u64; N_REGS]>,
    memory: Vec<Memory>,
    pairs: Vec<Pairs>,
    keys: Vec<Keys>,
    meter: &'r Meter,
    host: Option<&'r dyn HostFunctions>,
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        self.memory.iter_mut().for_each(|memory| memory.free(self.meter));
        self.keys.iter_mut().for_each(|keys| keys.free(self.meter));
    }
}

impl<'r> Machine<'r> {
    pub(super) fn new(
        kernel: &'r Kernel,
        code: &'r Code,
        inputs: Vec<Memory>,
        numbers: &[i64],
        meter: &'r Meter,
        host: Option<&'r dyn HostFunctions>,
    ) -> Result<Machine<'r>, Fault> {
        let regs: Box<[u64]> = vec![0; N_REGS].into_boxed_slice();
        let regs = regs.try_into().map_err(|_| Stop::internal("registers have another number"))?;
        let checked = meter.options().checked;
        let mut machine = Machine {
            kernel,
            code,
            regs,
            memory: inputs,
            pairs: code.pairs.iter().map(|elem| Pairs::new(*elem, checked)).collect(),
            meter,
            host,
            keys: code.keys.iter().map(|vars| Keys::new(vars.len())).collect(),
        };
        let own = kernel.buffers.iter().skip(kernel.n_inputs);
        machine.memory.extend(own.map(Memory::new));
        for (reg, bits) in &code.constants {
            machine.regs[usize::from(*reg)] = *bits;
        }
        let mut numbers = numbers.iter();
        for (reg, size) in &code.sizes {
            let value = match size {
                Size::Argument => numbers.next().copied().unwrap_or(0),
                Size::Shape(buffer, axis) => {
                    let memory = machine.memory.get(buffer.0 as usize);
                    memory.and_then(|m| m.shape.get(*axis as usize)).copied().unwrap_or(0)
                }
            };
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(Fault::Trap(SiteId(LOST)));
            }
            machine.regs[usize::from(*reg)] = value as u64;
        }
        for at in 0..kernel.n_inputs {
            machine.write_strides(at);
        }
        Ok(machine)
    }

    fn write_strides(&mut self, buffer: usize) {
        let first = usize::from(self.code.strides[buffer]);
        for (axis, stride) in self.memory[buffer].strides.iter().enumerate() {
            self.regs[(first + axis) % N_REGS] = *stride as u64;
        }
    }

    #[inline(always)]
    fn index(&self, reg: Reg) -> i64 {
        self.regs[usize::from(reg)] as i64
    }

    #[inline(always)]
    fn set(&mut self, reg: Reg, value: i64) {
        self.regs[usize::from(reg)] = value as u64;
    }

    /// Runs to the end.
    pub(super) fn run(&mut self) -> Result<(), Fault> {
        let code = self.code;
        let insts = &code.insts[..];
        let checked = self.meter.options().checked;
        let mut rounds = ROUNDS;
        let mut pc = 0_usize;
        let mut counted = 0_u64;
        while let Some(inst) = insts.get(pc) {
            pc += 1;
            match *inst {
                Inst::Fast { op, dst, a, b } => {
                    let (a, b) = (self.regs[usize::from(a)], self.regs[usize::from(b)]);
                    self.regs[usize::from(dst)] = op.apply(a, b);
                }
                Inst::Copy { dst, src } => {
                    self.regs[usize::from(dst)] = self.regs[usize::from(src)];
                }
                Inst::Add { dst, a, b } => {
                    self.set(dst, self.index(a).wrapping_add(self.index(b)));
                }
                Inst::AddImm { dst, a, imm } => {
                    self.set(dst, self.index(a).wrapping_add(i64::from(imm)));
                }
                Inst::Mul { dst, a, b } => {
                    self.set(dst, self.index(a).wrapping_mul(self.index(b)));
                }
                Inst::MulImm { dst, a, imm } => {
                    self.set(dst, self.index(a).wrapping_mul(i64::from(imm)));
                }
                Inst::MulAdd { dst, a, b, c } => {
                    let product = self.index(a).wrapping_mul(self.index(b));
                    self.set(dst, product.wrapping_add(self.index(c)));
                }
                Inst::LoadF32 { dst, buf, at } => {
                    let at = self.index(at) as usize;
                    match self.memory[usize::from(buf)].storage() {
                        Storage::F32(list) if at < list.len() => {
                            self.regs[usize::from(dst)] = u64::from(list[at].to_bits());
                        }
                        _ => return self.lost(pc),
                    }
                }
                Inst::LoadF64 { dst, buf, at } => {
                    let at = self.index(at) as usize;
                    match self.memory[usize::from(buf)].storage() {
                        Storage::F64(list) if at < list.len() => {
                            self.regs[usize::from(dst)] = list[at].to_bits();
                        }
                        _ => return self.lost(pc),
                    }
                }
                Inst::LoadI32 { dst, buf, at } => {
                    let at = self.index(at) as usize;
                    match self.memory[usize::from(buf)].storage() {
                        Storage::I32(list) if at < list.len() => {
                            self.regs[usize::from(dst)] = i64::from(list[at]) as u64;
                        }
                        _ => return self.lost(pc),
                    }
                }
                Inst::StoreF32 { src, buf, at } => {
                    let at = self.index(at) as usize;
                    let value = f32::from_bits(self.regs[usize::from(src)] as u32);
                    match &mut self.memory[usize::from(buf)].data {
                        Data::Own(Storage::F32(list)) if at < list.len() => list[at] = value,
                        _ => return self.lost(pc),
                    }
                }
                Inst::Up { a, end, to } => {
                    let next = self.index(a) + 1;
                    self.set(a, next);
                    if next < self.index(end) {
                        counted += pc as u64 - u64::from(to);
                        pc = to as usize;
                        rounds -= 1;
                        if rounds < 0 {
                            rounds = ROUNDS;
                            self.meter.step(std::mem::take(&mut counted))?;
                        }
                    }
                }
                Inst::ToI32 { dst, a } => self.set(dst, i64::from(self.index(a) as i32)),
                Inst::Quotient { dst, a, b, site } => {
                    let (a, b) = (self.index(a) as i32, self.index(b) as i32);
                    if b == 0 {
                        return Err(Fault::Trap(SiteId(site)));
                    }
                    self.set(dst, i64::from(a.wrapping_div(b)));
                }
                Inst::Remainder { dst, a, b, site } => {
                    let (a, b) = (self.index(a), self.index(b));
                    if b == 0 {
                        return Err(Fault::Trap(SiteId(site)));
                    }
                    self.set(dst, a.wrapping_rem(b));
                }
                Inst::Jump(to) => pc = to as usize,
                Inst::If { a, to } => {
                    if self.regs[usize::from(a)] != 0 {
                        pc = to as usize;
                    }
                }
                Inst::Unless { a, to } => {
                    if self.regs[usize::from(a)] == 0 {
                        pc = to as usize;
                    }
                }
                Inst::IfGe { a, b, to } => {
                    if self.index(a) >= self.index(b) {
                        pc = to as usize;
                    }
                }
                Inst::IfNegative { a, to } => {
                    if self.index(a) < 0 {
                        pc = to as usize;
                    }
                }
                Inst::IfNonzero { a, to } => {
                    if self.index(a) != 0 {
                        pc = to as usize;
                    }
                }
                Inst::PairsTerm { state, a } => {
                    let term = self.regs[usize::from(a)];
                    if !self.pairs[usize::from(state)].push(Some(term)) {
                        return self.lost(pc);
                    }
                }
                Inst::Wrap { dst, a, by } => {
                    let a = self.index(a);
                    let rest = match u32::try_from(a) {
                        Ok(small) => i64::from(small % by.unsigned_abs().max(1)),
                        Err(_) => a.rem_euclid(i64::from(by.max(1))),
                    };
                    self.set(dst, rest);
                }
                Inst::Down { a, end, to } => {
                    let next = self.index(a) - 1;
                    self.set(a, next);
                    if next >= self.index(end) {
                        counted += pc as u64 - u64::from(to);
                        pc = to as usize;
                        rounds -= 1;
                        if rounds < 0 {
                            rounds = ROUNDS;
                            self.meter.step(std::mem::take(&mut counted))?;
                        }
                    }
                }
                Inst::End => {
                    self.meter.step(counted + pc as u64)?;
                    return Ok(());
                }
                other => {
                    if let Some(to) = self.rare(other, pc, checked)? {
                        pc = to;
                    }
                }
            }
        }
        Err(Stop::internal("the code has no end").into())
    }

    /// Something that a correct kernel never does: the oracle decides.
    #[cold]
    fn lost(&self, _: usize) -> Result<(), Fault> {
        Err(Fault::Trap(SiteId(LOST)))
    }

    /// Instructions that are not worth a place in the loop; where to go on, if elsewhere.
    fn rare(&mut self, inst: Inst, pc: usize, checked: bool) -> Result<Option<usize>, Fault> {
        match inst {
            Inst::Apply(at) => {
                let code = self.code;
                let apply_ = &code.applies[at as usize];
                let x = apply_.args.map(|reg| self.regs[usize::from(reg)]);
                match apply(apply_.op, apply_.elems, apply_.result, x, checked) {
                    Ok(bits) => self.regs[usize::from(apply_.dst)] = bits,
                    Err(_) => return Err(Fault::Trap(SiteId(apply_.site))),
                }
            }
            Inst::Min { dst, a, b } => self.set(dst, self.index(a).min(self.index(b))),
            Inst::Max { dst, a, b } => self.set(dst, self.index(a).max(self.index(b))),
            Inst::Divide { op, dst, a, by } => {
                let (a, by) = (self.index(a), i64::from(by.max(1)));
                self.set(dst, divide(op, a, by));
            }
            Inst::ToScalar { dst, a, elem } => {
                let bits = Const::int(elem, self.index(a).into()).bits();
                self.regs[usize::from(dst)] = bits;
            }
            Inst::ToIndex { dst, a, elem, site } => {
                match i64::try_from(int_of(elem, self.regs[usize::from(a)])) {
                    Ok(value) if (-LARGEST..=LARGEST).contains(&value) => self.set(dst, value),
                    _ => return Err(Fault::Trap(SiteId(site))),
                }
            }
            Inst::ToSubscript { dst, a, elem } => {
                let value = int_of(elem, self.regs[usize::from(a)]);
                let value = i64::try_from(value).ok().filter(|value| *value <= LARGEST);
                self.set(dst, value.unwrap_or(-1).max(-1));
            }
            Inst::Load { dst, buf, at } => {
                let at = usize::try_from(self.index(at)).unwrap_or(usize::MAX);
                match self.memory[usize::from(buf)].storage().bits(at) {
                    Some(bits) => self.regs[usize::from(dst)] = bits,
                    None => return self.lost(pc).map(|()| None),
                }
            }
            Inst::Store { src, buf, at } => {
                let at = usize::try_from(self.index(at)).unwrap_or(usize::MAX);
                let bits = self.regs[usize::from(src)];
                let stored = match &mut self.memory[usize::from(buf)].data {
                    Data::Own(storage) => storage.set_bits(at, bits),
                    Data::Input(_) => false,
                };
                if !stored {
                    return self.lost(pc).map(|()| None);
                }
            }
            Inst::PairsBegin(state) => self.pairs[usize::from(state)].begin(),
            Inst::PairsGap(state) => {
                if !self.pairs[usize::from(state)].push(None) {
                    return self.lost(pc).map(|()| None);
                }
            }
            Inst::PairsEnd { state, dst, any } => {
                let sum = self.pairs[usize::from(state)].end();
                let sum = sum.map_err(|()| Fault::Trap(SiteId(LOST)))?;
                self.regs[usize::from(any)] = u64::from(sum.is_some());
                self.regs[usize::from(dst)] = sum.unwrap_or(0);
            }
            Inst::IfSorted { .. }
            | Inst::KeysAdd { .. }
            | Inst::KeysEnd(_)
            | Inst::Visit { .. }
            | Inst::VisitNext { .. } => return self.sorted(inst),
            other => return self.buffers(other),
        }
        Ok(None)
    }

    /// Instructions about points by their keys.
    fn sorted(&mut self, inst: Inst) -> Result<Option<usize>, Fault> {
        match inst {
            Inst::IfSorted { table, to } if self.keys[table as usize].is_sorted() => {
                return Ok(Some(to as usize));
            }
            Inst::KeysAdd { table, a } => {
                let (regs, vars) = (&self.regs, &self.code.keys[table as usize]);
                let point = vars.iter().map(|reg| regs[usize::from(*reg)] as i64);
                self.keys[table as usize].add(regs[usize::from(a)], point);
            }
            Inst::KeysEnd(table) => self.keys[table as usize].sort(self.meter)?,
            Inst::Visit { table, a } => {
                self.keys[table as usize].visit(self.regs[usize::from(a)]);
            }
            Inst::VisitNext { table, pairs, to } => {
                // Visits are rounds without a loop of their own.
                self.meter.step(1)?;
                let Some((position, point)) = self.keys[table as usize].next() else {
                    return Ok(Some(to as usize));
                };
                place(point, &self.code.keys[table as usize], &mut self.regs[..]);
                if let Some(pairs) = self.pairs.get_mut(usize::from(pairs))
                    && !pairs.skip_to(position)
                {
                    return Err(Fault::Trap(SiteId(LOST)));
                }
            }
            _ => {}
        }
        Ok(None)
    }

    /// Instructions about buffers as a whole, their bounds and their marks.
    fn buffers(&mut self, inst: Inst) -> Result<Option<usize>, Fault> {
        match inst {
            Inst::CheckAxis { a, buf, axis, site } => {
                if !self.is_on_axis(a, buf, axis) {
                    return Err(Fault::Trap(SiteId(site)));
                }
            }
            Inst::UnlessOnAxis { a, buf, axis, to } => {
                if !self.is_on_axis(a, buf, axis) {
                    return Ok(Some(to as usize));
                }
            }
            Inst::CheckMark { buf, at, site } => {
                if !self.is_marked(buf, at) {
                    return Err(Fault::Trap(SiteId(site)));
                }
            }
            Inst::Marked { dst, buf, at } => {
                self.regs[usize::from(dst)] = u64::from(self.is_marked(buf, at));
            }
            Inst::Mark { buf, at } => {
                let at = self.index(at) as usize;
                if let Some(mark) = self.memory[usize::from(buf)].marks.get_mut(at) {
                    *mark = true;
                }
            }
            Inst::Alloc(at) => {
                let shape = &self.code.shapes[at as usize];
                let extents: Vec<i64> = shape.extents.iter().map(|reg| self.index(*reg)).collect();
                if extents.iter().any(|extent| *extent > LARGEST) {
                    return Err(Fault::Trap(SiteId(LOST)));
                }
                let number = usize::from(shape.buf);
                self.memory[number].alloc(&self.kernel.buffers[number], &extents, self.meter)?;
                self.write_strides(number);
            }
            Inst::Free(buf) => self.memory[usize::from(buf)].free(self.meter),
            Inst::Grow { buf, axis, a } => {
                let (number, extent) = (usize::from(buf), self.index(a));
                let buffer = &self.kernel.buffers[number];
                self.memory[number].grow(buffer, usize::from(axis), extent, self.meter)?;
            }
            Inst::CopyBuffer { to, from } => {
                let source = &self.memory[usize::from(from)];
                let (data, marks) = (source.storage().clone(), source.marks.clone());
                let target = &mut self.memory[usize::from(to)];
                if data.len() != target.storage().len() {
                    return Err(Fault::Trap(SiteId(LOST)));
                }
                (target.data, target.marks) = (Data::Own(data), marks);
            }
            Inst::CheckShape(at) => {
                let shape = &self.code.shapes[at as usize];
                let given = &self.memory[usize::from(shape.buf)].shape;
                let wanted = shape.extents.iter().map(|reg| self.index(*reg));
                if !wanted.eq(given.iter().copied()) {
                    return Err(Fault::Trap(SiteId(shape.site)));
                }
            }
            Inst::Call(at) => self.call(&self.code.calls[at as usize])?,
            Inst::Trap(site) => return Err(Fault::Trap(SiteId(site))),
            _ => return Err(Stop::internal("an instruction without a meaning").into()),
        }
        Ok(None)
    }

    fn is_on_axis(&self, a: Reg, buf: u16, axis: u16) -> bool {
        let extent = self.memory[usize::from(buf)].shape.get(usize::from(axis));
        (0..extent.copied().unwrap_or(0)).contains(&self.index(a))
    }

    fn is_marked(&self, buf: u16, at: Reg) -> bool {
        let at = self.index(at) as usize;
        self.memory[usize::from(buf)].marks.get(at).copied().unwrap_or(false)
    }

    fn call(&mut self, call: &Call) -> Result<(), Fault> {
        let args = call.args.iter();
        let args: Vec<Const> =
            args.map(|(reg, elem)| Const::from_bits(*elem, self.regs[usize::from(*reg)])).collect();
        let missing = || Stop::internal("there are no functions to be called here");
        let host = self.host.ok_or_else(missing)?;
        let _nested = self.meter.nest()?;
        let results = match host.call(&call.function, &args, self.meter) {
            Ok(results) => results,
            Err(_) => return Err(Fault::Trap(SiteId(call.site))),
        };
        for ((reg, elem), value) in call.results.iter().zip(results) {
            self.regs[usize::from(*reg)] = cast(value.elem(), *elem, value.bits());
        }
        Ok(())
    }

    /// The tensor of an output; an output that is asked for twice is copied.
    pub(super) fn output(&mut self, buffer: usize, last: bool) -> Result<TensorValue, Fault> {
        let of = &self.kernel.buffers[buffer];
        let lost = || Stop::internal("an output lost a point");
        if last {
            return Ok(self.memory[buffer].take(of, self.meter).ok_or_else(lost)?);
        }
        Ok(self.memory[buffer].copied().ok_or_else(lost)?)
    }
}

fn divide(op: DivOp, number: i64, by: i64) -> i64 {
    match op {
        DivOp::FloorDiv => number.div_euclid(by),
        DivOp::FloorMod => number.rem_euclid(by),
        DivOp::TruncDiv => number / by,
        DivOp::TruncRem => number % by,
    }
}
