//! The step `python`: the Python package, by pytest and mypy.
//!
//! The package is put together below the target folder from a build of its extension module and
//! the sources in `python/`, and is tested in an environment with the packages that
//! `tests/python/requirements.txt` pins. PyTorch is large and is tested where it is there; with
//! `EINLANG_TEST_TORCH=1` the step installs it, and with `EINLANG_TEST_TORCH=try`, as CI has it, if it can be had.
//! Without Python the step is skipped, except in CI.

use super::{Context, Outcome};
use crate::{environment, extension, process};
use std::env;
use std::path::Path;
use std::process::Command;

/// The tests of the package pass, and its types are right.
pub(crate) fn python(context: &Context<'_>) -> Result<Outcome, String> {
    let project = context.project;
    let folder = project.root.join("tests").join("python");
    let python = match environment::python(project, "python-test", &folder.join("requirements.txt"))
    {
        Ok(python) => python,
        Err(reason) => return Ok(Outcome::without_tools(reason, environment::in_ci())),
    };
    if !has_torch(&python, &folder)? {
        return Ok(Outcome::Failed("pip cannot install PyTorch".to_owned()));
    }
    let package = extension::stage(project)?;
    let in_environment = |module: &str| {
        let mut command = Command::new(&python);
        command.args(["-m", module]).current_dir(&project.root);
        command.env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    let mut types = in_environment("mypy");
    types.args(["--strict", "--cache-dir"]).arg(project.target_dir().join("mypy"));
    types.args(["python/einlang", "examples/python"]);
    let well_typed = process::show(&mut types)?.success();
    let (status, output) = process::tee(&mut tests(in_environment("pytest"), &folder))?;
    let counts = output.lines().rev().find(|line| line.contains(" passed"));
    let counts = counts.unwrap_or("no answer").trim_matches(['=', ' ']).to_owned();
    Ok(match (status.success(), well_typed) {
        (true, true) => Outcome::Passed(counts),
        (true, false) => Outcome::Failed(format!("{counts}; mypy has complaints")),
        (false, _) => Outcome::Failed(counts),
    })
}

/// Installs PyTorch as far as the environment asks for it; false if it must be there and is not.
fn has_torch(python: &Path, folder: &Path) -> Result<bool, String> {
    let wish = env::var("EINLANG_TEST_TORCH").unwrap_or_default();
    if !["1", "try"].contains(&wish.as_str()) {
        return Ok(true);
    }
    let installed = environment::install(python, &folder.join("requirements-torch.txt"))?;
    if !installed {
        println!("PyTorch cannot be installed; what needs it is not tested");
    }
    Ok(installed || wish == "try")
}

fn tests(mut pytest: Command, folder: &Path) -> Command {
    pytest.args(["--quiet", "-p", "no:cacheprovider"]).arg(folder);
    pytest
}
