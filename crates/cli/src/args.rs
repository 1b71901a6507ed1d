//! What may be written on the command line.
//!
//! The help of each command begins with examples, because that is what people look for. The texts
//! of a command stand in its own file under `commands/`; here is only what commands share.

use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};
use einlang_driver::Options;
use einlang_source::render::MessageFormat;

use crate::commands::bench::BenchArgs;
use crate::commands::build::BuildArgs;
use crate::commands::cache::CacheArgs;
use crate::commands::check::CheckArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::doc::DocArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::explain_derivatives::ExplainDerivativesArgs;
use crate::commands::explain_storage::ExplainStorageArgs;
use crate::commands::fmt::FmtArgs;
use crate::commands::ir::IrArgs;
use crate::commands::profile::ProfileArgs;
use crate::commands::repl::ReplArgs;
use crate::commands::run::RunArgs;
use crate::commands::tune::TuneArgs;

/// What is done with a program, then examples, then everything that can be said.
pub(crate) const HELP_TEMPLATE: &str =
    "{about}\n\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// The answer to `--version`; `-V` gives its first words only.
#[cfg(not(feature = "llvm"))]
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nbackends: interp (evaluates point by point), bytecode (runs loops)"
);

/// The same where LLVM is built in.
#[cfg(feature = "llvm")]
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nbackends: interp (evaluates point by point), bytecode (runs loops), native (machine code)"
);

const EXAMPLES: &str = "\
Examples:
  einlang model.ein             run a program; short for `einlang run model.ein`
  einlang -c 'let x = 1 + 2;'   run a program given as text
  einlang check src             report the errors of every program in a directory
  einlang explain E0101         explain an error code";

/// Einlang, a small statically checked tensor language
#[derive(Debug, Parser)]
#[command(
    name = "einlang",
    version,
    long_version = LONG_VERSION,
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang [OPTIONS] <COMMAND>\n       einlang [OPTIONS] <FILE | - | -c SOURCE>",
    after_help = "`einlang help COMMAND` tells more about a command.",
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArgs),
    Repl(ReplArgs),
    Check(CheckArgs),
    Fmt(FmtArgs),
    Doc(DocArgs),
    Explain(ExplainArgs),
    ExplainStorage(ExplainStorageArgs),
    ExplainDerivatives(ExplainDerivativesArgs),
    Ir(IrArgs),
    Bench(BenchArgs),
    Profile(ProfileArgs),
    Tune(TuneArgs),
    Build(BuildArgs),
    Cache(CacheArgs),
    Completions(CompletionsArgs),
}

/// Options that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Use colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub(crate) color: ColorArg,
    /// Write messages for people (human) or as one object per line (json)
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "human",
        hide_possible_values = true
    )]
    pub(crate) message_format: FormatArg,
    /// Leave out notes and summaries
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// The value of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorArg {
    Auto,
    Always,
    Never,
}

impl ColorArg {
    pub(crate) fn parse(text: &str) -> Option<ColorArg> {
        <ColorArg as ValueEnum>::from_str(text, false).ok()
    }

    pub(crate) fn to_choice(self) -> ColorChoice {
        match self {
            ColorArg::Auto => ColorChoice::Auto,
            ColorArg::Always => ColorChoice::Always,
            ColorArg::Never => ColorChoice::Never,
        }
    }
}

/// The value of `--message-format`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FormatArg {
    Human,
    Json,
}

impl From<FormatArg> for MessageFormat {
    fn from(format: FormatArg) -> MessageFormat {
        match format {
            FormatArg::Human => MessageFormat::Human,
            FormatArg::Json => MessageFormat::Json,
        }
    }
}

/// The one program that a command is about.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ProgramArg {
    /// A source file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The program itself
    #[arg(short = 'c', value_name = "SOURCE", allow_hyphen_values = true)]
    pub(crate) source: Option<String>,
}

/// The programs that a command is about.
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// Source files, directories to search for `.ein` files, or `-` for standard input
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The program itself
    #[arg(
        short = 'c',
        value_name = "SOURCE",
        allow_hyphen_values = true,
        conflicts_with = "paths"
    )]
    pub(crate) source: Option<String>,
}

/// What holds while a program is checked.
#[derive(Debug, Args)]
pub(crate) struct CheckingArgs {
    /// Treat points that no clause defines as errors
    #[arg(long)]
    strict: bool,
    /// Let self-reads of points that no clause defines give zero
    #[arg(long)]
    zero_fill: bool,
    /// The bindings that are observed, separated by commas [default: all of the top level]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    outputs: Option<Vec<String>>,
}

impl CheckingArgs {
    pub(crate) fn options(&self) -> Options {
        let CheckingArgs { strict, zero_fill, outputs } = self;
        Options { strict: *strict, zero_fill: *zero_fill, outputs: outputs.clone() }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_declaration_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples_first() {
        for command in Cli::command().get_subcommands_mut() {
            let help = command.render_help().to_string();
            let after_about = help.split_once("\n\n").map_or("", |(_, rest)| rest);
            assert!(after_about.starts_with("Examples:\n  einlang "), "{help}");
            let n_examples = help.lines().filter(|line| line.starts_with("  einlang ")).count();
            assert!((2..=4).contains(&n_examples), "{help}");
        }
    }
}
