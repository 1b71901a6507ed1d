//! The `einlang` command: arguments become calls of the driver, answers become text and exit codes. The
//! binary and the Python package are a call of [`main`] each.
//!
//! | file | owns |
//! |---|---|
//! | `args.rs`, `shorthand.rs` | what may be written on the command line |
//! | `commands/` | one file per command |
//! | `inputs.rs` | the programs that a command is about: files, directories, `-`, `-c` |
//! | `terminal.rs`, `message.rs` | standard output, standard error, colours |
//! | `running/` | where a program prints, Ctrl-C, progress, amounts |
//! | `native.rs` | machine code: what makes it |
//! | `bug.rs` | what happens when the compiler itself fails |
//! | `exit.rs` | how a command ends |
//!
//! Invariants: data goes to standard output and everything else to standard error; the exit code is
//! 0, 1, 2 or 3 as `exit::Exit` says, or 130 for a run that was interrupted; no decision about the language is made here.

mod args;
mod bug;
mod commands;
mod exit;
mod inputs;
mod memory;
mod message;
mod native;
mod running;
mod shorthand;
mod terminal;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};
use einlang_driver::{DiskWorld, Executable, Python};

use args::Cli;
use exit::{Exit, Stop};
use terminal::Terminal;

/// What a command works with.
struct Shell {
    terminal: Terminal,
    world: DiskWorld,
    /// The Python that runs the command line.
    python: Option<Host>,
}

/// The Python around the command line, for one program.
pub type Host = fn(&Executable) -> Box<dyn Python>;

/// Runs a command line, whose first word is the name of the program.
pub fn main(args: Vec<OsString>) -> u8 {
    bug::guard(|| start(args, None)) as u8
}

/// The same inside of Python, whose functions programs may call.
pub fn main_in(python: Host, args: Vec<OsString>) -> u8 {
    bug::guard(move || start(args, Some(python))) as u8
}

/// Ends the process if machine code is still being made, which cannot go on while a process ends; otherwise
/// there is nothing to do.
pub fn leave(code: u8) {
    native::leave(code);
}

/// Waits for machine code that is still being made. No more is begun.
pub fn finish() {
    native::end(true);
}

/// Reads the arguments and runs the command.
fn start(args: Vec<OsString>, python: Option<Host>) -> Exit {
    terminal::choose_color_early(&args);
    let grammar = Cli::command();
    let expanded = match shorthand::expand(&grammar, args) {
        Ok(expanded) => expanded,
        Err(stop) => return end(&Terminal::before_parsing(), Err(stop)),
    };
    let matches = grammar.try_get_matches_from(expanded);
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            let shell = Shell { terminal: Terminal::new(&cli.global), world: DiskWorld, python };
            end(&shell.terminal, commands::run(&cli.command, &shell))
        }
        Err(answer) => {
            // Help and version arrive here too. If nobody reads on, there is nobody to tell.
            let _ = answer.print();
            if answer.use_stderr() { Exit::Usage } else { Exit::Fine }
        }
    }
}

/// Says why a command stopped, if it did.
fn end(terminal: &Terminal, result: Result<Exit, Stop>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Stop::Usage(message)) => {
            terminal.say(&message);
            Exit::Usage
        }
        Err(Stop::Output(message)) => {
            terminal.say(&message);
            Exit::ProgramError
        }
        Err(Stop::NobodyReads) => Exit::Fine,
    }
}
