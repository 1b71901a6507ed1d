//! `einlang run`: checks a program and evaluates it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use einlang_driver::{
    Checkpoint, Compile, Executable, Failure, Given, Limits, Made, Outcome, Permits, Printer,
    ProjectIo, Ran, Region, Resident, RunOptions, Session, StoragePlan, Tuned, parse_schedules,
    tune::{Store, Unusable},
};
use einlang_source::Diagnostics;

use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArg};
use crate::commands::failure::{end, told};
use crate::exit::{Exit, Stop};
use crate::inputs::{self, Input};
use crate::message::Message;
use crate::running::{self, Console, Progress, Target};
use crate::{Shell, native};

const EXAMPLES: &str = "\
Examples:
  einlang run model.ein                         run a program; `einlang model.ein` is short for it
  einlang run model.ein --json                  print its outputs as one JSON object
  einlang run model.ein --input A=a.npy --input lr=0.2
  einlang run -c 'print(1 + 2);'                run a program given as text";

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
    /// The value of an input: a literal, or a file (npy, npz, csv, safetensors, json, png, pgm)
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = named_value)]
    inputs: Vec<(String, String)>,
    /// Print the outputs as one JSON object; what the program prints goes to standard error
    #[arg(long)]
    json: bool,
    /// List which tensor code ran as machine code, as loops or point by point, with the reason
    #[arg(long)]
    explain: bool,
    /// Compare the rules of functions (`@fn`) with differences of their values where they are used
    #[arg(long)]
    check_derivatives: bool,
    /// Let the program call functions of Python, where `python -m einlang` runs it
    #[arg(long)]
    allow_python: bool,
    #[command(flatten)]
    checking: CheckingArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// What a program may do, and how much of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits and modes")]
pub(crate) struct LimitArgs {
    /// How tensors are computed: interp (point by point), bytecode (as loops) or native (as machine
    /// code where LLVM is built in, otherwise as bytecode)
    #[arg(long, value_name = "NAME", default_value = "native", hide_possible_values = true)]
    backend: Backend,
    /// What is kept of a recurrence: full (everything) or window (what is read later)
    #[arg(long, value_name = "PLAN", default_value = "window", hide_possible_values = true)]
    storage: Plan,
    #[command(flatten)]
    checkpoint: CheckpointArg,
    /// Compute tensors as the schedules in this file say, which `einlang ir --after decide` prints
    #[arg(long, value_name = "FILE")]
    schedule: Vec<PathBuf>,
    /// On how many threads machine code runs; results do not depend on it [default: EINLANG_THREADS,
    /// or as many as there are processors]
    #[arg(long, value_name = "N", value_parser = running::threads)]
    threads: Option<usize>,
    /// How machine code is made: quick, thorough, or tiered, which is quick where thorough takes long
    /// and thorough in the background [default: EINLANG_COMPILE, or tiered; thorough to measure]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    compile: Option<How>,
    /// Neither use nor keep machine code of other runs
    #[arg(long)]
    no_cache: bool,
    /// Treat integer overflow and NaN that appears as errors
    #[arg(long)]
    checked: bool,
    /// Let the program read this file or folder besides its own folder
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<PathBuf>,
    /// Let the program write this file or folder besides its own folder
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// The most memory for values, such as 512M [default: 4G]
    #[arg(long, value_name = "BYTES", value_parser = running::bytes)]
    max_memory: Option<u64>,
    /// How many calls may be open at once [default: 10000]
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    /// How many steps the evaluation may take [default: no limit]
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// How long the evaluation may take, such as 10 or 500ms [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = running::duration)]
    pub(crate) timeout: Option<Duration>,
}

/// What is kept of trajectories.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArg {
    /// What is kept of a trajectory that a derivative reads backwards: none (no checkpoints: all of
    /// it), sqrt (about as many checkpoints as planes between them), binomial:N (N checkpoints) or
    /// budget:BYTES (all of it up to so many bytes, then like sqrt) [default: budget:256M]
    #[arg(long, value_name = "PLAN", value_parser = checkpoint)]
    checkpoint: Option<Checkpoint>,
}

impl CheckpointArg {
    /// The plan.
    pub(crate) fn plan(&self) -> Checkpoint {
        self.checkpoint.unwrap_or_default()
    }
}

fn checkpoint(text: &str) -> Result<Checkpoint, String> {
    Checkpoint::parse(text, running::bytes)
}

/// The value of `--backend`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Backend {
    Interp,
    Bytecode,
    Native,
}

/// The value of `--storage`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Plan {
    Full,
    Window,
}

/// The value of `--compile`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum How {
    Quick,
    Thorough,
    Tiered,
}

impl How {
    fn compile(self) -> Compile {
        match self {
            How::Quick => Compile::Quick,
            How::Thorough => Compile::Thorough,
            How::Tiered => Compile::Tiered,
        }
    }

