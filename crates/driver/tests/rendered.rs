//! How the failing programs of the error pages are reported, as people see it: one snapshot per
//! code in `tests/errors`, so that every code has a rendered message that somebody has read.
//!
//! With `EINLANG_BLESS=1` the snapshots are rewritten.

use std::path::{Path, PathBuf};

use einlang_driver::{Session, explain};
use einlang_source::MemoryWorld;
use einlang_source::render::{self, Options};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/errors")
}

/// The failing programs of a page.
fn failing(page: &str) -> impl Iterator<Item = &str> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix("ein,fails\n"))
}

/// The messages of a program that is saved as `main.ein`, or of the path its first line names.
fn report(text: &str) -> String {
    let called = text.lines().next().and_then(|line| line.strip_prefix("// $ einlang run "));
    let world = MemoryWorld::new().with("src/main.ein", text);
    let mut session = Session::new(&world);
    let path = Path::new(called.unwrap_or("src/main.ein"));
    let found = match session.load(path) {
        Ok(file) => session.check(file),
        Err(errors) => errors,
    };
    let options = Options::default();
    let shown = found.iter().map(|d| render::human(session.sources(), d, &options));
    shown.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn every_code_is_rendered_as_recorded() {
    let bless = std::env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1");
    for (code, page) in explain::PAGES {
        let reports: Vec<String> = failing(page).map(report).collect();
        let actual = reports.join("\n\n--------\n\n") + "\n";
        let path = folder().join(format!("{code}.txt"));
        if bless {
            std::fs::create_dir_all(folder()).expect("the folder can be made");
            std::fs::write(&path, &actual).expect("the snapshot can be written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(actual, expected, "{code}; EINLANG_BLESS=1 rewrites the snapshot");
    }
}

#[test]
fn every_snapshot_has_its_code() {
    let entries = std::fs::read_dir(folder()).expect("there are snapshots");
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let code = name.trim_end_matches(".txt");
        assert!(explain::find(code).is_some(), "{name} belongs to no code");
    }
}
