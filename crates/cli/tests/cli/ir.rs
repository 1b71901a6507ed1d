//! `einlang ir`.

use crate::support::Sandbox;

#[test]
fn stages_are_listed() {
    Sandbox::new().transcript("ir-list", &["ir", "--list"]).ends_with(0);
}

#[test]
fn each_stage_prints_the_program() {
    let sandbox = Sandbox::with("model.ein", "let x = 1; // one\n");
    sandbox.transcript("ir-lex", &["ir", "model.ein", "--after", "lex"]).ends_with(0);
    sandbox.transcript("ir-parse", &["ir", "model.ein", "--after", "parse"]).ends_with(0);
    sandbox.transcript("ir-names", &["ir", "model.ein", "--after", "names"]).ends_with(0);
    sandbox.transcript("ir-types", &["ir", "model.ein", "--after", "types"]).ends_with(0);
    sandbox.transcript("ir-coords", &["ir", "model.ein", "--after", "coords"]).ends_with(0);
    sandbox.transcript("ir-shapes", &["ir", "model.ein", "--after", "shapes"]).ends_with(0);
}

#[test]
fn the_last_stage_is_the_default() {
    let sandbox = Sandbox::new();
    let last = sandbox.einlang(&["ir", "-c", "let x = 1;", "--after", "shapes"]).stdout;
    sandbox.einlang(&["ir", "-c", "let x = 1;"]).ends_with(0).says(&last, "");
    let piped = last.replace("<command line>", "<standard input>");
    sandbox.einlang_with_stdin(&["ir", "-"], b"let x = 1;").ends_with(0).says(&piped, "");
}

#[test]
fn a_program_with_errors_is_printed_as_well() {
    let sandbox = Sandbox::new();
    let answer = sandbox.einlang(&["ir", "-c", "let x = ;"]).ends_with(1);
    assert!(answer.stdout.starts_with("SOURCE_FILE @0..9\n"), "{}", answer.stdout);
    assert!(answer.stderr.starts_with("error[E0101]"), "{}", answer.stderr);
}

#[test]
fn an_unknown_stage_is_wrong_usage() {
    let answer = Sandbox::new().einlang(&["ir", "-c", "", "--after", "prase"]).ends_with(2);
    assert!(answer.stderr.contains("similar value exists: 'parse'"), "{}", answer.stderr);
}
