//! The programs of a page, and whether they do what the page says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Block, blocks, read};

/// What a program is there for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `ein`: it runs and prints the `output` block that follows, or nothing.
    Runs {
        /// What it prints.
        stdout: String,
    },
    /// `ein,needs=…`: as above, but for something that is missing today. Once it runs, the mark is
    /// wrong.
    Needs {
        /// What is missing.
        what: String,
        /// What it will print.
        stdout: String,
    },
    /// `ein,check`: it is only checked, without a warning.
    Checks,
    /// `ein,fails CODE`: it is rejected with that code and no other.
    Fails(String),
    /// `ein,warns CODE`: it is accepted with that warning and no other.
    Warns(String),
    /// `ein,stops CODE`: it is accepted, and stops with that code when it runs.
    Stops(String),
}

/// A program of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The page and the line.
    pub place: String,
    /// The text.
    pub source: String,
    /// What it is there for.
    pub kind: Kind,
}

/// The programs of a page, each with what belongs to it. Signatures are no programs, and blocks in
/// other languages are left to others.
pub fn programs(path: &Path) -> Vec<Program> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let mut blocks = blocks(&read(path)).into_iter().peekable();
    let mut found = Vec::new();
    while let Some(Block { line, info, text, .. }) = blocks.next() {
        let place = format!("{name}:{line}");
        let (word, code) = info.split_once(' ').unwrap_or((info.as_str(), ""));
        let code = code.to_owned();
        let mut stdout = || {
            let output = blocks.next_if(|next| next.info == "output" && next.follows);
            output.map_or(String::new(), |output| output.text)
        };
        let kind = match word {
            "ein" => Kind::Runs { stdout: stdout() },
            "ein,check" => Kind::Checks,
            "ein,fails" => Kind::Fails(code),
            "ein,warns" => Kind::Warns(code),
            "ein,stops" => Kind::Stops(code),
            "ein,signature" => continue,
            "output" => panic!("{place}: the output of no program"),
            _ => match word.strip_prefix("ein,needs=") {
                Some(what) => Kind::Needs { what: what.to_owned(), stdout: stdout() },
                None if word.starts_with("ein") => {
                    panic!("{place}: no kind of program is `{info}`")
                }
                None => continue,
            },
        };
        found.push(Program { place, source: text, kind });
    }
    found
}

impl Program {
    /// Whether the binary makes of the program what its page says, or why not.
    pub fn judge(&self, binary: &Path) -> Result<(), String> {
        let einlang = |command: &str| call(binary, command, &self.source);
        match &self.kind {
            Kind::Runs { stdout } => einlang("run").prints(stdout),
            Kind::Needs { what, stdout } => {
                let answer = einlang("check");
                answer.ensure(answer.code == Some(0), "to be accepted by `check`")?;
                match einlang("run").prints(stdout) {
                    Ok(()) => Err(format!("works now: take `needs={what}` out of its fence")),
                    Err(_) => Ok(()),
                }
            }
            Kind::Checks => {
                let answer = einlang("check");
                let is_right = answer.code == Some(0) && answer.codes().is_empty();
                answer.ensure(is_right, "no errors and no warnings")
            }
            Kind::Fails(code) => einlang("check").reports(1, code),
            Kind::Warns(code) => einlang("check").reports(0, code),
            Kind::Stops(code) => {
                let answer = einlang("check");
                answer.ensure(answer.code == Some(0), "to be accepted by `check`")?;
                einlang("run").reports(1, code)
            }
        }
    }
}

/// What the binary answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Calls the binary for a program in an empty folder.
pub fn call(binary: &Path, command: &str, source: &str) -> Answer {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.ein"), source).expect("a file");
    let output = Command::new(binary)
        .args([command, "main.ein"])
        .current_dir(folder.path())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Answer {
    /// The codes of all its messages.
    fn codes(&self) -> BTreeSet<&str> {
        let heads = self.stderr.lines().filter_map(|line| {
            line.strip_prefix("error[").or_else(|| line.strip_prefix("warning["))
        });
        heads.filter_map(|head| Some(head.split_once(']')?.0)).collect()
    }

    fn ensure(&self, is_right: bool, expected: &str) -> Result<(), String> {
        if is_right {
            return Ok(());
        }
        let Answer { code, stdout, stderr } = self;
        Err(format!("expected {expected}\n--- got exit code {code:?}\n{stdout}{stderr}"))
    }

    /// A program that prints nothing may be told so in a note.
    fn prints(&self, stdout: &str) -> Result<(), String> {
        let is_silent =
            self.stderr.is_empty() || (stdout.is_empty() && self.stderr.starts_with("note: "));
        let is_right = self.code == Some(0) && self.stdout == *stdout && is_silent;
        self.ensure(is_right, &format!("to run and print\n{stdout}"))
    }

    fn reports(&self, exit: i32, code: &str) -> Result<(), String> {
        let is_right = self.code == Some(exit) && self.codes() == BTreeSet::from([code]);
        self.ensure(is_right, &format!("{code} alone, and exit code {exit}"))
    }
}
