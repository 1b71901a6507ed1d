//! The bytecode executor: runs the loop IR of a module.
//!
//! A kernel is compiled once to register code and run any number of times. Nothing is allocated in
//! loops but the planes of open axes; memory is what the plan of the kernel says, and is held to the
//! limits of the run. What would go wrong is a trap: the caller then asks the oracle, which reports
//! the exact error or finds that nobody needs the point.
//!
//! | file | owns |
//! |---|---|
//! | `code.rs` | instructions |
//! | `compile/` | from loop IR to instructions |
//! | `exec.rs` | the machine |
//! | `buffer.rs`, `pairs.rs`, `keys.rs` | memory of tensors, sums in pairs, points by their keys |

mod buffer;
mod code;
mod compile;
mod exec;
mod keys;
mod pairs;

use std::sync::Arc;

use einlang_loops::ir::{Kernel, SiteId, verify};
use einlang_loops::plan::{Choices, plan};
use einlang_tir::module::Module;

use self::buffer::Memory;
use self::code::Code;
use self::exec::Machine;
use crate::host::HostFunctions;
use crate::options::Meter;
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
    code: Code,
}

impl Compiled {
    /// Compiles a module, or says why it stays with the oracle.
    pub(crate) fn new(module: &Module, choices: &Choices) -> Result<Compiled, String> {
        let plan = plan(module, choices).map_err(|not| not.why)?;
        let problems = if cfg!(debug_assertions) { verify(&plan.kernel) } else { Vec::new() };
        if let Some(problem) = problems.first() {
            return Err(format!("{}: {}", problem.invariant, problem.message));
        }
        let code = compile::compile(&plan.kernel, choices.checked).map_err(|large| large.0)?;
        Ok(Compiled { kernel: plan.kernel, code })
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

    /// Runs it on inputs and numbers.
    pub(crate) fn run(
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
        let memory = inputs.iter().map(|input| Memory::of_input(Arc::clone(input))).collect();
        let mut machine = Machine::new(&self.kernel, &self.code, memory, numbers, meter, host)?;
        machine.run()?;
        let mut results = Vec::with_capacity(self.kernel.outputs.len());
        for (at, output) in self.kernel.outputs.iter().enumerate() {
            let last = !self.kernel.outputs[at + 1..].contains(output);
            results.push(machine.output(output.0 as usize, last)?);
        }
        Ok(results)
    }
}
