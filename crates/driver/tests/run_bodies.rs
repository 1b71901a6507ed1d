//! Bodies that take more than numbers, and the words of what stops a program: assertions with
//! values, exact subscripts, names of tensors without a name, definitions of strings and enums.

use std::path::Path;

use einlang_driver::{Failure, Limits, RunOptions, Session};
use einlang_interp::io::MemoryIo;
use einlang_source::{Diagnostic, MemoryWorld};

/// What a program prints.
#[track_caller]
fn printed(program: &str) -> Vec<String> {
    match run(program, &RunOptions::default()) {
        Ok(lines) => lines,
        Err(stopped) => panic!("{stopped:?}"),
    }
}

fn run(program: &str, options: &RunOptions) -> Result<Vec<String>, Box<Diagnostic>> {
    let world = MemoryWorld::new().with("f.ein", program);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("f.ein")).expect("it is there");
    let mut io = MemoryIo::default();
    match session.run(file, options, &mut io) {
        Ok(_) => Ok(io.lines),
        Err(Failure::Program(errors)) => Err(Box::new(errors.into_vec().remove(0))),
        Err(other) => panic!("{other:?}"),
    }
}

/// The code and message of what stops a program, and the text it points at.
#[track_caller]
fn stopped_with(program: &str, options: &RunOptions) -> (String, String, String) {
    let error = run(program, options).expect_err("the program stops");
    let span = error.primary.span;
    let text = program.get(span.start as usize..span.end as usize).unwrap_or_default();
    (error.code.to_string(), error.message.clone(), text.to_owned())
}

#[track_caller]
fn stopped(program: &str) -> (String, String) {
    let (code, message, _) = stopped_with(program, &RunOptions::default());
    (code, message)
}

#[test]
fn assertions_show_values() {
    let (code, message) = stopped("let x = 41;\nassert(x == 42, \"x was {x}, not {x + 1:>4}\");\n");
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("E0703", "assertion failed: x was 41, not   42")
    );
    let program =
        "let x = [1.0, -2.5];\nlet y[i] = { assert(x[i] > 0.0, \"x[{i}] = {x[i]:.2f}\"); x[i] };\n";
    let (_, message) = stopped(program);
    assert_eq!(message, "assertion failed: x[1] = -2.50 (at `y[i = 1]`)");
    let words = "let who = \"me\";\nassert(1 > 2, who);\n";
    assert_eq!(stopped(words).1, "assertion failed: me");
}

#[test]
fn the_values_of_a_message_are_computed_only_when_it_fails() {
    let program = "let d = [1, 0];\nlet y[i] = { assert(i < 2, \"{1 / d[i]}\"); i };\nprint(y);\n";
    assert_eq!(printed(program), ["[0, 1]"]);
}

#[test]
fn literals_and_views_have_the_names_of_their_bindings() {
    let gather = "let table = [1, 2, 3];\nlet by[i in 0..2] = 5 * i;\nlet got[k] = table[by[k]];\n";
    let expected = "`table` is read at index 5 of axis 0, whose extent is 3 (at `got[k = 1]`)";
    assert_eq!(stopped(gather), ("E0702".to_owned(), expected.to_owned()));
    let view = "let m[i in 0..2, j in 0..2] = i + j;\nlet row = m[1];\nlet by[i in 0..2] = 5 * i;\n\
                let got[i] = row[by[i]];\n";
    let (code, message) = stopped(view);
    assert_eq!(code, "E0702");
    assert!(message.starts_with("`row` is read at index 5 of axis 0"), "{message}");
}

#[test]
fn subscripts_are_exact() {
    let program = "let x = [1, 2, 3];\nlet k = [65536];\nlet y[i in 0..1] = x[k[i] * k[i]];\n";
    let (code, message) = stopped(program);
    assert_eq!(code, "E0702");
    assert!(message.contains("index 4294967296 of axis 0"), "{message}");
    let beyond = "let x = [1];\nlet k = [4611686018427387904];\nlet y[i in 0..1] = x[k[i] * 4];\n";
    let beyond =
        beyond.replace("4611686018427387904", "4611686018427387904i64").replace("* 4]", "* 4i64]");
    assert_eq!(
        stopped(&beyond),
        ("E0702".into(), "this subscript is beyond 64 bits (at `y[i = 0]`)".into())
    );
}

