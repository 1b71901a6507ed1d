//! What `einlang bench` and `einlang profile` share: a program that runs several times, with its printing
//! thrown away.

use std::io;
use std::path::Path;

use clap::Args;
use einlang_driver::{
    Executable, Failure, Given, Kept, Outcome, Printer, ProjectIo, RunOptions, Session,
};

use crate::Shell;
use crate::args::{CheckingArgs, ProgramArg};
use crate::commands::failure::told;
use crate::commands::run::{LimitArgs, named_value};
use crate::exit::{Exit, Stop};
use crate::inputs::{self, Input};
use crate::running::{self, Console, Target};

/// The program that is measured, and how it runs.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    #[command(flatten)]
    program: ProgramArg,
    /// The value of an input, as for `einlang run`
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = named_value)]
    inputs: Vec<(String, String)>,
    #[command(flatten)]
    checking: CheckingArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// A program that is ready to run.
pub(crate) struct Measured {
    pub(crate) executable: Executable,
    pub(crate) options: RunOptions,
    input: Input,
}

/// Nobody reads what is printed.
struct Silence;

impl Printer for Silence {
    fn line(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

impl Measured {
    /// Runs it once.
    pub(crate) fn run(&self, args: &MeasureArgs) -> Result<Result<Outcome, Failure>, Stop> {
        self.run_with(&self.options, args)
    }

    /// Runs it once with other options.
    pub(crate) fn run_with(
        &self,
        options: &RunOptions,
        args: &MeasureArgs,
    ) -> Result<Result<Outcome, Failure>, Stop> {
        self.run_into(options, args, &mut Silence)
    }

    /// Runs it once with other options, and gives what it prints to somebody.
    pub(crate) fn run_into(
        &self,
        options: &RunOptions,
        args: &MeasureArgs,
        printer: &mut dyn Printer,
    ) -> Result<Result<Outcome, Failure>, Stop> {
        let folder = match &self.input {
            Input::File(path) => path.parent().unwrap_or(Path::new("")),
            Input::Stdin | Input::Text(_) => Path::new(""),
        };
        let permits = args.limits.permits(folder)?;
        let mut io = ProjectIo::new(permits, printer, options.limits.memory);
        Ok(self.executable.run(options, &mut io))
    }
}

/// Compiles the program and measures it; what is wrong with it is reported.
pub(crate) fn measure(
    args: &MeasureArgs,
    command: &str,
    shell: &Shell,
    work: impl FnOnce(&Measured, &Session<'_>) -> Result<Result<(), Failure>, Stop>,
) -> Result<Exit, Stop> {
    let input = inputs::single(&args.program, command)?;
    let checking = args.checking.options();
    let zero_fill = checking.zero_fill;
    let mut session = Session::new(&shell.world).with_options(checking);
    let built = match input.load(&mut session) {
        Ok(file) => session.build(file),
        Err(errors) => Err(Failure::Program(errors)),
    };
    let name = input.name();
    let done = match built {
        Ok(executable) => {
            let given = |(name, text): &(String, String)| (name.clone(), Given::Text(text.clone()));
            let mut limits = args.limits.limits_to_measure(zero_fill)?;
            limits.schedules = args.limits.schedules()?;
            limits.kept = Kept::new();
            let options = RunOptions {
                inputs: args.inputs.iter().map(given).collect(),
                limits,
                timeout: args.limits.timeout,
            };
            running::watch(&Console::new(Target::Output));
            match executable.check_schedules(&options.limits) {
                Ok(()) => work(&Measured { executable, options, input }, &session)?,
                Err(why) => Err(args.limits.unusable(why)),
            }
        }
        Err(failure) => Err(failure),
    };
    match done {
        Ok(()) => Ok(Exit::Fine),
        Err(failure) => told(failure, &format!("{command} `{name}`"), &session, shell),
    }
}
