//! `einlang explain-derivatives`: says how each derivative is computed, and why.

use clap::Args;
use einlang_driver::derivatives;

use crate::Shell;
use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArg};
use crate::commands::failure::report;
use crate::exit::{Exit, Stop};

const EXAMPLES: &str = "\
Examples:
  einlang explain-derivatives model.ein                  what is computed for each request
  einlang explain-derivatives model.ein --outputs loss   if only `loss` is observed
  einlang explain-derivatives model.ein --json           the same as a JSON list";

/// Say how each derivative is computed, why, and what it costs
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang explain-derivatives [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct ExplainDerivativesArgs {
    #[command(flatten)]
    program: ProgramArg,
    /// Print a JSON list
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    checking: CheckingArgs,
}

/// Prints the report of a program without errors.
pub(crate) fn run(args: &ExplainDerivativesArgs, shell: &Shell) -> Result<Exit, Stop> {
    report("explain-derivatives", &args.program, &args.checking, shell, |executable, sources| {
        let report = executable.derivatives();
        match args.json {
            true => format!("{}\n", derivatives::json(&report, sources)),
            false => derivatives::table(&report, sources),
        }
    })
}
