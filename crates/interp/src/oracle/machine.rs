//! The machine: what is being computed, on stacks of its own.
//!
//! A point that is asked for and not yet computed is put on top of the stack of frames; the
//! instruction that asked is executed again when it is there. So nothing of the machine recurses,
//! a recurrence may be as long as memory allows, and a point that asks for itself is found on the
//! stack.

use std::rc::Rc;

use super::code::{ArgCode, Code, Dest, Operand, RegionId, Sizes, TensorRef};
use super::grouped::Keys;
use super::reduce::Loop;
use super::table::{Captured, Handle, Instance, Open, State};
use crate::host::HostFunctions;
use crate::options::Meter;
use crate::stop::{Stop, StopCode};

/// Why an instruction could not be completed.
pub(super) enum Halt {
    /// It needs a point.
    Point(Rc<Instance>, u32, u64),
    /// It needs the length of an open axis.
    Extent(Rc<Instance>),
    /// The program stops.
    Stop(Box<Stop>),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stop(Box::new(stop))
    }
}

/// What an activation computes.
#[derive(Debug)]
pub(super) enum What {
    /// A point; clauses from this number on do not cover it.
    Point { instance: Rc<Instance>, member: u32, offset: u64, clause: usize },
    /// The length of an open axis: the step, and the first step that is not made.
    Until { instance: Rc<Instance>, steps: Option<(i64, i64)> },
    /// A function, for the instruction on top of the activation below.
    Call { function: usize },
}

/// An activation: what it computes, and where its parts of the stacks begin.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) what: What,
    pub(super) vals: usize,
    pub(super) vars: usize,
    pub(super) tensors: usize,
    cursors: usize,
    bytes: u64,
}

/// What happens with the results of a region.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum End {
    /// They are the results of the instruction below.
    Arm,
    /// Whether the clause covers the point, and parameters of its body.
    Guard,
    /// The element.
    Body,
    /// The results of the function.
    Function,
    /// Whether the open axis ends.
    Until,
    /// Whether the term counts, and parameters of its body.
    TermGuard,
    /// The term.
    Term,
    /// The combined state.
    Combine,
}

/// A region that is being evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub(super) region: RegionId,
    pub(super) pc: usize,
    pub(super) end: End,
}

/// A scalar or a tensor on its way.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Scalar(u64),
    Tensor(Handle),
}

pub(super) struct Machine<'h> {
    pub(super) code: Rc<Code>,
    pub(super) globals: Vec<Handle>,
    pub(super) groups: Vec<Rc<Instance>>,
    pub(super) symbols: Vec<Option<i64>>,
    pub(super) arguments: Vec<i64>,
    pub(super) meter: Meter,
    pub(super) host: Option<&'h dyn HostFunctions>,
    pub(super) frames: Vec<Frame>,
    pub(super) cursors: Vec<Cursor>,
    pub(super) loops: Vec<Loop>,
    pub(super) keys: Vec<Keys>,
    pub(super) vals: Vec<u64>,
    pub(super) vars: Vec<i64>,
    pub(super) tensors: Vec<Option<Handle>>,
    pub(super) n_calls: usize,
    /// A point that is being looked at; kept to be reused.
    pub(super) point: Vec<i128>,
    pub(super) xs: Vec<i64>,
}

/// What a frame takes besides its slots.
const FRAME_BYTES: u64 = (size_of::<Frame>() + 2 * size_of::<Cursor>()) as u64;

