//! `einlang repl` with entries that come through a pipe.

use crate::support::Sandbox;

#[test]
fn entries_build_on_each_other() {
    let input = "\
let x = [1.0, 2.0, 3.0];
let y[i] =
    x[i] * 2.0;
sum[i](x[i] * y[i])
fn norm(v: [f32; n]) -> f32 {

    sqrt(sum[n](v[n] * v[n]))
}
norm(y)
x |> norm
let n = 4

let x = n; x + 1
\"n is {n}\"
n;
";
    Sandbox::new().transcript_of("repl", &["repl"], input).ends_with(0);
}

#[test]
fn names_are_shadowed_and_captured() {
    let input = "\
let k = 3;
fn times(x: i32) -> i32 { x * k }
let k[i in 0..2] = 10 * i;
times(2)
k
struct P { x: f32 }
let p = P { x: 1.0 };
struct P { y: i32 }
(p, P { y: 2 })
";
    Sandbox::new().transcript_of("repl-shadowing", &["repl"], input).ends_with(0);
}

#[test]
fn commands_ask_about_expressions() {
    let input = "\
fn layer(x: [f32; batch, in], W: [f32; class, in]) -> [f32; batch, class] {
    let y[batch, class] = sum[in](x[batch, in] * W[class, in]);
    y
}
let y = layer([[1.0, 2.0]], [[0.5, 0.25], [1.0, 1.0]]);
:type y
:shape y
:coords y
:coords sum[k: batch](y[k, :])
:type print(1)
:t |x: i32| x
:shape z
:reset
y
";
    Sandbox::new().transcript_of("repl-questions", &["repl"], input).ends_with(0);
}

#[test]
fn mistakes_do_not_end_the_session() {
    let input = "\
let x = 1;
let x = ;
let x = unknown;
print(\"begun\"); let x = 1 / (x - 1);
x
assert(x == 2, \"x is {x}\")
:tpye x
:type
:load
let g[i in 2..4] = 1;
g[0 else 7]
x
";
    Sandbox::new().transcript_of("repl-mistakes", &["repl"], input).ends_with(0);
}

#[test]
fn effects_happen_once() {
    let input = "\
use std::io::{write_text, read_text};
fn loud(x: i32) -> i32 { print(\"computing\", x); x + 1 }
let a = loud(1);
write_text(\"f.txt\", \"one\");
let text = read_text(\"f.txt\");
write_text(\"f.txt\", \"two\");
a + 1
text
let f = { print(\"never\"); |x: i32| x + a };
a
";
    let sandbox = Sandbox::new();
    sandbox.transcript_of("repl-effects", &["repl"], input).ends_with(0);
    assert_eq!(sandbox.read("f.txt"), "two");
}

#[test]
fn files_are_loaded_as_entries() {
    let sandbox = Sandbox::with("lib/model.ein", "mod part;\nlet w = part::scale() * lr;\n");
    sandbox.write("lib/part.ein", "pub fn scale() -> f32 { 3.0 }\n");
    sandbox.write("broken.ein", "let x = 1 < 2 < 3;\n");
    let input = "\
input lr: f32;
:load lib/model.ein
w
:load broken.ein
:load lib/modle.ein
:quit
w
";
    let answer = sandbox.transcript_of("repl-load", &["repl", "--input", "lr=0.5"], input);
    answer.ends_with(0);
}

#[test]
fn the_end_of_the_input_ends_an_entry() {
    let sandbox = Sandbox::new();
    sandbox.einlang_with_stdin(&["repl"], b"").ends_with(0).says("", "");
    sandbox.einlang_with_stdin(&["repl"], b"1 +\n 2").ends_with(0).says("3\n", "");
    sandbox.einlang_with_stdin(&["repl"], b"let x = 1; x\r\n").ends_with(0).says("1\n", "");
    sandbox.einlang_with_stdin(&["repl"], b"// nothing\n\n:q").ends_with(0).says("", "");
    let answer = sandbox.einlang_with_stdin(&["repl"], b"(1,\n").ends_with(0);
    assert!(answer.stderr.starts_with("error[E0101]"), "{}", answer.stderr);
    let help = sandbox.einlang_with_stdin(&["repl"], b":help\n").ends_with(0);
    assert!(help.stdout.contains("\n  :type EXPR "), "{}", help.stdout);
}

#[test]
fn input_that_is_no_text_is_an_error() {
    let answer = Sandbox::new().einlang_with_stdin(&["repl"], b"1\n\xff\n2\n").ends_with(1);
    assert_eq!(answer.stdout, "1\n");
    let said = "error: cannot read standard input: it is not valid UTF-8\n";
    assert!(answer.stderr.starts_with(said), "{}", answer.stderr);
}

#[test]
fn limits_hold_for_each_entry() {
    let input = b"let a[i in 0..300] = i;\nlet b[i in 0..1000000] = i;\nsum[i](a[i])\n";
    let answer = Sandbox::new().einlang_with_stdin(&["repl", "--max-steps", "20000"], input);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "44850\n"));
    assert!(answer.stderr.starts_with("error[E0803]"), "{}", answer.stderr);
}

#[test]
fn no_history_is_written_without_a_terminal() {
    let sandbox = Sandbox::new();
    let home = sandbox.path(".");
    let mut command = sandbox.command(&["repl"]);
    let output = command.env("HOME", &home).output().expect("the binary starts");
    assert!(output.status.success());
    assert!(!sandbox.path(".local").exists());
}
