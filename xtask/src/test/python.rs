//! The step `python`: the Python package, by pytest and mypy.
//!
//! The package is put together below the target folder from a build of its extension module and
//! the sources in `python/`, and is tested in an environment with the packages that
//! `tests/python/requirements.txt` pins. PyTorch is large and is tested on request, from a folder
//! of its own: with `EINLANG_TEST_TORCH=1` the step installs it, and with `EINLANG_TEST_TORCH=try`,
//! as CI has it, if it can be had. What a failed attempt leaves is removed, and the tests run without it.
//! Without Python the step is skipped, except in CI.

use super::{Context, Outcome};
use crate::binary::CHECKS;
use crate::project::Project;
use crate::{environment, extension, process};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The tests of the package pass, and its types are right.
pub(crate) fn python(context: &Context<'_>) -> Result<Outcome, String> {
    let project = context.project;
    let folder = project.root.join("tests").join("python");
    let python = match environment::python(project, "python-test", &folder.join("requirements.txt"))
    {
        Ok(python) => python,
        Err(reason) => return Ok(Outcome::without_tools(reason, environment::in_ci())),
    };
    let torch = match torch(project, &python, &folder)? {
        Torch::Missing => return Ok(Outcome::Failed("pip cannot install PyTorch".to_owned())),
        Torch::Unused => None,
        Torch::At(folder) => Some(folder),
    };
    let packages = env::join_paths([extension::stage(project, CHECKS)?].into_iter().chain(torch))
        .map_err(|error| error.to_string())?;
    let in_environment = |module: &str| {
        let mut command = Command::new(&python);
        command.args(["-m", module]).current_dir(&project.root);
        command.env("PYTHONPATH", &packages).env("PYTHONDONTWRITEBYTECODE", "1");
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

enum Torch {
    /// It must be there, and is not.
    Missing,
    /// Nobody asked for it, or it cannot be had.
    Unused,
    /// In this folder.
    At(PathBuf),
}

/// Installs PyTorch as far as the environment asks for it.
fn torch(project: &Project, python: &Path, folder: &Path) -> Result<Torch, String> {
    let wish = env::var("EINLANG_TEST_TORCH").unwrap_or_default();
    if !["1", "try"].contains(&wish.as_str()) {
        return Ok(Torch::Unused);
    }
    let packages = project.target_dir().join("python-torch");
    let imports = || {
        let mut check = Command::new(python);
        check.args(["-c", "import torch; torch.ones(1).numpy()"]).env("PYTHONPATH", &packages);
        process::succeeds(&mut check)
    };
    if imports() {
        return Ok(Torch::At(packages));
    }
    let requirements = folder.join("requirements-torch.txt");
    if environment::install_to(python, &requirements, &packages)? && imports() {
        return Ok(Torch::At(packages));
    }
    // Half of it would be found by the tests, and a full disk would fail what comes after.
    if packages.exists() {
        fs::remove_dir_all(&packages)
            .map_err(|error| format!("cannot remove {}: {error}", packages.display()))?;
    }
    println!("PyTorch cannot be installed; what needs it is not tested");
    Ok(if wish == "try" { Torch::Unused } else { Torch::Missing })
}

fn tests(mut pytest: Command, folder: &Path) -> Command {
    pytest.args(["--quiet", "-p", "no:cacheprovider"]).arg(folder);
    pytest
}
