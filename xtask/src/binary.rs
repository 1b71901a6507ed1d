//! Optimised builds of `einlang`, silent unless they fail.

use crate::llvm;
use crate::process;
use crate::project::Project;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Command;

/// The profile of what users run and benchmarks measure.
pub(crate) const RELEASE: &str = "release";

/// The profile of what the steps of `cargo xtask test` run; it builds sooner.
pub(crate) const CHECKS: &str = "checks";

/// The crate of the extension module.
const EXTENSION: &str = "einlang-python";

/// Builds the `einlang` binary in a profile and says where it is.
pub(crate) fn build(project: &Project, profile: &str) -> Result<PathBuf, String> {
    let binary = project.binary(profile);
    if !binary.exists() {
        eprintln!("building einlang for the first time; this takes a moment");
    }
    if profile == CHECKS {
        build_with_extension(project, profile)?;
        return Ok(binary);
    }
    let mut cargo = project.cargo();
    cargo.args(["build", "--profile", profile, "--quiet", "-p", "einlang-cli", "--bin", "einlang"]);
    llvm::prepare(&mut cargo, false);
    finish(&mut cargo, "the `einlang` binary does not build")?;
    Ok(binary)
}

/// Builds the binary and the extension module for Python in a profile. Both are asked for at once: cargo chooses the
/// features of what they share for all that it builds together, and would build it twice.
pub(crate) fn build_with_extension(project: &Project, profile: &str) -> Result<(), String> {
    let mut cargo = project.cargo();
    cargo.args(["build", "--profile", profile, "--quiet", "-p", "einlang-cli", "-p", EXTENSION]);
    if let Some(prefix) = llvm::prefix() {
        cargo.env(llvm::VARIABLE, prefix).args(["--features", llvm::FEATURES]);
    }
    finish(&mut cargo, "the `einlang` binary and the extension module do not build")
}

/// Runs a build, and shows what the compiler says if that fails, which is the best explanation there is.
fn finish(cargo: &mut Command, otherwise: &str) -> Result<(), String> {
    let output = process::capture(cargo)?;
    if output.status.success() {
        return Ok(());
    }
    let _ = io::stderr().write_all(&output.stderr);
    Err(otherwise.to_owned())
}
