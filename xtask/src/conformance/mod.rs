//! The conformance cases that lie beside the project, if any, run in two ways.
//!
//! `conformance` runs programs with the shared runner and asks for the cases that
//! `tests/conformance.txt` promises. `conformance-check` asks, of every case, only what the
//! compiler can tell without running it; `tests/conformance-check.txt` may narrow that.

mod cases;
mod check;
mod selection;

use crate::binary;
use crate::llvm;
use crate::process;
use crate::project::Project;
use crate::test::{Context, Outcome};
use cases::Case;
use selection::Selection;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The cases that must pass when run.
const PROMISED: &str = "tests/conformance.txt";

/// The cases that are checked without running them; no entry means every case.
const CHECKED: &str = "tests/conformance-check.txt";

/// Compares what `einlang check` says about each case with what its directives expect.
pub(crate) fn check_step(context: &Context<'_>) -> Result<Outcome, String> {
    let Some(folder) = folder(context.project) else {
        return Ok(Outcome::Skipped(NO_CASES.to_owned()));
    };
    let selection = Selection::read(&context.project.root, CHECKED)?;
    let all = cases::find(&folder.join("cases"))?;
    let chosen =
        if selection.is_empty() { all.iter().collect() } else { selection.choose(&all)? };
    let binary = binary::build(context.project, binary::CHECKS)?;
    let failed: Vec<String> = chosen.iter().filter_map(|case| check_case(&binary, case)).collect();
    Ok(verdict(chosen.len(), &failed))
}

/// Runs the promised cases with the shared runner, on every backend.
pub(crate) fn run_step(context: &Context<'_>) -> Result<Outcome, String> {
    let Some(folder) = folder(context.project) else {
        return Ok(Outcome::Skipped(NO_CASES.to_owned()));
    };
    let selection = Selection::read(&context.project.root, PROMISED)?;
    if selection.is_empty() {
        return Ok(Outcome::Skipped(format!("{PROMISED} lists no case")));
    }
    let all = cases::find(&folder.join("cases"))?;
    let chosen = selection.choose(&all)?;
    let binary = binary::build(context.project, binary::CHECKS)?;
    let (mut n_runs, mut failed) = (0, Vec::new());
    for backend in backends() {
        let found = run_cases(&folder, &binary, &chosen, &selection, backend)?;
        n_runs += chosen.len();
        failed.extend(found.into_iter().map(|line| format!("{line} ({backend})")));
    }
    Ok(verdict(n_runs, &failed))
}

/// The backends of the binary, the judge of the others first.
fn backends() -> Vec<&'static str> {
    let native = llvm::prefix().map(|_| "native");
    ["interp", "bytecode"].into_iter().chain(native).collect()
}

const NO_CASES: &str = "no conformance cases beside the project";

fn folder(project: &Project) -> Option<PathBuf> {
    project.shared("conformance").filter(|folder| folder.join("run.py").exists())
}

/// The complaint about one case, if there is one.
fn check_case(binary: &Path, case: &Case) -> Option<String> {
    let mut command = Command::new(binary);
    command.args(["check", &case.file, "--message-format", "json"]).args(case.checking_flags());
    command.current_dir(&case.folder);
    let complaint = process::capture(&mut command).and_then(|output| check::judge(case, &output));
    complaint.err().map(|reason| format!("FAIL {}: {reason}", case.name))
}

/// The runner's complaints about the chosen cases.
///
/// Its filters are substrings and may select more than was promised; the surplus is ignored.
fn run_cases(
    folder: &Path,
    binary: &Path,
    chosen: &[&Case],
    selection: &Selection,
    backend: &str,
) -> Result<Vec<String>, String> {
    let mut python = Command::new("python3");
    python.arg(folder.join("run.py")).arg("--bin").arg(binary);
    python.args(["--backend", backend]).args(selection.filters());
    let output = process::capture(&mut python)?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        return Err(last_line(&output));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let promised = |line: &&str| chosen.iter().any(|case| is_failure_of(line, case));
    Ok(text.lines().filter(promised).map(str::to_owned).collect())
}

fn is_failure_of(line: &str, case: &Case) -> bool {
    let rest = line.strip_prefix("FAIL ").and_then(|rest| rest.strip_prefix(case.name.as_str()));
    rest.is_some_and(|rest| rest.starts_with(": "))
}

/// What a process that went wrong said last.
fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let said = text.trim_end().lines().last().unwrap_or("it said nothing");
    format!("{}: {said}", output.status)
}

fn verdict(n_cases: usize, failed: &[String]) -> Outcome {
    for line in failed {
        println!("{line}");
    }
    let counts = format!("{} passed, {} failed", n_cases - failed.len(), failed.len());
    if failed.is_empty() { Outcome::Passed(counts) } else { Outcome::Failed(counts) }
}

#[cfg(test)]
mod tests {
    use super::cases::Case;
    use super::is_failure_of;

    #[test]
    fn a_failure_belongs_to_exactly_one_case() {
        let case = Case::of("errors/no-range", "");
        assert!(is_failure_of("FAIL errors/no-range: why", &case));
        assert!(!is_failure_of("FAIL errors/no-range-at-all: why", &case));
        assert!(!is_failure_of("3 passed, 1 failed", &case));
    }
}
