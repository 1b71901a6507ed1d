//! Environments of Python below the target folder, each with the packages that a file pins.

use crate::process;
use crate::project::Project;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The Python of an environment that has the pinned packages. It is made anew when the file changes.
pub(crate) fn python(
    project: &Project,
    name: &str,
    requirements: &Path,
) -> Result<PathBuf, String> {
    let wanted = fs::read_to_string(requirements)
        .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
    let environment = project.target_dir().join(name);
    let python = python_of(&environment);
    // Written last, so that it tells a complete environment from one that was interrupted.
    let stamp = environment.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    make(&environment)?;
    if !install(&python, requirements)? {
        let shown = requirements.strip_prefix(&project.root).unwrap_or(requirements);
        return Err(format!(
            "pip cannot install the packages of {}; is there a network?",
            shown.display()
        ));
    }
    fs::write(&stamp, wanted).map_err(|error| format!("cannot write {stamp:?}: {error}"))?;
    Ok(python)
}

/// The Python of a new environment without packages.
pub(crate) fn fresh(project: &Project, name: &str) -> Result<PathBuf, String> {
    let environment = project.target_dir().join(name);
    make(&environment)?;
    Ok(python_of(&environment))
}

fn python_of(environment: &Path) -> PathBuf {
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    programs.join(if cfg!(windows) { "python.exe" } else { "python" })
}

/// Adds the packages of a file to an environment.
fn install(python: &Path, requirements: &Path) -> Result<bool, String> {
    Ok(process::capture(&mut pip_install(python, requirements))?.status.success())
}

/// Puts the packages of a file into a folder, beside the environment; the reason is shown if that fails.
pub(crate) fn install_to(
    python: &Path,
    requirements: &Path,
    folder: &Path,
) -> Result<bool, String> {
    let mut pip = pip_install(python, requirements);
    pip.arg("--no-cache-dir").arg("--upgrade").arg("--target").arg(folder);
    let output = process::capture(&mut pip)?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        eprintln!("{}", reason.lines().last().unwrap_or_default());
    }
    Ok(output.status.success())
}

fn pip_install(python: &Path, requirements: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.arg("--requirement").arg(requirements);
    pip
}

/// Whether CI runs this: there, tools that are missing are a failure.
pub(crate) fn in_ci() -> bool {
    env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// Makes an environment with whatever Python the machine has.
fn make(environment: &Path) -> Result<(), String> {
    let made = ["python3", "python"].into_iter().any(|name| {
        process::succeeds(Command::new(name).args(["-m", "venv", "--clear"]).arg(environment))
    });
    if made { Ok(()) } else { Err("there is no Python 3 with the module `venv`".to_owned()) }
}
