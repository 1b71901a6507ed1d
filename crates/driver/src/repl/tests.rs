use einlang_source::MemoryWorld;

use super::*;
use crate::run::{Given, Printer, ProjectIo};
use crate::{Limits, Permits};

/// A session whose printing is kept.
struct Fixture<'w> {
    repl: Repl<'w>,
    folder: tempfile::TempDir,
    printed: Vec<String>,
    options: RunOptions,
}

struct Lines<'a>(&'a mut Vec<String>);

impl Printer for Lines<'_> {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.0.push(line.to_owned());
        Ok(())
    }
}

impl<'w> Fixture<'w> {
    fn new(world: &'w MemoryWorld) -> Fixture<'w> {
        Fixture {
            repl: Repl::new(world, Options::default()),
            folder: tempfile::tempdir().expect("a temporary folder"),
            printed: Vec::new(),
            options: RunOptions::default(),
        }
    }

    fn evaluate(&mut self, text: &str) -> Result<Answer, Failure> {
        let permits = Permits::new(self.folder.path(), &[], &[]).expect("a folder");
        let mut lines = Lines(&mut self.printed);
        let mut io = ProjectIo::new(permits, &mut lines, Limits::default().memory);
        self.repl.evaluate(text, &self.options, &mut io)
    }

    /// The value of an entry, or the codes of its errors.
    fn enter(&mut self, text: &str) -> String {
        match self.evaluate(text) {
            Ok(answer) => {
                answer.value.map_or(answer.value_type.unwrap_or_default(), |value| value.text())
            }
            Err(failure) => told(failure),
        }
    }

    /// The values of several entries.
    #[track_caller]
    fn all(&mut self, entries: &[(&str, &str)]) {
        for (text, expected) in entries {
            assert_eq!(self.enter(text), *expected, "{text}");
        }
    }

    fn printed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.printed)
    }
}

fn told(failure: Failure) -> String {
    match failure {
        Failure::Program(errors) => {
            let told =
                errors.iter().map(|error| format!("{}: {}", error.code.as_str(), error.message));
            told.collect::<Vec<_>>().join("; ")
        }
        Failure::Usage { message, .. } => message,
        Failure::Bug(what) => format!("bug: {what}"),
    }
}

#[test]
fn entries_see_what_earlier_ones_bound() {
    let world = MemoryWorld::new();
    Fixture::new(&world).all(&[
        ("let x = [1.0, 2.0, 3.0];", ""),
        ("let y[i] = x[i] * 2.0;", ""),
        ("sum[i](x[i] * y[i])", "28.0"),
        ("y[last]", "6.0"),
        ("let n = 4; let t = (n, \"a\", [1, 2]);", ""),
        ("t", "(4, \"a\", [1, 2])"),
        ("let z[k in 0..n] = k;", ""),
        ("z", "[0, 1, 2, 3]"),
        ("t.1", "a"),
        ("n + 1;", ""),
    ]);
}

#[test]
fn later_names_shadow_earlier_ones() {
    let world = MemoryWorld::new();
    Fixture::new(&world).all(&[
        ("let k = 3;", ""),
        ("fn times(x: i32) -> i32 { x * k }", ""),
        ("let k = 100;", ""),
        ("times(2)", "6"),
        ("let k = k + 1;", ""),
        ("k", "101"),
        ("let k[i in 0..3] = i;", ""),
        ("let k[i in 0..2] = k2;", "E0110: unknown name `k2`"),
        ("k", "[0, 1, 2]"),
        ("fn times(x: i32) -> i32 { x + 1 }", ""),
        ("times(2)", "3"),
        ("fn sqrt(x: f32) -> f32 { 0.0 - x }", ""),
        ("sqrt(4.0)", "-4.0"),
        ("let a = 1; fn f() -> i32 { a } let a = 2;", ""),
        ("f() * 10 + a", "12"),
    ]);
}

#[test]
fn effects_happen_once() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[
        ("use std::io::{write_text, read_text};", ""),
        ("fn loud(x: i32) -> i32 { print(\"loud\", x); x + 1 }", ""),
        ("let a = loud(1); print(\"after\");", ""),
    ]);
    assert_eq!(session.printed(), ["loud 1", "after"]);
    session.all(&[
        ("a", "2"),
        ("let b = a * 2;", ""),
        ("b + a", "6"),
        ("write_text(\"f.txt\", \"one\");", ""),
        ("let old = read_text(\"f.txt\");", ""),
        ("write_text(\"f.txt\", \"two\");", ""),
        ("old", "one"),
    ]);
    assert_eq!(session.printed(), [""; 0]);
}

