//! Texts made to hurt a parser: deep nesting, long chains, unfinished everything. Each is parsed in
//! a thread with a small stack and must end quickly, with a sound tree and, where the nesting goes
//! beyond the limit, with an error instead of an overflow.

use std::thread;
use std::time::{Duration, Instant};

use einlang_testkit::invariants::{Parsed, check_parsed, parse_text};

/// The stack that later passes get as well.
const STACK: usize = 2 << 20;

/// Far more than any of these takes, even in a debug build on a busy machine; far less than
/// anything quadratic would need.
const LIMIT: Duration = Duration::from_secs(2);

/// Parses in a small thread, within the time limit, and checks what holds for every text.
fn survives(text: &str) -> Vec<String> {
    thread::scope(|scope| {
        let parser = || {
            let parsed = parse_in_time(text);
            check_parsed(&parsed);
            let messages = parsed.parse.diagnostics.into_iter();
            messages.map(|diagnostic| diagnostic.message).collect()
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parser);
        thread.expect("a thread can be started").join().expect("the parser does not panic")
    })
}

/// A machine that is busy with something else gets a second and a third chance.
fn parse_in_time(text: &str) -> Parsed {
    let mut taken = Duration::ZERO;
    for _ in 0..3 {
        let start = Instant::now();
        let parsed = parse_text(text);
        taken = start.elapsed();
        if taken < LIMIT {
            return parsed;
        }
    }
    let beginning = &text[..text.floor_char_boundary(60)];
    panic!("{taken:?} for {} bytes: {beginning}", text.len());
}

/// Checks a text that nests too deeply: it is told once that it does.
fn is_too_deep(text: &str) {
    let messages = survives(text);
    let n = messages.iter().filter(|message| message.contains("nested too deeply")).count();
    assert_eq!(n, 1, "{messages:?}");
}

/// Checks a text that has some error, whichever it is.
fn is_wrong(text: &str) {
    assert!(!survives(text).is_empty(), "{} is accepted", &text[..text.len().min(60)]);
}

fn is_fine(text: &str) {
    let messages = survives(text);
    assert!(messages.is_empty(), "{messages:?}");
}

#[test]
fn openers_without_end() {
    for opener in ["(", "[", "{", "f(", "x[", "[x |", "P { x: ", "|x| {", "(x where ("] {
        is_too_deep(&opener.repeat(10_000));
        is_too_deep(&format!("let x = {};", opener.repeat(10_000)));
    }
}

#[test]
fn balanced_but_deep() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("x[", "]")] {
        is_too_deep(&format!("let x = {}1{};", open.repeat(10_000), close.repeat(10_000)));
        is_fine(&format!("let x = {}1{};", open.repeat(60), close.repeat(60)));
    }
}

#[test]
fn prefixes_without_end() {
    for prefix in ["-", "!", "@", "..", "|x| ", "|| ", "try ", "a ** ", "if a {} else ", "match "] {
        is_too_deep(&format!("let x = {}y;", prefix.repeat(10_000)));
    }
}

#[test]
fn chains_of_operators() {
    let operators = ["+", "-", "*", "/", "%", "&&", "||", "|>", "?>", "else", "as", "catch"];
    for operator in operators {
        is_fine(&format!("let x = 1{};", format!(" {operator} y").repeat(100)));
        is_too_deep(&format!("let x = 1{};", format!(" {operator} y").repeat(20_000)));
    }
    is_too_deep(&format!("let x = 1{};", "+1".repeat(100_000)));
    is_wrong(&format!("let x = 1{};", " < 1".repeat(20_000)));
    is_wrong(&format!("let x = 1{};", "..1".repeat(20_000)));
}

#[test]
fn chains_of_calls_and_fields() {
    for link in ["()", "[0]", ".x", ".0", "(1)[0].x", " with [0] = 1", "::y"] {
        let text = format!("let x = y{};", link.repeat(200_000 / link.len()));
        match link {
            "::y" => is_fine(&text),
            // Updates after the first are a list, not a chain, but each `with` begins a new one.
            _ => is_too_deep(&text),
        }
    }
}

#[test]
fn branches_without_end() {
    let chain = "if a { b } else ".repeat(10_000);
    is_too_deep(&format!("let x = {chain}{{ c }};"));
    is_wrong(&chain);
    is_wrong(&"if ".repeat(10_000));
    is_wrong(&"match x { ".repeat(10_000));
    is_wrong(&"else ".repeat(10_000));
}

