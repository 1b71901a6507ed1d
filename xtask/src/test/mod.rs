//! `cargo xtask test [step|filter…]`: everything that CI checks, as one readable list of steps.
//!
//! A failing step does not stop the later ones, so one run shows everything there is to repair.

mod counts;
mod library;
mod python;
mod steps;
mod summary;

use crate::TaskResult;
use crate::project::Project;
use std::time::{Duration, Instant};

/// How a step ended, with a few words for the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Everything it checked holds.
    Passed(String),
    /// Something does not hold.
    Failed(String),
    /// There was nothing to check, and why.
    Skipped(String),
}

impl Outcome {
    /// What a step is worth where its tools are missing: in CI that is a failure.
    fn without_tools(reason: String, in_ci: bool) -> Outcome {
        if in_ci { Outcome::Failed(reason) } else { Outcome::Skipped(reason) }
    }
}

/// What every step is given.
pub(crate) struct Context<'a> {
    /// The checkout under test.
    pub(crate) project: &'a Project,
    /// Only tests whose name contains one of these run; no filter means every test.
    pub(crate) filters: Vec<String>,
}

/// One check that CI makes.
struct Step {
    name: &'static str,
    run: fn(&Context<'_>) -> Result<Outcome, String>,
}

/// What became of a step.
struct Report {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
}

/// The steps in the order they run: the quick ones first.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: steps::fmt },
    Step { name: "clippy", run: steps::clippy },
    Step { name: "tidy", run: steps::tidy },
    Step { name: TESTS, run: steps::tests },
    Step { name: "docs", run: steps::docs },
    Step { name: "conformance-check", run: crate::conformance::check_step },
    Step { name: "conformance", run: crate::conformance::run_step },
    Step { name: "std", run: library::std },
    Step { name: "python", run: python::python },
];

/// The step that takes the test filters.
const TESTS: &str = "tests";

/// Runs the steps asked for and closes with a table; the exit code is 1 if any failed.
pub(crate) fn test(project: &Project, args: &[String]) -> TaskResult {
    let (steps, filters) = plan(args);
    let context = Context { project, filters };
    let reports: Vec<Report> = steps.into_iter().map(|step| run_step(step, &context)).collect();
    print!("{}", summary::table(&reports));
    let failed = reports.iter().any(|report| matches!(report.outcome, Outcome::Failed(_)));
    Ok(u8::from(failed))
}

/// A word that names a step selects it; any other is a test filter and selects the tests.
fn plan(args: &[String]) -> (Vec<&'static Step>, Vec<String>) {
    let is_step = |word: &str| STEPS.iter().any(|step| step.name == word);
    let filters: Vec<String> = args.iter().filter(|word| !is_step(word)).cloned().collect();
    let wanted = |step: &&Step| {
        args.is_empty()
            || args.iter().any(|word| word == step.name)
            || (step.name == TESTS && !filters.is_empty())
    };
    (STEPS.iter().filter(wanted).collect(), filters)
}

fn run_step(step: &Step, context: &Context<'_>) -> Report {
    println!("\n== {} ==", step.name);
    let start = Instant::now();
    let outcome = (step.run)(context).unwrap_or_else(Outcome::Failed);
    match &outcome {
        Outcome::Passed(note) if note.is_empty() => println!("ok"),
        Outcome::Passed(note) => println!("{note}"),
        Outcome::Failed(note) => println!("failed: {note}"),
        Outcome::Skipped(note) => println!("skipped: {note}"),
    }
    Report { name: step.name, outcome, time: start.elapsed() }
}

#[cfg(test)]
mod tests {
    use super::{STEPS, plan};

    fn planned(args: &[&str]) -> (Vec<&'static str>, Vec<String>) {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let (steps, filters) = plan(&args);
        (steps.iter().map(|step| step.name).collect(), filters)
    }

    #[test]
    fn no_argument_means_every_step() {
        assert_eq!(planned(&[]).0.len(), STEPS.len());
    }

    #[test]
    fn step_names_select_steps_in_their_own_order() {
        assert_eq!(planned(&["tidy", "fmt"]), (vec!["fmt", "tidy"], vec![]));
    }

    #[test]
    fn other_words_filter_the_tests() {
        assert_eq!(planned(&["parser"]), (vec!["tests"], vec!["parser".to_owned()]));
        let (steps, filters) = planned(&["fmt", "parser"]);
        assert_eq!((steps, filters.len()), (vec!["fmt", "tests"], 1));
    }

    #[test]
    fn help_names_every_step() {
        for step in STEPS {
            assert!(crate::HELP.contains(step.name), "{}", step.name);
        }
    }
}