#[test]
fn values_of_every_kind_are_handed_over() {
    let world = MemoryWorld::new();
    Fixture::new(&world).all(&[
        ("struct P { x: f32, y: f32 }", ""),
        ("enum E { A, B(f32), C { k: i32 } }", ""),
        ("let p = P { x: 1.0, y: 2.0 }; let e = E::C { k: 3 }; let o = Some(2);", ""),
        ("p", "P { x: 1.0, y: 2.0 }"),
        ("p.x + p.y", "3.0"),
        ("match e { E::A => 0, E::B(_) => 1, E::C { k } => k }", "3"),
        ("use E::{A, B as Two};", ""),
        ("match Two(1.5) { A => 0.0, E::B(x) => x, _ => 9.0 }", "1.5"),
        ("o else 0", "2"),
        ("let j = [[i | i in 0..n] | n in 0..3];", ""),
        ("j[2][1]", "1"),
        ("let words = [\"a\", \"bc\"];", ""),
        ("words[1]", "bc"),
        ("let s[t in 0..3] = P { x: t as f32, y: 0.5 };", ""),
        ("let q[t] = s[t].x + s[t].y;", ""),
        ("q", "[0.5, 1.5, 2.5]"),
        ("let grow = |x| x + p.x;", ""),
        ("let p = 7;", ""),
        ("grow(1.0)", "2.0"),
        ("let r = 1..4;", ""),
        ("let c[i in r] = i;", ""),
        ("c", "[0, 1, 2, 3]"),
        ("struct P { z: i32 }", ""),
        ("P { z: 1 }", "P { z: 1 }"),
        ("const N = 3;", ""),
        ("let v[i in 0..N] = 1;", ""),
        ("sum[i](v[i])", "3"),
    ]);
}

#[test]
fn extents_that_data_decided_are_known_later() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[
        ("use std::io::{save_npy, load_npy};", ""),
        ("save_npy(\"a.npy\", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);", ""),
        ("let a = load_npy(\"a.npy\") as [f32; N, in];", ""),
        ("let row[n] = sum[in](a[n, in]);", ""),
        ("row", "[6.0, 15.0]"),
        ("N", "2"),
        ("let big = [x | x in [3, 1, 2], x > 1];", ""),
        ("let twice[i] = big[i] * 2;", ""),
        ("twice", "[6, 4]"),
    ]);
    assert_eq!(session.repl.ask(Question::Shape, "a").ok().as_deref(), Some("[2, 3]"));
    let wrong = session.enter("let b = [1.0]; let c[n] = row[n] * b[n];");
    assert!(wrong.starts_with("E0301"), "{wrong}");
}

#[test]
fn what_is_more_than_a_value_is_computed_again() {
    let world = MemoryWorld::new();
    Fixture::new(&world).all(&[
        ("let g[i in 2..4] = 5;", ""),
        ("g[0 else 9] + g[3 else 9]", "14"),
        ("let h[0] = 1.0; let h[t in 1..] = h[t - 1] / 2.0 until h[t] < 0.1, max 50;", ""),
        ("len(h)", "5"),
        ("converged(h)", "true"),
        ("h[last]", "0.0625"),
    ]);
}

#[test]
fn a_failing_entry_changes_nothing() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[
        ("let x = 1;", ""),
        ("let x = ;", "E0101: expected an expression, found `;`"),
        ("let x = y;", "E0110: unknown name `y`"),
        ("let x = 2; print(x); let z = 1 / (x - 2);", "E0701: integer division by zero: `1 / 0`"),
        ("x", "1"),
    ]);
    assert_eq!(session.printed(), ["2"]);
}

#[test]
fn functions_made_with_effects_are_refused_before_they_run() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    let told = session.enter("let f = { print(\"once\"); |x: i32| x + 1 };");
    assert!(told.starts_with("E0410: `f` cannot be kept for later entries"), "{told}");
    assert_eq!(session.printed(), [""; 0]);
}

#[test]
fn derivatives_look_through_what_printed() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[
        ("let q = 3.0; let loud = { print(q); q * q }; let quiet = loud * loud;", ""),
        ("@quiet / @q", "108.0"),
        ("@loud / @q", "6.0"),
        ("fn told(x) { print(\"told\"); x * x }", ""),
        ("let again = told(q);", ""),
        ("@again / @q + told(1.0)", "7.0"),
    ]);
    // Nothing is printed again but by the entry itself.
    assert_eq!(session.printed(), ["3.0", "told", "told"]);
}

#[test]
fn derivatives_do_not_look_through_files() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[
        ("use std::io::{read_text, write_text};", ""),
        ("write_text(\"x.txt\", \"2.5\");", ""),
        ("let q = 3.0; let loud = { print(q); q * q * len(read_text(\"x.txt\")) as f32 };", ""),
        ("let quiet = loud * loud;", ""),
        (
            "@quiet / @q",
            "E0410: no derivative can look through `loud`, which was computed with an effect",
        ),
    ]);
    // As a parameter it is where a derivative begins.
    let told = session.enter("@quiet / @loud");
    assert!(!told.starts_with("E0410"), "{told}");
    assert_eq!(session.printed(), ["3.0"]);
}

