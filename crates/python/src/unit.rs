//! A source: its text, the name that messages show, and how it is run.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use einlang_driver::{Call, DiskWorld, Executable, Failure, Session, Signature};
use einlang_source::{Diagnostics, FileId, Sources};
use pyo3::exceptions::PyModuleNotFoundError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors;
use crate::hosted::resolve;
use crate::ready::{Ready, on_large_stack};
use crate::settings::Settings;

/// A source and how it is run.
#[pyclass(frozen, module = "einlang._einlang")]
pub(crate) struct Unit(pub(crate) Arc<Text>, Py<PyDict>);

/// The same, without Python.
#[derive(Debug)]
pub(crate) struct Text {
    name: String,
    text: Arc<str>,
    pub(crate) settings: Settings,
    signatures: OnceLock<Vec<Signature>>,
}

/// What a compilation made, and the texts that its messages are about.
type Compiled = (Result<Executable, Failure>, Sources);

impl Text {
    /// Asks a session about the text.
    fn ask<T>(
        &self,
        outputs: Option<Vec<String>>,
        question: impl FnOnce(&mut Session<'_>, FileId) -> T,
    ) -> (T, Sources) {
        let options = self.settings.options(outputs);
        let mut session = Session::new(&DiskWorld).with_options(options);
        session = session.with_python(self.settings.python);
        let file = session.add_text(&self.name, Arc::clone(&self.text));
        let answer = question(&mut session, file);
        let sources = session.sources().clone();
        (answer, sources)
    }

    /// A compiled program, made on a large stack without the lock of the interpreter.
    pub(crate) fn ready(
        self: &Arc<Text>,
        py: Python<'_>,
        outputs: Option<Vec<String>>,
        build: impl FnOnce(&mut Session<'_>, FileId) -> Result<Executable, Failure> + Send + 'static,
    ) -> PyResult<Arc<Ready>> {
        let unit = Arc::clone(self);
        let (built, sources): Compiled =
            on_large_stack(py, None, move || unit.ask(outputs, build))?;
        let executable = built.map_err(|failure| errors::failure(py, &failure, &sources))?;
        for (path, span) in executable.python_functions() {
            if let Err(error) = resolve(py, path) {
                let no_module = error.is_instance_of::<PyModuleNotFoundError>(py);
                let why = error.value(py).to_string();
                let failure = Executable::unknown_in_python(path, &why, no_module, span);
                let raised = errors::failure(py, &failure, &sources);
                raised.set_cause(py, Some(error));
                return Err(raised);
            }
        }
        let folder = Path::new(&self.name).parent().unwrap_or(Path::new(""));
        let permits = self.settings.permits(folder)?;
        let limits = self.settings.limits();
        let timeout = self.settings.timeout;
        warn(py, &executable.warnings, &sources)?;
        let seconds = executable.compiled_in.as_secs_f64();
        py.import("einlang._errors")?.call_method1("log_compiled", (&self.name, seconds))?;
        Ok(Arc::new(Ready::new(executable, sources, limits, timeout, permits)))
    }

    /// The program that calls a function.
    pub(crate) fn ready_call(self: &Arc<Text>, py: Python<'_>, call: Call) -> PyResult<Arc<Ready>> {
        self.ready(py, None, move |session, file| session.build_call(file, &call))
    }

    /// The public functions, found once.
    pub(crate) fn signatures(self: &Arc<Text>, py: Python<'_>) -> PyResult<&[Signature]> {
        if let Some(known) = self.signatures.get() {
            return Ok(known);
        }
        let unit = Arc::clone(self);
        let work = move || unit.ask(None, |session, file| session.signatures(file));
        let (found, sources) = on_large_stack(py, None, work)?;
        let found = found.map_err(|failure| errors::failure(py, &failure, &sources))?;
        Ok(self.signatures.get_or_init(|| found))
    }
}

/// Warnings go to the log of the package.
fn warn(py: Python<'_>, found: &Diagnostics, sources: &Sources) -> PyResult<()> {
    if found.is_empty() {
        return Ok(());
    }
    let objects = errors::objects(py, found, sources)?;
    py.import("einlang._errors")?.call_method1("log_warnings", (objects,))?;
    Ok(())
}

#[pymethods]
impl Unit {
    #[new]
    fn new(text: &str, name: &str, settings: &Bound<'_, PyDict>) -> PyResult<Unit> {
        let text = Arc::new(Text {
            name: name.to_owned(),
            text: Arc::from(text),
            settings: Settings::new(settings)?,
            signatures: OnceLock::new(),
        });
        Ok(Unit(text, settings.copy()?.unbind()))
    }

    /// The settings as they were given.
    #[getter]
    fn settings(&self, py: Python<'_>) -> Py<PyDict> {
        self.1.clone_ref(py)
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The name that messages show.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// What is wrong with the source.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let unit = Arc::clone(&self.0);
        let work = move || unit.ask(None, |session, file| session.check(file));
        let (found, sources) = on_large_stack(py, None, work)?;
        errors::objects(py, &found, &sources)
    }

    /// The public functions: name, doc comment, declaration, parameters and result.
    fn signatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for signature in self.0.signatures(py)? {
            let entry = PyDict::new(py);
            entry.set_item("name", &signature.name)?;
            entry.set_item("doc", &signature.doc)?;
            entry.set_item("text", &signature.text)?;
            entry.set_item("result", signature.result.as_deref())?;
            let params = PyList::empty(py);
            for param in &signature.params {
                params.append((
                    param.name.as_deref(),
                    param.ty.as_deref(),
                    param.default.as_deref(),
                ))?;
            }
            entry.set_item("params", params)?;
            list.append(entry)?;
        }
        Ok(list)
    }

    /// The names of the inputs that the source declares.
    fn inputs(&self) -> Vec<String> {
        self.0.ask(None, |session, file| session.declared_inputs(file)).0
    }

    /// The source in the one layout that the language has.
    fn format(&self, py: Python<'_>) -> PyResult<String> {
        let unit = Arc::clone(&self.0);
        let work = move || unit.ask(None, |session, file| session.format(file));
        let (text, sources) = on_large_stack(py, None, work)?;
        text.map_err(|found| errors::failure(py, &Failure::Program(found), &sources))
    }
}
