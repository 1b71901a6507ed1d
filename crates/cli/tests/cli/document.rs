//! The pages show what the binary really prints.
//!
//! A block marked `ein` may begin with a comment that names its file; the file is written into a
//! folder. A block marked `console` holds calls, each followed by what it prints; they run in that
//! folder, in order. `json,of=FILE` is what `run FILE --json` answers, broken up, but for the timings.
//! `EINLANG_BLESS=1` writes the real answers of calls into the pages.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use einlang_testkit::pages::{files_below, read};

use crate::support::{Sandbox, compare, repository};

/// What a shell prints for a line, errors included, and how it was called.
fn transcript(sandbox: &Sandbox, line: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_einlang"));
    let folder = binary.parent().expect("a folder");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("exec 2>&1; {line}")]).current_dir(sandbox.path("."));
    let output = shell.env_clear().env("PATH", folder).output().expect("a shell");
    format!("$ {line}\n{}", String::from_utf8_lossy(&output.stdout))
}

/// The block with the answers that the calls in it get today.
fn replayed(sandbox: &Sandbox, block: &str) -> String {
    let calls = block.lines().filter_map(|line| line.strip_prefix("$ "));
    let answers = calls.map(|call| format!("\n{}", transcript(sandbox, call)));
    answers.collect::<Vec<_>>().join("").trim_end().to_owned()
}

/// Saves a program that names its file.
fn save(sandbox: &Sandbox, block: &str) {
    let name = block.lines().next().and_then(|line| line.strip_prefix("// "));
    if let Some(name) = name.filter(|name| name.contains('.') && !name.contains(' ')) {
        sandbox.write(name, format!("{block}\n"));
    }
}

/// Compares outputs as data: where lines break does not matter.
fn compare_json(sandbox: &Sandbox, file: &str, block: &str) {
    let answer = sandbox.einlang(&["run", file, "--json"]).ends_with(0);
    let parsed = |text: &str| {
        let mut value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        value["timings"].take();
        value
    };
    assert_eq!(parsed(block), parsed(&answer.stdout), "the JSON of {file}");
}

fn check(path: &Path) {
    let document = fs::read_to_string(path).expect("the document");
    let sandbox = Sandbox::new();
    let mut actual = Vec::new();
    for (index, part) in document.split("\n```").enumerate() {
        let (kind, block) = part.split_once('\n').unwrap_or((part, ""));
        match (index % 2, kind) {
            (1, "console") => {
                actual.push(format!("console{}", replayed(&sandbox, block)));
                continue;
            }
            (1, "ein") => save(&sandbox, block),
            (1, kind) => {
                if let Some(file) = kind.strip_prefix("json,of=") {
                    compare_json(&sandbox, file, block);
                }
            }
            _ => {}
        }
        actual.push(part.to_owned());
    }
    compare(path, &actual.join("\n```"));
}

#[test]
fn the_pages_are_accurate() {
    let mut pages = files_below(&repository().join("docs"), "md");
    pages.push(repository().join("README.md"));
    let pages = pages.iter().filter(|page| read(page).contains("\n```console\n"));
    let n_pages = pages.map(|page| check(page)).count();
    assert!(n_pages >= 3, "only {n_pages} pages with calls");
}
