//! The commands, one per file: its arguments, its help, and what it does.

pub(crate) mod bench;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod completions;
mod diff;
pub(crate) mod doc;
pub(crate) mod explain;
pub(crate) mod explain_derivatives;
pub(crate) mod explain_storage;
mod failure;
pub(crate) mod fmt;
pub(crate) mod ir;
mod measure;
pub(crate) mod profile;
pub(crate) mod repl;
pub(crate) mod run;
pub(crate) mod tune;

use crate::Shell;
use crate::args::Command;
use crate::exit::{Exit, Stop};

/// Runs a command to its end.
pub(crate) fn run(command: &Command, shell: &Shell) -> Result<Exit, Stop> {
    match command {
        Command::Run(args) => run::run(args, shell),
        Command::Repl(args) => repl::run(args, shell),
        Command::Check(args) => check::run(args, shell),
        Command::Fmt(args) => fmt::run(args, shell),
        Command::Doc(args) => doc::run(args, shell),
        Command::Explain(args) => explain::run(args, shell),
        Command::ExplainStorage(args) => explain_storage::run(args, shell),
        Command::ExplainDerivatives(args) => explain_derivatives::run(args, shell),
        Command::Ir(args) => ir::run(args, shell),
        Command::Bench(args) => bench::run(args, shell),
        Command::Profile(args) => profile::run(args, shell),
        Command::Tune(args) => tune::run(args, shell),
        Command::Build(args) => build::run(args, shell),
        Command::Cache(args) => cache::run(args, shell),
        Command::Completions(args) => completions::run(args, shell),
    }
}
