//! `einlang fmt`: brings programs into the one layout that the language has.
//!
//! Invariants: a file is written only if its text changes; a program with errors stays as it is,
//! and the others are formatted all the same.

use std::path::Path;

use clap::Args;
use einlang_driver::Session;
use einlang_source::World;

use super::diff;
use crate::Shell;
use crate::args::{HELP_TEMPLATE, ProgramArgs};
use crate::exit::{Exit, Stop};
use crate::inputs::{self, Input};
use crate::message::{Message, counted, quoted};

const EXAMPLES: &str = "\
Examples:
  einlang fmt model.ein      format a file in place
  einlang fmt .              format every `.ein` file below the current directory
  einlang fmt --check .      change nothing; show what would change and exit with 1
  einlang fmt - < model.ein  write the formatted program to standard output";

/// Format programs
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang fmt [OPTIONS] <PATH… | - | -c SOURCE>"
)]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    programs: ProgramArgs,
    /// Write nothing; print a diff, and exit with 1 if there is one
    #[arg(long)]
    check: bool,
}

/// What became of one program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Unchanged,
    Changed,
    Failed,
}

/// Formats each program on its own.
pub(crate) fn run(args: &FmtArgs, shell: &Shell) -> Result<Exit, Stop> {
    let inputs = inputs::several(&args.programs, "fmt")?;
    inputs.warn_of_empty_directories(&shell.terminal);
    let mut outcomes = Vec::new();
    for input in &inputs.list {
        outcomes.push(format(input, args.check, shell)?);
    }
    if args.check || inputs.list.iter().any(|input| matches!(input, Input::File(_))) {
        shell.terminal.summary(&summary(&outcomes, args.check));
    }
    let is_bad = |outcome: &Outcome| match outcome {
        Outcome::Unchanged => false,
        Outcome::Changed => args.check,
        Outcome::Failed => true,
    };
    Ok(Exit::with_errors(outcomes.iter().any(is_bad)))
}

fn format(input: &Input, only_check: bool, shell: &Shell) -> Result<Outcome, Stop> {
    let mut session = Session::new(&shell.world);
    let loaded = input.load(&mut session);
    let formatted = loaded.and_then(|file| Ok((file, session.format(file)?)));
    let (file, new) = match formatted {
        Ok(formatted) => formatted,
        Err(errors) => {
            shell.terminal.diagnostics(session.sources(), &errors);
            return Ok(Outcome::Failed);
        }
    };
    let old = session.sources().text(file);
    match (only_check, input) {
        (true, _) => show_difference(&input.name(), old, &new, shell),
        (false, Input::File(path)) => rewrite(path, old, &new, shell),
        (false, _) => shell.terminal.print(&new).map(|()| Outcome::Unchanged),
    }
}

/// Prints what formatting would change.
fn show_difference(name: &str, old: &str, new: &str, shell: &Shell) -> Result<Outcome, Stop> {
    if old == new {
        return Ok(Outcome::Unchanged);
    }
    shell.terminal.print(&diff::unified(name, old, new, shell.terminal.color_out()))?;
    Ok(Outcome::Changed)
}

/// Replaces the file. Failing to do so is reported and does not keep the others from their turn.
fn rewrite(path: &Path, old: &str, new: &str, shell: &Shell) -> Result<Outcome, Stop> {
    if old == new {
        return Ok(Outcome::Unchanged);
    }
    Ok(match shell.world.write_atomic(path, new.as_bytes()) {
        Ok(()) => Outcome::Changed,
        Err(error) => {
            let text = format!("cannot write {}: {error}", quoted(path));
            let help = "check the permissions of the file and of its directory";
            shell.terminal.say(&Message::error(text).with_help(help));
            Outcome::Failed
        }
    })
}

fn summary(outcomes: &[Outcome], only_check: bool) -> String {
    let n_of = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let changed = match only_check {
        true => format!("{} would change", counted(n_of(Outcome::Changed), "file")),
        false => format!("{} formatted", counted(n_of(Outcome::Changed), "file")),
    };
    let failed = match n_of(Outcome::Failed) {
        0 => String::new(),
        n => format!(", {n} failed"),
    };
    format!("{changed}, {} unchanged{failed}", n_of(Outcome::Unchanged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_reads_well() {
        use Outcome::{Changed, Failed, Unchanged};
        assert_eq!(summary(&[Changed, Unchanged], false), "1 file formatted, 1 unchanged");
        assert_eq!(
            summary(&[Changed, Changed, Failed], true),
            "2 files would change, 0 unchanged, 1 failed"
        );
    }
}
