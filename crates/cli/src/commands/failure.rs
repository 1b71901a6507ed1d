//! How a command ends that could not do what it was asked to.

use einlang_driver::{Executable, Failure, Session};
use einlang_source::Sources;

use crate::args::{CheckingArgs, ProgramArg};
use crate::exit::{Exit, Stop};
use crate::inputs;
use crate::message::Message;
use crate::{Shell, bug};

/// Ends a command; the errors of a program have been shown.
pub(crate) fn end(failure: Failure) -> Result<Exit, Stop> {
    match failure {
        Failure::Program(_) => Ok(Exit::ProgramError),
        Failure::Usage { message, help } => {
            Err(Stop::Usage(Message::error(message).with_help(help)))
        }
        Failure::Bug(what) => {
            bug::tell(&what);
            Ok(Exit::Bug)
        }
    }
}

/// Shows the errors of a program, says what could not be done with it, and ends the command.
pub(super) fn told(
    failure: Failure,
    what: &str,
    session: &Session<'_>,
    shell: &Shell,
) -> Result<Exit, Stop> {
    if let Failure::Program(errors) = &failure {
        shell.terminal.diagnostics(session.sources(), errors);
        shell.terminal.failed(what, errors);
    }
    end(failure)
}

/// Builds a program and prints a report about it.
pub(super) fn report(
    command: &str,
    program: &ProgramArg,
    checking: &CheckingArgs,
    shell: &Shell,
    show: impl FnOnce(&Executable, &Sources) -> String,
) -> Result<Exit, Stop> {
    let input = inputs::single(program, command)?;
    let mut session = Session::new(&shell.world).with_options(checking.options());
    let built = match input.load(&mut session) {
        Ok(file) => session.build(file),
        Err(errors) => Err(Failure::Program(errors)),
    };
    match built {
        Ok(executable) => {
            shell.terminal.diagnostics(session.sources(), &executable.warnings);
            shell.terminal.print(&show(&executable, session.sources()))?;
            Ok(Exit::Fine)
        }
        Err(failure) => told(failure, &format!("compile `{}`", input.name()), &session, shell),
    }
}
