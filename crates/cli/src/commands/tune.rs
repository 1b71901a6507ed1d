//! `einlang tune`: looks for faster schedules of a program, and remembers them.

use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use einlang_driver::tune::{Found, Store, Trial, search};
use einlang_driver::{Failure, Outcome, Output, Printer, RunOptions, Schedule};

use super::bench::show;
use super::measure::{MeasureArgs, Measured, measure};
use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};
use crate::message::Message;
use crate::running;

const EXAMPLES: &str = "\
Examples:
  einlang tune model.ein --input A=a.npy     look for half a minute; later runs use what was found
  einlang tune model.ein --budget 5m -o model.schedule
  einlang tune model.ein --forget            go back to the schedules that are chosen by themselves";

/// Look for faster schedules of a program by measuring, and use them in later runs
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang tune [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// How long to look, such as 10 or 2m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = running::duration)]
    budget: Duration,
    /// Also take schedules that add up in another order, so that results may differ by rounding
    #[arg(long)]
    any_rounding: bool,
    /// Write the schedules to this file, for `--schedule`, instead of keeping them for later runs
    #[arg(short, long, value_name = "FILE", conflicts_with = "forget")]
    output: Option<PathBuf>,
    /// Forget what was found earlier for this program
    #[arg(long)]
    forget: bool,
}

/// A schedule is timed so often, or for so long.
const RUNS: usize = 7;
const PATIENCE: Duration = Duration::from_millis(400);

/// A schedule that takes so many times as long as the best is not timed again.
const HOPELESS: f64 = 1.25;

pub(crate) fn run(args: &TuneArgs, shell: &Shell) -> Result<Exit, Stop> {
    measure(&args.measure, "tune", shell, |measured, _| match args.forget {
        true => forget(measured, shell),
        false => tune(args, measured, shell),
    })
}

fn store() -> Result<Store, Stop> {
    Store::of_user().ok_or_else(|| {
        let message = Message::error("there is no folder for schedules");
        Stop::Usage(
            message.with_help("set `EINLANG_CACHE_DIR` to a folder, or use `--output FILE`"),
        )
    })
}

fn forget(measured: &Measured, shell: &Shell) -> Result<Result<(), Failure>, Stop> {
    let store = store()?;
    let modules = &measured.executable.program().modules;
    let n_forgotten = modules.iter().filter(|module| store.forget(module)).count();
    shell.terminal.print(&format!("forgot {n_forgotten} schedules\n"))?;
    Ok(Ok(()))
}

fn tune(args: &TuneArgs, measured: &Measured, shell: &Shell) -> Result<Result<(), Failure>, Stop> {
    if args.output.is_none() {
        store()?;
    }
    let until = Instant::now() + args.budget;
    let mut plain = measured.options.clone();
    plain.limits.tuned = Default::default();
    let mut trials = Trials { args, measured, right: None, planned: Vec::new(), plain };
    let time = match trials.time(&[], None)? {
        Ok((time, _)) => time,
        Err(failure) => return Ok(Err(failure)),
    };
    let schedules = trials.plain.limits.kept.schedules();
    trials.planned.clone_from(&schedules);
    if schedules.is_empty() {
        let message = Message::error("the program has no machine code that could be tuned");
        return Err(Stop::Usage(message.with_help("`einlang run --explain` says what runs how")));
    }
    let terminal = &shell.terminal;
    terminal.print(&format!("as planned:  {}\n", show(time)))?;
    let told = |change: &str, time| {
        // What cannot be shown now is part of the summary.
        let _ = terminal.print(&format!("{:>11}  {change}\n", show(time)));
    };
    let is_legal = |schedule: &Schedule| measured.executable.accepts(schedule);
    let trial = |all: &[Schedule], best| trials.trial(all, best);
    let found = search(schedules, time, until, is_legal, trial, told)?;
    finish(args, measured, &mut trials, (time, found), shell)
}

