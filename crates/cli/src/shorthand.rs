//! `einlang model.ein` is short for `einlang run model.ein`.
//!
//! The first word that is not an option decides: a command stays a command, even if a file bears
//! its name; something that is a file, or is spelled like one, is run. A word that is neither is
//! probably a misspelt command.

use std::ffi::{OsStr, OsString};
use std::path::{self, Path};

use clap::{ArgAction, Command};
use einlang_source::nearest;

use crate::exit::Stop;
use crate::message::Message;

/// The command that may be left out.
const DEFAULT: &str = "run";

/// The arguments with the command that was left out. What is wrong with them otherwise is for the
/// parser of arguments to say.
pub(crate) fn expand(grammar: &Command, mut args: Vec<OsString>) -> Result<Vec<OsString>, Stop> {
    let Some(at) = deciding_word(grammar, &args).filter(|at| !is_command(grammar, &args[*at]))
    else {
        return Ok(args);
    };
    if is_program(&args[at]) {
        args.insert(at, DEFAULT.into());
    } else if !args[at].to_string_lossy().starts_with('-') {
        return Err(Stop::Usage(unknown_word(grammar, &args[at])));
    }
    Ok(args)
}

/// The position of the first argument that is no global option.
fn deciding_word(grammar: &Command, args: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = args.get(at) {
        match word.to_str().and_then(|word| global_option(grammar, word)) {
            Some(n_words) => at += n_words,
            None => return Some(at),
        }
    }
    None
}

/// How many words a global option takes, its value included; nothing for any other word.
fn global_option(grammar: &Command, word: &str) -> Option<usize> {
    let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
    let is_named = |arg: &&clap::Arg| {
        let long = name.strip_prefix("--").is_some_and(|name| arg.get_long() == Some(name));
        long || arg.get_short().is_some_and(|short| name == format!("-{short}"))
    };
    let option = grammar.get_arguments().filter(|arg| arg.is_global_set()).find(is_named)?;
    let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    Some(if takes_value && value.is_none() { 2 } else { 1 })
}

/// Whether the word is a program: a file, standard input, or `-c`.
fn is_program(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    if text.starts_with('-') {
        return text == "-" || (text.starts_with("-c") && !text.starts_with("--"));
    }
    let is_spelled_as_path = text.ends_with(".ein") || text.contains(path::is_separator);
    is_spelled_as_path || Path::new(word).exists()
}

fn is_command(grammar: &Command, word: &OsStr) -> bool {
    word == "help" || grammar.find_subcommand(word).is_some()
}

fn unknown_word(grammar: &Command, word: &OsStr) -> Message {
    let word = word.to_string_lossy();
    let commands = grammar.get_subcommands().map(Command::get_name);
    let file = format!("{word}.ein");
    let meant = match Path::new(&file).exists() {
        true => Some(file.as_str()),
        false => nearest(&word, commands),
    };
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`einlang --help` lists the commands".to_owned(),
    };
    Message::error(format!("`{word}` is neither a command nor a file")).with_help(help)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn expanded(line: &str) -> String {
        let args = line.split(' ').map(OsString::from).collect();
        match expand(&Cli::command(), args) {
            Ok(args) => args.join(OsStr::new(" ")).to_string_lossy().into_owned(),
            Err(Stop::Usage(message)) => message.human(false),
            Err(other) => format!("{other:?}"),
        }
    }

    #[test]
    fn programs_are_run() {
        assert_eq!(expanded("einlang a.ein"), "einlang run a.ein");
        assert_eq!(expanded("einlang dir/a --x"), "einlang run dir/a --x");
        assert_eq!(expanded("einlang -"), "einlang run -");
        assert_eq!(expanded("einlang -c 1"), "einlang run -c 1");
        assert_eq!(expanded("einlang Cargo.toml"), "einlang run Cargo.toml", "it exists");
    }

    #[test]
    fn global_options_may_come_first() {
        assert_eq!(
            expanded("einlang -q --color never a.ein"),
            "einlang -q --color never run a.ein"
        );
        assert_eq!(expanded("einlang --color=never -c 1"), "einlang --color=never run -c 1");
        let json = "einlang --message-format json run a.ein";
        assert_eq!(expanded("einlang --message-format json a.ein"), json);
    }

    #[test]
    fn commands_and_other_options_stay() {
        for line in ["einlang", "einlang check a.ein", "einlang help run", "einlang --help"] {
            assert_eq!(expanded(line), line);
        }
        for line in ["einlang -q", "einlang --color", "einlang --colour a.ein", "einlang -V"] {
            assert_eq!(expanded(line), line);
        }
    }

    #[test]
    fn a_misspelt_command_is_recognised() {
        assert_eq!(
            expanded("einlang chekc a.ein"),
            "error: `chekc` is neither a command nor a file\n  help: did you mean `check`?"
        );
        assert!(expanded("einlang frobnicate").ends_with("`einlang --help` lists the commands"));
    }
}
