//! `einlang explain-derivatives`: says how each derivative is computed, and why.

use clap::Args;
use einlang_driver::{Failure, Session, derivatives};

use crate::Shell;
use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArg};
use crate::bug;
use crate::exit::{Exit, Stop};
use crate::inputs;
use crate::message::Message;

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
    let input = inputs::single(&args.program, "explain-derivatives")?;
    let mut session = Session::new(&shell.world).with_options(args.checking.options());
    let built = match input.load(&mut session) {
        Ok(file) => session.build(file),
        Err(errors) => Err(Failure::Program(errors)),
    };
    match built {
        Ok(executable) => {
            shell.terminal.diagnostics(session.sources(), &executable.warnings);
            let (report, sources) = (executable.derivatives(), session.sources());
            let text = match args.json {
                true => format!("{}\n", derivatives::json(&report, sources)),
                false => derivatives::table(&report, sources),
            };
            shell.terminal.print(&text)?;
            Ok(Exit::Fine)
        }
        Err(Failure::Program(errors)) => {
            shell.terminal.diagnostics(session.sources(), &errors);
            shell.terminal.failed(&format!("compile `{}`", input.name()), &errors);
            Ok(Exit::ProgramError)
        }
        Err(Failure::Usage { message, help }) => {
            Err(Stop::Usage(Message::error(message).with_help(help)))
        }
        Err(Failure::Bug(what)) => {
            bug::tell(&what);
            Ok(Exit::Bug)
        }
    }
}
