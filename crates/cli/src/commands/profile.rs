//! `einlang profile`: where the time of a program goes.

use std::time::Duration;

use clap::Args;
use einlang_driver::{Backend, Failure, Part, Profile, Ran, Session};

use super::bench::show;
use super::measure::{MeasureArgs, Measured, measure};
use crate::Shell;
use crate::args::HELP_TEMPLATE;
use crate::exit::{Exit, Stop};
use crate::message::Message;

const EXAMPLES: &str = "\
Examples:
  einlang profile model.ein                 say which lines take how long
  einlang profile model.ein --input n=1000";

/// Say where the time of a program goes: per kernel and line, with rates and storage
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang profile [OPTIONS] <FILE | - | -c SOURCE>"
)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    measure: MeasureArgs,
}

pub(crate) fn run(args: &ProfileArgs, shell: &Shell) -> Result<Exit, Stop> {
    measure(&args.measure, "profile", shell, |measured, session| {
        profile(&args.measure, measured, session, shell)
    })
}

/// Runs the program once to compile it, and once to measure it.
fn profile(
    args: &MeasureArgs,
    measured: &Measured,
    session: &Session<'_>,
    shell: &Shell,
) -> Result<Result<(), Failure>, Stop> {
    let limits = &measured.options.limits;
    if limits.native.is_none() || limits.backend != Backend::Native {
        let message = Message::error("only machine code is profiled");
        return Err(Stop::Usage(
            message.with_help("use a build with LLVM, and `--backend native`"),
        ));
    }
    let profile = Profile::default();
    let mut options = measured.options.clone();
    options.limits.profile = Some(profile.clone());
    let mut ran_in = Duration::ZERO;
    for _ in 0..2 {
        profile.clear();
        match measured.run_with(&options, args)? {
            Ok(outcome) => ran_in = outcome.ran_in,
            Err(failure) => return Ok(Err(failure)),
        }
    }
    let mut parts = profile.parts();
    parts.sort_by_key(|part| std::cmp::Reverse(part.time));
    let inside: Duration = parts.iter().map(|part| part.time).sum();
    let mut text = table(&parts, ran_in, session);
    text += &format!(
        "\nin kernels {}, outside {}\n",
        show(inside),
        show(ran_in.saturating_sub(inside))
    );
    for (kernel, tensors) in profile.fused() {
        let names: Vec<String> = tensors.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("computed where read, in `{kernel}`: {}\n", names.join(", "));
    }
    for region in options.limits.report.regions().into_iter().filter(|r| r.ran != Ran::MachineCode)
    {
        let why = region.fallback.unwrap_or_default();
        text += &format!("not machine code: `{}` ({why})\n", region.module);
    }
    shell.terminal.print(&text)?;
    Ok(Ok(()))
}

/// One row per nest of loops, the slowest first.
fn table(parts: &[Part], all: Duration, session: &Session<'_>) -> String {
    let mut rows = vec![
        ["time", "share", "calls", "GFLOP/s", "GB/s", "line", "kernel", "stores"]
            .map(str::to_owned),
    ];
    for part in parts.iter().filter(|part| !part.tensors.is_empty()) {
        let seconds = part.time.as_secs_f64().max(1e-9);
        let place = part.loc.0.map_or_else(String::new, |span| {
            let (file, line) =
                (session.sources().name(span.file), session.sources().line_col(span).line);
            format!("{file}:{line}")
        });
        let stores =
            part.tensors.iter().map(|tensor| format!("`{}` [{}]", tensor.name, tensor.layout));
        rows.push([
            show(part.time),
            format!("{:.1}%", 100.0 * seconds / all.as_secs_f64().max(1e-9)),
            part.calls.to_string(),
            format!("{:.2}", part.flops / seconds / 1e9),
            format!("{:.2}", part.bytes / seconds / 1e9),
            place,
            part.kernel.clone(),
            stores.collect::<Vec<_>>().join(", "),
        ]);
    }
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (at, cell) in row.iter().enumerate() {
            let width = widths.get(at).copied().unwrap_or(0);
            text += &match at {
                0..=4 => format!("{cell:>width$}  "),
                5 | 6 => format!("{cell:<width$}  "),
                _ => cell.clone(),
            };
        }
        text = text.trim_end().to_owned() + "\n";
    }
    text
}
