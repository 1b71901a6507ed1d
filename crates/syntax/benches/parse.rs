//! Lexing and parsing throughput on one core. Run with `cargo xtask bench parse`.
//!
//! The text is the syntax fixtures and examples of the project, repeated to about 1 MB, so that
//! the mix of constructs is that of real programs.

use std::path::Path;
use std::time::Instant;

use einlang_source::Sources;

const TARGET_BYTES: usize = 1 << 20;
const ROUNDS: usize = 25;

fn main() {
    let text = corpus();
    let mut sources = Sources::default();
    let file = sources.add("bench.ein", text.as_str());
    let megabytes = text.len() as f64 / 1e6;
    let lexing = best(|| einlang_syntax::lexer::lex(&text).len());
    let parsing = best(|| einlang_syntax::parse(file, text.as_str()).tree.n_nodes());
    println!("corpus: {megabytes:.1} MB");
    println!("lex:           {:7.1} MB/s", megabytes / lexing);
    println!("lex and parse: {:7.1} MB/s", megabytes / parsing);
}

/// The shortest time of several rounds, in seconds.
fn best(mut work: impl FnMut() -> usize) -> f64 {
    let mut shortest = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::hint::black_box(work());
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    shortest
}

fn corpus() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut once = String::new();
    for folder in ["examples", "tests/parse"] {
        add_programs(&root.join(folder), &mut once);
    }
    assert!(!once.is_empty(), "the project has programs");
    once.repeat(TARGET_BYTES.div_ceil(once.len()))
}

fn add_programs(folder: &Path, out: &mut String) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "ein")) {
        if let Ok(text) = std::fs::read_to_string(path) {
            out.push_str(&text);
            out.push('\n');
        }
    }
}
