//! `einlang run` and its short forms.

use crate::support::Sandbox;

const NOTE: &str = "note: the program printed nothing; `--json` shows `x`\n";

#[test]
fn a_program_prints_what_it_prints() {
    let sandbox = Sandbox::with("model.ein", "let x = [1.0, 2.0];\nprint(\"x is\", x);\n");
    sandbox.transcript("run", &["run", "model.ein"]).ends_with(0);
    sandbox.einlang(&["model.ein"]).ends_with(0).says("x is [1.0, 2.0]\n", "");
    let main = "fn main() -> (i32, str) { print(\"in main\"); (1, \"a\") }";
    sandbox.einlang(&["-c", main]).ends_with(0).says("in main\n(1, \"a\")\n", "");
    sandbox.einlang(&["-c", "fn main() { print(1); }"]).ends_with(0).says("1\n", "");
}

#[test]
fn what_is_loaded_is_compared_before_anything_is_done_with_it() {
    let sandbox = Sandbox::new();
    let make = "use std::io::{save_npy}; save_npy(\"in.npy\", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]); \
                save_npy(\"kept.npy\", [42.0]);";
    sandbox.einlang(&["-c", make]).ends_with(0);
    let load = "use std::io::{load_npy, save_npy};";
    let loaded = "load_npy(\"in.npy\") as [f32; 2, 3]";
    for effect in [format!("print({loaded});"), format!("save_npy(\"kept.npy\", {loaded});")] {
        let answer = sandbox.einlang(&["-c", &format!("{load} {effect}")]).ends_with(1);
        assert_eq!(answer.stdout, "", "{effect}");
        assert!(answer.stderr.contains("error[E0904]: axis 0 of `load_npy(…)`"), "{effect}");
    }
    let kept = format!("{load} print(load_npy(\"kept.npy\") as [f32; 1]);");
    sandbox.einlang(&["-c", &kept]).ends_with(0).says("[42.0]\n", "");
    // A name that the statement gives is the one that later errors say.
    let named = format!(
        "{load} input n: i32 = 9; let w = load_npy(\"kept.npy\") as [f32; 1]; print(w[n]);"
    );
    let answer = sandbox.einlang(&["-c", &named]).ends_with(1);
    assert!(answer.stderr.contains("`w` is read at index 9"), "{}", answer.stderr);
}

#[test]
fn programs_come_from_arguments_and_pipes() {
    let sandbox = Sandbox::new();
    sandbox.einlang(&["-c", "let x = 1;"]).ends_with(0).says("", NOTE);
    sandbox.einlang(&["run", "-c", "let x = 1;"]).ends_with(0).says("", NOTE);
    sandbox.einlang_with_stdin(&["-"], b"let x = 1;\n").ends_with(0).says("", NOTE);
    sandbox.einlang_with_stdin(&["run", "-"], b"let x = 1;\n").ends_with(0).says("", NOTE);
    sandbox.einlang(&["--color", "never", "-c", "let x = 1;"]).ends_with(0).says("", NOTE);
    sandbox.einlang(&["-c", "-1"]).ends_with(1);
}

#[test]
fn an_empty_program_is_fine() {
    let sandbox = Sandbox::with("empty.ein", "");
    sandbox.einlang(&["empty.ein"]).ends_with(0);
    sandbox.einlang(&["-c", ""]).ends_with(0);
    sandbox.einlang_with_stdin(&["-"], b"").ends_with(0);
}

#[test]
fn errors_end_with_code_1() {
    let sandbox = Sandbox::with("model.ein", "let x = 1 < 2 < 3;\nlet y = 0b1;\n");
    sandbox.transcript("run-with-errors", &["model.ein"]).ends_with(1);
    let answer = sandbox.einlang_with_stdin(&["-"], b"let x = ;").ends_with(1);
    assert!(answer.stderr.contains(" --> <standard input>:1:9\n"), "{}", answer.stderr);
    let answer = sandbox.einlang(&["-c", "let x = ;"]).ends_with(1);
    assert!(answer.stderr.contains(" --> <command line>:1:9\n"), "{}", answer.stderr);
    assert_eq!(answer.stdout, "");
}

#[test]
fn gaps_are_judged_as_by_check() {
    let sandbox = Sandbox::with("gap.ein", "let x[i in 2..5] = 1.0;\nlet y = x[4];\n");
    let answer = sandbox.einlang(&["gap.ein"]).ends_with(0);
    assert!(answer.stderr.starts_with("warning[W0305]"), "{}", answer.stderr);
    sandbox.einlang(&["run", "-q", "gap.ein", "--outputs", "y"]).ends_with(0).says("", "");
    sandbox.transcript("run-strict", &["run", "--strict", "gap.ein"]).ends_with(1);
    let walk = "let x[t in 1..5] = 1.0 + x[t - 1];";
    sandbox.einlang(&["-c", walk]).ends_with(1);
    sandbox.einlang(&["-c", walk, "--zero-fill"]).ends_with(0);
    sandbox.einlang(&["run", "gap.ein", "--outputs"]).ends_with(2);
}

#[test]
fn quiet_leaves_errors_only() {
    let sandbox = Sandbox::new();
    sandbox.einlang(&["-q", "-c", "let x = 1;"]).ends_with(0).says("", "");
    let answer = sandbox.einlang(&["-q", "-c", "let x = ;"]).ends_with(1);
    assert!(answer.stderr.starts_with("error[E0101]") && !answer.stderr.contains("could not run"));
}

#[test]
fn absurd_nesting_is_an_error_and_no_crash() {
    let sandbox = Sandbox::new();
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("-", ""), ("1 + ", ""), ("f(", ")")]
    {
        let program = format!("let x = {}1{};", open.repeat(10_000), close.repeat(10_000));
        for command in ["run", "check", "fmt", "ir"] {
            let answer = sandbox.einlang_with_stdin(&[command, "-"], program.as_bytes());
            assert_eq!(answer.code, 1, "{command} {open}");
            assert!(answer.stderr.contains("nested too deeply"), "{command} {open}");
        }
    }
}
