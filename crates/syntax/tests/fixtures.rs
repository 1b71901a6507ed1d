//! The front end over files: `tests/parse` shows the tree of every construct, `tests/diagnostics`
//! every message as users see it. `cargo xtask bless fixtures` rewrites both.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use einlang_source::Sources;
use einlang_source::render::{self, Options};
use einlang_syntax::{SyntaxKind, dump, parse};
use einlang_testkit::fixtures::{self, Program, programs};
use einlang_testkit::{invariants, repository};

#[test]
fn parse_trees() {
    fixtures::check("tests/parse", "tree", |program| {
        let parsed = invariants::check_clean(&program.text);
        dump::dump(&parsed.parse.tree)
    });
}

#[test]
fn rendered_diagnostics() {
    fixtures::check("tests/diagnostics", "txt", |program| {
        invariants::check(&program.text);
        let text = rendered(program);
        assert!(!text.is_empty(), "{} has no error", program.name);
        text
    });
}

/// All messages about a program, with a blank line between them.
fn rendered(program: &Program) -> String {
    let mut sources = Sources::new();
    let file = sources.add(format!("{}.ein", program.name), program.text.as_str());
    let parsed = parse(file, sources.text_arc(file));
    let message = |diagnostic| render::human(&sources, diagnostic, &Options::default()) + "\n";
    parsed.diagnostics.iter().map(message).collect::<Vec<_>>().join("\n")
}

/// Adding a kind means adding a fixture that shows it.
#[test]
fn every_kind_occurs() {
    let mut seen = BTreeSet::from([SyntaxKind::EOF]);
    for program in ["tests/parse", "tests/diagnostics"].into_iter().flat_map(programs) {
        let tree = invariants::parse_text(&program.text).parse.tree;
        seen.extend(tree.tokens().map(|token| token.kind()));
        seen.extend(tree.root().descendants().map(|node| node.kind()));
    }
    let all = SyntaxKind::ALL.iter().copied();
    let missing: Vec<SyntaxKind> = all.filter(|kind| !seen.contains(kind)).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}

/// Shorter pieces of text are parts of words and prove nothing.
const LEAST_PIECE: usize = 8;

/// What the parser would call a name that it has seen already when it asks for it.
const NEVER_SAID: &[&str] =
    &["the name of a parameter", "a name for the variant", "a name for the rest"];

/// Every sentence that the parser can say is shown by a fixture. The sentences are found as string
/// literals in the sources, so whoever adds one learns here that its fixture is missing.
#[test]
fn every_message_occurs() {
    let root = repository::root();
    let shown: String = programs("tests/diagnostics").iter().map(rendered).collect();
    let folders = ["crates/syntax/src/errors", "crates/syntax/src/parser"];
    let said = folders.iter().flat_map(|folder| sentences(&root.join(folder)));
    let missing: Vec<String> = said.filter(|piece| !shown.contains(piece.as_str())).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:#?}");
}

/// The longest fixed piece of each string literal in the sources of a folder.
fn sentences(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the sources are there");
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry of a readable folder").path();
        if path.ends_with("tests.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source file is text");
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        found.extend(code.flat_map(literals).filter_map(|literal| longest_piece(&literal)));
    }
    found
}

/// The string literals of a line of code, unescaped. Those that state an invariant are left out.
fn literals(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut chars = line.chars();
    while chars.any(|c| c == '"') {
        let mut literal = String::new();
        while let Some(c) = chars.next() {
            match c {
                '"' => break,
                '\\' => literal.extend(chars.next()),
                _ => literal.push(c),
            }
        }
        found.push(literal);
    }
    found.retain(|literal| !literal.starts_with("invariant"));
    found
}

/// What stands between braces, be they places for values or braces of the text.
fn longest_piece(literal: &str) -> Option<String> {
    let piece = literal.split(['{', '}']).max_by_key(|piece| piece.len())?;
    let is_sentence = piece.len() >= LEAST_PIECE && piece.contains(' ');
    (is_sentence && !NEVER_SAID.contains(&piece)).then(|| piece.to_string())
}
