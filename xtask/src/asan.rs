//! `cargo xtask asan [N]`: generated programs, random schedules and conformance cases as machine code in
//! which AddressSanitizer tests every access.
//!
//! Kernels get the sanitizer's instructions when they are compiled (`EINLANG_SANITISE`), and its runtime,
//! which comes with the C compiler, is loaded into the process: memory that programs allocate then has
//! forbidden zones around it. `crates/codegen/tests/sanitised.rs` shows that wrong accesses are caught.
//! It takes many times as long as the same tests without, and is not part of `cargo xtask test`.

use crate::TaskResult;
use crate::llvm;
use crate::process;
use crate::project::Project;
use std::path::PathBuf;
use std::process::Command;

/// How many random schedules are tried unless somebody asks for more.
const N_SCHEDULES: usize = 200;

/// Runs all of it; the exit code is 1 if anything is found.
pub(crate) fn asan(project: &Project, args: &[String]) -> TaskResult {
    let given = args.first().map(|text| text.parse::<usize>().map_err(|_| format!("`{text}`?")));
    let n_schedules = given.transpose()?.unwrap_or(N_SCHEDULES);
    let Some(prefix) = llvm::prefix() else {
        return Err("without LLVM there is no machine code to test".to_owned());
    };
    let Some(runtime) = runtime() else {
        return Err("the C compiler `cc` has no libasan.so".to_owned());
    };
    let environment = [
        ("LD_PRELOAD", runtime.display().to_string()),
        ("ASAN_OPTIONS", "detect_leaks=0".to_owned()),
        ("EINLANG_SANITISE", "1".to_owned()),
    ];
    let runner: Vec<String> = environment.iter().map(|(key, is)| format!("{key}={is}")).collect();
    let mut tests = project.cargo();
    tests.args([
        "test",
        "-p",
        "einlang-cli",
        "-p",
        "einlang-codegen",
        "--features",
        "einlang-cli/native",
    ]);
    tests.args(["--test", "generated", "--test", "sanitised"]);
    tests.env("LLVM_SYS_221_PREFIX", prefix).env(RUNNER, format!("env {}", runner.join(" ")));
    tests.env("EINLANG_SCHEDULES", n_schedules.to_string());
    tests.env("EINLANG_PROGRAMS", (n_schedules / 4).to_string());
    let (status, _) = process::tee(&mut tests)?;
    let clean = status.success() && conformance(project, &environment)?;
    Ok(u8::from(!clean))
}

/// What cargo starts tests with.
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";

/// Runs the conformance cases, where they are; whether the sanitizer found nothing.
fn conformance(project: &Project, environment: &[(&str, String)]) -> Result<bool, String> {
    let Some(folder) = project.shared("conformance") else { return Ok(true) };
    let mut build = project.cargo();
    build.args(["build", "-p", "einlang-cli"]);
    llvm::prepare(&mut build, false);
    if !process::tee(&mut build)?.0.success() {
        return Err("the binary cannot be built".to_owned());
    }
    let binary = project.target_dir().join("debug").join("einlang");
    // Python itself would run with the sanitizer, so a script stands between.
    let script = project.target_dir().join("einlang-asan");
    let exports = environment.iter().map(|(key, is)| format!("export {key}='{is}'\n"));
    let text = format!(
        "#!/bin/sh\n{}export EINLANG_THREADS=2 EINLANG_LEAST_WORK=0\nexec '{}' \"$@\"\n",
        exports.collect::<String>(),
        binary.display()
    );
    std::fs::write(&script, text).map_err(|error| error.to_string())?;
    if !process::succeeds(Command::new("chmod").arg("+x").arg(&script)) {
        return Err("the script cannot be made executable".to_owned());
    }
    let mut python = Command::new("python3");
    python.arg(folder.join("run.py")).arg("--bin").arg(&script).args(["--backend", "native"]);
    let (_, output) = process::tee(&mut python)?;
    Ok(!output.contains("AddressSanitizer"))
}

/// The runtime of the sanitizer, where the C compiler has one.
fn runtime() -> Option<PathBuf> {
    let output = process::capture(Command::new("cc").arg("-print-file-name=libasan.so")).ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // The link is a text for the linker on some systems; the library itself is what is loaded.
    let path = std::fs::canonicalize(path).ok()?;
    path.is_absolute().then_some(path)
}
