//! Damaged programs: whatever is written, the checker answers, and every error has a help.

use std::path::Path;

use einlang_sema::shapes::{self, Options};
use einlang_sema::{coords, types};
use einlang_source::{MemoryWorld, Severity, Sources};
use einlang_testkit::generate::Source;
use einlang_testkit::generate::program::{Section, program};
use einlang_testkit::mutate::Mutator;
use einlang_testkit::repository;

/// Runs all stages that the program reaches, and tells whether it is right.
fn check(text: &str) -> bool {
    let mut sources = Sources::new();
    let file = sources.add("damaged.ein", text);
    let resolved = einlang_sema::resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (program, interner) = (&resolved.program, &resolved.interner);
    let mut found = resolved.diagnostics.clone();
    if resolved.is_whole() {
        let (typed, more) = types::check(program, interner);
        found.extend(more);
        if !found.has_errors() {
            let (coords, more) = coords::check(program, &typed, interner);
            found.extend(more);
            let options = Options::default();
            let (found_shapes, more) =
                shapes::analyse(program, &typed, &coords, interner, &options);
            found.extend(more);
            shapes::reveal(program, &typed, &coords, &found_shapes, interner);
        }
    }
    for diagnostic in &found {
        let helped = diagnostic.severity != Severity::Error || !diagnostic.helps.is_empty();
        assert!(helped, "no help for {}: {}\n{text}", diagnostic.code, diagnostic.message);
        assert!(diagnostic.spans().all(|span| span.end as usize <= sources.text(span.file).len()));
    }
    !found.has_errors()
}

/// The programs of the literate suite.
fn literate() -> Vec<String> {
    let folder = repository::root().join("tests/checker");
    let mut programs = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the suite is there").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "ein") {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            let cases = text.split("////").map(|case| {
                // The rest of the first line is the name of the case.
                case.split_once('\n').map_or(String::new(), |(_, program)| program.to_owned())
            });
            programs.extend(cases.filter(|case| !case.trim().is_empty()));
        }
    }
    assert!(programs.len() > 500);
    programs.sort();
    programs
}

fn damage(text: &str, seed: u64, n_changes: usize) -> Option<String> {
    let mut source = Source::from_seed(seed);
    let mut text = text.to_owned();
    for _ in 0..n_changes {
        text = Mutator::new(&text).random(&mut source)?.text;
    }
    Some(text)
}

#[test]
fn damaged_cases_of_the_literate_suite_are_answered() {
    let mut n_right = 0;
    for (number, case) in literate().iter().enumerate() {
        for seed in 0..6 {
            let changes = 1 + seed as usize % 2;
            if let Some(text) = damage(case, 1000 * number as u64 + seed, changes) {
                n_right += usize::from(check(&text));
            }
        }
    }
    // Some changes do no harm: without them the damage would be too coarse to reach shapes.
    assert!(n_right > 100, "only {n_right} damaged programs reach the last stage");
}

#[test]
fn damaged_random_programs_are_answered() {
    for seed in 0..150 {
        let text = program(&mut Source::from_seed(seed), Section::ALL, 8).text;
        for change in 0..4 {
            if let Some(text) = damage(&text, 7919 * seed + change, 1) {
                check(&text);
            }
        }
    }
}