/// Measures what was found once more beside the plan, tells of it and keeps it.
fn finish(
    args: &TuneArgs,
    measured: &Measured,
    trials: &mut Trials<'_>,
    (time, found): (Duration, Found),
    shell: &Shell,
) -> Result<Result<(), Failure>, Stop> {
    let Found { tried, illegal, other, .. } = found;
    let end = if found.cut_short { "; the time is over" } else { "; nothing near is faster" };
    shell.terminal.print(&format!(
        "tried {tried} schedules, {other} of them with other results; {illegal} were not legal{end}\n"
    ))?;
    if found.steps.is_empty() {
        shell.terminal.print("no faster schedule was found\n")?;
        return Ok(Ok(()));
    }
    let again = match trials.time(&[], None)? {
        Ok((again, _)) => again.min(time),
        Err(failure) => return Ok(Err(failure)),
    };
    let ratio = found.time.as_secs_f64() / again.as_secs_f64();
    if ratio >= 1.0 {
        shell
            .terminal
            .print("no faster schedule was found: the plan was as fast the second time\n")?;
        return Ok(Ok(()));
    }
    let changed = found.schedules.iter();
    shell
        .terminal
        .print(&format!("best:        {}, {ratio:.2} of the plan\n", show(found.time)))?;
    match &args.output {
        Some(path) => {
            let text: String = changed.map(ToString::to_string).collect();
            write(path, &text)?;
            shell.terminal.print(&format!("written to `{}`\n", path.display()))?;
        }
        None => {
            let store = store()?;
            for schedule in changed {
                if let Some(module) = measured.executable.module(&schedule.module) {
                    store.keep(module, schedule);
                }
            }
            let folder = store.cache().folder().display();
            shell.terminal.print(&format!("kept for later runs in `{folder}`\n"))?;
        }
    }
    Ok(Ok(()))
}

fn write(path: &std::path::Path, text: &str) -> Result<(), Stop> {
    einlang_driver::files::replace(path, text.as_bytes()).map_err(|error| {
        Stop::Output(Message::error(format!("cannot write `{}`: {error}", path.display())))
    })
}

/// Runs with other schedules.
struct Trials<'a> {
    args: &'a TuneArgs,
    measured: &'a Measured,
    /// The options of the plan, with its code.
    plain: RunOptions,
    /// The schedules of the plan.
    planned: Vec<Schedule>,
    /// What the program gives as it is planned.
    right: Option<(Outcome, u64)>,
}

impl Trials<'_> {
    fn trial(&mut self, all: &[Schedule], best: Duration) -> Result<Trial, Stop> {
        Ok(match self.time(all, Some(best))? {
            Ok((time, true)) => Trial::Same(time),
            Ok((_, false)) => Trial::Other,
            Err(_) => Trial::Failed,
        })
    }

    /// The least time of several runs, and whether the results are right; other results are not timed.
    fn time(
        &mut self,
        all: &[Schedule],
        best: Option<Duration>,
    ) -> Result<Result<(Duration, bool), Failure>, Stop> {
        let mut options = self.plain.clone();
        let changed: Vec<&Schedule> = all.iter().filter(|s| !self.planned.contains(s)).collect();
        if !changed.is_empty() {
            let names: Vec<&str> =
                changed.iter().map(|schedule| schedule.module.as_str()).collect();
            options.limits.kept = options.limits.kept.without(&names);
            options.limits.schedules.extend(changed.into_iter().cloned());
        }
        let mut printed = Printed::default();
        let first = match self.measured.run_into(&options, &self.args.measure, &mut printed)? {
            Ok(outcome) => outcome,
            Err(failure) => return Ok(Err(failure)),
        };
        let printed = printed.0.finish();
        match &self.right {
            None => self.right = Some((first, printed)),
            Some((right, lines)) => {
                let same = Output::all_same(&right.outputs, &first.outputs) && *lines == printed;
                if !same && !self.args.any_rounding {
                    return Ok(Ok((Duration::MAX, false)));
                }
            }
        }
        let (start, mut least) = (Instant::now(), Duration::MAX);
        for number in 0..RUNS {
            let hopeless = best.is_some_and(|best| number > 0 && least > best.mul_f64(HOPELESS));
            if hopeless || (number > 1 && start.elapsed() > PATIENCE) {
                break;
            }
            match self.measured.run_with(&options, &self.args.measure)? {
                Ok(outcome) => least = least.min(outcome.ran_in),
                Err(failure) => return Ok(Err(failure)),
            }
        }
        Ok(Ok((least, true)))
    }
}

/// What is printed, as a number.
#[derive(Default)]
struct Printed(DefaultHasher);

impl Printer for Printed {
    fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write(text.as_bytes());
        self.0.write(b"\n");
        Ok(())
    }
}
