//! Random recurrences whose values come from strings: the host visits their points one after the
//! other, and they are the same as without strings, also with their axes the other way round.

use einlang_driver::Session;
use einlang_driver::run::{Failure, RunOptions};
use einlang_interp::io::MemoryIo;
use einlang_sema::shapes::Options;
use einlang_source::MemoryWorld;
use einlang_testkit::generate::Source;

use crate::recurrence::program;

fn n_cases() -> u64 {
    let wanted = std::env::var("EINLANG_RECURRENCES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// What `o` is, or why there is no such program or value.
fn output(text: &str) -> Result<i128, String> {
    let world = MemoryWorld::new();
    let options = Options { outputs: Some(vec!["o".to_owned()]), ..Options::default() };
    let mut session = Session::new(&world).with_options(options);
    let file = session.add_text("generated.ein", text);
    let executable = session.build(file).map_err(|failure| codes(&failure))?;
    let outcome = executable.run(&RunOptions::default(), &mut MemoryIo::default());
    let outcome = outcome.map_err(|failure| codes(&failure))?;
    let value = outcome.outputs.first().and_then(|output| output.value.as_scalar());
    value.and_then(|value| value.as_int()).ok_or_else(|| "no integer".to_owned())
}

fn codes(failure: &Failure) -> String {
    match failure {
        Failure::Program(found) => {
            found.iter().map(|d| format!("{}: {}\n", d.code.as_str(), d.message)).collect()
        }
        Failure::Usage { message, .. } | Failure::Bug(message) => message.clone(),
    }
}

/// The program with every value of a recurrence handed through a function that looks at a string.
fn with_strings(text: &str) -> String {
    let mut made = "fn told(s: str, v: i32) -> i32 { if s == \"a\" { v } else { 0 } }\n".to_owned();
    for line in text.lines() {
        let recurrent = line.starts_with("let x[") || line.starts_with("let y[");
        let body = line.split_once(" = ").filter(|_| recurrent);
        let Some((left, right)) = body else {
            made.push_str(line);
            made.push('\n');
            continue;
        };
        let right = right.trim_end_matches(';');
        let (value, until) = right.split_once(" until ").unwrap_or((right, ""));
        let until = if until.is_empty() { String::new() } else { format!(" until {until}") };
        made.push_str(&format!("{left} = told(\"a\", {value}){until};\n"));
    }
    made
}

/// The text with the subscripts of `x` and `y` in the opposite order.
fn turned(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut made = String::new();
    let mut at = 0;
    while at < chars.len() {
        made.push(chars[at]);
        let before = at.checked_sub(1).map(|at| chars[at]);
        let is_name = matches!(chars[at], 'x' | 'y')
            && before.is_none_or(|c| !c.is_alphanumeric())
            && chars.get(at + 1) == Some(&'[');
        if !is_name {
            at += 1;
            continue;
        }
        let mut depth = 0;
        let end = (at + 1..chars.len()).find(|at| {
            depth += i32::from(chars[*at] == '[') - i32::from(chars[*at] == ']');
            depth == 0
        });
        let end = end.expect("invariant: brackets are balanced");
        let inside: String = chars[at + 2..end].iter().collect();
        let (points, default) = inside.split_once(" else ").unwrap_or((&inside, ""));
        let mut points: Vec<&str> = points.split(", ").collect();
        points.reverse();
        let default = if default.is_empty() { String::new() } else { format!(" else {default}") };
        made.push_str(&format!("[{}{default}]", points.join(", ")));
        at = end + 1;
    }
    made
}

#[test]
fn strings_on_the_way_change_no_value() {
    let mut n_programs = 0;
    for seed in 0..n_cases() {
        let mut source = Source::from_seed(3_000_000 + seed);
        let text = program(&mut source);
        let Ok(wanted) = output(&text) else { continue };
        n_programs += 1;
        for text in [with_strings(&text), with_strings(&turned(&text))] {
            assert_eq!(output(&text), Ok(wanted), "seed {seed}\n{text}");
        }
    }
    assert!(n_programs > n_cases() / 2, "only {n_programs} programs ran");
}
