//! Messages of the command line itself, which have neither a code nor a place in a program.
//!
//! They look like diagnostics in both formats. Invariant: no control character of a file name or an
//! argument reaches the terminal.

use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde_json::json;

/// How a message begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }

    /// The colours of diagnostics.
    fn style(self) -> Style {
        let color = match self {
            Level::Error => AnsiColor::BrightRed,
            Level::Warning => AnsiColor::Yellow,
            Level::Note => AnsiColor::BrightGreen,
        };
        color.on_default().bold()
    }
}

/// One message, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) level: Level,
    text: String,
    help: Option<String>,
}

impl Message {
    pub(crate) fn new(level: Level, text: impl AsRef<str>) -> Message {
        Message { level, text: harmless(text.as_ref()), help: None }
    }

    pub(crate) fn error(text: impl AsRef<str>) -> Message {
        Message::new(Level::Error, text)
    }

    #[must_use]
    pub(crate) fn with_help(self, help: impl AsRef<str>) -> Message {
        Message { help: Some(harmless(help.as_ref())), ..self }
    }

    /// The form for people, without a final line break.
    pub(crate) fn human(&self, color: bool) -> String {
        let bold = Style::new().bold();
        let headline = format!(
            "{}{}",
            painted(color, self.level.style(), self.level.word()),
            painted(color, bold, &format!(": {}", self.text)),
        );
        match &self.help {
            Some(help) => {
                let word = painted(color, AnsiColor::BrightCyan.on_default().bold(), "help");
                format!("{headline}\n  {word}: {help}")
            }
            None => headline,
        }
    }

    /// The form for programs: the keys of a diagnostic, without a code and a place.
    pub(crate) fn json(&self) -> String {
        json!({
            "severity": self.level.word(),
            "code": null,
            "message": self.text,
            "span": null,
            "help": self.help,
        })
        .to_string()
    }
}

/// The text in a style, or as it is.
pub(crate) fn painted(color: bool, style: Style, text: &str) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// A path as messages show it.
pub(crate) fn quoted(path: &Path) -> String {
    format!("`{}`", path.display())
}

/// `1 file`, `2 files`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let message = Message::error("nothing to format").with_help("name a file");
        assert_eq!(message.human(false), "error: nothing to format\n  help: name a file");
        let json = r#"{"severity":"error","code":null,"message":"nothing to format","span":null,"help":"name a file"}"#;
        assert_eq!(message.json(), json);
    }

    #[test]
    fn names_cannot_move_the_cursor() {
        let message = Message::error("no file `\u{1b}[2J`").human(true);
        assert!(message.contains("`\u{fffd}[2J`"));
        assert_eq!(Message::new(Level::Note, "a\nb").human(false), "note: a\u{fffd}b");
    }

    #[test]
    fn nouns_are_counted() {
        assert_eq!([counted(1, "file"), counted(0, "file")], ["1 file", "0 files"]);
    }
}
