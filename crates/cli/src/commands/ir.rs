//! `einlang ir`: prints a program as a stage of the compiler sees it.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use einlang_driver::{Session, Stage, View};

use crate::args::{HELP_TEMPLATE, ProgramArg};
use crate::commands::run::CheckpointArg;
use crate::exit::{Exit, Stop};
use crate::inputs;
use crate::message::Message;
use crate::{Shell, native};

const EXAMPLES: &str = "\
Examples:
  einlang ir model.ein                  the program after the last stage
  einlang ir model.ein --after lex      the program as tokens
  einlang ir model.ein --after asm      the assembly of its kernels
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
    /// Print this kernel only, at stages from `decide` on
    #[arg(long, value_name = "NAME", requires = "after")]
    kernel: Option<String>,
    #[command(flatten)]
    checkpoint: CheckpointArg,
    /// List the stages
    #[arg(long, conflicts_with_all = ["file", "source", "after"])]
    list: bool,
}

/// The names and descriptions come from the driver, so that a new stage is known here at once.
fn stage_parser() -> impl TypedValueParser<Value = Stage> {
    let values = Stage::ALL.iter().map(|stage| {
        PossibleValue::new(stage.name()).help(stage.about()).aliases(stage.other_name())
    });
    PossibleValuesParser::new(values.collect::<Vec<_>>())
        .try_map(|name| Stage::parse(&name).ok_or("no such stage"))
}

/// Prints the program, with errors or without, and then reports the errors.
pub(crate) fn run(args: &IrArgs, shell: &Shell) -> Result<Exit, Stop> {
    match args.list {
        true => list(shell),
        false => print(args, shell),
    }
}

fn print(args: &IrArgs, shell: &Shell) -> Result<Exit, Stop> {
    let (stage, kernel) = (args.after, args.kernel.as_deref());
    if let (Some(stage), Some(_)) = (stage.filter(|stage| !stage.has_kernels()), kernel) {
        let message = Message::error(format!("the stage `{stage}` has no kernels"));
        return Err(Stop::Usage(message.with_help("`--kernel` goes with stages from `decide` on")));
    }
    let input = inputs::single(&args.program, "ir")?;
    let mut session = Session::new(&shell.world);
    let native = native::compiler(false);
    let loaded = input.load(&mut session);
    let diagnostics = match loaded {
        Ok(file) => {
            let checkpoint = args.checkpoint.plan();
            let view = View { kernel, native: native.as_ref(), checkpoint };
            let printed = session.ir_of(file, stage, &view);
            if let Some(kernel) = kernel.filter(|_| !printed.diagnostics.has_errors()) {
                is_there(kernel, &printed.kernels)?;
            }
            shell.terminal.print(&printed.text)?;
            printed.diagnostics
        }
        Err(errors) => errors,
    };
    shell.terminal.diagnostics(session.sources(), &diagnostics);
    shell.terminal.failed(&format!("compile `{}`", input.name()), &diagnostics);
    Ok(Exit::with_errors(diagnostics.has_errors()))
}

/// Refuses the name of a kernel that is none.
fn is_there(kernel: &str, kernels: &[String]) -> Result<(), Stop> {
    if kernels.iter().any(|name| name == kernel) {
        return Ok(());
    }
    let names: Vec<String> = kernels.iter().take(20).map(|name| format!("`{name}`")).collect();
    let help = match names.is_empty() {
        true => "the program computes no tensors".to_owned(),
        false => format!("the kernels are {}", names.join(", ")),
    };
    Err(Stop::Usage(Message::error(format!("there is no kernel `{kernel}`")).with_help(help)))
}

fn list(shell: &Shell) -> Result<Exit, Stop> {
    let width = Stage::ALL.iter().map(|stage| stage.name().len()).max().unwrap_or(0);
    let line = |stage: &Stage| format!("{:width$}  {}\n", stage.name(), stage.about());
    shell.terminal.print(&Stage::ALL.iter().map(line).collect::<String>())?;
    Ok(Exit::Fine)
}
