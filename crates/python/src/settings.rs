//! Limits and modes, as Python gives them: a dict with the names that the command line has.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use einlang_driver::{Backend, Compile, Kept, Limits, Native, Options, Permits, Threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The most threads that can be asked for.
const MOST_THREADS: usize = 256;

/// How programs are checked and run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    backend: Backend,
    checked: bool,
    pub(crate) strict: bool,
    pub(crate) zero_fill: bool,
    /// Whether programs may call functions of Python.
    pub(crate) python: bool,
    pub(crate) timeout: Option<Duration>,
    memory: Option<u64>,
    depth: Option<usize>,
    steps: Option<u64>,
    threads: Option<usize>,
    compile: Option<Compile>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Settings {
    /// The settings in a dict; those that are not there have their usual values.
    pub(crate) fn new(given: &Bound<'_, PyDict>) -> PyResult<Settings> {
        let mut settings =
            Settings { backend: Backend::Native, python: true, ..Settings::default() };
        for (key, value) in given {
            let name: String = key.extract()?;
            if value.is_none() {
                continue;
            }
            match name.as_str() {
                "backend" => settings.backend = backend(&value.extract::<String>()?)?,
                "checked" => settings.checked = value.extract()?,
                "strict" => settings.strict = value.extract()?,
                "zero_fill" => settings.zero_fill = value.extract()?,
                "python" => settings.python = value.extract()?,
                "timeout" => settings.timeout = Some(seconds(value.extract()?)?),
                "max_memory" => settings.memory = Some(value.extract()?),
                "max_depth" => settings.depth = Some(value.extract()?),
                "max_steps" => settings.steps = Some(value.extract()?),
                "threads" => settings.threads = Some(threads(value.extract()?).map_err(wrong)?),
                "compile" => {
                    settings.compile = Some(compile(&value.extract::<String>()?).map_err(wrong)?);
                }
                "allow_read" => settings.read = value.extract()?,
                "allow_write" => settings.write = value.extract()?,
                _ => return Err(PyValueError::new_err(format!("there is no option `{name}`"))),
            }
        }
        if settings.threads.is_none() {
            settings.threads = usual_threads()?;
        }
        if settings.compile.is_none() {
            settings.compile = of_environment("EINLANG_COMPILE", compile)?;
        }
        Ok(settings)
    }

    /// What the checker is told.
    pub(crate) fn options(&self, outputs: Option<Vec<String>>) -> Options {
        Options { strict: self.strict, zero_fill: self.zero_fill, outputs }
    }

    /// The limits of a program of its own.
    pub(crate) fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            backend: self.backend,
            native: native(),
            compile: self.compile.unwrap_or(Compile::Tiered),
            storage: einlang_driver::StoragePlan::Window,
            checked: self.checked,
            zero_fill: self.zero_fill,
            memory: self.memory.unwrap_or(usual.memory),
            depth: self.depth.unwrap_or(usual.depth),
            steps: self.steps,
            threads: Threads { most: self.threads.unwrap_or(usual.threads.most), ..usual.threads },
            kept: Kept::new(),
            tuned: einlang_driver::tune::Store::for_runs(),
            ..usual
        }
    }

    /// The files that a program in this folder may touch.
    pub(crate) fn permits(&self, folder: &std::path::Path) -> PyResult<Permits> {
        Permits::new(folder, &self.read, &self.write).map_err(|error| {
            let message = format!("a path that the program may touch cannot be found: {error}");
            PyValueError::new_err(message)
        })
    }
}

fn backend(name: &str) -> PyResult<Backend> {
    match name {
        "native" => Ok(Backend::Native),
        "bytecode" => Ok(Backend::Bytecode),
        "interp" => Ok(Backend::Oracle),
        _ => {
            let message = format!("the backend is native, bytecode or interp, not `{name}`");
            Err(PyValueError::new_err(message))
        }
    }
}

fn wrong(why: String) -> PyErr {
    PyValueError::new_err(why)
}

fn threads(number: usize) -> Result<usize, String> {
    match number {
        1..=MOST_THREADS => Ok(number),
        _ => Err(format!("threads is a number from 1 to {MOST_THREADS}")),
    }
}

fn compile(name: &str) -> Result<Compile, String> {
    Compile::parse(name)
        .ok_or_else(|| format!("compile is quick, thorough or tiered, not `{name}`"))
}

/// What a variable of the environment says; nothing if it is absent or empty, and its name where what it says
/// makes no sense.
fn of_environment<T>(
    name: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> PyResult<Option<T>> {
    let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let text = text.to_string_lossy();
    let of_variable = |why| wrong(format!("the variable {name} is `{text}`, but {why}"));
    read(&text).map(Some).map_err(of_variable)
}

/// Waits until no machine code is being made in the background.
pub(crate) fn settle() {
    if let Some(Some(native)) = NATIVE.get() {
        native.0.settle();
    }
}

/// Begins no more machine code in the background, and waits for what is being made.
pub(crate) fn finish() {
    if let Some(Some(native)) = NATIVE.get() {
        native.0.end(true);
    }
    einlang_cli::finish();
}

/// The number of threads that the environment asks for, under the name of the command line or the one
/// that libraries of Python have.
fn usual_threads() -> PyResult<Option<usize>> {
    let read = |text: &str| threads(text.parse().unwrap_or(0));
    match of_environment("EINLANG_THREADS", read)? {
        Some(number) => Ok(Some(number)),
        None => of_environment("EINLANG_NUM_THREADS", read),
    }
}

fn seconds(number: f64) -> PyResult<Duration> {
    let wrong = |_| PyValueError::new_err("the timeout is a number of seconds");
    Duration::try_from_secs_f64(number).map_err(wrong)
}

/// What makes machine code, once a program wanted some.
static NATIVE: OnceLock<Option<Native>> = OnceLock::new();

/// The maker of machine code, in builds that have one; one for the process.
fn native() -> Option<Native> {
    NATIVE.get_or_init(make_native).clone()
}

#[cfg(feature = "llvm")]
fn make_native() -> Option<Native> {
    use einlang_codegen::Llvm;
    let llvm = einlang_driver::cache::Cache::of_user().map_or_else(Llvm::default, Llvm::with_cache);
    Some(Native(std::sync::Arc::new(llvm)))
}

#[cfg(not(feature = "llvm"))]
fn make_native() -> Option<Native> {
    None
}
