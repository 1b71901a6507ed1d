//! `einlang ir`: prints a program as a stage of the compiler sees it.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use einlang_driver::{Session, Stage};

use crate::Shell;
use crate::args::{HELP_TEMPLATE, ProgramArg};
use crate::exit::{Exit, Stop};
use crate::inputs;

const EXAMPLES: &str = "\
Examples:
  einlang ir model.ein                  the program after the last stage
  einlang ir model.ein --after lex      the program as tokens
  einlang ir -c 'let x = 1;'            a program given as text
  einlang ir --list                     the stages, in order";

/// Print a program as a stage of the compiler sees it
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang ir [OPTIONS] <FILE | - | -c SOURCE | --list>"
)]
pub(crate) struct IrArgs {
    #[command(flatten)]
    program: ProgramArg,
    /// Print the program as it is after this stage [default: the last]
    #[arg(long, value_name = "STAGE", value_parser = stage_parser(), hide_possible_values = true)]
    after: Option<Stage>,
    /// List the stages
    #[arg(long, conflicts_with_all = ["file", "source", "after"])]
    list: bool,
}

/// The names and descriptions come from the driver, so that a new stage is known here at once.
fn stage_parser() -> impl TypedValueParser<Value = Stage> {
    let values = Stage::ALL.iter().map(|s| PossibleValue::new(s.name()).help(s.about()));
    PossibleValuesParser::new(values.collect::<Vec<_>>())
        .try_map(|name| Stage::parse(&name).ok_or("no such stage"))
}

/// Prints the program, with errors or without, and then reports the errors.
pub(crate) fn run(args: &IrArgs, shell: &Shell) -> Result<Exit, Stop> {
    match args.list {
        true => list(shell),
        false => print(&args.program, args.after, shell),
    }
}

fn print(program: &ProgramArg, stage: Option<Stage>, shell: &Shell) -> Result<Exit, Stop> {
    let input = inputs::single(program, "ir")?;
    let mut session = Session::new(&shell.world);
    let loaded = input.load(&mut session);
    let diagnostics = match loaded {
        Ok(file) => {
            let printed = session.ir(file, stage);
            shell.terminal.print(&printed.text)?;
            printed.diagnostics
        }
        Err(errors) => errors,
    };
    shell.terminal.diagnostics(session.sources(), &diagnostics);
    shell.terminal.failed(&format!("compile `{}`", input.name()), &diagnostics);
    Ok(Exit::with_errors(diagnostics.has_errors()))
}

fn list(shell: &Shell) -> Result<Exit, Stop> {
    let width = Stage::ALL.iter().map(|stage| stage.name().len()).max().unwrap_or(0);
    let line = |stage: &Stage| format!("{:width$}  {}\n", stage.name(), stage.about());
    shell.terminal.print(&Stage::ALL.iter().map(line).collect::<String>())?;
    Ok(Exit::Fine)
}
