//! `cargo xtask tidy [--verbose]`: the rules of this project that no other tool checks.
//!
//! A check is a function of the repository's files and does no I/O, so each is tested on a few
//! strings. Every violation is one line `file:line: message`.

mod dependencies;
mod error_pages;
mod links;
mod manifests;
mod repo;
mod sizes;
mod text;

use crate::TaskResult;
use crate::project::Project;
use repo::Repo;
use std::fmt;

/// One place that breaks a rule, or that a report mentions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Violation {
    file: String,
    line: usize,
    message: String,
}

impl Violation {
    fn new(file: &str, line: usize, message: impl Into<String>) -> Violation {
        Violation { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// The rules, one per module.
const CHECKS: &[fn(&Repo) -> Vec<Violation>] = &[
    dependencies::check,
    sizes::check,
    error_pages::check,
    text::check,
    manifests::check,
    links::check,
];

/// Runs every check; `--verbose` also lists what is worth splitting but breaks no rule.
pub(crate) fn tidy(project: &Project, args: &[String]) -> TaskResult {
    if let Some(unknown) = args.iter().find(|arg| *arg != "--verbose") {
        return Err(format!("`tidy` does not know {unknown}; it takes --verbose"));
    }
    if !args.is_empty() {
        sizes::report(&Repo::read(project)?).iter().for_each(|note| println!("note: {note}"));
    }
    Ok(match report(project)? {
        0 => 0,
        n => {
            println!("{n} violations");
            1
        }
    })
}

/// Prints every violation and says how many there are.
pub(crate) fn report(project: &Project) -> Result<usize, String> {
    let repo = Repo::read(project)?;
    let mut violations: Vec<Violation> = CHECKS.iter().flat_map(|check| check(&repo)).collect();
    violations.sort();
    violations.iter().for_each(|violation| println!("{violation}"));
    Ok(violations.len())
}

/// The violations of one check on files given as strings, one per line.
#[cfg(test)]
fn violations(check: fn(&Repo) -> Vec<Violation>, files: &[(&str, &str)]) -> String {
    let lines: Vec<String> = check(&Repo::of(files)).iter().map(Violation::to_string).collect();
    lines.join("\n")
}
