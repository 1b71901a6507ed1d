//! Calls that make no sense, and the words that are taken for files or commands.

use crate::support::Sandbox;

#[test]
fn a_misspelt_command_is_recognised() {
    Sandbox::new().transcript("misspelt-command", &["chekc", "model.ein"]).ends_with(2);
    Sandbox::new().transcript("unknown-command", &["frobnicate"]).ends_with(2);
}

#[test]
fn a_file_without_its_extension_is_recognised() {
    let sandbox = Sandbox::with("model.ein", "let x = 1;\n");
    sandbox.transcript("forgotten-extension", &["model"]).ends_with(2);
}

#[test]
fn a_command_wins_over_a_file_of_that_name() {
    let sandbox = Sandbox::with("check", "let x = 1;\n");
    assert!(sandbox.einlang(&["check"]).ends_with(2).stderr.contains("needs a program"));
    assert!(sandbox.einlang(&["./check"]).ends_with(0).stderr.contains("printed nothing"));
}

#[test]
fn a_file_may_have_any_name() {
    let sandbox = Sandbox::with("program", "let x = 1;\n");
    sandbox.einlang(&["program"]).ends_with(0);
    sandbox.einlang(&["run", "program"]).ends_with(0);
}

#[test]
fn commands_need_a_program() {
    let sandbox = Sandbox::new();
    for command in ["run", "check", "fmt", "ir"] {
        sandbox.transcript(&format!("nothing-to-{command}"), &[command]).ends_with(2);
    }
    assert!(sandbox.einlang(&["explain"]).ends_with(2).stderr.contains("<CODE|--list>"));
}

#[test]
fn a_program_is_given_once() {
    let sandbox = Sandbox::with("a.ein", "");
    for command in ["run", "check", "fmt", "ir"] {
        let answer = sandbox.einlang(&[command, "a.ein", "-c", "let x = 1;"]).ends_with(2);
        assert!(answer.stderr.contains("cannot be used with"), "{}", answer.stderr);
    }
}

#[test]
fn options_that_do_not_exist_are_refused() {
    let sandbox = Sandbox::with("a.ein", "");
    for args in [["run", "a.ein", "--fast"], ["check", "a.ein", "--fix"], ["a.ein", "-x", "1"]] {
        let answer = sandbox.einlang(&args).ends_with(2);
        assert!(answer.stderr.starts_with("error: unexpected argument"), "{}", answer.stderr);
        assert_eq!(answer.stdout, "");
    }
    let answer = sandbox.einlang(&["run", "a.ein", "--color", "red"]).ends_with(2);
    assert!(answer.stderr.contains("auto, always, never"), "{}", answer.stderr);
}
