//! The step `std`: the standard library against NumPy and SciPy.
//!
//! The comparison is a Python program, `tests/std_reference/generate.py`. It runs in an environment
//! of its own below the target folder, with the packages that its `requirements.txt` pins; the
//! environment is made anew when that file changes. Where Python or the packages cannot be had, the
//! step is skipped, except in CI (`CI=true`), where that is a failure.

use super::{Context, Outcome};
use crate::project::Project;
use crate::{binary, process};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Every function of the library agrees with its reference.
pub(crate) fn std(context: &Context<'_>) -> Result<Outcome, String> {
    let folder = context.project.root.join("tests").join("std_reference");
    let python = match python(context.project, &folder.join("requirements.txt")) {
        Ok(python) => python,
        Err(reason) => return Ok(without_python(reason, in_ci())),
    };
    let binary = binary::build(context.project)?;
    let mut command = Command::new(python);
    command.arg(folder.join("generate.py")).arg(binary);
    // Only sources belong into the checkout.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let (status, output) = process::tee(&mut command)?;
    let counts =
        output.lines().rev().find(|line| line.contains(" passed, ")).unwrap_or("no answer");
    let outcome = if status.success() { Outcome::Passed } else { Outcome::Failed };
    Ok(outcome(counts.to_owned()))
}

/// What the step is worth where its tools are missing.
fn without_python(reason: String, in_ci: bool) -> Outcome {
    if in_ci { Outcome::Failed(reason) } else { Outcome::Skipped(reason) }
}

fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The Python of an environment that has the pinned packages.
fn python(project: &Project, requirements: &Path) -> Result<PathBuf, String> {
    let wanted = fs::read_to_string(requirements)
        .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
    let environment = project.target_dir().join("std-reference");
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = programs.join(if cfg!(windows) { "python.exe" } else { "python" });
    // Written last, so that it tells a complete environment from one that was interrupted.
    let stamp = environment.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    make_environment(&environment)?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.arg("--requirement").arg(requirements);
    if !process::capture(&mut pip)?.status.success() {
        return Err("pip cannot install the packages of tests/std_reference/requirements.txt; \
                    is there a network?"
            .to_owned());
    }
    fs::write(&stamp, wanted).map_err(|error| format!("cannot write {stamp:?}: {error}"))?;
    Ok(python)
}

/// Makes an environment with whatever Python the machine has.
fn make_environment(environment: &Path) -> Result<(), String> {
    let made = ["python3", "python"].into_iter().any(|name| {
        process::succeeds(Command::new(name).args(["-m", "venv", "--clear"]).arg(environment))
    });
    if made { Ok(()) } else { Err("there is no Python 3 with the module `venv`".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, without_python};

    #[test]
    fn missing_tools_fail_only_in_ci() {
        let reason = || "no Python".to_owned();
        assert_eq!(without_python(reason(), false), Outcome::Skipped(reason()));
        assert_eq!(without_python(reason(), true), Outcome::Failed(reason()));
    }
}
