//! `docs/cli.md` shows what the binary really prints.
//!
//! A block marked `ein` begins with a comment that names its file; the file is written into a folder.
//! A block marked `console` holds calls, each followed by what it prints; they run in that folder,
//! in order. `EINLANG_BLESS=1` writes the real answers into the document.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

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

fn save(sandbox: &Sandbox, block: &str) {
    let name = block.lines().next().and_then(|line| line.strip_prefix("// "));
    sandbox.write(name.expect("the first line names the file"), format!("{block}\n"));
}

#[test]
fn the_document_is_accurate() {
    let path = repository().join("docs/cli.md");
    let document = fs::read_to_string(&path).expect("the document");
    let sandbox = Sandbox::new();
    let mut actual = Vec::new();
    for (index, part) in document.split("\n```").enumerate() {
        let (kind, block) = part.split_once('\n').unwrap_or((part, ""));
        match (index % 2, kind) {
            (1, "console") => actual.push(format!("console{}", replayed(&sandbox, block))),
            (1, "ein") => {
                save(&sandbox, block);
                actual.push(part.to_owned());
            }
            _ => actual.push(part.to_owned()),
        }
    }
    compare(&path, &actual.join("\n```"));
}
