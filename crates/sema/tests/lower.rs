//! Lowering: the host and tensor code of the programs in `tests/lower`, as printed.
//!
//! Every program must be well formed and read back as itself.

use std::path::Path;

use einlang_sema::{coords, lower, resolve, shapes, types};
use einlang_source::{Diagnostics, MemoryWorld, Sources};
use einlang_testkit::fixtures;
use einlang_tir::host::{parse_program, verify_program};

/// The printed code, or the messages that stand in its way.
fn lowered(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let resolved = resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (program, interner) = (&resolved.program, &resolved.interner);
    let mut found = resolved.diagnostics.clone();
    let (typed, more) = types::check(program, interner);
    found.extend(more);
    let (layouts, more) = coords::check(program, &typed, interner);
    found.extend(more);
    let (extents, more) =
        shapes::analyse(program, &typed, &layouts, interner, &shapes::Options::default());
    found.extend(more);
    if found.has_errors() {
        return messages(&found);
    }
    match lower::lower(program, &typed, &extents, interner, &lower::Options::default()) {
        Ok(lowered) => {
            let problems = verify_program(&lowered.program);
            assert!(problems.is_empty(), "{problems:?}");
            let text = lowered.program.to_string();
            let read = parse_program(&text).expect("what is printed reads back");
            assert_eq!(read.to_string(), text);
            text
        }
        Err(diagnostics) => messages(&diagnostics),
    }
}

fn messages(diagnostics: &Diagnostics) -> String {
    let lines = diagnostics.iter().map(|d| format!("{} {}\n", d.code.as_str(), d.message));
    lines.collect()
}

#[test]
fn programs_are_lowered_as_printed() {
    fixtures::check("tests/lower", "host", |program| lowered(&program.text));
}
