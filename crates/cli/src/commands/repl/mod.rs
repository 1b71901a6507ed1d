//! `einlang repl`: entries are evaluated as they are typed, or as they come through a pipe.
//!
//! | file | owns |
//! |---|---|
//! | `mod.rs` | the loop: read an entry, evaluate it, show the answer |
//! | `command.rs` | `:help` and its like |
//! | `lines.rs` | where entries come from: a terminal or a pipe |
//! | `editor.rs` | what the line editor asks: is this complete, what could follow |
//! | `history.rs` | the file of earlier entries |
//!
//! What an entry means is decided in the driver. Invariants: nothing that an entry does ends the
//! session, but for `:quit`; what a program printed is written before anything is said about it.

mod command;
mod editor;
mod history;
mod lines;

use std::path::{Path, PathBuf};

use clap::Args;
use einlang_driver::{
    Answer, Failure, Given, Interrupt, Options, Permits, Printer, ProjectIo, Question, Repl,
    RunOptions, Session,
};

use crate::args::HELP_TEMPLATE;
use crate::commands::run::{LimitArgs, named_value};
use crate::exit::{Exit, Stop};
use crate::message::{Level, Message};
use crate::running::{self, Console, Progress, Target};
use crate::{Shell, bug};
use command::Command;
use lines::{Line, Lines};

const EXAMPLES: &str = "\
Examples:
  einlang repl                    evaluate what is typed; `:help` tells more
  einlang repl < steps.txt        evaluate entries from a file, one after the other
  einlang repl --input A=a.npy    with a value for `input A: [f32; M, K];`";

/// Evaluate entries as they are typed
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES, help_template = HELP_TEMPLATE)]
pub(crate) struct ReplArgs {
    /// The value of an input: a literal, or a file (npy, npz, csv, safetensors, json, png, pgm)
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = named_value)]
    inputs: Vec<(String, String)>,
    /// Neither read nor write the file of earlier entries
    #[arg(long)]
    no_history: bool,
    /// Treat points that no clause defines as errors
    #[arg(long)]
    strict: bool,
    /// Let self-reads of points that no clause defines give zero
    #[arg(long)]
    zero_fill: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Evaluates entries until there are no more.
pub(crate) fn run(args: &ReplArgs, shell: &Shell) -> Result<Exit, Stop> {
    let ReplArgs { strict, zero_fill, .. } = *args;
    let checking = Options { strict, zero_fill, outputs: None };
    let given = |(name, text): &(String, String)| (name.clone(), Given::Text(text.clone()));
    let interrupt = Interrupt::default();
    let mut limits = args.limits.limits(zero_fill)?;
    limits.interrupt = interrupt.clone();
    let options = RunOptions {
        inputs: args.inputs.iter().map(given).collect(),
        limits,
        timeout: args.limits.timeout,
    };
    let mut lines = Lines::open(args.no_history);
    let console = Console::new(Target::Output);
    match lines.is_terminal() {
        true => running::cancel_with(&interrupt),
        false => running::watch(&console),
    }
    let mut talk = Talk {
        shell,
        repl: Repl::new(&shell.world, checking),
        options,
        permits: args.limits.permits(Path::new(""))?,
        console,
        shows_types: lines.is_terminal(),
        had_bug: false,
    };
    if lines.is_terminal() {
        let version = env!("CARGO_PKG_VERSION");
        shell.terminal.summary(&format!("einlang {version}; `:help` for help, Ctrl-D to leave"));
    }
    let end = talk.all(&mut lines);
    lines.close();
    end.map(|exit| if talk.had_bug { Exit::Bug } else { exit })
}

/// A session in progress.
struct Talk<'s> {
    shell: &'s Shell,
    repl: Repl<'s>,
    options: RunOptions,
    permits: Permits,
    console: Console,
    /// What a `let` bound is shown, for somebody watches.
    shows_types: bool,
    had_bug: bool,
}

