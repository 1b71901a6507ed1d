//! The steps that call cargo's own tools, and `tidy`.

use super::counts::Counts;
use super::{Context, Outcome};
use crate::llvm;
use crate::process;
use crate::project::Project;
use std::process::Command;

/// The sources are formatted.
pub(crate) fn fmt(context: &Context<'_>) -> Result<Outcome, String> {
    require_component(context.project, "fmt", "rustfmt")?;
    pass_if(context.project.cargo().args(["fmt", "--all", "--check"]))
}

/// The linter has nothing to say about any target.
pub(crate) fn clippy(context: &Context<'_>) -> Result<Outcome, String> {
    require_component(context.project, "clippy", "clippy")?;
    let mut cargo = context.project.cargo();
    cargo.args(["clippy", "--quiet", "--workspace", "--all-targets"]);
    llvm::prepare(&mut cargo, true);
    cargo.args(["--", "-D", "warnings"]);
    pass_if(&mut cargo)
}

/// The project's own rules hold.
pub(crate) fn tidy(context: &Context<'_>) -> Result<Outcome, String> {
    Ok(match crate::tidy::report(context.project)? {
        0 => Outcome::Passed(String::new()),
        n => Outcome::Failed(format!("{n} violations")),
    })
}

/// Every test passes, with `nextest` where it is installed.
pub(crate) fn tests(context: &Context<'_>) -> Result<Outcome, String> {
    let commands = if process::succeeds(context.project.cargo().args(["nextest", "--version"])) {
        vec![nextest(context), cargo_test(context, &["--doc"])]
    } else {
        vec![cargo_test(context, &[])]
    };
    let mut counts = Counts::default();
    let mut success = true;
    for mut command in commands {
        let (status, output) = process::tee(&mut command)?;
        success &= status.success();
        counts.add(&output);
    }
    // A filter that is misspelt must not look like a success.
    let outcome = if success && counts.any_ran() { Outcome::Passed } else { Outcome::Failed };
    Ok(outcome(counts.to_string()))
}

/// The documentation builds without a warning.
pub(crate) fn docs(context: &Context<'_>) -> Result<Outcome, String> {
    let mut cargo = context.project.cargo();
    cargo.args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-Dwarnings");
    llvm::prepare(&mut cargo, true);
    pass_if(&mut cargo)
}

/// Only failures, slow tests and the closing summary are shown, so that the summary can be found.
fn nextest(context: &Context<'_>) -> Command {
    let mut cargo = context.project.cargo();
    cargo.args(["nextest", "run", "--workspace", "--no-fail-fast", "--cargo-quiet"]);
    cargo.args(["--no-tests", "pass"]);
    llvm::prepare(&mut cargo, true);
    cargo.args(["--status-level", "slow", "--final-status-level", "slow"]).args(&context.filters);
    cargo
}

fn cargo_test(context: &Context<'_>, options: &[&str]) -> Command {
    let mut cargo = context.project.cargo();
    cargo.args(["test", "--quiet", "--workspace", "--no-fail-fast"]);
    llvm::prepare(&mut cargo, true);
    cargo.args(options).arg("--").args(&context.filters);
    cargo
}

/// A minimal Rust installation lacks some components; `rustup` can add them.
fn require_component(project: &Project, command: &str, component: &str) -> Result<(), String> {
    if process::succeeds(project.cargo().args([command, "--version"])) {
        return Ok(());
    }
    println!("adding the Rust component {component}");
    match process::succeeds(Command::new("rustup").args(["component", "add", component])) {
        true => Ok(()),
        false => Err(format!("{component} is missing: rustup component add {component}")),
    }
}

fn pass_if(command: &mut Command) -> Result<Outcome, String> {
    Ok(match process::show(command)?.success() {
        true => Outcome::Passed(String::new()),
        false => Outcome::Failed("see above".to_owned()),
    })
}
