//! Optimised builds of `einlang`, silent unless they fail.

use crate::llvm;
use crate::process;
use crate::project::Project;
use std::io::{self, Write};
use std::path::PathBuf;

/// The profile of what users run and benchmarks measure.
pub(crate) const RELEASE: &str = "release";

/// The profile of what the steps of `cargo xtask test` run; it builds sooner.
pub(crate) const CHECKS: &str = "checks";

/// Builds the `einlang` binary in a profile and says where it is.
pub(crate) fn build(project: &Project, profile: &str) -> Result<PathBuf, String> {
    let binary = project.binary(profile);
    if !binary.exists() {
        eprintln!("building einlang for the first time; this takes a moment");
    }
    let mut cargo = project.cargo();
    cargo.args(["build", "--profile", profile, "--quiet", "-p", "einlang-cli", "--bin", "einlang"]);
    llvm::prepare(&mut cargo, false);
    let output = process::capture(&mut cargo)?;
    if output.status.success() {
        return Ok(binary);
    }
    // The compiler's own report is the best explanation there is.
    let _ = io::stderr().write_all(&output.stderr);
    Err("the `einlang` binary does not build".to_owned())
}
