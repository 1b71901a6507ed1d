//! Machine code for kernels of the loop IR, through LLVM.
//!
//! | module | owns |
//! |---|---|
//! | `emit` | from loop IR to LLVM IR |
//! | `optimise` | the host's target, passes, objects |
//! | `frame` | what code and its surroundings know of each other |
//! | `jit` | objects in memory, and calling them |
//! | `timed` | code that is kept and timed |
//!
//! Invariants: the code does what the loop IR says, and floats are never reassociated by LLVM; the one
//! freedom taken is that of sums in pairs, whose association is a function of the extent alone
//! (`emit/sums.rs`). Every access that was not proved is tested. What is rare is asked of the
//! surroundings, so every operation of the op table works.
//!
//! Only this crate knows LLVM. `unsafe` is confined to `jit`, `frame` and the one place that computes
//! addresses (`emit/memory.rs`).

mod emit;
mod frame;
mod jit;
mod optimise;
mod timed;

use einlang_interp::native::{NativeCompiler, NativeKernel};
use einlang_loops::ir::Kernel;
use inkwell::context::Context;

pub use optimise::Stage;
pub use timed::Timed;

/// The compiler to machine code of this computer.
#[derive(Debug, Default)]
pub struct Llvm;

impl NativeCompiler for Llvm {
    fn compile(&self, kernel: &Kernel, checked: bool) -> Result<Box<dyn NativeKernel>, String> {
        let context = Context::create();
        let emitted = emit::emit(&context, kernel, checked).map_err(|refused| refused.0)?;
        let object = optimise::object(&emitted.module)?;
        Ok(Box::new(jit::Code::load(&object, emitted.tables)?))
    }
}

/// The text of a kernel at a stage of its compilation.
pub fn show(kernel: &Kernel, checked: bool, stage: Stage) -> Result<String, String> {
    let context = Context::create();
    let emitted = emit::emit(&context, kernel, checked).map_err(|refused| refused.0)?;
    optimise::show(&emitted.module, stage)
}
