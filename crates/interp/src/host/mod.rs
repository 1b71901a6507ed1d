//! A plain executor of host programs.
//!
//! Instructions are executed in order; functions, branches and loops are activations and cursors
//! on stacks of their own, so recursion ends at its limit (E0802) and never in a crash. `run`
//! evaluates a module with the backend of the run, all outputs whole; what a backend cannot do, and
//! what traps in one, is the oracle's. `try` catches every stop but exceeded
//! limits (E08xx) and internal errors. A value that is used once is moved, so that a list that
//! grows in a loop is not copied.

mod ahead;
mod index;
mod intrinsics;
mod lists;
mod machine;
mod names;
mod records;
mod step;
mod tangents;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use einlang_tir::constant::Const;
use einlang_tir::host::{HostFn, HostType, Program};
use einlang_tir::types::{Elem, Ident};

use self::ahead::Kernels;
pub use self::index::Index;
use self::machine::Executor;
use self::names::Names;
use crate::bytecode::Compiled;
use crate::io::Io;
use crate::options::{Backend, Meter, Options};
use crate::oracle::Prepared;
use crate::report::Ran;
use crate::stop::{Stop, StopCode};
use crate::tensor::TensorValue;
use crate::value::HostValue;

/// Runs the entry of a program on its inputs.
pub fn run_program(
    program: &Program,
    inputs: Vec<HostValue>,
    options: &Options,
    io: &mut dyn Io,
) -> Result<Vec<HostValue>, Stop> {
    run_indexed(program, &Index::new(program)?, inputs, options, io)
}

/// The same with the index of the program, which is worth while if it runs often.
pub fn run_indexed(
    program: &Program,
    index: &Index,
    inputs: Vec<HostValue>,
    options: &Options,
    io: &mut dyn Io,
) -> Result<Vec<HostValue>, Stop> {
    let missing = || Stop::internal("the program has no entry");
    let entry = program.entry.as_ref().ok_or_else(missing)?;
    call(program, index, entry, inputs, options, io)
}

/// Runs one function of a program.
pub fn call_function(
    program: &Program,
    function: &Ident,
    inputs: Vec<HostValue>,
    options: &Options,
    io: &mut dyn Io,
) -> Result<Vec<HostValue>, Stop> {
    call(program, &Index::new(program)?, function, inputs, options, io)
}

fn call(
    program: &Program,
    index: &Index,
    function: &Ident,
    inputs: Vec<HostValue>,
    options: &Options,
    io: &mut dyn Io,
) -> Result<Vec<HostValue>, Stop> {
    let kernels = Kernels::new(&program.modules, options);
    let shared = Shared::new(program, index, &kernels);
    let callee = shared.function(function)?;
    check_inputs(callee, &inputs)?;
    kernels.ahead(|| Executor::new(&shared, Meter::new(options), io).run(function, inputs))
}

/// Functions that tensor code may call, scalars in and scalars out.
pub(crate) trait HostFunctions {
    fn call(&self, function: &Ident, args: &[Const], meter: &Meter) -> Result<Vec<Const>, Stop>;
}

/// What all activations of a program share.
pub(crate) struct Shared<'p> {
    program: &'p Program,
    index: &'p Index,
    names: &'p Names,
    prepared: RefCell<HashMap<String, Prepared>>,
    kernels: &'p Kernels<'p>,
    compiled: RefCell<HashMap<String, Option<Arc<Compiled>>>>,
    /// `print` says nothing.
    muted: Cell<bool>,
}

impl<'p> Shared<'p> {
    fn new(program: &'p Program, index: &'p Index, kernels: &'p Kernels<'p>) -> Shared<'p> {
        Shared {
            program,
            index,
            names: &index.names,
            prepared: RefCell::new(HashMap::new()),
            kernels,
            compiled: RefCell::new(HashMap::new()),
            muted: Cell::new(false),
        }
    }

    /// The names and types of the fields of a struct.
    pub(crate) fn fields(&self, name: &Ident) -> Option<&'p [(Ident, HostType)]> {
        self.index.fields(self.program, name)
    }

    fn function(&self, name: &Ident) -> Result<&'p HostFn, Stop> {
        let found = self.index.function(self.program, name);
        found.ok_or_else(|| Stop::internal(format!("there is no function `{}`", name.as_str())))
    }

    /// The module of this name with its names resolved, which is done once.
    fn module(&self, name: &Ident) -> Result<Prepared, Stop> {
        if let Some(prepared) = self.prepared.borrow().get(name.as_str()) {
            return Ok(prepared.clone());
        }
        let missing = || Stop::internal(format!("there is no module `{}`", name.as_str()));
        let module = self.index.module(name.as_str()).and_then(|at| self.program.modules.get(at));
        let prepared = Prepared::new(module.ok_or_else(missing)?)?;
        self.prepared.borrow_mut().insert(name.as_str().to_owned(), prepared.clone());
        Ok(prepared)
    }
}

