//! From diagnostics to exceptions. The classes are Python's; here the diagnostics become objects and the
//! rendered text.

use einlang_driver::Failure;
use einlang_source::render::{self, Options};
use einlang_source::{Code, Diagnostic, Diagnostics, Sources, Span};
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The exception of a failure.
pub(crate) fn failure(py: Python<'_>, failure: &Failure, sources: &Sources) -> PyErr {
    match raised(py, failure, sources) {
        Ok(error) | Err(error) => error,
    }
}

/// The exception of a run. What a function of Python raised is its cause, or it is that itself if it was
/// meant to end more than the program.
pub(crate) fn failed(
    py: Python<'_>,
    failed: &Failure,
    sources: &Sources,
    raised: Option<PyErr>,
) -> PyErr {
    let code = match failed {
        Failure::Program(found) => found.iter().next().map(|diagnostic| diagnostic.code),
        _ => None,
    };
    match (raised, code) {
        (Some(error), _) if !error.is_instance_of::<PyException>(py) => error,
        (Some(error), Some(Code::E0907)) => {
            let made = failure(py, failed, sources);
            made.set_cause(py, Some(error));
            made
        }
        _ => failure(py, failed, sources),
    }
}

fn raised(py: Python<'_>, failure: &Failure, sources: &Sources) -> PyResult<PyErr> {
    let errors = py.import("einlang._errors")?;
    let made = match failure {
        Failure::Program(found) => {
            let diagnostics = objects(py, found, sources)?;
            errors.call_method1("from_diagnostics", (diagnostics,))?
        }
        Failure::Usage { message, help } => {
            errors.call_method1("from_usage", (message.as_str(), help.as_str()))?
        }
        Failure::Bug(what) => errors.call_method1("from_bug", (what.as_str(),))?,
    };
    Ok(PyErr::from_value(made))
}

/// Diagnostics as a list of objects of the class `Diagnostic`.
pub(crate) fn objects<'py>(
    py: Python<'py>,
    found: &Diagnostics,
    sources: &Sources,
) -> PyResult<Bound<'py, PyList>> {
    let class = py.import("einlang._errors")?.getattr("Diagnostic")?;
    let list = PyList::empty(py);
    for diagnostic in found.iter() {
        let fields = fields(py, diagnostic, sources)?;
        list.append(class.call((), Some(&fields))?)?;
    }
    Ok(list)
}

fn fields<'py>(
    py: Python<'py>,
    diagnostic: &Diagnostic,
    sources: &Sources,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("code", diagnostic.code.as_str())?;
    fields.set_item("severity", diagnostic.severity.as_str())?;
    fields.set_item("message", diagnostic.message.as_str())?;
    fields.set_item("label", diagnostic.primary.text.as_str())?;
    fields.set_item("span", span(py, diagnostic.primary.span, sources)?)?;
    let helps: Vec<&str> = diagnostic.helps.iter().map(|help| help.text.as_str()).collect();
    fields.set_item("help", helps)?;
    fields.set_item("notes", &diagnostic.notes)?;
    let text = render::diagnostic(sources, diagnostic, &Options::default());
    fields.set_item("rendered", text.trim_end())?;
    Ok(fields)
}

/// A span as an object: the file, its bytes, and where it begins and ends for people.
fn span<'py>(py: Python<'py>, span: Span, sources: &Sources) -> PyResult<Bound<'py, PyAny>> {
    let place = sources.line_col(span);
    let class = py.import("einlang._errors")?.getattr("Span")?;
    class.call1((
        sources.name(span.file),
        span.start,
        span.end,
        (place.line, place.col),
        (place.end_line, place.end_col),
    ))
}

/// A thread could not be started, or ended in a panic.
pub(crate) fn broken(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("einlang has failed; this is a bug in einlang: {what}"))
}
