//! What is kept of each recurrence, and why: the programs in `tests/storage`, as
//! `einlang explain-storage` tells it. The first line of a program names the outputs that are asked
//! for.

use einlang_driver::{Failure, Options, Session, storage};
use einlang_source::MemoryWorld;
use einlang_testkit::fixtures;

fn explained(text: &str) -> String {
    let first = text.lines().next().and_then(|line| line.strip_prefix("// outputs: "));
    let outputs = first.map(|names| names.split(", ").map(str::to_owned).collect());
    let world = MemoryWorld::new();
    let options = Options { outputs, ..Options::default() };
    let mut session = Session::new(&world).with_options(options);
    let file = session.add_text("main.ein", text);
    match session.build(file) {
        Ok(executable) => storage::table(&executable.storage(), session.sources()),
        Err(Failure::Program(found)) => {
            found.iter().map(|d| format!("{} {}\n", d.code.as_str(), d.message)).collect()
        }
        Err(failure) => format!("{failure:?}\n"),
    }
}

#[test]
fn decisions_and_reasons() {
    fixtures::check("tests/storage", "storage", |program| explained(&program.text));
}

#[test]
fn the_report_is_json() {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("main.ein", "let x[0] = 1;\nlet x[t in 1..9] = x[t - 1];\n");
    let executable = session.build(file).expect("it compiles");
    assert_eq!(
        executable.storage_json(session.sources()),
        concat!(
            r#"{"x": {"axes": [{"axis": 0, "name": "t", "extent": 9, "lookback": 1, "tail": null, "#,
            r#""window": "full", "reason": "`x` is an output, so all of it is observed", "places": []}], "#,
            r#""schedule": [{"axis": 0, "direction": "ascending"}], "bytes": {"full": 36, "kept": 36}, "#,
            r#""hint": "name the outputs you need with `--outputs`, without `x`, and then 2 points of `t` would be enough"}}"#,
        )
    );
}
