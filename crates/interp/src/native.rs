//! The seam for machine code: what a compiler of kernels is given, and what running code may ask.
//!
//! Machine code computes addresses and stores elements itself; memory, limits, calls of the program
//! around and rare operations are services of a [`NativeMachine`]. Every service is safe: what it
//! hands out as raw places is valid until the next service that changes the buffer.

use std::fmt;
use std::sync::Arc;

use einlang_loops::ir::{BufferId, Kernel, SiteId, Size};
use einlang_loops::threads::work_of;
use einlang_runtime::pool::ThreadCosts;
use einlang_tir::constant::Const;
use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Ident};

use crate::bytecode::buffer::{Data, Memory};
use crate::bytecode::keys::Keys;
use crate::bytecode::{Fault, LARGEST};
use crate::host::HostFunctions;
pub use crate::options::Limits;
use crate::options::{Meter, Options};
use crate::profile::{Clock, Marked, Seen, part_of};
use crate::scalar::{apply, cast};
use crate::stop::Stop;
use crate::tensor::TensorValue;

/// Makes machine code of kernels.
pub trait NativeCompiler: fmt::Debug + Send + Sync {
    /// The code of a kernel, or why there is none. Kernels are compiled on several threads at once.
    fn compile(&self, kernel: &Kernel, wanted: Wanted) -> Result<Arc<dyn NativeKernel>, String>;

    /// The text of a kernel's code, or why there is none.
    fn show(&self, kernel: &Kernel, checked: bool, form: CodeForm) -> Result<String, String>;

    /// How many kernels it made code of so far, and how many it found made.
    fn made(&self) -> Made;

    /// The object of a kernel whose function has this name, for a linker, or why there is none.
    fn object(&self, kernel: &Kernel, name: &str) -> Result<NativeObject, String>;

    /// What [`NativeCompiler::keep`] kept under this key, if it is still there.
    fn recall(&self, _key: &str) -> Option<Vec<u8>> {
        None
    }

    /// Keeps something beside the code, if anything is kept, for processes of the same version.
    fn keep(&self, _key: &str, _value: &[u8]) {}

    /// What threads cost on this machine, if that is known.
    fn thread_costs(&self) -> Option<ThreadCosts> {
        None
    }

    /// Waits until no code is being made in the background.
    fn settle(&self) {}

    /// Begins no more code in the background, before the process ends, and waits for what is being made if
    /// that is wanted in any case. What an earlier process had not the time for is made and waited for.
    /// Whether none is being made any more.
    fn end(&self, _in_any_case: bool) -> bool {
        true
    }
}

/// How code is made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Compile {
    /// Quickly: it runs a few times slower.
    Quick,
    /// Thoroughly.
    #[default]
    Thorough,
    /// Quickly where thoroughly takes long, and thoroughly in the background.
    Tiered,
}

impl Compile {
    /// The name that people use.
    pub fn parse(name: &str) -> Option<Compile> {
        match name {
            "quick" => Some(Compile::Quick),
            "thorough" => Some(Compile::Thorough),
            "tiered" => Some(Compile::Tiered),
            _ => None,
        }
    }
}

/// What code is wanted of a kernel.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wanted {
    /// Integer overflow and NaN that appear are errors.
    pub checked: bool,
    /// How it is made.
    pub compile: Compile,
    /// How much it has to do when it is called first, in thirds of a nanosecond, if that is known.
    pub work: Option<f64>,
    /// Whether that will be known when it is called, from sizes and numbers alone.
    pub is_bounded: bool,
}

/// Machine code that a linker puts into a library, and what it asks of its surroundings.
#[derive(Clone, Debug)]
pub struct NativeObject {
    /// The object file.
    pub code: Vec<u8>,
    /// The words of the frame that the function takes, in order.
    pub frame: &'static [&'static str],
    /// The operations that it asks for by number: types of the first two operands, and of the result.
    pub scalars: Vec<(Op, [Elem; 2], Elem)>,
    /// The functions of the program around that it calls.
    pub calls: Vec<Ident>,
    /// How many tables of keys it needs.
    pub n_keys: u64,
}

