//! Programs with inputs and outputs. Inputs that the source does not declare are typed by the values, so
//! there may be several compiled programs of one source.

use std::sync::{Arc, Mutex};

use einlang_driver::{Failure, Given, argument_type};
use einlang_interp::value::HostValue;
use einlang_source::Sources;
use einlang_tir::types::Elem;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{Argument, argument};
use crate::errors;
use crate::function::settle;
use crate::ready::{Inputs, Ready};
use crate::results::object;
use crate::unit::{Text, Unit};

/// The inputs that the source does not declare, with their types.
type Key = Vec<(String, String)>;

/// What a run gives to Python: names, values, what was measured, what was stored.
type Ran<'py> = (Vec<String>, Vec<Py<PyAny>>, Bound<'py, PyDict>, Py<Storage>);

/// Inputs by name.
type Values = Vec<(String, HostValue)>;

/// A program.
#[pyclass(frozen, subclass, dict, module = "einlang._einlang")]
pub(crate) struct Program {
    unit: Arc<Text>,
    declared: Vec<String>,
    outputs: Option<Vec<String>>,
    compiled: Mutex<Vec<(Key, Arc<Ready>)>>,
}

#[pymethods]
impl Program {
    #[new]
    fn new(unit: &Unit, outputs: Option<Vec<String>>, declared: Vec<String>) -> Program {
        let compiled = Mutex::default();
        Program { unit: Arc::clone(&unit.0), declared, outputs, compiled }
    }

    /// Compiles the program for inputs of these values, which need not be all of them.
    fn prepare(&self, py: Python<'_>, inputs: &Bound<'_, PyDict>) -> PyResult<()> {
        self.ready(py, inputs).map(|_| ())
    }

    /// Runs the program: names, values, and a dict of what was measured.
    #[pyo3(signature = (inputs, progress = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Ran<'py>> {
        let (ready, given) = self.ready(py, inputs)?;
        let given = given.into_iter().map(|(name, value)| (name, Given::Value(value))).collect();
        let answer = ready.call(py, Inputs::ByName(given), progress)?;
        let measured = PyDict::new(py);
        measured.set_item("compile", ready.executable.compiled_in.as_secs_f64())?;
        measured.set_item("run", answer.time.as_secs_f64())?;
        measured.set_item("peak_bytes", answer.report.peak())?;
        let names = ready.executable.outputs().map(str::to_owned).collect();
        let values = answer.called.values.into_iter().map(|value| object(py, value));
        let storage = Storage { ready: Arc::clone(&ready), given: answer.called.given };
        Ok((names, values.collect::<PyResult<_>>()?, measured, Py::new(py, storage)?))
    }
}

impl Program {
    /// The program for these inputs, and the inputs as values.
    fn ready(&self, py: Python<'_>, inputs: &Bound<'_, PyDict>) -> PyResult<(Arc<Ready>, Values)> {
        let mut extra: Vec<(String, Argument)> = Vec::new();
        let mut known = Vec::new();
        for (name, value) in inputs {
            let name: String = name.extract()?;
            match self.declared.contains(&name) {
                true => known.push((name, value)),
                false => extra.push((name, argument(&value, None, &[])?)),
            }
        }
        let mut arguments: Vec<&mut Argument> = extra.iter_mut().map(|(_, arg)| arg).collect();
        settle(&mut arguments);
        let mut key = Key::with_capacity(extra.len());
        for (name, argument) in &extra {
            key.push((name.clone(), type_of(py, name, &argument.value)?));
        }
        let ready = self.compiled(py, key)?;
        let mut values: Values = Vec::with_capacity(inputs.len());
        for (name, value) in known {
            let want = ready.executable.inputs().find(|input| input.0 == name).map(|input| input.1);
            let argument = argument(&value, want, ready.executable.types())?;
            values.push((name, argument.value));
        }
        values.extend(extra.into_iter().map(|(name, argument)| (name, argument.value)));
        Ok((ready, values))
    }

    fn compiled(&self, py: Python<'_>, key: Key) -> PyResult<Arc<Ready>> {
        let known = self.compiled.lock().ok().and_then(|list| {
            list.iter().find(|(other, _)| *other == key).map(|(_, ready)| Arc::clone(ready))
        });
        if let Some(ready) = known {
            return Ok(ready);
        }
        let given = key.clone();
        let ready = self.unit.ready(py, self.outputs.clone(), move |session, file| {
            let file = session.with_inputs(file, &given)?;
            session.build(file)
        })?;
        if let Ok(mut list) = self.compiled.lock() {
            list.push((key, Arc::clone(&ready)));
        }
        Ok(ready)
    }
}

/// The type of a value that is a number, a tensor or a string.
fn type_of(py: Python<'_>, name: &str, value: &HostValue) -> PyResult<String> {
    match value {
        HostValue::Scalar(number) => Ok(argument_type(number.elem().as_str(), None)),
        HostValue::Tensor(tensor) => {
            let elem: Elem = tensor.elem();
            Ok(argument_type(elem.as_str(), Some(tensor.shape().len())))
        }
        HostValue::Str(_) => Ok("str".to_owned()),
        HostValue::Node(_) => {
            let failure = Failure::Usage {
                message: format!("the type of the input `{name}` is not known"),
                help: format!("declare it in the program: `input {name}: …;`"),
            };
            Err(errors::failure(py, &failure, &Sources::new()))
        }
    }
}

/// What is kept of each recurrent binding of a run, found out when somebody asks.
#[pyclass(frozen, module = "einlang._einlang")]
pub(crate) struct Storage {
    ready: Arc<Ready>,
    given: Vec<Option<einlang_driver::run::SizeGiven>>,
}

#[pymethods]
impl Storage {
    /// The report as JSON.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.ready.executable.storage_json(&self.given, &self.ready.sources))
    }
}
