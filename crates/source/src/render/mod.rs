//! Diagnostics as text: for people in the manner of rustc, for programs as one line of JSON.
//!
//! | file | owns |
//! |---|---|
//! | `human.rs` | the parts of a message and their order |
//! | `place.rs` | where a label is shown, which may differ from where its span says |
//! | `window.rs` | the lines of source that are shown |
//! | `patch.rs` | edits shown as a change of those lines |
//! | `json.rs` | the machine-readable form |
//! | `neutral.rs` | text made harmless for a terminal |
//!
//! Invariants: rendering never panics, whatever the spans; no control character of a source text,
//! message or file name reaches the output; both forms give the same line and column.

mod human;
mod json;
mod neutral;
mod patch;
mod place;
mod window;

use annotate_snippets::{Group, Level, Renderer};

pub use human::human;
pub use json::json;

use crate::diagnostic::Diagnostic;
use crate::files::Sources;

/// The width assumed when nobody knows the terminal's; rustc assumes the same.
const USUAL_WIDTH: usize = 140;

/// Narrower terminals are treated as this wide: below it, trimming leaves nothing to read.
const LEAST_WIDTH: usize = 40;

/// How diagnostics are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MessageFormat {
    /// Snippets with underlines.
    #[default]
    Human,
    /// One JSON object per line.
    Json,
}

/// What the reader's side is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether to emit ANSI colours.
    pub color: bool,
    /// Columns of the terminal, where known.
    pub width: Option<usize>,
    /// For people or for programs.
    pub message_format: MessageFormat,
}

impl Options {
    /// The columns that lines of code may take before they are trimmed.
    fn columns(&self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH).max(LEAST_WIDTH)
    }

    fn renderer(&self) -> Renderer {
        let renderer = if self.color { Renderer::styled() } else { Renderer::plain() };
        renderer.term_width(self.columns())
    }
}

/// The diagnostic in the format that the options ask for, without a final line break. Messages
/// for people are set apart by an empty line, those for programs are not.
pub fn diagnostic(sources: &Sources, diagnostic: &Diagnostic, options: &Options) -> String {
    match options.message_format {
        MessageFormat::Human => human(sources, diagnostic, options),
        MessageFormat::Json => json(sources, diagnostic),
    }
}

/// The last line for people after all diagnostics: what became of the task ("check `f.ein`") and
/// how many messages there were. Empty when there were none.
pub fn summary(task: &str, n_errors: usize, n_warnings: usize, options: &Options) -> String {
    let emitted = format!("{} emitted", counted(n_warnings, "warning"));
    let due = format!("could not {} due to {}", neutral::line(task), counted(n_errors, "error"));
    let title = match (n_errors, n_warnings) {
        (0, 0) => return String::new(),
        (0, _) => Level::WARNING.primary_title(emitted),
        (_, 0) => Level::ERROR.primary_title(due),
        (_, _) => Level::ERROR.primary_title(format!("{due}; {emitted}")),
    };
    options.renderer().render(&[Group::with_title(title)])
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_in_plain_english() {
        let say =
            |errors, warnings| summary("check `f.ein`", errors, warnings, &Options::default());
        assert_eq!(say(0, 0), "");
        assert_eq!(say(0, 1), "warning: 1 warning emitted");
        assert_eq!(say(1, 0), "error: could not check `f.ein` due to 1 error");
        let both = "error: could not check `f.ein` due to 2 errors; 3 warnings emitted";
        assert_eq!(say(2, 3), both);
    }

    #[test]
    fn the_summary_is_coloured_and_harmless() {
        let options = Options { color: true, ..Options::default() };
        let text = summary("check `\u{1b}[2J`", 1, 0, &options);
        assert!(text.starts_with("\u{1b}[1m") && !text.contains("[2J`\u{1b}[2J"));
        assert!(text.contains("`␛[2J`"));
    }
}
