//! The release build of `einlang`, silent unless it fails.

use crate::llvm;
use crate::process;
use crate::project::Project;
use std::io::{self, Write};
use std::path::PathBuf;

/// Builds the `einlang` binary in the release profile and says where it is.
pub(crate) fn build(project: &Project) -> Result<PathBuf, String> {
    let binary = project.release_binary();
    if !binary.exists() {
        eprintln!("building einlang for the first time; this takes a moment");
    }
    let mut cargo = project.cargo();
    cargo.args(["build", "--release", "--quiet", "-p", "einlang-cli", "--bin", "einlang"]);
    llvm::prepare(&mut cargo, false);
    let output = process::capture(&mut cargo)?;
    if output.status.success() {
        return Ok(binary);
    }
    // The compiler's own report is the best explanation there is.
    let _ = io::stderr().write_all(&output.stderr);
    Err("the `einlang` binary does not build".to_owned())
}
