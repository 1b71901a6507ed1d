//! Where entries come from. At a terminal they are edited, with history and completion; through a
//! pipe they are read line by line, without a prompt.

use std::io::{self, BufRead, IsTerminal};

use einlang_driver::repl::Reader;
use einlang_driver::{MAX_SOURCE_BYTES, Repl};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use super::command;
use super::editor::Helper;
use super::history::{self, History};
use crate::message::Message;

/// What was read.
pub(super) enum Line {
    /// An entry or a command.
    Entry(String),
    /// Somebody began an entry and thought better of it.
    Cancelled,
    /// There is no more.
    End,
    /// There may be more, but it cannot be read.
    Unreadable(Message),
}

/// The source of entries.
pub(super) enum Lines {
    Terminal(Box<Editor<Helper, FileHistory>>, History),
    Pipe(Reader),
}

impl Lines {
    /// The terminal if there is one to type at and to see, otherwise standard input as it is.
    pub(super) fn open(no_history: bool) -> Lines {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Lines::Pipe(Reader::default());
        }
        let config = Config::builder().auto_add_history(false).build();
        match Editor::with_config(config) {
            Ok(mut editor) => {
                editor.set_helper(Some(Helper::default()));
                let history = history::open(no_history);
                history.load(&mut editor);
                Lines::Terminal(Box::new(editor), history)
            }
            Err(_) => Lines::Pipe(Reader::default()),
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Lines::Terminal(..))
    }

    /// The next entry, complete or ended by an empty line.
    pub(super) fn next(&mut self, repl: &Repl<'_>) -> Line {
        match self {
            Lines::Terminal(editor, _) => edited(editor, repl),
            Lines::Pipe(reader) => piped(reader),
        }
    }

    /// Writes the history, if that is possible.
    pub(super) fn close(&mut self) {
        if let Lines::Terminal(editor, history) = self {
            history.save(editor);
        }
    }
}

fn edited(editor: &mut Editor<Helper, FileHistory>, repl: &Repl<'_>) -> Line {
    if let Some(helper) = editor.helper_mut() {
        helper.names = repl.names().map(str::to_owned).collect();
    }
    match editor.readline(&format!("{}> ", repl.next_number())) {
        Ok(text) if text.trim().is_empty() => Line::Cancelled,
        Ok(text) => {
            // An entry that the history does not take is still an entry.
            let _ = editor.add_history_entry(text.trim_end());
            Line::Entry(text)
        }
        Err(ReadlineError::Interrupted) => Line::Cancelled,
        Err(ReadlineError::Eof) => Line::End,
        Err(error) => unreadable(&error.to_string()),
    }
}

fn piped(reader: &mut Reader) -> Line {
    let mut n_bytes = 0;
    loop {
        let mut bytes = Vec::new();
        match io::stdin().lock().read_until(b'\n', &mut bytes) {
            Ok(0) => return reader.finish().map_or(Line::End, Line::Entry),
            Ok(n) => n_bytes += n,
            Err(error) => return unreadable(&error.to_string()),
        }
        if n_bytes > MAX_SOURCE_BYTES {
            return unreadable("an entry is too large");
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return unreadable("it is not valid UTF-8");
        };
        let line = text.trim_end_matches(['\n', '\r']);
        if !reader.has_begun() && command::is_command(line) {
            return Line::Entry(line.to_owned());
        }
        if let Some(entry) = reader.push(line) {
            return Line::Entry(entry);
        }
    }
}

fn unreadable(why: &str) -> Line {
    let message = Message::error(format!("cannot read standard input: {why}"));
    Line::Unreadable(message.with_help("entries are lines of UTF-8 text"))
}