impl Machine<'_> {
    /// Runs until nothing is left to be computed.
    pub(super) fn run(&mut self) -> Result<(), Stop> {
        let code = Rc::clone(&self.code);
        while !self.frames.is_empty() {
            let halted = match self.advance(&code) {
                Ok(()) => continue,
                Err(halt) => self.enter(halt, &code),
            };
            if let Err(stop) = halted {
                let stop = self.blame(stop, &code);
                self.clear();
                return Err(stop);
            }
        }
        Ok(())
    }

    /// Computes what is needed first.
    pub(super) fn enter(&mut self, halt: Halt, code: &Code) -> Result<(), Stop> {
        match halt {
            Halt::Stop(stop) => Err(*stop),
            Halt::Point(instance, member, offset) => {
                self.enter_point(instance, member, offset, code)
            }
            Halt::Extent(instance) => {
                let until = code.groups[instance.group].until.as_ref();
                let sizes = until.map(|until| until.sizes).unwrap_or_default();
                let what = What::Until { instance: Rc::clone(&instance), steps: None };
                self.push_frame(what, sizes, Some(&instance), code)
            }
        }
    }

    fn enter_point(
        &mut self,
        instance: Rc<Instance>,
        member: u32,
        offset: u64,
        code: &Code,
    ) -> Result<(), Stop> {
        let binding = &code.groups[instance.group].bindings[member as usize];
        let name = || format!("`{}`", binding.name.as_str());
        let clause = binding.clauses.len();
        let what = What::Point { instance: Rc::clone(&instance), member, offset, clause };
        self.push_frame(what, binding.sizes, Some(&instance), code)?;
        let mut table = instance.tables[member as usize].borrow_mut();
        let set = table.set(offset, State::Busy, &self.meter, &name);
        set.map_err(|stop| stop.at(binding.loc))?;
        let base = self.frame_vars();
        for (at, axis) in binding.axes.iter().enumerate() {
            self.vars[base + axis.slot as usize] = table.coordinate(offset, at);
        }
        Ok(())
    }

    fn frame_vars(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.vars)
    }

    /// Starts an activation with slots, those of a local group's surroundings filled in.
    pub(super) fn push_frame(
        &mut self,
        what: What,
        sizes: Sizes,
        of: Option<&Rc<Instance>>,
        code: &Code,
    ) -> Result<(), Stop> {
        let bytes = FRAME_BYTES + 8 * u64::from(sizes.vals + sizes.vars + 3 * sizes.tensors);
        self.meter.take(bytes, &|| "the chain of points that wait for each other".to_owned())?;
        let (vals, vars) = (self.vals.len(), self.vars.len());
        let (tensors, cursors) = (self.tensors.len(), self.cursors.len());
        self.vals.resize(vals + sizes.vals as usize, 0);
        self.vars.resize(vars + sizes.vars as usize, 0);
        self.tensors.resize(tensors + sizes.tensors as usize, None);
        if let Some(instance) = of
            && let Some(captured) = &instance.captured
        {
            self.fill(captured, instance, [vals, vars, tensors], code);
        }
        self.frames.push(Frame { what, vals, vars, tensors, cursors, bytes });
        Ok(())
    }

    fn fill(&mut self, from: &Captured, instance: &Rc<Instance>, at: [usize; 3], code: &Code) {
        let [vals, vars, tensors] = at;
        self.vals[vals..vals + from.vals.len()].copy_from_slice(&from.vals);
        self.vars[vars..vars + from.vars.len()].copy_from_slice(&from.vars);
        let n = from.tensors.len();
        self.tensors[tensors..tensors + n].clone_from_slice(&from.tensors);
        for member in 0..code.groups[instance.group].bindings.len() {
            self.tensors[tensors + n + member] =
                Some(Handle::Bound(Rc::clone(instance), member as u32));
        }
    }

    /// Ends the activation on top.
    pub(super) fn pop_frame(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.vals.truncate(frame.vals);
        self.vars.truncate(frame.vars);
        self.tensors.truncate(frame.tensors);
        self.cursors.truncate(frame.cursors);
        self.meter.give(frame.bytes);
        Some(frame)
    }

    /// Forgets what was being computed, so that other points can still be asked for.
    pub(super) fn clear(&mut self) {
        while let Some(frame) = self.pop_frame() {
            match frame.what {
                What::Point { instance, member, offset, .. } => {
                    let mut table = instance.tables[member as usize].borrow_mut();
                    // The page exists, so nothing can fail.
                    let _ = table.set(offset, State::Unknown, &self.meter, &String::new);
                }
                What::Until { instance, .. } => instance.open.set(Open::NotAsked),
                What::Call { .. } => {}
            }
        }
        self.loops.clear();
        self.n_calls = 0;
    }

    /// Whether the activation on top has not started, or has finished a region.
    pub(super) fn is_idle(&self) -> bool {
        self.frames.last().is_some_and(|frame| self.cursors.len() == frame.cursors)
    }

    pub(super) fn push_cursor(&mut self, region: RegionId, end: End) {
        self.cursors.push(Cursor { region, pc: 0, end });
    }

    #[inline]
    pub(super) fn val(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Const(bits) => bits,
            Operand::Slot(slot) => {
                let base = self.frames.last().map_or(0, |frame| frame.vals);
                self.vals[base + slot as usize]
            }
        }
    }

    #[inline]
    pub(super) fn set_val(&mut self, slot: u32, bits: u64) {
        let base = self.frames.last().map_or(0, |frame| frame.vals);
        self.vals[base + slot as usize] = bits;
    }

    #[inline]
    pub(super) fn set_var(&mut self, slot: u32, value: i64) {
        let base = self.frame_vars();
        self.vars[base + slot as usize] = value;
    }

    pub(super) fn handle(&self, tensor: TensorRef) -> Result<Handle, Stop> {
        let found = match tensor {
            TensorRef::Global(number) => self.globals.get(number as usize),
            TensorRef::Slot(slot) => {
                let base = self.frames.last().map_or(0, |frame| frame.tensors);
                self.tensors.get(base + slot as usize).and_then(Option::as_ref)
            }
        };
        found.cloned().ok_or_else(|| Stop::internal("a tensor is read before it is defined"))
    }

    pub(super) fn part(&self, arg: ArgCode) -> Result<Part, Stop> {
        Ok(match arg {
            ArgCode::Scalar(operand) => Part::Scalar(self.val(operand)),
            ArgCode::Tensor(tensor) => Part::Tensor(self.handle(tensor)?),
        })
    }

    pub(super) fn parts(&self, args: &[ArgCode]) -> Result<Vec<Part>, Stop> {
        args.iter().map(|arg| self.part(*arg)).collect()
    }

    pub(super) fn put(&mut self, dest: Dest, part: Part) {
        match (dest, part) {
            (Dest::Scalar(slot), Part::Scalar(bits)) => self.set_val(slot, bits),
            (Dest::Tensor(slot), Part::Tensor(handle)) => {
                let base = self.frames.last().map_or(0, |frame| frame.tensors);
                self.tensors[base + slot as usize] = Some(handle);
            }
            // The verifier has compared the kinds.
            _ => {}
        }
    }

    /// Copies operands to where they are wanted, within one activation.
    pub(super) fn copy(&mut self, from: &[ArgCode], to: &[Dest]) -> Result<(), Stop> {
        for (arg, dest) in from.iter().zip(to) {
            let part = self.part(*arg)?;
            self.put(*dest, part);
        }
        Ok(())
    }

    /// The chain of calls must end.
    pub(super) fn count_call(&mut self, name: &str) -> Result<(), Stop> {
        self.n_calls += 1;
        let limit = self.meter.options().depth;
        match self.n_calls > limit {
            true => {
                let message = format!("`{name}` calls itself more than {limit} deep");
                Err(Stop::new(StopCode::Depth, message))
            }
            false => Ok(()),
        }
    }
}
