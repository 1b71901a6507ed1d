//! How a command ends.
//!
//! The numbers are a contract with scripts; the language reference lists them.

use crate::message::Message;

/// The end of the process, as scripts see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// All went well.
    Fine = 0,
    /// The program has an error, or would be formatted differently.
    ProgramError = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// The compiler failed.
    Bug = 3,
}

impl Exit {
    /// The end of a command that may have met errors.
    pub(crate) fn with_errors(any: bool) -> Exit {
        if any { Exit::ProgramError } else { Exit::Fine }
    }
}

/// Why a command cannot go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It was called in a way that makes no sense, beyond what the parser of arguments can tell.
    Usage(Message),
    /// Its answer could not be written.
    Output(Message),
    /// The reader of its answer has gone away, as `head` does; this is nobody's fault.
    NobodyReads,
}