    /// What the environment says.
    fn of_environment() -> Result<Option<How>, Stop> {
        let wrong = |_| "machine code is made `quick`, `thorough` or `tiered`".to_owned();
        let read = |text: &str| <How as ValueEnum>::from_str(text, false).map_err(wrong);
        running::setting("EINLANG_COMPILE", read)
    }
}

/// How deeply tensor code and functions may call each other on the stack of the working thread.
const NESTING: usize = 1000;

impl LimitArgs {
    /// The limits for programs that are run.
    pub(crate) fn limits(&self, zero_fill: bool) -> Result<Limits, Stop> {
        let how = match self.compile {
            Some(how) => how,
            None => How::of_environment()?.unwrap_or(How::Tiered),
        };
        Ok(Limits { compile: how.compile(), ..self.limits_to_measure(zero_fill)? })
    }

    /// The limits for programs that are measured: nothing is made meanwhile.
    pub(crate) fn limits_to_measure(&self, zero_fill: bool) -> Result<Limits, Stop> {
        let backend = match self.backend {
            Backend::Interp => einlang_driver::Backend::Oracle,
            Backend::Bytecode => einlang_driver::Backend::Bytecode,
            Backend::Native => einlang_driver::Backend::Native,
        };
        let storage = match self.storage {
            Plan::Full => StoragePlan::Full,
            Plan::Window => StoragePlan::Window,
        };
        let usual = Limits { native: native::compiler(!self.no_cache), ..Limits::default() };
        Ok(Limits {
            nesting: NESTING,
            resident: Resident(Some(crate::memory::resident)),
            checked: self.checked,
            zero_fill,
            backend,
            compile: self.compile.map_or(Compile::Thorough, How::compile),
            storage,
            checkpoint: self.checkpoint.plan(),
            memory: self.max_memory.unwrap_or(usual.memory),
            depth: self.max_depth.unwrap_or(usual.depth),
            steps: self.max_steps,
            threads: running::chosen_threads(self.threads, usual.threads)?,
            tuned: if self.no_cache { Tuned::default() } else { Store::for_runs() },
            ..usual
        })
    }

    /// The schedules in the files that were given.
    pub(crate) fn schedules(&self) -> Result<Vec<einlang_driver::Schedule>, Stop> {
        let mut schedules = Vec::new();
        for path in &self.schedule {
            let wrong = |why: String| {
                let text = format!("`{}` cannot be used as a schedule: {why}", path.display());
                let help = "`einlang ir --after decide` prints the schedules of a program";
                Stop::Usage(Message::error(text).with_help(help))
            };
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            schedules.extend(parse_schedules(&text).map_err(|error| wrong(error.to_string()))?);
        }
        Ok(schedules)
    }

    /// Why a schedule cannot be used, with its place in the files that were given.
    pub(crate) fn unusable(&self, why: Unusable) -> Failure {
        let place = self.schedule.iter().find_map(|path| {
            let line = why.line(&std::fs::read_to_string(path).ok()?)?;
            Some(format!("{}:{line}", path.display()))
        });
        why.failure(place.as_deref())
    }

    /// The files that a program in this folder may touch.
    pub(crate) fn permits(&self, folder: &Path) -> Result<Permits, Stop> {
        Permits::new(folder, &self.allow_read, &self.allow_write).map_err(|error| {
            let text = format!("a path that the program may touch cannot be found: {error}");
            Stop::Usage(Message::error(text).with_help("check `--allow-read` and `--allow-write`"))
        })
    }
}

impl RunArgs {
    fn options(&self) -> Result<RunOptions, Stop> {
        let given = |(name, text): &(String, String)| (name.clone(), Given::Text(text.clone()));
        let mut limits = self.limits.limits(self.checking.options().zero_fill)?;
        limits.schedules = self.limits.schedules()?;
        let inputs = self.inputs.iter().map(given).collect();
        Ok(RunOptions { inputs, limits, timeout: self.limits.timeout })
    }

    fn permits(&self, input: &Input) -> Result<Permits, Stop> {
        let folder = match input {
            Input::File(path) => path.parent().unwrap_or(Path::new("")),
            Input::Stdin | Input::Text(_) => Path::new(""),
        };
        self.limits.permits(folder)
    }
}

pub(crate) fn named_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write the name of the input, `=` and its value, as in `lr=0.2`".to_owned()),
    }
}

