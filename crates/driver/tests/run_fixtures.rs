//! Programs in `tests/run` with what they print, or what is reported about them, in a file beside
//! each. With `EINLANG_BLESS=1` the expectations are rewritten.

use std::path::Path;

use einlang_driver::{Failure, RunOptions, Session};
use einlang_interp::io::MemoryIo;
use einlang_source::{MemoryWorld, render};
use einlang_testkit::fixtures;

/// The warnings of a program, the lines it prints, and what stops it.
fn said(text: &str) -> String {
    let world = MemoryWorld::new().with("program.ein", text);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("program.ein")).expect("it is there");
    let mut io = MemoryIo::default();
    let outcome = session.run(file, &RunOptions::default(), &mut io);
    let errors = match outcome {
        Ok(_) => None,
        Err(Failure::Program(errors)) => Some(errors),
        Err(other) => panic!("{other:?}"),
    };
    let mut said: String = io.lines.iter().map(|line| format!("{line}\n")).collect();
    for error in errors.iter().flat_map(|errors| errors.iter()) {
        said += &render::human(session.sources(), error, &render::Options::default());
        said += "\n";
    }
    said
}

#[test]
fn programs_print_what_is_recorded() {
    fixtures::check("tests/run", "out", |program| said(&program.text));
}
