//! The bytecode executor: runs the loop IR of a module.
//!
//! A kernel is compiled once to register code and run any number of times. Nothing is allocated in
//! loops but the planes of open axes; memory is what the plan of the kernel says, and is held to the
//! limits of the run. What would go wrong is a trap: the caller then asks the oracle, which reports
//! the exact error or finds that nobody needs the point.
//!
//! | file | owns |
//! |---|---|
//! | `breathe.rs` | pieces of long loops, for machine code |
//! | `divided.rs` | plans with their loops divided among threads, which are kept |
//! | `wider.rs` | the same code divided among threads, for more work |
//! | `code.rs` | instructions |
//! | `compile/` | from loop IR to instructions |
//! | `exec.rs` | the machine |
//! | `buffer.rs`, `pairs.rs`, `keys.rs` | memory of tensors, sums in pairs, points by their keys |

mod breathe;
pub(crate) mod buffer;
mod code;
mod compile;
mod divided;
mod exec;
pub(crate) mod keys;
mod pairs;
mod wider;

use std::iter;
use std::sync::{Arc, OnceLock};

use einlang_loops::checkpoint::{Checkpoint, OTHER_SIZES, OVER_BUDGET, SHORTER_AXIS};
use einlang_loops::ir::{Kernel, SiteId, verify};
use einlang_loops::plan::{Choices, Cut};
use einlang_loops::schedule::{Checkpoints, Schedule};
use einlang_loops::threads::{is_bounded, sizes_of, work_of};
use einlang_loops::{Rounds, jam_rounds};
use einlang_tir::module::Module;

use self::buffer::Memory;
use self::code::Code;
use self::divided::{Divided, divided};
pub(crate) use self::exec::LARGEST;
use self::exec::Machine;
use self::wider::Wider;
use crate::host::HostFunctions;
use crate::native::{Compile, NativeKernel, NativeMachine, Wanted};
use crate::options::{Backend, Meter, Options};
use crate::planned::{Planned, planned};
use crate::profile::Marked;
use crate::report::Ran;
use crate::stop::Stop;
use crate::tensor::TensorValue;

/// Why a kernel did not run to its end.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The oracle must be asked.
    Trap(SiteId),
    /// A limit was reached, or a promise was broken.
    Stop(Box<Stop>),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Fault {
        Fault::Stop(Box::new(stop))
    }
}

/// A module that can be run.
#[derive(Debug)]
pub(crate) struct Compiled {
    kernel: Kernel,
    code: Made,
    /// The schedule of the kernel.
    schedule: Schedule,
    /// The nests whose time is measured.
    marked: Option<Marked>,
    /// What runs where there is more work than this one is for.
    wider: Option<Wider>,
    /// What runs where this one traps because it was made for other calls.
    others: Vec<Other>,
}

/// Other code of a module, made when it is first wanted.
#[derive(Debug)]
struct Other {
    /// What the site says at which it is wanted.
    at: &'static str,
    module: Box<Module>,
    choices: Choices,
    options: Options,
    made: OnceLock<Result<Box<Compiled>, String>>,
}

/// What a kernel was compiled to.
#[derive(Debug)]
enum Made {
    /// Register code; why it is not machine code, where that was wanted.
    Registers(Box<Code>, Option<String>),
    /// Machine code.
    Machine(Arc<dyn NativeKernel>),
}

impl Compiled {
    /// Compiles a module, or says why it stays with the oracle.
    pub(crate) fn new(
        module: &Module,
        choices: &Choices,
        options: &Options,
    ) -> Result<Compiled, String> {
        let mut choices = choices.clone();
        if choices.cut == Cut::Outermost {
            choices.cut = Cut::OutermostIfLongest;
        }
        let mut made = Compiled::alone(module, &choices, options)?;
        let segments = Checkpoint::Segments(Checkpoints::Sqrt);
        let otherwise = [
            (OTHER_SIZES, Choices { expects_sizes: false, ..choices.clone() }),
            (OVER_BUDGET, Choices { checkpoint: segments, ..choices.clone() }),
            (SHORTER_AXIS, Choices { cut: Cut::Other, ..choices }),
        ];
        for (at, choices) in otherwise {
            if made.kernel.sites.iter().any(|site| site.what == at) {
                let (module, options) = (Box::new(module.clone()), options.clone());
                made.others.push(Other { at, module, choices, options, made: OnceLock::new() });
            }
        }
        Ok(made)
    }

    fn alone(module: &Module, choices: &Choices, options: &Options) -> Result<Compiled, String> {
        let Some(native) = options.native.as_ref().filter(|_| options.backend == Backend::Native)
        else {
            let Planned { kernel, schedule } = match options.backend {
                Backend::Native => options.tuned.plan(module, choices)?,
                _ => planned(module, choices, None).map_err(|not| not.why)?,
            };
            return Compiled::registers(kernel, schedule, choices, None);
        };
        let Divided { kernel, schedule, wider, marked } = divided(module, choices, options)?;
        hold(&kernel)?;
        let work = || work_of(&kernel, &sizes_of(&kernel, &choices.shapes), iter::empty());
        let work = (options.compile == Compile::Tiered).then(work).flatten();
        let is_bounded = options.compile == Compile::Tiered && is_bounded(&kernel);
        let wanted =
            Wanted { checked: options.checked, compile: options.compile, work, is_bounded };
        if let Some((with, parts)) = marked
            && let Ok(code) = native.0.compile(&with, wanted)
        {
            return Ok(Compiled {
                kernel: with,
                code: Made::Machine(code),
                schedule,
                marked: Some(parts),
                wider: None,
                others: Vec::new(),
            });
        }
        match native.0.compile(&kernel, wanted) {
            Ok(code) => Ok(Compiled {
                kernel,
                code: Made::Machine(code),
                schedule,
                marked: None,
                wider,
                others: Vec::new(),
            }),
            Err(why) => {
                let why = format!("no machine code: {why}");
                Compiled::registers(kernel, schedule, choices, Some(why))
            }
        }
    }

