//! Standard output and standard error.
//!
//! Data goes to standard output exactly as it is; diagnostics, notes and summaries go to standard
//! error, in colour where that is wanted. Invariants: in the JSON format every line of standard
//! error is one object; a failure to write a message never hides the exit code.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use einlang_source::render::{self, MessageFormat, Options};
use einlang_source::{Diagnostics, Sources};

use crate::args::{ColorArg, GlobalArgs};
use crate::exit::Stop;
use crate::message::{Level, Message};

/// How this process talks.
#[derive(Debug)]
pub(crate) struct Terminal {
    options: Options,
    color_out: bool,
    quiet: bool,
}

impl Terminal {
    /// The terminal that the options ask for.
    pub(crate) fn new(global: &GlobalArgs) -> Terminal {
        global.color.to_choice().write_global();
        let mut terminal = Terminal::before_parsing();
        terminal.options.width = width_of_stderr();
        terminal.options.message_format = global.message_format.into();
        terminal.quiet = global.quiet;
        terminal
    }

    /// The terminal while the options are not known, or not understood.
    pub(crate) fn before_parsing() -> Terminal {
        let color_out = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let color = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        let options = Options { color, ..Options::default() };
        Terminal { options, color_out, quiet: false }
    }

    /// Whether data meant for people's eyes should be coloured.
    pub(crate) fn color_out(&self) -> bool {
        self.color_out
    }

    /// Writes data to standard output.
    pub(crate) fn print(&self, data: &str) -> Result<(), Stop> {
        let mut out = io::stdout().lock();
        out.write_all(data.as_bytes()).and_then(|()| out.flush()).map_err(|error| {
            match error.kind() {
                io::ErrorKind::BrokenPipe => Stop::NobodyReads,
                _ => Stop::Output(Message::error(format!("cannot write the output: {error}"))),
            }
        })
    }

    /// Writes diagnostics, each followed by an empty line when people read them.
    pub(crate) fn diagnostics(&self, sources: &Sources, diagnostics: &Diagnostics) {
        for diagnostic in diagnostics {
            let text = render::diagnostic(sources, diagnostic, &self.options);
            let gap = if self.is_for_people() { "\n\n" } else { "\n" };
            write_error(&format!("{text}{gap}"));
        }
    }

    /// Writes a message of the command line. Notes are left out when only errors are wanted.
    pub(crate) fn say(&self, message: &Message) {
        let text = match self.options.message_format {
            MessageFormat::Human => message.human(self.options.color),
            MessageFormat::Json => message.json(),
        };
        if !(self.quiet && message.level == Level::Note) {
            write_error(&format!("{text}\n"));
        }
    }

    /// Writes the closing line of a task, for people who did not ask for silence.
    pub(crate) fn summary(&self, text: &str) {
        if self.is_for_people() && !self.quiet {
            write_error(&format!("{text}\n"));
        }
    }

    /// Writes the closing line of a task that errors kept from being done.
    pub(crate) fn failed(&self, task: &str, diagnostics: &Diagnostics) {
        let (n_errors, n_warnings) = (diagnostics.n_errors(), diagnostics.n_warnings());
        let summary = render::summary(task, n_errors, n_warnings, &self.options);
        if !summary.is_empty() {
            self.summary(&summary);
        }
    }

    /// Whether somebody sees what is written to standard error.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_for_people() && !self.quiet && io::stderr().is_terminal()
    }

    /// Whether messages are for people and not for programs.
    pub(crate) fn is_for_people(&self) -> bool {
        self.options.message_format == MessageFormat::Human
    }
}

/// Nobody can be told that nobody can be told.
fn write_error(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn width_of_stderr() -> Option<usize> {
    if !io::stderr().is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0))
}

/// Applies `--color` before the arguments are parsed, so that it also holds for help and for
/// complaints about the other arguments.
pub(crate) fn choose_color_early(args: &[OsString]) {
    let words: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap_or_default()).collect();
    let pairs = words.iter().zip(words.iter().skip(1).chain([&""]));
    let values = pairs.filter_map(|(word, next)| match *word {
        "--color" => Some(*next),
        word => word.strip_prefix("--color="),
    });
    if let Some(choice) = values.filter_map(ColorArg::parse).last() {
        choice.to_choice().write_global();
    }
}
