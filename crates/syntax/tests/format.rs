//! The formatter keeps its contract: fixtures show the layout, and for fixtures, conformance cases
//! and random programs alike, tokens, comments and trees stay the same and a second run changes
//! nothing.
//!
//! A fixture is `tests/format/NAME.ein` with `NAME.out.ein` beside it; `EINLANG_BLESS=1` rewrites
//! the latter. Longer hunts: `PROPTEST_CASES=100000 cargo test -p einlang-syntax --test format`.

use std::{env, fs};

use einlang_source::Sources;
use einlang_syntax::SyntaxKind::{self, *};
use einlang_syntax::format::{format, format_source};
use einlang_syntax::{Element, Node, Parse, Tree, parse};
use einlang_testkit::fixtures::{Program, diff, programs, programs_below};
use einlang_testkit::generate::syntax::{Options, Parentheses, file, file_with};
use einlang_testkit::generate::{Size, Source};
use einlang_testkit::mutate::Mutator;
use einlang_testkit::repository;
use proptest::prelude::*;

const WIDTH: usize = 100;

/// How much of a text a message shows.
const MOST_SHOWN: usize = 2000;

fn parsed(text: &str) -> Parse {
    let mut sources = Sources::new();
    let file = sources.add("test.ein", text);
    parse(file, text)
}

/// Formats a well-formed text and checks everything that holds for all of them.
fn formatted(text: &str) -> String {
    let before = parsed(text);
    assert!(before.diagnostics.is_empty(), "{:?}\n{text}", before.diagnostics);
    let out = format(&before.tree);
    let after = parsed(&out);
    assert!(after.diagnostics.is_empty(), "{:?}\n{out}", after.diagnostics);
    assert_same(&words(&before.tree).join("\n"), &words(&after.tree).join("\n"), "tokens", text);
    assert_same(&structure(&before.tree), &structure(&after.tree), "tree", text);
    assert_same(&out, &format(&after.tree), "second run", text);
    if let Some(problem) = white_space_problem(&after.tree) {
        panic!("{problem}\n--- out ---\n{}", &out[..out.floor_char_boundary(MOST_SHOWN)]);
    }
    out
}

fn assert_same(expected: &str, actual: &str, what: &str, text: &str) {
    let shown = &text[..text.floor_char_boundary(MOST_SHOWN)];
    assert!(expected == actual, "{what}\n{}\n--- in ---\n{shown}", diff(expected, actual));
}

/// Tokens and comments in order, so that a comment stays between its neighbours.
fn words(tree: &Tree) -> Vec<String> {
    let tokens = tree.tokens().filter(|token| token.kind() != WHITESPACE);
    tokens.map(|token| format!("{:?} {}", token.kind(), word(token.kind(), token.text()))).collect()
}

/// Comments may lose white space at their end, and carriage returns.
fn word(kind: SyntaxKind, text: &str) -> String {
    match kind {
        LINE_COMMENT | DOC_COMMENT => text.trim_end().to_string(),
        BLOCK_COMMENT => {
            let lines: Vec<_> = text.split('\n').map(|line| line.trim_end_matches('\r')).collect();
            lines.join("\n")
        }
        _ => text.to_string(),
    }
}

/// The nodes with their depths, without white space and places.
fn structure(tree: &Tree) -> String {
    let mut out = String::new();
    let mut open: Vec<Node<'_>> = Vec::new();
    for node in tree.root().descendants() {
        open.truncate(open.iter().take_while(|outer| Some(**outer) != node.parent()).count() + 1);
        let is_word = |element: &Element<'_>| element.kind() != WHITESPACE;
        let parts = node.elements().filter(is_word).count();
        out.push_str(&format!("{} {:?} {parts}\n", open.len(), node.kind()));
        open.push(node);
    }
    out
}

/// White space that the formatter would not write. The inside of comments and strings is exempt.
fn white_space_problem(tree: &Tree) -> Option<String> {
    let text = tree.text();
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n") || text == "\n") {
        return Some("the text does not end with one line end".to_string());
    }
    let mut open_strings = 0;
    for token in tree.tokens() {
        open_strings += i32::from(token.kind() == STR_OPEN) - i32::from(token.kind() == STR_CLOSE);
        let is_ours = token.kind() == WHITESPACE && open_strings == 0;
        let bad = [" \n", "\t", "\r", "\n\n\n"].iter().find(|bad| token.text().contains(**bad));
        if let Some(bad) = bad.filter(|_| is_ours) {
            return Some(format!("{bad:?} at byte {}", token.range().start));
        }
    }
    let starts_blank = text.starts_with(char::is_whitespace);
    starts_blank.then(|| "the text begins with white space".to_string())
}

