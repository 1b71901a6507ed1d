//! `cargo xtask bench table|peaks|scaling|first`: the benchmark that lies beside the project, with the package of
//! this checkout.
//!
//! The work is done by the Python programs in `bench`; the interpreter is that of `EINLANG_PYTHON`, whose
//! peers are measured, or `python3`.

use crate::binary::RELEASE;
use crate::project::Project;
use crate::{TaskResult, extension, process};
use std::env;
use std::process::Command;

/// The programs, by the names that select them.
pub(crate) const NAMES: [&str; 4] = ["table", "peaks", "scaling", "first"];

/// Runs one of them with further arguments.
pub(crate) fn run(project: &Project, name: &str, arguments: &[String]) -> TaskResult {
    if project.shared("bench").is_none() {
        println!("{name}: no benchmark beside the project");
        return Ok(0);
    }
    let package = extension::stage(project, RELEASE)?;
    let interpreter = env::var_os("EINLANG_PYTHON").unwrap_or_else(|| "python3".into());
    let mut python = Command::new(interpreter);
    python.current_dir(&project.root).arg(format!("bench/{name}.py")).args(arguments);
    python.env("PYTHONPATH", package).env("PYTHONDONTWRITEBYTECODE", "1");
    process::show(&mut python).map(process::exit_code)
}
