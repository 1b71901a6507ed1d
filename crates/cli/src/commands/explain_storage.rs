//! `einlang explain-storage`: says how much of each recurrence is kept, and why.

use clap::Args;
use einlang_driver::storage;

use crate::Shell;
use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArg};
use crate::commands::failure::report;
use crate::commands::run::CheckpointArg;
use crate::exit::{Exit, Stop};

const EXAMPLES: &str = "\
Examples:
  einlang explain-storage model.ein                  what is kept of each recurrence, and why
  einlang explain-storage model.ein --outputs loss   if only `loss` is observed
  einlang explain-storage model.ein --json           the same as one JSON object";

/// Say how much of each recurrence is kept in memory, and why
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang explain-storage [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct ExplainStorageArgs {
    #[command(flatten)]
    program: ProgramArg,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    checkpoint: CheckpointArg,
    #[command(flatten)]
    checking: CheckingArgs,
}

/// Prints the report of a program without errors.
pub(crate) fn run(args: &ExplainStorageArgs, shell: &Shell) -> Result<Exit, Stop> {
    report("explain-storage", &args.program, &args.checking, shell, |executable, sources| {
        let report = executable.storage();
        let plan = args.checkpoint.plan();
        let segments = executable.segments(plan);
        match args.json {
            true => format!("{}\n", storage::json(&report, &segments, sources)),
            false => storage::table(&report, &segments, plan, sources),
        }
    })
}