/// Lines that are too long although they could be shorter.
fn long_lines(out: &str) -> Vec<&str> {
    let unbreakable = |line: &&str| {
        let indent = line.len() - line.trim_start().len();
        indent > WIDTH / 2 || ["//", "/*", "\""].iter().any(|mark| line.contains(mark))
    };
    out.lines().filter(|line| line.chars().count() > WIDTH && !unbreakable(line)).collect()
}

/// The programs of the fixtures and their expectations, which are programs too.
fn fixtures() -> Vec<Program> {
    let found = programs("tests/format");
    assert!(!found.is_empty(), "there are no fixtures");
    found
}

fn is_expectation(program: &Program) -> bool {
    program.name.ends_with(".out")
}

#[test]
fn fixtures_look_as_expected() {
    let bless = env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1");
    let mut complaints = Vec::new();
    for program in fixtures().iter().filter(|program| !is_expectation(program)) {
        let out = formatted(&program.text);
        assert_eq!(long_lines(&out), [""; 0], "in {}", program.name);
        let expectation = program.path.with_extension("out.ein");
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        if bless && expected != out {
            fs::write(&expectation, &out).expect("an expectation can be written");
        } else if expected != out {
            complaints.push(format!("{}.out.ein\n{}", program.name, diff(&expected, &out)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_expectation_has_its_program() {
    for expectation in fixtures().iter().filter(|program| is_expectation(program)) {
        let program = expectation.path.with_extension("").with_extension("ein");
        assert!(program.is_file(), "{}.ein has no program", expectation.name);
    }
}

#[test]
fn conformance_cases_keep_their_meaning() {
    let folder = repository::conformance().map(|folder| folder.join("cases"));
    for program in folder.iter().flat_map(|folder| programs_below(folder)) {
        if parsed(&program.text).diagnostics.is_empty() {
            let out = formatted(&program.text);
            assert_eq!(long_lines(&out), [""; 0], "in {}", program.name);
        }
    }
}

#[test]
fn a_text_with_errors_stays_as_it_is() {
    let text = "let  x = ) 1;\n";
    let tree = parsed(text).tree;
    assert_eq!(format(&tree), text);
    let mut sources = Sources::new();
    let file = sources.add("test.ein", text);
    assert!(format_source(file, text).is_err());
    assert_eq!(format_source(file, "let  x=1 ;").unwrap(), "let x = 1;\n");
}

/// The parser leaves nodes out where the tree would grow too high; no token is lost all the same.
#[test]
fn a_tree_that_was_cut_short_keeps_its_tokens() {
    for part in [" + 1", "(x)", ".y", " as f32", " |> f", "[i]", " else 1", " with [i] = 1"] {
        let before = parsed(&format!("let  x = x{};", part.repeat(3000))).tree;
        let after = parsed(&format(&before)).tree;
        assert!(words(&before) == words(&after), "tokens of {part:?}");
    }
}

#[test]
fn nothing_stays_nothing() {
    for text in ["", "\n", " \t\r\n\n", "\u{feff}"] {
        assert_eq!(formatted(text), "");
    }
    assert_eq!(formatted("\n\n// only this   "), "// only this\n");
}

#[test]
fn line_ends_become_line_feeds() {
    let text = "let x = 1;\r\n\r\n/* a\r\n  b */\r\nlet y = 2; // c\r\n";
    assert_eq!(formatted(text), "let x = 1;\n\n/* a\n  b */\nlet y = 2; // c\n");
}

/// Tokens that would be others if they touched.
#[test]
fn tokens_never_merge() {
    for (text, expected) in [
        ("t.0.1", "t.0.1"),
        ("t . 0 . 1", "t.0.1"),
        ("t. /* c */ 0 .1", "t. /* c */ 0 .1"),
        ("t. // c\n 0 .1", "t. // c\n    0 .1"),
        ("t. 0x1", "t. 0x1"),
        ("t. 1i32 .0", "t. 1i32 .0"),
        ("1 .x", "1 .x"),
        ("1 . 0", "1 .0"),
        ("1. .x", "1. .x"),
        ("1.5 .x", "1.5 .x"),
        ("1 .. 5", "1..5"),
        ("1. .. 5", "1. ..5"),
        ("1. ..= 5.", "1. ..=5."),
        ("t.0 .. 5", "t.0..5"),
        ("a.. ..b", "a....b"),
        ("a.. ..=b", "a....=b"),
        ("(a..) == b", "(a..) == b"),
        ("| | 1", "| | 1"),
        ("|| 1", "|| 1"),
        ("| x | | y | x", "|x| |y| x"),
        ("- - 3", "--3"),
        ("- 3 ** 2", "-3 ** 2"),
        ("a - - 3", "a - -3"),
        ("! ! a", "!!a"),
        ("@ y / @ x", "@y / @x"),
        ("a / /* c */ b", "a / /* c */ b"),
        ("a * /* c */ b", "a * /* c */ b"),
        ("a as f32 < b", "a as f32 < b"),
        ("in + in [in]", "in + in[in]"),
        ("x[: , ..r , k in 0 .. n , i : in , : else 0]", "x[:, ..r, k in 0..n, i: in, : else 0]"),
    ] {
        let out = formatted(&format!("let v = {text};"));
        assert_eq!(out, format!("let v = {expected};\n"));
    }
}

/// The builder recurses, so its frames must be small.
#[test]
fn deep_programs_need_little_stack() {
    let deep = |open: &str, middle: &str, close: &str, n: usize| {
        format!("let x = {}{middle}{};", open.repeat(n), close.repeat(n))
    };
    let programs = [
        deep("(", "1", ")", 90),
        deep("f(|x| { ", "1", " })", 30),
        deep("-", "x", "", 180),
        deep("if a { ", "1", " } else { 2 }", 45),
        deep("match a { _ => ", "1", ", }", 60),
        deep("S { x: ", "1", " }", 60),
        deep("[", "1", "]", 90),
        deep("", "1", " + 1", 1000),
        deep("", "f", "(x)", 1000),
        deep("", "x", ".y", 1000),
        deep("", "x", " as f32", 1000),
        deep("", "x", " |> f", 1000),
        deep("", "x", " ** 2", 150),
    ];
    let run = move || programs.iter().for_each(|text| drop(formatted(text)));
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
    thread.join().unwrap();
}

/// Ten times the text takes about ten times as long; quadratic work would show at once.
#[test]
fn long_programs_take_linear_time() {
    let n = 20_000;
    let rows = "[1.0, 2.0, 3.0], ".repeat(n);
    let statements = "let x[i] = f(a[i], |y| { y + 1 }) where i < 3 else 0.0; // c\n".repeat(n / 2);
    let text = format!("{statements}let table = [{rows}];\nlet flat = [{}];", "1, ".repeat(n));
    let start = std::time::Instant::now();
    formatted(&text);
    assert!(start.elapsed().as_secs() < 60, "took {:?}", start.elapsed());
}

/// What a generator makes of random bytes. Shrinking works on the bytes.
fn made(make: impl Fn(&mut Source<'_>) -> String) -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..3000)
        .prop_map(move |bytes| make(&mut Source::from_bytes(&bytes)))
}

/// Some statements of a fixture, with other white space and further comments between their tokens.
fn disturbed(source: &mut Source<'_>) -> String {
    let programs = fixtures();
    let tree = parsed(&programs[source.below(programs.len())].text).tree;
    let n_statements = tree.root().children().count();
    let from = source.below(n_statements);
    let statements = tree.root().children().skip(from).take(1 + source.below(4));
    statements.map(|statement| disturbed_statement(source, statement)).collect()
}

fn disturbed_statement(source: &mut Source<'_>, statement: Node<'_>) -> String {
    let mut out = String::new();
    let mut in_string = 0;
    for token in statement.all_tokens() {
        in_string += i32::from(token.kind() == STR_OPEN);
        match token.kind() {
            WHITESPACE if in_string == 0 => out.push_str(filler(source, token.text())),
            _ => out.push_str(token.text()),
        }
        in_string -= i32::from(token.kind() == STR_CLOSE);
        let ends_line = matches!(token.kind(), LINE_COMMENT | DOC_COMMENT);
        out.push_str(if ends_line { "\n" } else { "" });
    }
    out + filler(source, "\n")
}

/// White space for a place that has some.
fn filler<'t>(source: &mut Source<'_>, old: &'t str) -> &'t str {
    let others = [
        "\n",
        "\n\n\n",
        "  \t ",
        " /* c */ ",
        " // c  \n",
        "\n  // c\n\n",
        "\n/* c */",
        " /* c */\n",
        " /* c\n d */ ",
        " ",
    ];
    let which = source.below(2 * others.len());
    if which < others.len() { old } else { others[which - others.len()] }
}

fn cases(cases: u32) -> ProptestConfig {
    let most = ProptestConfig::default().cases.max(cases);
    ProptestConfig { cases: most, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_program_keeps_its_meaning(text in made(|source| file(source, Size::MEDIUM))) {
        // Whether the parser accepts what the generator makes is for its own tests.
        if parsed(&text).diagnostics.is_empty() {
            formatted(&text);
        }
    }

    #[test]
    fn any_tidy_program_keeps_its_meaning(text in made(|source| {
        file_with(source, Options::plain(Size::MEDIUM, Parentheses::Needed))
    })) {
        if parsed(&text).diagnostics.is_empty() {
            formatted(&text);
        }
    }

    #[test]
    fn any_white_space_will_do(text in made(disturbed)) {
        formatted(&text);
    }

    #[test]
    fn mistakes_do_no_harm(seed in any::<u64>(), text in made(|source| file(source, Size::SMALL))) {
        if let Some(mutation) = Mutator::new(&text).random(&mut Source::from_seed(seed)) {
            format(&parsed(&mutation.text).tree);
        }
    }
}
