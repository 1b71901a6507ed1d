//! What the line editor asks while an entry is typed.

use einlang_driver::repl::{Input, complete, input};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};

use super::command;

/// Knows the names of the session.
#[derive(Default)]
pub(super) struct Helper {
    pub(super) names: Vec<String>,
}

impl Helper {
    /// The candidates for the word before the cursor, and where it begins.
    fn candidates(&self, before: &str) -> (usize, Vec<String>) {
        match before.trim_start().strip_prefix(':') {
            Some(word) if !word.contains(char::is_whitespace) => {
                let names = command::candidates(word).map(str::to_owned).collect();
                (before.len() - word.len(), names)
            }
            _ => {
                let found = complete(before, self.names.iter().map(String::as_str));
                (found.start, found.words)
            }
        }
    }
}

impl Completer for Helper {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<String>)> {
        Ok(self.candidates(line.get(..at).unwrap_or(line)))
    }
}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        Ok(match is_whole(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

/// Whether Enter ends the entry.
fn is_whole(text: &str) -> bool {
    let after_empty_line = text.lines().count() > 1 && text.ends_with('\n');
    command::is_command(text)
        || match input(text) {
            Input::Complete => true,
            Input::Unfinished => after_empty_line,
            Input::Open => false,
        }
}

impl Hinter for Helper {
    type Hint = String;
}

impl Highlighter for Helper {}

impl rustyline::Helper for Helper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_ends_what_is_whole() {
        for text in ["1 + 2", "let x = 1;", ":type (", "", "let x = 1\n\n", "let = 1;"] {
            assert!(is_whole(text), "{text:?}");
        }
        for text in ["let x =", "let x = 1", "let x = 1\n", "fn f() {\n\n", "[1,\n\n"] {
            assert!(!is_whole(text), "{text:?}");
        }
    }

    #[test]
    fn commands_and_names_are_completed() {
        let helper = Helper { names: vec!["shade".to_owned()] };
        assert_eq!(helper.candidates(":sh"), (1, vec!["shape".to_owned()]));
        assert_eq!(
            helper.candidates(":type sha"),
            (6, vec!["shade".to_owned(), "shape".to_owned()])
        );
        assert_eq!(helper.candidates("1 + shad"), (4, vec!["shade".to_owned()]));
    }
}