impl Shared<'_> {
    /// The code of a module for a call with these inputs; none if it stays with the oracle.
    fn compiled(
        &self,
        name: &Ident,
        inputs: &[Arc<TensorValue>],
        options: &Options,
    ) -> Option<Arc<Compiled>> {
        if options.backend == Backend::Oracle {
            return None;
        }
        if let Some(known) = self.compiled.borrow().get(name.as_str()) {
            return known.clone();
        }
        let made = self.kernels.get(self.index.module(name.as_str())?, inputs)?;
        let (ran, fallback) = match &made {
            Ok(compiled) => compiled.ran(),
            Err(why) => (Ran::Points, Some(why.clone())),
        };
        options.report.note(name.as_str(), ran, fallback);
        let made = made.ok();
        self.compiled.borrow_mut().insert(name.as_str().to_owned(), made.clone());
        made
    }
}

impl HostFunctions for Shared<'_> {
    fn call(&self, function: &Ident, args: &[Const], meter: &Meter) -> Result<Vec<Const>, Stop> {
        let args = args.iter().map(|value| HostValue::Scalar(*value)).collect();
        let results = Executor::new(self, meter.clone(), &mut NoIo).run(function, args)?;
        let scalars: Option<Vec<Const>> = results.iter().map(HostValue::as_scalar).collect();
        scalars.ok_or_else(|| Stop::internal("a function called from tensor code gives scalars"))
    }
}

/// The inputs are there, with the declared types as far as a look tells.
fn check_inputs(callee: &HostFn, inputs: &[HostValue]) -> Result<(), Stop> {
    let params = &callee.body.params;
    if inputs.len() != params.len() {
        let message = format!(
            "`{}` takes {} inputs, not {}",
            callee.name.as_str(),
            params.len(),
            inputs.len()
        );
        return Err(Stop::new(StopCode::MissingInput, message));
    }
    for (at, (param, input)) in params.iter().zip(inputs).enumerate() {
        if !fits(input, &param.ty) {
            let given = crate::show::type_of(input);
            let message = format!("input {at} wants {}, not {given}", param.ty);
            return Err(Stop::new(StopCode::IllTypedInput, message));
        }
    }
    Ok(())
}

fn fits(value: &HostValue, ty: &HostType) -> bool {
    match (value, ty) {
        (HostValue::Scalar(value), HostType::Scalar(elem)) => value.elem() == *elem,
        (HostValue::Str(_), HostType::Str) => true,
        (HostValue::Tensor(tensor), HostType::Tensor(elem, rank)) => {
            tensor.elem() == *elem && tensor.shape().len() == *rank
        }
        (HostValue::Node(_), HostType::Scalar(_) | HostType::Str | HostType::Tensor(..)) => false,
        (HostValue::Node(_), _) => true,
        _ => false,
    }
}

/// The world of a function that is called from tensor code: none.
struct NoIo;

impl NoIo {
    fn refuse<T>(&self) -> Result<T, Stop> {
        Err(Stop::internal("a function called from tensor code touches the world"))
    }
}

impl Io for NoIo {
    fn print(&mut self, _: &str) -> Result<(), Stop> {
        self.refuse()
    }

    fn read_text(&mut self, _: &str) -> Result<String, Stop> {
        self.refuse()
    }

    fn write_text(&mut self, _: &str, _: &str) -> Result<(), Stop> {
        self.refuse()
    }

    fn exists(&mut self, _: &str) -> Result<bool, Stop> {
        self.refuse()
    }

    fn list(&mut self, _: &str) -> Result<Vec<String>, Stop> {
        self.refuse()
    }

    fn load_tensor(&mut self, _: &str, _: &str, _: Elem, _: usize) -> Result<TensorValue, Stop> {
        self.refuse()
    }

    fn save_tensor(&mut self, _: &str, _: &str, _: &TensorValue) -> Result<(), Stop> {
        self.refuse()
    }
}

/// An empty list of names.
fn no_names() -> Arc<[Ident]> {
    Arc::from([])
}
