//! The step `std`: the standard library against NumPy and SciPy.
//!
//! The comparison is a Python program, `tests/std_reference/generate.py`. It runs in an environment
//! of its own below the target folder, with the packages that its `requirements.txt` pins. Where
//! Python or the packages cannot be had, the step is skipped, except in CI (`CI=true`), where that is
//! a failure.

use super::{Context, Outcome};
use crate::environment;
use crate::{binary, process};
use std::process::Command;

/// Every function of the library agrees with its reference.
pub(crate) fn std(context: &Context<'_>) -> Result<Outcome, String> {
    let folder = context.project.root.join("tests").join("std_reference");
    let requirements = folder.join("requirements.txt");
    let python = match environment::python(context.project, "std-reference", &requirements) {
        Ok(python) => python,
        Err(reason) => return Ok(Outcome::without_tools(reason, environment::in_ci())),
    };
    let binary = binary::build(context.project, binary::CHECKS)?;
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

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn missing_tools_fail_only_in_ci() {
        let reason = || "no Python".to_owned();
        assert_eq!(Outcome::without_tools(reason(), false), Outcome::Skipped(reason()));
        assert_eq!(Outcome::without_tools(reason(), true), Outcome::Failed(reason()));
    }
}