impl Talk<'_> {
    fn all(&mut self, lines: &mut Lines) -> Result<Exit, Stop> {
        loop {
            match lines.next(&self.repl) {
                Line::Entry(text) => match Command::parse(&text) {
                    None => self.entry(&text)?,
                    Some(Ok(Command::Quit)) => return Ok(Exit::Fine),
                    Some(Ok(command)) => self.command(command)?,
                    Some(Err(message)) => self.shell.terminal.say(&message),
                },
                Line::Cancelled => {}
                Line::End => return Ok(Exit::Fine),
                Line::Unreadable(message) => {
                    self.shell.terminal.say(&message);
                    return Ok(Exit::ProgramError);
                }
            }
        }
    }

    fn command(&mut self, command: Command) -> Result<(), Stop> {
        match command {
            Command::Quit => Ok(()),
            Command::Help => self.shell.terminal.print(command::HELP),
            Command::Reset => {
                self.repl.reset();
                Ok(())
            }
            Command::Load(path) => self.load(&path),
            Command::Type(text) => self.ask(Question::Type, &text),
            Command::Shape(text) => self.ask(Question::Shape, &text),
            Command::Coords(text) => self.ask(Question::Coords, &text),
        }
    }

    fn ask(&mut self, question: Question, text: &str) -> Result<(), Stop> {
        match self.repl.ask(question, text) {
            Ok(answer) => self.shell.terminal.print(&format!("{answer}\n")),
            Err(failure) => {
                self.tell(failure);
                Ok(())
            }
        }
    }

    fn load(&mut self, path: &Path) -> Result<(), Stop> {
        let mut session = Session::new(&self.shell.world);
        match session.load(path) {
            Ok(file) => {
                let text = session.sources().text(file).to_owned();
                self.evaluate(Some(path.to_owned()), &text)
            }
            Err(errors) => {
                self.shell.terminal.diagnostics(session.sources(), &errors);
                Ok(())
            }
        }
    }

    fn entry(&mut self, text: &str) -> Result<(), Stop> {
        self.evaluate(None, text)
    }

    /// Evaluates an entry, or a file as one, and shows what came of it.
    fn evaluate(&mut self, path: Option<PathBuf>, text: &str) -> Result<(), Stop> {
        let terminal = &self.shell.terminal;
        let interrupt = self.options.limits.interrupt.clone();
        interrupt.take();
        let mut printer = self.console.clone();
        let progress = Progress::start(&self.console, "the entry", terminal.is_watched());
        let memory = self.options.limits.memory;
        let mut io = ProjectIo::new(self.permits.clone(), &mut printer, memory);
        let result = match &path {
            Some(path) => {
                let name = path.display().to_string();
                self.repl.evaluate_named(&name, text, &self.options, &mut io)
            }
            None => self.repl.evaluate(text, &self.options, &mut io),
        };
        drop(progress);
        self.console.finish()?;
        match result {
            Ok(answer) => self.show(&answer),
            Err(Failure::Program(_)) if interrupt.take() => {
                terminal.say(&Message::new(Level::Note, "interrupted; nothing was bound"));
                Ok(())
            }
            Err(failure) => {
                self.tell(failure);
                Ok(())
            }
        }
    }

    fn show(&mut self, answer: &Answer) -> Result<(), Stop> {
        self.shell.terminal.diagnostics(self.repl.sources(), &answer.warnings);
        // What cannot be written, the console remembers.
        if self.shows_types {
            for bound in &answer.bound {
                let _ = self.console.line(&format!("{}: {}", bound.name, bound.ty));
            }
        }
        let value = answer.value.as_ref().map(|value| value.text());
        if let Some(text) = value.or_else(|| answer.value_type.clone()) {
            let _ = self.console.line(&text);
        }
        self.console.finish()
    }

    fn tell(&mut self, failure: Failure) {
        let terminal = &self.shell.terminal;
        match failure {
            Failure::Program(errors) => terminal.diagnostics(self.repl.sources(), &errors),
            Failure::Usage { message, help } => {
                terminal.say(&Message::error(message).with_help(help));
            }
            Failure::Bug(what) => {
                self.had_bug = true;
                bug::tell(&what);
            }
        }
    }
}
