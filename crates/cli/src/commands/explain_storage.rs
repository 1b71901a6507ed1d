//! `einlang explain-storage`: says how much of each recurrence is kept, and why.

use clap::Args;
use einlang_driver::{Failure, Session, storage};

use crate::Shell;
use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArg};
use crate::bug;
use crate::exit::{Exit, Stop};
use crate::inputs;
use crate::message::Message;

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
    checking: CheckingArgs,
}

/// Prints the report of a program without errors.
pub(crate) fn run(args: &ExplainStorageArgs, shell: &Shell) -> Result<Exit, Stop> {
    let input = inputs::single(&args.program, "explain-storage")?;
    let mut session = Session::new(&shell.world).with_options(args.checking.options());
    let built = match input.load(&mut session) {
        Ok(file) => session.build(file),
        Err(errors) => Err(Failure::Program(errors)),
    };
    match built {
        Ok(executable) => {
            shell.terminal.diagnostics(session.sources(), &executable.warnings);
            let (report, sources) = (executable.storage(), session.sources());
            let text = match args.json {
                true => format!("{}\n", storage::json(&report, sources)),
                false => storage::table(&report, sources),
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
