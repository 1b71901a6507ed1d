//! One forgotten token is one mistake: the parser says so in at most three messages, on the right
//! line.
//!
//! Every token of every well-formed program of the fixtures, and of the conformance cases where
//! they are at hand, is deleted in turn. The right line is one from the token before the gap to the
//! token after it, or any line of the statement that lost the token. A deletion that leaves a valid
//! program is fine.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::RangeInclusive;

use einlang_source::Diagnostic;
use einlang_syntax::{Node, Tree};
use einlang_testkit::fixtures::{Program, programs, programs_below};
use einlang_testkit::invariants::{Parsed, parse_text};
use einlang_testkit::mutate::Mutator;
use einlang_testkit::repository;

/// More messages than this about one token are an echo.
const MOST_ERRORS: usize = 3;

/// The part of all messages that must stand on the right line, in percent.
const LEAST_RIGHT: f64 = 99.0;

/// How many of the worst cases a failure shows.
const MOST_SHOWN: usize = 30;

/// What the parser said after one deletion.
struct Case {
    program: String,
    line: u32,
    token: String,
    /// Line, whether it is a right one, and headline of each message.
    messages: Vec<(u32, bool, String)>,
}

impl Case {
    fn n_wrong(&self) -> usize {
        self.messages.iter().filter(|(_, right, _)| !right).count()
    }
}

#[test]
fn a_deleted_token_is_reported_once_and_where_it_was() {
    let mut cases: Vec<Case> = clean_programs().iter().flat_map(deletions).collect();
    let summary = summary(&cases);
    println!("{summary}");
    cases.retain(|case| case.messages.len() > MOST_ERRORS || case.n_wrong() > 0);
    cases
        .sort_by_key(|case| std::cmp::Reverse((case.messages.len() > MOST_ERRORS, case.n_wrong())));
    let worst: String = cases.iter().take(MOST_SHOWN).map(shown).collect();
    println!("{} cases to look at, the worst first:\n{worst}", cases.len());
    let too_many = cases.iter().filter(|case| case.messages.len() > MOST_ERRORS).count();
    assert_eq!(too_many, 0, "cases with more than {MOST_ERRORS} errors, shown above");
    assert!(summary.percent_right >= LEAST_RIGHT, "{summary}");
}

/// The programs that parse without a message.
fn clean_programs() -> Vec<Program> {
    let mut all = programs("tests/parse");
    assert!(!all.is_empty(), "there are fixtures to delete tokens of");
    all.extend(repository::conformance().iter().flat_map(|path| programs_below(path)));
    all.retain(|program| parse_text(&program.text).parse.diagnostics.is_empty());
    all
}

fn deletions(program: &Program) -> Vec<Case> {
    let original = parse_text(&program.text);
    let mutator = Mutator::new(&program.text);
    let case = |(i, mutation): (usize, einlang_testkit::mutate::Mutation)| {
        let statement = statement_lines(&original, mutation.bytes.start);
        let mutated = parse_text(&mutation.text);
        let message = |diagnostic: &Diagnostic| {
            let line = mutated.sources.line_col(diagnostic.primary.span).line;
            let right = mutation.lines.contains(&line) || statement.contains(&line);
            (line, right, diagnostic.message.clone())
        };
        Case {
            program: program.name.clone(),
            line: line_of(&original, mutation.bytes.start),
            token: mutator.token(i).to_string(),
            messages: mutated.parse.diagnostics.iter().map(message).collect(),
        }
    };
    mutator.deletions().map(case).collect()
}

/// The lines of the innermost statement around a byte.
fn statement_lines(parsed: &Parsed, at: usize) -> RangeInclusive<u32> {
    match innermost_statement(&parsed.parse.tree, at) {
        Some(node) => line_of(parsed, node.range().start)..=line_of(parsed, node.range().end - 1),
        // Lines count from 1, so this range holds none.
        None => 0..=0,
    }
}

fn innermost_statement(tree: &Tree, at: usize) -> Option<Node<'_>> {
    let around = tree.root().descendants().filter(|node| node.range().contains(&at));
    around.filter(|node| node.kind().is_statement()).last()
}

fn line_of(parsed: &Parsed, at: usize) -> u32 {
    parsed.sources.line_col(einlang_source::Span::at(parsed.file, at as u32)).line
}

/// How many messages the deletions led to, and how many of them on the right line.
struct Summary {
    n_cases: usize,
    by_count: BTreeMap<usize, usize>,
    n_messages: usize,
    percent_right: f64,
}

fn summary(cases: &[Case]) -> Summary {
    let mut by_count = BTreeMap::new();
    for case in cases {
        *by_count.entry(case.messages.len().min(MOST_ERRORS + 1)).or_default() += 1;
    }
    let n_messages: usize = cases.iter().map(|case| case.messages.len()).sum();
    let n_wrong: usize = cases.iter().map(Case::n_wrong).sum();
    let percent_right = 100.0 * (n_messages - n_wrong) as f64 / n_messages.max(1) as f64;
    Summary { n_cases: cases.len(), by_count, n_messages, percent_right }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} deletions", self.n_cases)?;
        for (n_errors, n_cases) in &self.by_count {
            let more = if *n_errors > MOST_ERRORS { " or more" } else { "" };
            writeln!(f, "  with {n_errors}{more} errors: {n_cases}")?;
        }
        write!(f, "  {:.2} % of {} errors on the right line", self.percent_right, self.n_messages)
    }
}

fn shown(case: &Case) -> String {
    let mut text = format!("{}:{} without `{}`\n", case.program, case.line, case.token);
    for (line, right, message) in &case.messages {
        let mark = if *right { "right" } else { "wrong" };
        writeln!(text, "    line {line} ({mark}): {message}").expect("writing to a string");
    }
    text
}
