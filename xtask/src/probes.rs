//! `cargo xtask bench probes`: kernels with hand-written schedules against hand-written C.
//!
//! The comparison is the Python program `bench/probes.py`; the C is that of the benchmark's workloads
//! in the shared folder. What is missing for it is said in one line.

use crate::project::Project;
use crate::{TaskResult, llvm, process};
use std::env::consts::EXE_SUFFIX;
use std::process::Command;

/// The name that selects the probes.
pub(crate) const PROBES: &str = "probes";

/// Builds the example that runs kernels and compares it with C.
pub(crate) fn probes(project: &Project) -> TaskResult {
    let Some(workloads) = project.shared("bench") else {
        println!("probes: no workloads, whose C they are compared with, beside the project");
        return Ok(0);
    };
    if llvm::prefix().is_none() {
        println!("probes: no LLVM, so there is no machine code to time");
        return Ok(0);
    }
    let mut cargo = project.cargo();
    cargo.args(["build", "--release", "--quiet", "-p", "einlang-cli", "--example", "probe"]);
    llvm::prepare(&mut cargo, false);
    if !process::show(&mut cargo)?.success() {
        return Err("the example `probe` does not build".to_owned());
    }
    let binary = project.target_dir().join("release").join("examples");
    let binary = binary.join(format!("probe{EXE_SUFFIX}"));
    let mut python = Command::new("python3");
    python.current_dir(&project.root).arg("bench/probes.py");
    python.arg("--probe").arg(binary).arg("--workloads").arg(workloads);
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    process::show(&mut python).map(process::exit_code)
}