/// Reports what is wrong with the program; one without errors is evaluated.
pub(crate) fn run(args: &RunArgs, shell: &Shell) -> Result<Exit, Stop> {
    let input = inputs::single(&args.program, "run")?;
    if args.allow_python && shell.python.is_none() {
        let message = Message::error("no Python runs this command");
        let help = "`python -m einlang run --allow-python` runs it inside of Python";
        return Err(Stop::Usage(message.with_help(help)));
    }
    let mut session = Session::new(&shell.world)
        .with_python(args.allow_python)
        .with_options(args.checking.options())
        .with_checked_rules(args.check_derivatives);
    let built = match input.load(&mut session) {
        Ok(file) => session.build(file),
        Err(errors) => Err(Failure::Program(errors)),
    };
    let report = |found: &Diagnostics| shell.terminal.diagnostics(session.sources(), found);
    let executable = match built {
        Ok(executable) => executable,
        Err(failure) => {
            let what = format!("run `{}`", input.name());
            return told(failure, &what, &session, shell);
        }
    };
    report(&executable.warnings);
    let options = args.options()?;
    if let Err(why) = executable.check_schedules(&options.limits) {
        let failure = args.limits.unusable(why);
        return told(failure, &format!("run `{}`", input.name()), &session, shell);
    }
    let evaluated = evaluate(args, &input, &executable, &options, shell)?;
    report(&executable.contradicted_rules(&options.limits.report));
    match evaluated {
        Ok(mut outcome) if args.json => {
            outcome.storage = Some(executable.storage_json(&outcome.given, session.sources()));
            shell.terminal.print(&format!("{}\n", outcome.json()))?;
            Ok(Exit::Fine)
        }
        Ok(_) => Ok(Exit::Fine),
        Err(failure) => {
            if let Failure::Program(errors) = &failure {
                report(errors);
            }
            end(failure)
        }
    }
}

/// Runs the program; whatever it printed is written when this returns.
fn evaluate(
    args: &RunArgs,
    input: &Input,
    executable: &Executable,
    options: &RunOptions,
    shell: &Shell,
) -> Result<Result<Outcome, Failure>, Stop> {
    let permits = args.permits(input)?;
    let target = match (args.json, shell.terminal.is_for_people()) {
        (false, _) => Target::Output,
        (true, true) => Target::Error,
        (true, false) => Target::ErrorAsJson,
    };
    let mut console = Console::new(target);
    running::watch(&console);
    let progress = Progress::start(&console, &input.name(), shell.terminal.is_watched());
    let mut printer = console.clone();
    let python = shell.python.filter(|_| args.allow_python);
    let mut python = python.map(|python| python(executable));
    let mut io = ProjectIo::new(permits, &mut printer, options.limits.memory);
    if let Some(python) = &mut python {
        io = io.with_python(python.as_mut());
    }
    let result = executable.run(options, &mut io);
    drop(progress);
    if args.explain {
        explain(&options.limits, shell);
    }
    if let Ok(outcome) = &result
        && !args.json
        && executable.has_main()
        && let Some(value) = outcome.outputs.first().filter(|value| !value.is_unit())
    {
        // If this fails, the console remembers it.
        let _ = console.line(&value.text());
    }
    console.finish()?;
    if result.is_ok() && !args.json && console.n_lines() == 0 {
        hint(executable, shell);
    }
    Ok(result)
}

/// How the tensor code was evaluated, where its machine code came from, and the most memory that was in
/// use at once.
fn explain(limits: &Limits, shell: &Shell) {
    for Region { module, ran, fallback } in limits.report.regions() {
        let how = match ran {
            Ran::Points => "point by point",
            Ran::Loops => "as loops",
            Ran::MachineCode => "as machine code",
        };
        let why = fallback.map_or(String::new(), |why| format!(" ({why})"));
        shell.terminal.summary(&format!("note: `{module}` ran {how}{why}"));
    }
    if let Some(native) = &limits.native {
        let Made { compiled, from_disk, quick_runs, not_improved } = native.0.made();
        if compiled + from_disk > 0 {
            let text = format!("note: kernels compiled: {compiled}, from the cache: {from_disk}");
            shell.terminal.summary(&text);
        }
        if quick_runs > 0 {
            let text = format!("note: runs of code that was compiled quickly: {quick_runs}");
            shell.terminal.summary(&text);
        }
        if not_improved > 0 {
            let text = format!("note: kernels that got no thorough code: {not_improved}");
            shell.terminal.summary(&text);
        }
    }
    shell.terminal.summary(&format!("note: at most {} bytes for values", limits.report.peak()));
}

/// A program that prints nothing has computed something all the same.
fn hint(executable: &Executable, shell: &Shell) {
    let names: Vec<String> = executable.outputs().map(|name| format!("`{name}`")).collect();
    if names.is_empty() || executable.has_main() {
        return;
    }
    let (shown, rest) = names.split_at(names.len().min(5));
    let more = if rest.is_empty() { "" } else { ", …" };
    shell.terminal.summary(&format!(
        "note: the program printed nothing; `--json` shows {}{more}",
        shown.join(", ")
    ));
}
