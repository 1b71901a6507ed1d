//! `cargo xtask run FILE [args…]`: from a fresh checkout to a running program in one command.

use crate::project::Project;
use crate::{TaskResult, binary, process};
use std::process::Command;

/// Builds `einlang` and runs the file in the caller's folder, passing the exit code through.
pub(crate) fn run(project: &Project, args: &[String]) -> TaskResult {
    if args.is_empty() {
        return Err("`run` needs a file: cargo xtask run examples/tour.ein".to_owned());
    }
    let binary = binary::build(project, binary::RELEASE)?;
    let status = process::show(Command::new(binary).arg("run").args(args))?;
    Ok(process::exit_code(status))
}
