//! `cargo xtask asan [N]`: generated programs, random schedules and conformance cases as machine code in
//! which AddressSanitizer tests every access.
//!
//! Kernels get the sanitizer's instructions when they are compiled (`EINLANG_SANITISE`), and its runtime,
//! which comes with the C compiler, is loaded into the process: memory that programs allocate then has
//! forbidden zones around it. That takes the allocator of the system, so the binary is built with that one. `crates/codegen/tests/sanitised.rs` shows that wrong accesses are caught.
//! It takes many times as long as the same tests without, and is not part of `cargo xtask test`.

use crate::TaskResult;
use crate::llvm;
use crate::process;
use crate::project::Project;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;

/// How many random schedules are tried unless somebody asks for more.
const N_SCHEDULES: usize = 200;

/// The profile of the checks, whose builds are there in most cases.
const PROFILE: &str = "checks";

/// What the sanitizer is told: nothing about memory that is never freed.
const OPTIONS: &str = "detect_leaks=0";

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
        ("ASAN_OPTIONS", OPTIONS.to_owned()),
        ("EINLANG_SANITISE", "1".to_owned()),
    ];
    let runner: Vec<String> = environment.iter().map(|(key, is)| format!("{key}={is}")).collect();
    let mut tests = project.cargo();
    tests.args([
        "test",
        "--profile",
        PROFILE,
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
    let n_programs = n_schedules / 4;
    tests.env("EINLANG_PROGRAMS", n_programs.to_string());
    let (status, _) = process::tee(&mut tests)?;
    if !status.success() {
        println!(
            "asan: a generated program, a schedule or a kernel of the tests failed, see above"
        );
        return Ok(1);
    }
    let cases = conformance(project, &environment)?;
    let is_fine = cases.as_ref().is_none_or(|cases| cases.n_reports == 0 && cases.all_end_right);
    println!(
        "asan: {n_schedules} random schedules and {n_programs} random programs: nothing found"
    );
    println!("asan: kernels that go one element too far: all found");
    match cases {
        Some(Cases { told, n_reports, .. }) => {
            println!(
                "asan: conformance cases as machine code, 2 threads: {n_reports} reports; {told}"
            );
        }
        None => {
            println!("asan: no conformance cases, there is no folder `shared` beside the project")
        }
    }
    Ok(u8::from(!is_fine))
}

/// What became of the conformance cases.
struct Cases {
    /// The last line that their runner prints.
    told: String,
    /// How many processes the sanitizer stopped.
    n_reports: usize,
    /// Whether every case ended as it should: a process may also die without a report.
    all_end_right: bool,
}

/// What cargo starts tests with.
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";

/// Runs the conformance cases, where they are. Each report is a file, since the runner does not show what a process
/// writes that ends as it should not.
fn conformance(project: &Project, environment: &[(&str, String)]) -> Result<Option<Cases>, String> {
    let Some(folder) = project.shared("conformance") else { return Ok(None) };
    let mut build = project.cargo();
    build.args(["build", "--profile", PROFILE, "-p", "einlang-cli"]);
    build.args(["--features", "einlang-cli/system-memory"]);
    llvm::prepare(&mut build, false);
    if !process::tee(&mut build)?.0.success() {
        return Err("the binary cannot be built".to_owned());
    }
    let binary = project.binary(PROFILE);
    let reports = project.target_dir().join("asan");
    let fresh = std::fs::remove_dir_all(&reports).or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    fresh.and_then(|()| std::fs::create_dir_all(&reports)).map_err(|error| error.to_string())?;
    // Python itself would run with the sanitizer, so a script stands between.
    let script = project.target_dir().join("einlang-asan");
    let exports = environment.iter().map(|(key, is)| format!("export {key}='{is}'\n"));
    // What is tested is in the code as it is emitted, and thorough code of it takes LLVM minutes.
    let text = format!(
        "#!/bin/sh\n{}export ASAN_OPTIONS='{OPTIONS}:log_path={}'\n\
         export EINLANG_COMPILE=quick EINLANG_THREADS=2 EINLANG_LEAST_WORK=0\nexec '{}' \"$@\"\n",
        exports.collect::<String>(),
        reports.join("report").display(),
        binary.display()
    );
    std::fs::write(&script, text).map_err(|error| error.to_string())?;
    if !process::succeeds(Command::new("chmod").arg("+x").arg(&script)) {
        return Err("the script cannot be made executable".to_owned());
    }
    let mut python = Command::new("python3");
    python.arg(folder.join("run.py")).arg("--bin").arg(&script).args(["--backend", "native"]);
    let (status, output) = process::tee(&mut python)?;
    let told = output.lines().last().unwrap_or_default().to_owned();
    let found = std::fs::read_dir(&reports).map_err(|error| error.to_string())?;
    Ok(Some(Cases { told, n_reports: found.count(), all_end_right: status.success() }))
}

/// The runtime of the sanitizer, where the C compiler has one.
fn runtime() -> Option<PathBuf> {
    let output = process::capture(Command::new("cc").arg("-print-file-name=libasan.so")).ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    // The link is a text for the linker on some systems; the library itself is what is loaded.
    let path = std::fs::canonicalize(path).ok()?;
    path.is_absolute().then_some(path)
}
