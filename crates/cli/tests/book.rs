//! The programs of the book and of the README do what the text says.
//!
//! A block marked `ein` is run and prints the `output` block after it, and nothing else;
//! `ein,check` is only checked, without a warning; `ein,fails CODE` and `ein,warns CODE` are checked
//! and report that code and no other; `ein,stops CODE` is accepted and stops with that code when it
//! runs. Each program runs in an empty folder. The summary lists all pages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What a program is there for.
enum Kind {
    Runs { stdout: String },
    Checks,
    Fails { code: String },
    Warns { code: String },
    Stops { code: String },
}

/// A program of a page.
struct Program {
    place: String,
    source: String,
    kind: Kind,
}

/// What lies between two fences.
struct Block {
    line: usize,
    info: String,
    text: String,
    /// Whether only blank lines separate it from the block before.
    follows: bool,
}

/// What the binary answered.
struct Answer {
    code: Option<i32>,
    stdout: String,
    stderr: String,
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

    fn reports(&self, exit: i32, code: &str) -> Result<(), String> {
        let is_right = self.code == Some(exit) && self.codes() == BTreeSet::from([code]);
        self.ensure(is_right, &format!("{code} alone, and exit code {exit}"))
    }
}

impl Program {
    fn judge(&self) -> Result<(), String> {
        match &self.kind {
            Kind::Runs { stdout } => {
                let answer = einlang("run", &self.source);
                let is_right =
                    answer.code == Some(0) && answer.stdout == *stdout && answer.stderr.is_empty();
                answer.ensure(is_right, &format!("to run and print\n{stdout}"))
            }
            Kind::Checks => {
                let answer = einlang("check", &self.source);
                let is_right = answer.code == Some(0) && answer.codes().is_empty();
                answer.ensure(is_right, "no errors and no warnings")
            }
            Kind::Fails { code } => einlang("check", &self.source).reports(1, code),
            Kind::Warns { code } => einlang("check", &self.source).reports(0, code),
            Kind::Stops { code } => {
                let answer = einlang("check", &self.source);
                answer.ensure(answer.code == Some(0), "to be accepted by `check`")?;
                einlang("run", &self.source).reports(1, code)
            }
        }
    }
}

fn einlang(command: &str, source: &str) -> Answer {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("main.ein"), source).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_einlang"))
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

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Pages of the book, the summary included, in the order of their names.
fn pages() -> Vec<PathBuf> {
    let mut folders = vec![repository().join("docs/book/src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text file").replace("\r\n", "\n")
}

/// The blocks between fences of a page.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut follows = false;
    for (index, line) in text.lines().enumerate() {
        match (is_open, line.strip_prefix("```")) {
            (true, Some("")) => (is_open, follows) = (false, true),
            (true, _) => {
                let block = found.last_mut().expect("invariant: an open block is in the list");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (false, Some(info)) => {
                let (info, text) = (info.to_owned(), String::new());
                found.push(Block { line: index + 1, info, text, follows });
                is_open = true;
            }
            (false, None) => follows &= line.trim().is_empty(),
        }
    }
    assert!(!is_open, "a block has no end");
    found
}

/// The programs of a page, each with what belongs to it.
fn programs(path: &Path) -> Vec<Program> {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let mut blocks = blocks(&read(path)).into_iter().peekable();
    let mut found = Vec::new();
    while let Some(Block { line, info, text, .. }) = blocks.next() {
        let place = format!("{name}:{line}");
        let (word, code) = info.split_once(' ').unwrap_or((info.as_str(), ""));
        let code = code.to_owned();
        let kind = match word {
            "ein" => {
                let output = blocks.next_if(|next| next.info == "output" && next.follows);
                let output = output.unwrap_or_else(|| panic!("{place}: no output follows"));
                Kind::Runs { stdout: output.text }
            }
            "ein,check" => Kind::Checks,
            "ein,fails" => Kind::Fails { code },
            "ein,warns" => Kind::Warns { code },
            "ein,stops" => Kind::Stops { code },
            "output" => panic!("{place}: the output of no program"),
            _ if word.starts_with("ein") => panic!("{place}: no kind of program is `{info}`"),
            _ => continue,
        };
        found.push(Program { place, source: text, kind });
    }
    found
}

/// What a text without code links to.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
}

#[test]
fn every_program_does_what_its_page_says() {
    let mut pages = pages();
    pages.push(repository().join("README.md"));
    let programs: Vec<Program> = pages.iter().flat_map(|page| programs(page)).collect();
    assert!(programs.len() >= 100, "only {} programs", programs.len());
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| programs.get(next.fetch_add(1, Ordering::Relaxed)));
        taken
            .filter_map(|program| Some(format!("{}: {}", program.place, program.judge().err()?)))
            .collect::<Vec<_>>()
    };
    let n_workers = thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a verdict")).collect()
    });
    assert!(wrong.is_empty(), "{} programs are wrong\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn the_summary_lists_every_page_once() {
    let root = repository().join("docs/book/src");
    let summary = read(&root.join("SUMMARY.md"));
    let mut listed = links(&summary);
    listed.sort_unstable();
    let mut expected: Vec<String> = pages()
        .iter()
        .map(|page| page.strip_prefix(&root).expect("a page of the book"))
        .map(|page| page.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"))
        .filter(|page| page != "SUMMARY.md")
        .collect();
    expected.sort();
    assert_eq!(listed, expected);
}