#[test]
fn questions_evaluate_nothing() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[
        ("fn f(x: [f32; batch, in]) -> [f32; batch, in] { x }", ""),
        ("let y = f([[1.0, 2.0]]);", ""),
    ]);
    let repl = &mut session.repl;
    let mut ask = |question, text: &str| repl.ask(question, text).unwrap_or_else(told);
    assert_eq!(ask(Question::Type, "y"), "[f32; batch, in]");
    assert_eq!(ask(Question::Shape, "y"), "[1, 2]");
    assert_eq!(ask(Question::Coords, "y"), "[batch, in]");
    assert_eq!(ask(Question::Type, "1 / 0"), "i32");
    assert_eq!(ask(Question::Shape, "1.5"), "[]");
    assert_eq!(ask(Question::Type, "let a = 1;"), "this has no value to ask about");
    assert_eq!(ask(Question::Type, "nope"), "E0110: unknown name `nope`");
}

#[test]
fn modules_stay_as_they_were_until_a_reset() {
    let world = MemoryWorld::new().with("m.ein", "pub fn one() -> i32 { 1 }");
    let mut session = Fixture::new(&world);
    session.all(&[("mod m;", ""), ("m::one()", "1")]);
    world.write_atomic("m.ein".as_ref(), b"pub fn one() -> i32 { 2 }").expect("memory");
    session.all(&[("m::one()", "1")]);
    session.repl.reset();
    session.all(&[("mod m;", ""), ("m::one()", "2")]);
}

#[test]
fn inputs_have_values_from_outside() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.options.inputs = vec![("lr".to_owned(), Given::Text("0.5".to_owned()))];
    session.all(&[("1", "1"), ("input lr: f32;", ""), ("lr * 2.0", "1.0")]);
    assert!(session.enter("input n: i32;").starts_with("E0905"));
}

#[test]
fn long_sessions_are_fine() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[("let x = 0;", "")]);
    for _ in 0..210 {
        assert_eq!(session.enter("let x = x + 1;"), "");
    }
    assert_eq!(session.enter("x"), "210");
}

#[test]
fn an_entry_ends_with_its_last_statement() {
    for text in
        ["", "1 + 2", "let x = 1;", "f(x) // why", "let = 1;", ")", "\"no end", "if a { 1 }"]
    {
        assert_eq!(input(text), Input::Complete, "{text}");
    }
    for text in ["let x = 1", "let x =", "1 +", "x |>", "fn f()", "let x = 1 // why"] {
        assert_eq!(input(text), Input::Unfinished, "{text}");
    }
    for text in ["fn f() {", "[1,", "print(\"a {b", "/* a", "{ let x = 1;"] {
        assert_ne!(input(text), Input::Complete, "{text}");
    }
    assert_eq!(input("fn f() {"), Input::Open);
    assert_eq!(input("/* a"), Input::Open);
}

#[test]
fn words_are_completed() {
    let world = MemoryWorld::new();
    let mut session = Fixture::new(&world);
    session.all(&[("let total_cost = 1; fn tonne() -> i32 { 1 }", "")]);
    let words = |before: &str| complete(before, session.repl.names()).words;
    assert_eq!(words("1 + to"), ["tonne", "total_cost"]);
    assert_eq!(words("sq"), ["sqrt"]);
    assert_eq!(words("stru"), ["struct"]);
    assert_eq!(words("std::lin"), ["linalg"]);
    assert_eq!(words("use std::math::{sin, sq"), ["sqrt"]);
    assert_eq!(words("std::math::lg"), ["lgamma"]);
    assert_eq!(complete("1 + to", session.repl.names()).start, 4);
}

#[test]
fn lines_become_entries() {
    let read = |text: &str| {
        let mut reader = Reader::default();
        let mut entries: Vec<String> = text.lines().filter_map(|line| reader.push(line)).collect();
        entries.extend(reader.finish());
        entries.iter().map(|entry| entry.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(read("1\n\n\n2"), ["1", "2"]);
    assert_eq!(read("let x =\n  1;\nx"), ["let x =\n  1;", "x"]);
    assert_eq!(read("let x = 1\n\nx"), ["let x = 1", "x"]);
    assert_eq!(read("let x = 1\n  where a > 2;"), ["let x = 1\n  where a > 2;"]);
    assert_eq!(read("fn f() {\n\n  1\n}\nf()"), ["fn f() {\n\n  1\n}", "f()"]);
    assert_eq!(read("/* a /* b\n */ ) \n */ 1\n// c\n2"), ["/* a /* b\n */ ) \n */ 1", "2"]);
    assert_eq!(read("let y[i] = x[i]\n    + 1.0;"), ["let y[i] = x[i]\n    + 1.0;"]);
    assert_eq!(read("print(\"a ) b\")\n\"no end\n3"), ["print(\"a ) b\")", "\"no end", "3"]);
    assert_eq!(read("let x = 1; x\n2"), ["let x = 1; x", "2"]);
    assert_eq!(read("let x: [f32; 2]\n = y;"), ["let x: [f32; 2]\n = y;"]);
    assert_eq!(read("// nothing\n\n"), [""; 0]);
    assert_eq!(read("(1,\n2"), ["(1,\n2"]);
    let long = format!("fn f() {{\n{}}}", "    (1);\n".repeat(20_000));
    assert_eq!(read(&long).len(), 1);
}
