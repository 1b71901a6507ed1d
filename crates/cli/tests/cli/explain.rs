//! `einlang explain`.

use crate::support::{Sandbox, repository};

#[test]
fn a_page_is_printed() {
    let sandbox = Sandbox::new();
    let page = std::fs::read_to_string(repository().join("docs/errors/E0409.md")).expect("a page");
    for code in ["E0409", "e0409", "0409"] {
        sandbox.einlang(&["explain", code]).ends_with(0).says(&page, "");
    }
}

#[test]
fn codes_are_listed_with_their_titles() {
    let list = Sandbox::new().einlang(&["explain", "--list"]).ends_with(0).stdout;
    assert!(list.starts_with("E0101  unexpected token\n"), "{list}");
    assert!(list.lines().any(|line| line == "E0903  malformed file"), "{list}");
}

#[test]
fn an_unknown_code_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.transcript("unknown-code", &["explain", "E0191"]).ends_with(2);
    let answer = sandbox.einlang(&["explain", "nonsense"]).ends_with(2);
    assert!(answer.stderr.contains("`einlang explain --list` lists all codes"));
    sandbox.einlang(&["explain", "E0101", "--list"]).ends_with(2);
}

#[test]
fn a_page_has_style_where_colours_are_wanted() {
    let answer = Sandbox::new().einlang(&["explain", "E0101", "--color", "always"]).ends_with(0);
    assert!(answer.stdout.starts_with("\u{1b}[1m# E0101: unexpected token\u{1b}[0m\n"));
}
