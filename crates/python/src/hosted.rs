//! Functions of Python that programs call.
//!
//! They run on the thread that called the program, with the lock of the interpreter, so that what belongs
//! to a thread is what the caller expects, and the traceback leads to the caller. What they raise is kept:
//! it becomes the cause of the exception that the program ends with.

use std::sync::{Arc, Mutex, mpsc};

use einlang_driver::{Executable, converted};
use einlang_interp::stop::{Stop, StopCode};
use einlang_interp::value::HostValue;
use einlang_tir::host::{HostType, TypeDecl};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::argument;
use crate::ready::Errands;
use crate::results::object;

/// The Python around a program that runs.
pub(crate) struct Hosted {
    /// The types of the program.
    pub(crate) types: Arc<[TypeDecl]>,
    /// What a function raised last.
    pub(crate) raised: Arc<Mutex<Option<PyErr>>>,
    /// The way to the thread that called, if this is another one.
    pub(crate) errands: Option<Errands>,
}

/// One call.
struct Asked {
    types: Arc<[TypeDecl]>,
    path: String,
    names: Vec<String>,
    args: Vec<HostValue>,
    result: HostType,
}

/// Why a call gave nothing.
enum Refused {
    Raised(PyErr),
    Unfit(String),
}

impl From<PyErr> for Refused {
    fn from(error: PyErr) -> Refused {
        Refused::Raised(error)
    }
}

impl einlang_driver::Python for Hosted {
    fn call(
        &mut self,
        path: &str,
        names: &[&str],
        args: Vec<HostValue>,
        result: &HostType,
    ) -> Result<HostValue, Stop> {
        let asked = Asked {
            types: Arc::clone(&self.types),
            path: path.to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            args,
            result: result.clone(),
        };
        let answer = match &self.errands {
            None => Some(Python::attach(|py| asked.answer(py))),
            Some(errands) => {
                let (sender, receiver) = mpsc::sync_channel(1);
                // Nobody serves errands, or waits for their answer, after an interruption.
                errands(Box::new(move |py| drop(sender.send(asked.answer(py)))));
                receiver.recv().ok()
            }
        };
        match answer {
            Some(Ok(value)) => Ok(value),
            Some(Err(Refused::Unfit(why))) => {
                let message = format!("what `{path}` gives does not serve: {why}");
                Err(Stop::new(StopCode::OtherShape, message))
            }
            Some(Err(Refused::Raised(error))) => Err(self.raised(path, error)),
            None => Err(Stop::new(StopCode::Steps, "the program was interrupted")),
        }
    }
}

impl Hosted {
    /// The Python around the command line.
    pub(crate) fn of_command(executable: &Executable) -> Box<dyn einlang_driver::Python> {
        let raised = Arc::new(Mutex::new(None));
        Box::new(Hosted { types: executable.types().into(), raised, errands: None })
    }

    /// Keeps an exception. One that is meant to end the process ends the program, whatever it catches.
    fn raised(&self, path: &str, error: PyErr) -> Stop {
        let (text, fatal) = Python::attach(|py| {
            let fatal = !error.is_instance_of::<PyException>(py);
            (error.to_string(), fatal)
        });
        if let Ok(mut raised) = self.raised.lock() {
            *raised = Some(error);
        }
        let first = text.lines().next().unwrap_or_default();
        let code = if fatal { StopCode::Steps } else { StopCode::Python };
        Stop::new(code, format!("`{path}` raised {first}"))
    }
}

impl Asked {
    fn answer(self, py: Python<'_>) -> Result<HostValue, Refused> {
        let function = resolve(py, &self.path)?;
        let mut args = Vec::with_capacity(self.args.len());
        for arg in self.args {
            args.push(object(py, arg)?);
        }
        let named = args.split_off(args.len().saturating_sub(self.names.len()));
        let kwargs = PyDict::new(py);
        for (name, value) in self.names.iter().zip(named) {
            kwargs.set_item(name, value)?;
        }
        let given = pyo3::types::PyTuple::new(py, args)?;
        let answer = function.call(given, Some(&kwargs))?;
        if self.result == HostType::Tuple(Vec::new()) {
            return Ok(HostValue::tuple(Vec::new()));
        }
        let made = argument(&answer, Some(&self.result), &self.types);
        let made = made.map_err(|error| Refused::Unfit(error.value(py).to_string()))?;
        converted(&made.value, &self.result).map_err(Refused::Unfit)
    }
}

/// What Python has at a dotted path; modules are imported on the way.
pub(crate) fn resolve<'py>(py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("einlang._hosted")?.call_method1("resolve", (path,))
}
