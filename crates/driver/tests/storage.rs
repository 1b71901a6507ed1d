//! What is kept of each recurrence, and why: the programs in `tests/storage`, as
//! `einlang explain-storage` tells it. The first line of a program names the outputs that are asked
//! for.

use einlang_driver::Checkpoint;
use einlang_driver::run::{Given, RunOptions};
use einlang_driver::{Failure, Options, Session, storage};
use einlang_interp::io::MemoryIo;
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
        Ok(executable) => {
            storage::table(&executable.storage(), &[], Checkpoint::None, session.sources())
        }
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
        executable.storage_json(&[], session.sources()),
        concat!(
            r#"{"x": {"axes": [{"axis": 0, "name": "t", "extent": 9, "lookback": 1, "tail": null, "#,
            r#""window": "full", "reason": "`x` is an output, so all of it is observed", "places": []}], "#,
            r#""schedule": [{"axis": 0, "direction": "ascending"}], "bytes": {"full": 36, "kept": 36}, "#,
            r#""hint": "name the outputs you need with `--outputs`, without `x`, and then 2 points of `t` would be enough"}}"#,
        )
    );
}

/// The storage of a run with these inputs.
fn of_run(inputs: &[(&str, &str)]) -> String {
    let text = "input T: i32 = 20; input N: i32 = 4;\nlet c[t in 0..N] = 1.0;\n\
                let c[t in N..T] = c[t - 1] * 2.0;\nlet end = c[T - 1];";
    let world = MemoryWorld::new();
    let options = Options { outputs: Some(vec!["end".to_owned()]), ..Options::default() };
    let mut session = Session::new(&world).with_options(options);
    let file = session.add_text("main.ein", text);
    let executable = session.build(file).expect("it compiles");
    let given = |(name, text): &(&str, &str)| ((*name).to_owned(), Given::Text((*text).to_owned()));
    let options = RunOptions { inputs: inputs.iter().map(given).collect(), ..Default::default() };
    let outcome = executable.run(&options, &mut MemoryIo::default()).expect("it runs");
    executable.storage_json(&outcome.given, session.sources())
}

#[test]
fn a_run_selects_the_window_or_everything() {
    let usual = of_run(&[]);
    assert!(usual.contains("\"window\": 2") && !usual.contains("conditions"), "{usual}");
    assert!(usual.contains("\"bytes\": {\"full\": 80, \"kept\": 8}"), "{usual}");
    let short = of_run(&[("T", "3"), ("N", "9")]);
    assert!(short.contains("\"window\": \"full\"") && short.contains("`T >= N`"), "{short}");
    assert!(short.contains("\"bytes\": {\"full\": 36, \"kept\": 36}"), "{short}");
}
