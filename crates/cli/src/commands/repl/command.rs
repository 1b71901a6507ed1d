//! What begins with a colon is said to the session and not part of a program.

use std::path::PathBuf;

use einlang_source::nearest;

use crate::message::Message;

/// The answer to `:help`.
pub(super) const HELP: &str = "\
An entry is one or more statements, as in a program. It sees what earlier entries
bound, and may bind the same names anew. An expression at its end, without `;`, is
shown. An entry goes on while a bracket is open or a `;` is missing; an empty line
ends it, and Ctrl-C throws it away or stops it while it runs.

  :type EXPR     the type of an expression, which is not evaluated
  :shape EXPR    its extents
  :coords EXPR   its coordinates, what it consumes and broadcasts
  :load FILE     evaluate a file as an entry
  :reset         forget everything
  :help          this text
  :quit          leave; Ctrl-D does too

Commands may be shortened, as in `:t x`.
";

const NAMES: [&str; 7] = ["type", "shape", "coords", "load", "reset", "help", "quit"];

/// A command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Command {
    Type(String),
    Shape(String),
    Coords(String),
    Load(PathBuf),
    Reset,
    Help,
    Quit,
}

/// Whether a text is a command.
pub(super) fn is_command(text: &str) -> bool {
    text.trim_start().starts_with(':')
}

/// The names that a shortened one stands for.
pub(super) fn candidates(word: &str) -> impl Iterator<Item = &'static str> {
    NAMES.into_iter().filter(move |name| name.starts_with(word))
}

impl Command {
    /// The command, or what is wrong with it; none for an entry.
    pub(super) fn parse(text: &str) -> Option<Result<Command, Message>> {
        let text = text.trim().strip_prefix(':')?.trim_start();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let found: Vec<&str> = candidates(word).collect();
        let name = match found[..] {
            [name] if !word.is_empty() => name,
            _ => return Some(Err(unknown(word))),
        };
        let needs = |what: &str| {
            let text = format!("`:{name}` needs {what}");
            Message::error(text).with_help("`:help` explains the commands")
        };
        let expression = |command: fn(String) -> Command| match rest {
            "" => Err(needs("an expression")),
            rest => Ok(command(rest.to_owned())),
        };
        Some(match name {
            "type" => expression(Command::Type),
            "shape" => expression(Command::Shape),
            "coords" => expression(Command::Coords),
            "load" if rest.is_empty() => Err(needs("a file")),
            "load" => Ok(Command::Load(PathBuf::from(rest))),
            "reset" => Ok(Command::Reset),
            "help" => Ok(Command::Help),
            _ => Ok(Command::Quit),
        })
    }
}

fn unknown(word: &str) -> Message {
    let help = match nearest(word, NAMES) {
        Some(near) if !word.is_empty() => format!("did you mean `:{near}`?"),
        _ => "`:help` lists the commands".to_owned(),
    };
    Message::error(format!("there is no command `:{word}`")).with_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_may_be_shortened() {
        let parse = |text| Command::parse(text).and_then(Result::ok);
        assert_eq!(parse(":type x + 1"), Some(Command::Type("x + 1".to_owned())));
        assert_eq!(parse(" :t x"), Some(Command::Type("x".to_owned())));
        assert_eq!(parse(":q"), Some(Command::Quit));
        assert_eq!(parse(":load a b.ein"), Some(Command::Load("a b.ein".into())));
        assert!(Command::parse("x: i32").is_none());
        for wrong in [":", ":type", ":load ", ":frobnicate", ":quitt"] {
            assert!(matches!(Command::parse(wrong), Some(Err(_))), "{wrong}");
        }
    }
}
