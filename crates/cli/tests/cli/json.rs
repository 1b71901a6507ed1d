//! `--message-format json`: one object per line, with the keys that the language reference names.

use serde_json::Value;

use crate::support::{Answer, Sandbox};

/// Every line of standard error as an object.
#[track_caller]
fn objects(answer: &Answer) -> Vec<Value> {
    let parsed = answer.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let objects: Vec<Value> = parsed.collect();
    assert!(objects.iter().all(Value::is_object), "{}", answer.stderr);
    objects
}

#[test]
fn diagnostics_have_the_documented_keys() {
    let sandbox = Sandbox::with("bad.ein", "let a = 1;\nlet b = 1 < 2 < 3;\nlet s = \"open;\n");
    let args = ["check", "bad.ein", "--message-format", "json"];
    let objects = objects(&sandbox.einlang(&args).ends_with(1));
    let codes: Vec<_> = objects.iter().map(|object| object["code"].as_str()).collect();
    assert_eq!(codes, [Some("E0409"), Some("E0102")]);
    let first = &objects[0];
    assert_eq!(first["severity"], "error");
    assert!(first["message"].is_string() && first["help"].is_string());
    let span = &first["span"];
    assert_eq!(
        (&span["file"], &span["line"], &span["col"]),
        (&"bad.ein".into(), &2.into(), &15.into())
    );
    assert_eq!((&span["end_line"], &span["end_col"]), (&2.into(), &16.into()));
}

#[test]
fn success_is_silent() {
    let sandbox = Sandbox::with("good.ein", "let x = 1;\n");
    sandbox.einlang(&["check", "good.ein", "--message-format", "json"]).ends_with(0).says("", "");
    sandbox.einlang(&["fmt", "good.ein", "--message-format", "json"]).ends_with(0).says("", "");
}

#[test]
fn unreadable_files_have_a_span_without_text() {
    let args = ["run", "none.ein", "--message-format", "json"];
    let objects = objects(&Sandbox::new().einlang(&args).ends_with(1));
    assert_eq!(objects.len(), 1);
    assert_eq!(
        (&objects[0]["code"], &objects[0]["span"]["file"]),
        (&"E0901".into(), &"none.ein".into())
    );
    assert!(objects[0]["help"].is_string());
}

#[test]
fn messages_of_the_command_line_have_no_code() {
    let sandbox = Sandbox::with("empty/readme.md", "");
    let silent = objects(&sandbox.einlang(&["--message-format", "json", "-c", ""]).ends_with(0));
    assert!(silent.is_empty(), "{silent:?}");
    let args = ["check", "empty", "--message-format=json"];
    let warning = objects(&sandbox.einlang(&args).ends_with(0));
    assert_eq!((&warning[0]["severity"], &warning[0]["span"]), (&"warning".into(), &Value::Null));
    let usage = objects(&sandbox.einlang(&["fmt", "--message-format=json"]).ends_with(2));
    assert_eq!((&usage[0]["severity"], &usage[0]["code"]), (&"error".into(), &Value::Null));
}
