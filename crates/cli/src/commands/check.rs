//! `einlang check`: reports the errors of programs without running them.

use std::collections::HashSet;

use clap::Args;
use einlang_driver::run::UnknownOutput;
use einlang_driver::{Session, Stage};
use einlang_source::{Diagnostics, Sources};

use crate::Shell;
use crate::args::{CheckingArgs, HELP_TEMPLATE, ProgramArgs};
use crate::exit::{Exit, Stop};
use crate::inputs::{self, Input};
use crate::message::{Message, counted};

const EXAMPLES: &str = "\
Examples:
  einlang check model.ein          report the errors of a program
  einlang check .                  report those of every `.ein` file below the current directory
  einlang check -c 'let x = 1;'    check a program given as text
  einlang check src --message-format json 2> errors.jsonl";

/// Report the errors of programs without running them
#[derive(Debug, Args)]
#[command(
    before_help = EXAMPLES,
    help_template = HELP_TEMPLATE,
    override_usage = "einlang check [OPTIONS] <PATH… | - | -c SOURCE>"
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    programs: ProgramArgs,
    /// Print the layout of each binding, what its reductions consume and what is broadcast
    #[arg(long)]
    coords: bool,
    /// Print the type and extents of each binding and the range of each index
    #[arg(long, conflicts_with = "coords")]
    shapes: bool,
    #[command(flatten)]
    checking: CheckingArgs,
}

impl CheckArgs {
    /// What is printed of the program, if anything is.
    fn printed(&self) -> Option<Stage> {
        match (self.coords, self.shapes) {
            (true, _) => Some(Stage::Coords),
            (_, true) => Some(Stage::Shapes),
            _ => None,
        }
    }
}

/// What was found so far.
#[derive(Default)]
struct Tally {
    n_files: usize,
    n_errors: usize,
    n_warnings: usize,
}

impl Tally {
    fn add(&mut self, diagnostics: &Diagnostics) {
        self.n_files += 1;
        self.n_errors += diagnostics.n_errors();
        self.n_warnings += diagnostics.n_warnings();
    }

    fn line(&self) -> String {
        let errors = match self.n_errors {
            0 => "no errors".to_owned(),
            n => counted(n, "error"),
        };
        let warnings = match self.n_warnings {
            0 => String::new(),
            n => format!(", {}", counted(n, "warning")),
        };
        format!("checked {}: {errors}{warnings}", counted(self.n_files, "file"))
    }
}

/// Checks each program on its own. A file that was found in a directory and is a module of another
/// one is checked there, where its paths mean what they should.
pub(crate) fn run(args: &CheckArgs, shell: &Shell) -> Result<Exit, Stop> {
    let inputs = inputs::several(&args.programs, "check")?;
    inputs.warn_of_empty_directories(&shell.terminal);
    let mut reports: Vec<Report> = Vec::with_capacity(inputs.list.len());
    for input in &inputs.list {
        reports.push(check(input, shell, args)?);
    }
    let modules: HashSet<&String> = reports.iter().flat_map(|report| &report.modules).collect();
    let mut tally = Tally::default();
    for (input, report) in inputs.list.iter().zip(&reports) {
        if inputs.found.contains(input) && modules.contains(&input.name()) {
            tally.n_files += 1;
            continue;
        }
        shell.terminal.print(&report.printed)?;
        shell.terminal.diagnostics(&report.sources, &report.diagnostics);
        tally.add(&report.diagnostics);
    }
    shell.terminal.summary(&tally.line());
    Ok(Exit::with_errors(tally.n_errors > 0))
}

/// What was found in one program.
struct Report {
    diagnostics: Diagnostics,
    /// The texts that the diagnostics speak of; none when there are no diagnostics, so that memory
    /// does not grow with the number of files.
    sources: Sources,
    /// The files of its modules.
    modules: Vec<String>,
    /// The coordinates or shapes, if they are wanted.
    printed: String,
}

fn check(input: &Input, shell: &Shell, args: &CheckArgs) -> Result<Report, Stop> {
    let mut session = Session::new(&shell.world).with_options(args.checking.options());
    let (diagnostics, printed) = match (input.load(&mut session), args.printed()) {
        (Ok(file), Some(stage)) => {
            let printed = session.ir(file, Some(stage));
            (printed.diagnostics, printed.text)
        }
        (Ok(file), None) => {
            if let Some(UnknownOutput { message, help }) = session.unknown_output(file) {
                return Err(Stop::Usage(Message::error(message).with_help(help)));
            }
            (session.check(file), String::new())
        }
        (Err(errors), _) => (errors, String::new()),
    };
    let sources = session.sources();
    let modules = sources.ids().skip(1).map(|file| sources.name(file).to_owned()).collect();
    let sources = if diagnostics.is_empty() { Sources::new() } else { sources.clone() };
    Ok(Report { diagnostics, sources, modules, printed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_reads_well() {
        let line = |n_files, n_errors, n_warnings| Tally { n_files, n_errors, n_warnings }.line();
        assert_eq!(line(3, 0, 0), "checked 3 files: no errors");
        assert_eq!(line(1, 2, 0), "checked 1 file: 2 errors");
        assert_eq!(line(2, 1, 1), "checked 2 files: 1 error, 1 warning");
    }
}
