//! `einlang run`: checks a program and evaluates it.

use clap::Args;
use einlang_driver::Session;
use einlang_source::FileId;

use crate::Shell;
use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArg};
use crate::exit::{Exit, Stop};
use crate::inputs;
use crate::message::{Level, Message};

const EXAMPLES: &str = "\
Examples:
  einlang run model.ein            run a program; `einlang model.ein` is short for it
  einlang run -c 'let x = 1 + 2;'  run a program given as text
  einlang run - < model.ein        run a program from standard input";

/// Run a program
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang run [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    program: ProgramArg,
    #[command(flatten)]
    checking: CheckingArgs,
}

/// Reports what is wrong with the program; one without errors is evaluated.
pub(crate) fn run(args: &RunArgs, shell: &Shell) -> Result<Exit, Stop> {
    let input = inputs::single(&args.program, "run")?;
    let mut session = Session::new(&shell.world).with_options(args.checking.options());
    let loaded = input.load(&mut session);
    let (file, diagnostics) = match loaded {
        Ok(file) => (Some(file), session.check(file)),
        Err(errors) => (None, errors),
    };
    shell.terminal.diagnostics(session.sources(), &diagnostics);
    match file.filter(|_| !diagnostics.has_errors()) {
        Some(file) => execute(&session, file, shell),
        None => {
            shell.terminal.failed(&format!("run `{}`", input.name()), &diagnostics);
            Ok(Exit::ProgramError)
        }
    }
}

/// What happens to a program that passed every check. A backend is plugged in here and nowhere
/// else; until there is one, the program is well formed and nothing more is known about it.
fn execute(_session: &Session<'_>, _file: FileId, shell: &Shell) -> Result<Exit, Stop> {
    shell.terminal.say(&Message::new(
        Level::Note,
        "the program is well formed; nothing was evaluated, because this build has no backend",
    ));
    Ok(Exit::Fine)
}
