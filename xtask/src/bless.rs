//! `cargo xtask bless [filter…]`: rewrites the expectations of fixture tests.
//!
//! A fixture test that finds `EINLANG_BLESS=1` in its environment writes what it got over what it
//! expected. The list shown at the end is what has to be read before it is committed.

use crate::project::Project;
use crate::{TaskResult, llvm, process};

/// The folders that may hold fixtures, as git path patterns.
const FIXTURES: &[&str] = &["tests", "crates/*/tests"];

/// Runs the tests in blessing mode, then lists the fixtures that differ from the last commit.
pub(crate) fn bless(project: &Project, filters: &[String]) -> TaskResult {
    let mut cargo = project.cargo();
    cargo.args(["test", "--workspace", "--tests", "--no-fail-fast", "--quiet"]);
    llvm::prepare(&mut cargo, true);
    cargo.arg("--");
    let status = process::show(cargo.args(filters).env("EINLANG_BLESS", "1"))?;
    let changed = changed_fixtures(project)?;
    match changed.as_str() {
        "" => println!("no fixture differs from the last commit"),
        changed => print!("fixtures that differ from the last commit:\n{changed}"),
    }
    Ok(process::exit_code(status))
}

fn changed_fixtures(project: &Project) -> Result<String, String> {
    let mut git = project.git();
    git.args(["status", "--short", "--untracked-files=all", "--"]).args(FIXTURES);
    let output = process::capture(&mut git)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