/// The forms in which the code of a kernel can be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeForm {
    /// As it was emitted.
    Emitted,
    /// After the passes.
    Optimised,
    /// As assembly.
    Assembly,
}

/// How the kernels that were asked for came about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Made {
    /// How many were compiled.
    pub compiled: u64,
    /// How many were compiled before and kept on the disk.
    pub from_disk: u64,
    /// How often code ran that was compiled quickly.
    pub quick_runs: u64,
    /// How many got no thorough code, although it was wanted.
    pub not_improved: u64,
}

/// Machine code of one kernel.
pub trait NativeKernel: fmt::Debug + Send + Sync {
    /// Runs it to its end.
    fn run(&self, machine: &mut NativeMachine<'_>) -> Result<(), Ended>;
}

/// A compiler that can be part of options; its copies are one compiler.
#[derive(Clone, Debug)]
pub struct Native(pub Arc<dyn NativeCompiler>);

impl PartialEq for Native {
    fn eq(&self, other: &Native) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Why code ended before its end.
#[derive(Debug)]
pub enum Ended {
    /// It trapped at this site; `u32::MAX` for an operation that has none.
    Trap(u32),
    /// A service refused, and [`NativeMachine`] knows why.
    Refused,
}

/// Applies an operation to bits; nothing if it traps.
pub fn apply_to_bits(
    op: Op,
    elems: [Elem; 2],
    result: Elem,
    x: [u64; 3],
    checked: bool,
) -> Option<u64> {
    apply(op, elems, result, x, checked).ok()
}

/// Runs the code of a kernel by itself, for tests of compilers.
pub fn run_alone(
    kernel: &Kernel,
    code: &dyn NativeKernel,
    inputs: &[Arc<TensorValue>],
    numbers: &[i64],
    options: &Options,
) -> Result<Vec<TensorValue>, String> {
    let meter = Meter::new(options);
    let machine = NativeMachine::new(kernel, inputs, numbers, &meter, None);
    let done = machine.and_then(|machine| machine.execute(code));
    done.map_err(|fault| format!("{fault:?}"))
}

/// Where the elements of a buffer lie now.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first element.
    pub data: *mut u8,
    /// The first mark, one byte per element, if the buffer has marks.
    pub marks: *mut u8,
}

/// What running code works with.
pub struct NativeMachine<'r> {
    kernel: &'r Kernel,
    memory: Vec<Memory>,
    keys: Vec<Keys>,
    meter: &'r Meter,
    host: Option<&'r dyn HostFunctions>,
    sizes: Vec<i64>,
    fault: Option<Fault>,
    /// The nests whose time is measured, and the clock.
    clock: Option<(&'r Marked, Clock)>,
}

impl fmt::Debug for NativeMachine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeMachine").field("kernel", &self.kernel.name).finish_non_exhaustive()
    }
}

impl Drop for NativeMachine<'_> {
    fn drop(&mut self) {
        self.memory.iter_mut().for_each(|memory| memory.free(self.meter));
        self.keys.iter_mut().for_each(|keys| keys.free(self.meter));
    }
}