#[test]
fn deep_types_and_patterns() {
    for (open, close) in [("[", "]"), ("(", ")"), ("Option<", ">"), ("() -> ", "")] {
        let (opens, closes) = (open.repeat(10_000), close.repeat(10_000));
        is_too_deep(&format!("let x: {opens}f32{closes} = 1;"));
        is_wrong(&format!("let x: {opens}"));
    }
    for (open, close) in [("(", ")"), ("[", "]"), ("A(", ")"), ("P { x: ", "}"), ("n @ ", "")] {
        let (opens, closes) = (open.repeat(10_000), close.repeat(10_000));
        is_too_deep(&format!("let y = match x {{ {opens}_{closes} => 1 }};"));
        is_wrong(&format!("let {opens}"));
    }
    is_fine(&format!("let y = match x {{ {}2 => 1 }};", "1 | ".repeat(10_000)));
}

#[test]
fn strings_in_strings() {
    is_wrong(&"\"{".repeat(10_000));
    is_too_deep(&format!("let x = {}1{};", "\"{".repeat(10_000), "}\"".repeat(10_000)));
    is_wrong(&format!("let x = {}\n", "\"{f(".repeat(10_000)));
    is_wrong(&"\"{x:".repeat(10_000));
    is_wrong(&"\"\\".repeat(10_000));
}

#[test]
fn unterminated_everything() {
    for beginning in ["\"", "\"{", "\"{x", "\"{x:", "/*", "/* /*", "/*/", "\"\\u{", "'", "0x", "1e"]
    {
        is_wrong(beginning);
        is_wrong(&format!("let x = {beginning}"));
        is_wrong(&format!("let x = {beginning}\nlet y = 1;"));
        is_wrong(&format!("fn f() {{ {beginning}"));
    }
    is_wrong(&"/*".repeat(50_000));
    is_wrong(&"\"\n".repeat(20_000));
    is_wrong(&"\"{\n".repeat(20_000));
}

#[test]
fn runs_of_one_mark() {
    let marks = "( ) [ ] { } , ; : :: . .. ..= = == != < > <= >= + - * ** / % ! && | || |> ? ?> !> \
                 => -> @ # _ let const pub use mod as if else match where in true struct enum \
                 try catch self super crate input with x 1 1.5 \" € '";
    for mark in marks.split(' ') {
        survives(&mark.repeat(4_000));
        survives(&format!("{mark} ").repeat(4_000));
        survives(&format!("{mark}\n").repeat(4_000));
        survives(&format!("let x = {mark} ").repeat(2_000));
        survives(&format!("let x = y {mark}\n").repeat(2_000));
    }
}

#[test]
fn heads_without_bodies() {
    let heads = ["fn", "for", "@fn", "pub fn", "if a", "fn f", "fn f()", "for x in", "for x in y"];
    for head in heads {
        is_wrong(&format!("{head} ").repeat(10_000));
        is_wrong(&format!("{head}\n").repeat(10_000));
        is_wrong(&format!("{head} {{ ").repeat(10_000));
    }
}

#[test]
fn brackets_that_do_not_match() {
    for pair in ["((((]]]]", "(]", "[)", "{)", "({[", ")}]", "([)]", "{(}", "fn f( {", "}{", "[{("]
    {
        is_wrong(&pair.repeat(100_000 / pair.len()));
        is_wrong(&format!("{pair}\n").repeat(50_000 / pair.len()));
    }
    is_wrong(&format!("{}{}", "(".repeat(50_000), "]".repeat(50_000)));
    is_wrong(&format!("{}{}", "{".repeat(50_000), ")".repeat(50_000)));
    is_wrong(&format!("let x = f({}\n", "a b ".repeat(25_000)));
}

#[test]
fn long_lists_are_fine() {
    is_fine(&format!("let x = [{}];", "1, ".repeat(50_000)));
    is_fine(&format!("let x = f({});", "a = 1, ".repeat(20_000)));
    is_fine(&format!("let x = y with {};", ["[0] = 1"; 20_000].join(", ")));
    is_fine(&format!("let x = y where {};", ["a < b"; 20_000].join(", ")));
    is_fine(&format!("let x = \"{}\";", "a {b} ".repeat(20_000)));
    is_fine(&"let x = 1;\n".repeat(20_000));
    is_fine(&format!("fn f() {{ {} }}", "g(x); ".repeat(20_000)));
    is_fine(&format!("use a::{{{}}};", "b, ".repeat(20_000)));
}
