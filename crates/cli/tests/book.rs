//! Every code block of the documentation is run by a test, or says in its fence why none can.
//!
//! Here the programs of the book, its library reference included, of `docs/` and of the README run;
//! [`einlang_testkit::pages::Kind`] lists what they can be. `cli/document.rs` replays the calls in
//! `console` blocks, and the tests of `driver` run the error pages.

use std::path::{Path, PathBuf};

use einlang_testkit::pages::{Program, blocks, files_below, programs, read};
use einlang_testkit::parallel::judge_all;
use einlang_testkit::repository::root;

/// Pages of the book, the summary included, in the order of their names.
fn book() -> Vec<PathBuf> {
    files_below(&root().join("docs/book/src"), "md")
}

/// Every page of the project.
fn pages() -> Vec<PathBuf> {
    let mut pages = files_below(&root().join("docs"), "md");
    pages.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    pages
}

/// Pages whose programs others run: files for the calls beside them, and the error pages.
fn is_run_elsewhere(page: &Path) -> bool {
    page.ends_with("docs/cli.md") || page.parent().is_some_and(|folder| folder.ends_with("errors"))
}

/// What a text without code links to.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect()
}

#[test]
fn every_program_does_what_its_page_says() {
    let pages = pages().into_iter().filter(|page| !is_run_elsewhere(page));
    let programs: Vec<Program> = pages.flat_map(|page| programs(&page)).collect();
    assert!(programs.len() >= 400, "only {} programs", programs.len());
    let binary = Path::new(env!("CARGO_BIN_EXE_einlang"));
    judge_all(&programs, |program| program.place.clone(), |_, program| program.judge(binary));
}

#[test]
fn every_block_is_run_or_says_why_not() {
    for page in pages() {
        for block in blocks(&read(&page)) {
            let place = format!("{}:{}", page.display(), block.line);
            let (word, reason) = block.info.split_once([',', ' ']).unwrap_or((&block.info, ""));
            let known = match word {
                "ein" | "output" | "text" => true,
                "console" => reason.is_empty() || reason.starts_with("needs="),
                "json" => reason.starts_with("of="),
                // Sessions that `tests/python` runs.
                "pycon" => reason.is_empty(),
                "python" | "julia" => reason == "comparison",
                "sh" => reason.starts_with("needs="),
                _ => false,
            };
            assert!(
                known,
                "{place}: `{}` says neither what runs it nor why nothing can",
                block.info
            );
        }
    }
}

#[test]
fn the_summary_lists_every_page_once() {
    let root = root().join("docs/book/src");
    let summary = read(&root.join("SUMMARY.md"));
    let mut listed = links(&summary);
    listed.sort_unstable();
    let mut expected: Vec<String> = book()
        .iter()
        .map(|page| page.strip_prefix(&root).expect("a page of the book"))
        .map(|page| page.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"))
        .filter(|page| page != "SUMMARY.md")
        .collect();
    expected.sort();
    assert_eq!(listed, expected);
}