impl<'r> NativeMachine<'r> {
    pub(crate) fn new(
        kernel: &'r Kernel,
        inputs: &[Arc<TensorValue>],
        numbers: &[i64],
        meter: &'r Meter,
        host: Option<&'r dyn HostFunctions>,
    ) -> Result<NativeMachine<'r>, Fault> {
        let mut memory: Vec<Memory> =
            inputs.iter().map(|input| Memory::of_input(Arc::clone(input))).collect();
        memory.extend(kernel.buffers.iter().skip(kernel.n_inputs).map(Memory::new));
        let mut numbers = numbers.iter();
        let mut sizes = Vec::with_capacity(kernel.sizes.len());
        for (_, size) in &kernel.sizes {
            let value = match size {
                Size::Argument => numbers.next().copied().unwrap_or(0),
                Size::Shape(buffer, axis) => {
                    let memory = memory.get(buffer.0 as usize);
                    memory.and_then(|m| m.shape.get(*axis as usize)).copied().unwrap_or(0)
                }
            };
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(Fault::Trap(SiteId(u32::MAX)));
            }
            sizes.push(value);
        }
        Ok(NativeMachine {
            kernel,
            memory,
            keys: Vec::new(),
            meter,
            host,
            sizes,
            fault: None,
            clock: None,
        })
    }

    /// Measures the time of nests.
    pub(crate) fn measure(&mut self, marked: Option<&'r Marked>) {
        self.clock = marked.map(|marked| (marked, Clock::new(marked.parts.len())));
    }

    /// Runs code and gives the outputs.
    pub(crate) fn execute(mut self, code: &dyn NativeKernel) -> Result<Vec<TensorValue>, Fault> {
        match code.run(&mut self) {
            Ok(()) => {}
            Err(Ended::Trap(site)) => return Err(Fault::Trap(SiteId(site))),
            Err(Ended::Refused) => {
                let unknown = || Stop::internal("a service refused without a reason").into();
                return Err(self.fault.take().unwrap_or_else(unknown));
            }
        }
        if let (Some((marked, clock)), Some(profile)) = (&self.clock, &self.meter.options().profile)
        {
            let shapes = self.memory.iter().map(|memory| memory.shape.as_slice()).collect();
            clock.write(self.kernel, marked, &Seen { sizes: &self.sizes, shapes }, profile);
        }
        let lost = || Stop::internal("an output lost a point");
        let outputs = &self.kernel.outputs;
        let mut results = Vec::with_capacity(outputs.len());
        for (at, output) in outputs.iter().enumerate() {
            let number = output.0 as usize;
            let memory = &mut self.memory[number];
            memory.settle();
            let result = match outputs[at + 1..].contains(output) {
                true => memory.copied(),
                false => memory.take(&self.kernel.buffers[number], self.meter),
            };
            results.push(result.ok_or_else(lost)?);
        }
        Ok(results)
    }

    /// The values of the kernel's sizes, in order.
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// How much there is to do, in thirds of a nanosecond on one thread; nothing if it may be any.
    pub fn work(&self) -> Option<f64> {
        let sizes: Vec<Option<i64>> = self.sizes.iter().copied().map(Some).collect();
        let number = |(at, memory): (usize, &Memory)| match &memory.data {
            Data::Input(input) if memory.shape.is_empty() => {
                let number = input.get(0)?.as_int()?.try_into().ok()?;
                Some((BufferId(at.try_into().ok()?), number))
            }
            _ => None,
        };
        work_of(self.kernel, &sizes, self.memory.iter().enumerate().filter_map(number))
    }

    /// How many buffers there are.
    pub fn n_buffers(&self) -> usize {
        self.memory.len()
    }

    /// The extents of a buffer.
    pub fn shape(&self, buffer: usize) -> &[i64] {
        self.memory.get(buffer).map_or(&[], |memory| &memory.shape)
    }

    /// Where the elements of a buffer lie. Those of an input must not be stored to.
    pub fn place(&mut self, buffer: usize) -> Place {
        match self.memory.get_mut(buffer) {
            Some(memory) => Place {
                data: match &mut memory.data {
                    Data::Input(tensor) => tensor.data().first().cast_mut(),
                    Data::Own(storage) => storage.first_mut(),
                },
                marks: memory.marks.as_mut_ptr().cast(),
            },
            None => Place { data: std::ptr::null_mut(), marks: std::ptr::null_mut() },
        }
    }

    /// Gives a buffer memory for these extents, all zero unless the buffer may be left unset.
    pub fn alloc(&mut self, buffer: usize, extents: &[i64]) -> bool {
        if extents.iter().any(|extent| *extent > LARGEST) {
            return self.refused(Err(Fault::Trap(SiteId(u32::MAX))));
        }
        let done =
            self.memory[buffer].alloc_room(&self.kernel.buffers[buffer], extents, self.meter);
        self.refused(done.map_err(Fault::from))
    }

    /// Takes the memory of a buffer away.
    pub fn free(&mut self, buffer: usize) {
        self.memory[buffer].free(self.meter);
    }

    /// Makes room on the open axis of a buffer.
    pub fn grow(&mut self, buffer: usize, axis: usize, extent: i64) -> bool {
        let of = &self.kernel.buffers[buffer];
        let done = self.memory[buffer].grow(of, axis, extent, self.meter);
        self.refused(done.map_err(Fault::from))
    }

    /// Makes a buffer equal to another.
    pub fn copy(&mut self, to: usize, from: usize) -> bool {
        let (data, marks) = (self.memory[from].storage().clone(), self.memory[from].marks.clone());
        let target = &mut self.memory[to];
        if data.len() != target.storage().len() {
            return self.refused(Err(Fault::Trap(SiteId(u32::MAX))));
        }
        (target.data, target.marks) = (Data::Own(data), marks);
        true
    }

    /// Counts work, and refuses when a limit is reached.
    pub fn tick(&mut self, n: u64) -> bool {
        let done = self.meter.step(n);
        self.refused(done.map_err(Fault::from))
    }

    /// The same, and looks at all limits at once.
    pub fn tick_at_once(&mut self, n: u64) -> bool {
        let done = self.meter.step_at_once(n);
        self.refused(done.map_err(Fault::from))
    }

    /// What other threads may look at while this one works with them.
    pub fn limits(&self) -> Limits {
        self.meter.limits()
    }

    /// How many threads are worth it for so much work, in thirds of a nanosecond.
    pub fn n_threads(&self, work: u64) -> usize {
        let options = self.meter.options();
        if work < options.worth().least { 1 } else { options.threads.most }
    }

    /// What threads lose by waiting for each other once, in the same unit.
    pub fn wait(&self) -> u64 {
        self.meter.options().worth().wait
    }

    /// Calls a function of the program around; nothing if it ends the program, which the oracle
    /// then finds out by itself.
    pub fn call(&mut self, function: &Ident, args: &[Const], results: &[Elem]) -> Option<Vec<u64>> {
        if let (Some((_, clock)), Some(part)) = (&mut self.clock, part_of(function)) {
            clock.reach(part);
            return Some(Vec::new());
        }
        let nested = self.meter.nest().map_err(Fault::from);
        let _nested = match nested {
            Ok(nested) => nested,
            Err(fault) => {
                self.fault = Some(fault);
                return None;
            }
        };
        let given = self.host?.call(function, args, self.meter).ok()?;
        let bits = given.iter().zip(results);
        Some(bits.map(|(value, elem)| cast(value.elem(), *elem, value.bits())).collect())
    }

    /// Whether the points of a table are sorted by their keys; before, they are forgotten.
    pub fn is_sorted(&mut self, table: usize, n_dims: usize) -> bool {
        while self.keys.len() <= table {
            self.keys.push(Keys::new(0));
        }
        if !self.keys[table].is_sorted() {
            self.keys[table] = Keys::new(n_dims);
            return false;
        }
        true
    }

    /// Writes down the key of a point.
    pub fn add_key(&mut self, table: usize, key: u64, point: &[i64]) {
        self.keys[table].add(key, point.iter().copied());
    }

    /// Sorts the points of a table by their keys.
    pub fn sort_keys(&mut self, table: usize) -> bool {
        let done = self.keys[table].sort(self.meter);
        self.refused(done.map_err(Fault::from))
    }

    /// Begins with the points of a key.
    pub fn visit(&mut self, table: usize, key: u64) {
        self.keys[table].visit(key);
    }

    /// The next of these points.
    pub fn next_point(&mut self, table: usize) -> Option<&[i64]> {
        self.keys[table].next().map(|(_, point)| point)
    }

    /// True if all went well; otherwise what went wrong is kept.
    fn refused(&mut self, done: Result<(), Fault>) -> bool {
        match done {
            Ok(()) => true,
            Err(fault) => {
                self.fault = Some(fault);
                false
            }
        }
    }
}
