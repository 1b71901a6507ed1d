//! `einlang bench`: how long a program takes.

use std::time::{Duration, Instant};

use clap::Args;
use einlang_driver::{Failure, Made};

use super::measure::{MeasureArgs, Measured, measure};
use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};

const EXAMPLES: &str = "\
Examples:
  einlang bench model.ein                   run a program several times and say how long it takes
  einlang bench model.ein --runs 100        so many times
  einlang bench model.ein --input n=1000 --backend bytecode";

/// Measure how long a program takes; what it prints is thrown away
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang bench [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    measure: MeasureArgs,
    /// How often it runs after the first time [default: for a second, at least 3 times]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
}

/// How long runs go on if nobody says how many there are.
const PATIENCE: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &BenchArgs, shell: &Shell) -> Result<Exit, Stop> {
    measure(&args.measure, "bench", shell, |measured, _| bench(args, measured, shell))
}

fn bench(
    args: &BenchArgs,
    measured: &Measured,
    shell: &Shell,
) -> Result<Result<(), Failure>, Stop> {
    let first = match measured.run(&args.measure)? {
        Ok(outcome) => outcome,
        Err(failure) => return Ok(Err(failure)),
    };
    let made = measured.options.limits.native.as_ref().map(|native| native.0.made());
    let start = Instant::now();
    let mut times = Vec::new();
    loop {
        match measured.run(&args.measure)? {
            Ok(outcome) => times.push(outcome.ran_in),
            Err(failure) => return Ok(Err(failure)),
        }
        let enough = match args.runs {
            Some(runs) => times.len() >= runs as usize,
            None => times.len() >= 3 && start.elapsed() >= PATIENCE,
        };
        if enough {
            break;
        }
    }
    times.sort_unstable();
    let (minimum, median) = (times[0], times[times.len() / 2]);
    let Made { compiled, from_disk, .. } = made.unwrap_or_default();
    let text = format!(
        "check:     {}\nfirst run: {} (kernels compiled: {compiled}, from the cache: {from_disk})\n\
         later:     {} at least, {} in the median of {}\nmemory:    {} bytes at most for values\n",
        show(first.compiled_in),
        show(first.ran_in),
        show(minimum),
        show(median),
        times.len(),
        first.peak,
    );
    shell.terminal.print(&text)?;
    Ok(Ok(()))
}

/// A time with a unit.
pub(crate) fn show(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}