    /// Register code of a kernel, and why it is that, where machine code was wanted.
    fn registers(
        mut kernel: Kernel,
        schedule: Schedule,
        choices: &Choices,
        why: Option<String>,
    ) -> Result<Compiled, String> {
        hold(&kernel)?;
        // What several rounds load is loaded once.
        jam_rounds(&mut kernel, Rounds::Asked);
        let code = compile::compile(&kernel, choices.checked).map_err(|large| large.0)?;
        let code = Made::Registers(Box::new(code), why);
        Ok(Compiled { kernel, code, schedule, marked: None, wider: None, others: Vec::new() })
    }

    /// What runs it, and why that is not what was wanted.
    pub(crate) fn ran(&self) -> (Ran, Option<String>) {
        match &self.code {
            Made::Registers(_, why) => (Ran::Loops, why.clone()),
            Made::Machine(_) => (Ran::MachineCode, None),
        }
    }

    /// The schedule by which it was made.
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Whether another schedule could replace it: that of machine code which keeps all it keeps now.
    pub(crate) fn may_be_replaced(&self) -> bool {
        let keeps_less = |other: &Other| other.at != OTHER_SIZES;
        matches!(self.code, Made::Machine(_)) && !self.others.iter().any(keeps_less)
    }

    /// What trapped.
    pub(crate) fn site(&self, site: SiteId) -> String {
        let found = self.kernel.sites.get(site.0 as usize);
        let what = match site.0 {
            code::LOST => "an address or a size that should not be",
            _ => found.map_or("an operation", |site| site.what.as_str()),
        };
        format!("trap: {what}")
    }

    /// Runs it on inputs and numbers, or other code if this one was made for other calls.
    pub(crate) fn run(
        &self,
        inputs: &[Arc<TensorValue>],
        numbers: &[i64],
        meter: &Meter,
        host: Option<&dyn HostFunctions>,
    ) -> Result<Vec<TensorValue>, Fault> {
        let fault = match self.run_alone(inputs, numbers, meter, host) {
            Err(Fault::Trap(site)) => site,
            other => return other,
        };
        let what = self.kernel.sites.get(fault.0 as usize).map(|site| site.what.as_str());
        let other = self.others.iter().find(|other| Some(other.at) == what);
        let made = other.map(|other| {
            other.made.get_or_init(|| {
                Compiled::new(&other.module, &other.choices, &other.options).map(Box::new)
            })
        });
        match made {
            Some(Ok(made)) => made.run(inputs, numbers, meter, host),
            _ => Err(Fault::Trap(fault)),
        }
    }

    fn run_alone(
        &self,
        inputs: &[Arc<TensorValue>],
        numbers: &[i64],
        meter: &Meter,
        host: Option<&dyn HostFunctions>,
    ) -> Result<Vec<TensorValue>, Fault> {
        let fits = inputs.len() == self.kernel.n_inputs
            && inputs.iter().zip(&self.kernel.buffers).all(|(input, buffer)| {
                input.elem() == buffer.elem && input.shape().len() == buffer.dims.len()
            });
        if !fits {
            return Err(Fault::Trap(SiteId(code::LOST)));
        }
        let code = match &self.code {
            Made::Registers(code, _) => code,
            Made::Machine(native) => {
                let mut machine = NativeMachine::new(&self.kernel, inputs, numbers, meter, host)?;
                let wider = self.wider.as_ref();
                if let Some((kernel, code)) =
                    wider.and_then(|wider| wider.get(machine.sizes(), meter.options()))
                {
                    return NativeMachine::new(kernel, inputs, numbers, meter, host)?
                        .execute(&**code);
                }
                machine.measure(self.marked.as_ref());
                return machine.execute(&**native);
            }
        };
        let memory = inputs.iter().map(|input| Memory::of_input(Arc::clone(input))).collect();
        let mut machine = Machine::new(&self.kernel, code, memory, numbers, meter, host)?;
        machine.run()?;
        let mut results = Vec::with_capacity(self.kernel.outputs.len());
        for (at, output) in self.kernel.outputs.iter().enumerate() {
            let last = !self.kernel.outputs[at + 1..].contains(output);
            results.push(machine.output(output.0 as usize, last)?);
        }
        Ok(results)
    }
}

/// Holds a kernel to the invariants of loop IR, where that is tested.
fn hold(kernel: &Kernel) -> Result<(), String> {
    let problems = if cfg!(debug_assertions) { verify(kernel) } else { Vec::new() };
    let first = problems.first();
    first.map_or(Ok(()), |first| Err(format!("{}: {}", first.invariant, first.message)))
}
