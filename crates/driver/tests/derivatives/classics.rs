//! Problems of the literature, against derivatives that were computed independently.
//!
//! `tests/derivatives/classics/reference.py` wrote the programs and what they must give.

use std::path::{Path, PathBuf};

use einlang_driver::run::RunOptions;
use einlang_interp::io::MemoryIo;
use einlang_interp::options::Backend;
use einlang_tir::passes::Mode;

use super::{build, numbers, words};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/derivatives/classics")
}

/// The lists of numbers in a file with one `"name": [numbers]` a line.
fn recorded(text: &str) -> Vec<(String, Vec<f64>)> {
    let lines = text.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
    let list = |(name, list): (&str, &str)| {
        let inside = list.trim_start_matches('[').trim_end_matches(']');
        let numbers = inside.split(", ").map(|number| number.parse().expect("a number"));
        (name.trim_matches('"').to_owned(), numbers.collect())
    };
    lines.map(list).collect()
}

fn compare(name: &str, mode: Mode, backend: Backend) {
    let read = |ending: &str| {
        let path = folder().join(format!("{name}.{ending}"));
        std::fs::read_to_string(path).expect("a text")
    };
    let expected = recorded(&read("json"));
    let outputs: Vec<String> = expected.iter().map(|(name, _)| name.clone()).collect();
    let executable = build(&read("ein"), &outputs, mode);
    let mut options = RunOptions::default();
    options.limits.backend = backend;
    let outcome = match executable.run(&options, &mut MemoryIo::default()) {
        Ok(outcome) => outcome,
        Err(failure) => panic!("{name}: {}", words(&failure)),
    };
    for (wanted, numbers_of) in &expected {
        let output = outcome.outputs.iter().find(|output| output.name == *wanted);
        let found = numbers(&output.expect("an output").value);
        assert_eq!(found.len(), numbers_of.len(), "{name}: {wanted}");
        for (at, (a, b)) in found.iter().zip(numbers_of).enumerate() {
            let close = (a - b).abs() <= 1e-8 * (1.0 + b.abs());
            assert!(close, "{name}: {wanted} at {at} is {a}, not {b}, {mode:?}");
        }
    }
}

#[test]
fn classic_problems_agree_with_their_references() {
    for name in ["gmm", "bundle", "lstm", "hand"] {
        for mode in [Mode::Cheaper, Mode::Forward, Mode::Reverse] {
            compare(name, mode, Backend::Oracle);
        }
    }
    for name in ["gmm", "bundle", "lstm", "hand"] {
        compare(name, Mode::Cheaper, Backend::Bytecode);
    }
}