#[test]
fn too_large_tensors_are_reported_where_they_are_defined() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let options = RunOptions { limits, ..RunOptions::default() };
    let program = "let a = 1;\nlet big[i in 0..1000000] = i as f64;\n";
    let (code, message, text) = stopped_with(program, &options);
    assert_eq!(code, "E0801");
    assert!(message.starts_with("`big`"), "{message}");
    assert_eq!(text, "let big[i in 0..1000000] = i as f64;");
}

#[test]
fn strings_and_enums_are_defined_point_by_point() {
    let program = r#"
enum State { Idle, Run(i32), Done }
let x = [3, 0, 2];
let s[i] = if x[i] > 1 { "big" } else { "small" };
let g[2] = "z";
let down[3] = "e";
let down[t in 0..3] = "{down[t + 1]}{t}";
let st[0] = State::Idle;
let st[t in 1..4] = match st[t - 1] {
    State::Idle => State::Run(t), State::Run(_) => State::Done, other => other };
let both[i, j] = "{s[i]}{j}" where j < 2;
let total[0] = 0;
let total[t in 1..3] = total[t - 1] + len(s[t]);
print(s, g, down);
print(st);
print(both[1, 0], total, sum[i](1 where s[i] == "big"), all[i](s[i] == "big"));
"#;
    let program = program.replace("[i, j]", "[i, j in 0..2]");
    let expected = [
        r#"["big", "small", "big"] ["", "", "z"] ["e210", "e21", "e2", "e"]"#,
        "[Idle, Run(1), Done, Done]",
        "small0 [0, 5, 8] 2 false",
    ];
    assert_eq!(printed(&program), expected);
}

#[test]
fn a_string_that_is_read_too_early_stops_the_program() {
    let program = "let p = [0, 2, 1];\nlet s[0] = \"a\";\nlet s[t in 1..3] = s[p[t]];\nprint(s);\n";
    let (code, message) = stopped(program);
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("E0504", "`s` is read at a point that is not computed yet")
    );
}

#[test]
fn tensors_are_states_and_results_inside_bodies() {
    let program = r#"
let A = [[[1.0, 1.0], [1.0, 0.0]], [[2.0, 0.0], [0.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]];
let I = [[1.0, 0.0], [0.0, 1.0]];
print(reduce[k](I, |a, b| { let c[i, j] = sum[m](a[i, m] * b[m, j]); c })(A[k]));
fn grow(n: i32) -> [f32; ?] { if n == 0 { [1.0, 2.0] } else { 2.0 * grow(n - 1) } }
let y[n in 0..3] = sum[i](grow(n)[i]);
print(y);
let m = [[1, 2], [3, 4]];
let j: jagged[i32] = [m[0], m[1]];
print(j);
"#;
    assert_eq!(
        printed(program),
        ["[[8.0, 12.0], [2.0, 4.0]]", "[3.0, 6.0, 12.0]", "[[1, 2], [3, 4]]"]
    );
}

#[test]
fn grouped_sums_are_the_sums_term_by_term() {
    // The second form depends on the bin on both sides, so its terms are visited one by one.
    let program = r#"
let n = 1000;
let key[i in 0..n] = (i * 7919) % 13;
let v[i in 0..n] = 1.0 / ((i + 1) as f32);
let fast[b in 0..15] = sum[i](v[i] where key[i] == b);
let slow[b in 0..15] = sum[i](v[i] where key[i] + b == 2 * b);
let odd[b in 0..15] = sum[i](v[i] where key[i] == b && i % 2 == 1);
let plain[b in 0..15] = sum[i](v[i] where key[i] + b == 2 * b && i % 2 == 1);
print(all[b](fast[b] == slow[b]), all[b](odd[b] == plain[b]), fast[14]);
"#;
    assert_eq!(printed(program), ["true true 0.0"]);
}
