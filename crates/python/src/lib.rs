//! The extension module `einlang._einlang`: compiled programs and functions as Python objects.
//!
//! It holds what must be quick or needs the compiler; everything else of the package is Python, in
//! `python/einlang`, which is the only user of this module.
//!
//! | file | owns |
//! |---|---|
//! | `unit.rs` | a source: its diagnostics, its functions, its programs |
//! | `function.rs` | public functions as callables |
//! | `program.rs` | programs with inputs and outputs |
//! | `ready.rs` | something compiled, and how it runs: threads, interruption, printing |
//! | `hosted.rs` | functions of Python that programs call |
//! | `arguments.rs`, `lend.rs` | from Python objects to values, without copying where that is possible |
//! | `results.rs` | from values to Python objects |
//! | `errors.rs` | from diagnostics to exceptions |
//! | `settings.rs` | limits and modes |
//!
//! Invariants: the interpreter lock is not held while a program is compiled or runs; memory of an array
//! is only read while that array is alive; no Python object is needed to stop a run.

mod arguments;
mod errors;
mod function;
mod hosted;
mod lend;
mod program;
mod ready;
mod results;
mod settings;
mod unit;

use pyo3::prelude::*;

/// Large results get memory that was used before, and that begins with a cache line.
#[global_allocator]
static ALLOCATOR: einlang_runtime::memory::Allocator = einlang_runtime::memory::Allocator;

/// The compiled part of the package `einlang`.
#[pymodule]
fn _einlang(module: &Bound<'_, PyModule>) -> PyResult<()> {
    einlang_runtime::memory::keep_for_a_while();
    module.add_class::<unit::Unit>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<program::Program>()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("has_native", cfg!(feature = "llvm"))?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(settle, module)?)?;
    module.add_function(wrap_pyfunction!(finish, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(lent_address, module)?)?;
    Ok(())
}

/// Runs the command line and gives its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<String>) -> u8 {
    let args = args.into_iter().map(Into::into).collect();
    py.detach(|| einlang_cli::main_in(hosted::Hosted::of_command, args))
}

/// Waits until no machine code is being made in the background.
#[pyfunction]
fn settle(py: Python<'_>) {
    py.detach(settings::settle);
}

/// Begins no more machine code in the background, and waits for what is being made, since that cannot go on
/// while the process ends.
#[pyfunction]
fn finish(py: Python<'_>) {
    py.detach(settings::finish);
}

/// The address of the elements that a program would read of an array; none if it would read a copy.
#[pyfunction]
fn lent_address(array: &Bound<'_, numpy::PyUntypedArray>) -> Option<usize> {
    lend::lent(array).map(|tensor| tensor.data().address())
}

/// The page of a diagnostic code.
#[pyfunction]
fn explain(code: &str) -> Option<&'static str> {
    einlang_driver::explain::find(code).and_then(einlang_driver::explain::page)
}
