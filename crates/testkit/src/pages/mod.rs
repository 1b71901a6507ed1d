//! Pages of documentation: their code blocks, and the programs among them.
//!
//! The words after a fence say what a block is. [`Kind`] lists what programs can be; `output` is
//! what the program before it prints, `console` holds calls with their answers. A block that no test
//! can run says why: `ein,needs=derivatives`, `console,needs=cargo`, `python,comparison`.

mod programs;

use std::fs;
use std::path::{Path, PathBuf};

pub use programs::{Answer, Kind, Program, call, programs};

/// What lies between two fences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The line of its first fence, from 1 on.
    pub line: usize,
    /// What stands after the fence.
    pub info: String,
    /// Its lines, each with its end.
    pub text: String,
    /// Whether only blank lines separate it from the block before.
    pub follows: bool,
}

/// The blocks between the fences of a page.
pub fn blocks(text: &str) -> Vec<Block> {
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

/// The files below a folder with this extension, in the order of their paths.
pub fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text of a page.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text file").replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_place() {
        let text = "a\n```ein\nx\n```\n\n```output\ny\n```\nz\n```text\n```\n";
        let found = blocks(text);
        let places: Vec<_> = found.iter().map(|b| (b.line, b.info.as_str(), b.follows)).collect();
        assert_eq!(places, [(2, "ein", false), (6, "output", true), (10, "text", false)]);
        assert_eq!(found[0].text, "x\n");
    }
}
