//! The time to check programs of growing length, from text to ranges and shapes. Run with
//! `cargo xtask bench check`.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use einlang_sema::shapes::{self, Options};
use einlang_sema::{coords, types};
use einlang_source::{MemoryWorld, Sources};

/// The allocator of the `einlang` binary, so that the figures are those of `einlang check`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each length is checked; the median is shown.
const ROUNDS: usize = 11;

fn main() {
    // A number of lines as the argument checks one program of that length once, in this process.
    let given: Option<usize> = std::env::args().nth(1).and_then(|text| text.parse().ok());
    if let Some(n_lines) = given {
        println!("{}", check(&program(n_lines)));
        return;
    }
    let sizes = [10_000, 20_000, 40_000];
    let mut times = sizes.map(|_| Vec::with_capacity(ROUNDS));
    // In turn, so that a busy moment of the machine is shared by all.
    for _ in 0..ROUNDS {
        for (n_lines, times) in sizes.iter().zip(&mut times) {
            times.extend(in_a_process(*n_lines));
        }
    }
    for (n_lines, mut times) in sizes.iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let median = times.get(times.len() / 2).map_or(f64::NAN, |seconds| seconds * 1e3);
        println!("check {n_lines:6} lines: {median:7.1} ms");
    }
}

/// The seconds of a check as users have it: once, in a process of its own.
fn in_a_process(n_lines: usize) -> Option<f64> {
    let own = std::env::current_exe().ok()?;
    let output = Command::new(own).arg(n_lines.to_string()).output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().last()?.trim().parse().ok()
}

/// Ten lines at a time: a function, tensors, a recurrence, a call and a branch.
fn program(n_lines: usize) -> String {
    let mut text = String::new();
    for i in 0..n_lines / 10 {
        write!(
            text,
            "fn f{i}(x: [f32; N], k: f32) -> f32 {{\n    let y[i] = x[i] * k + {i}.5;\n    \
             sum[i](y[i])\n}}\nlet a{i} = [1.0, 2.0, {i}.0];\nlet b{i}[i] = a{i}[i] * 2.0;\n\
             let c{i}[0] = 1.0;\nlet c{i}[t in 1..9] = c{i}[t - 1] * 0.5 + {i}.0;\n\
             let d{i} = f{i}(b{i}, 2.0);\nlet e{i} = if d{i} > 1.0 {{ c{i}[8] }} else {{ 0.0 }};\n"
        )
        .expect("invariant: writing to a string cannot fail");
    }
    text
}

/// Checks once and gives the seconds it took.
fn check(text: &str) -> f64 {
    let mut sources = Sources::new();
    let file = sources.add("bench.ein", text);
    let start = Instant::now();
    let resolved = einlang_sema::resolve(&MemoryWorld::new(), &mut sources, file, Path::new(""));
    let (program, interner) = (&resolved.program, &resolved.interner);
    let names = start.elapsed();
    let (typed, mut found) = types::check(program, interner);
    let types = start.elapsed();
    let (coords, more) = coords::check(program, &typed, interner);
    found.extend(more);
    let coordinates = start.elapsed();
    let (_, more) = shapes::analyse(program, &typed, &coords, interner, &Options::default());
    found.extend(more);
    let seconds = start.elapsed().as_secs_f64();
    if std::env::var_os("EINLANG_BENCH_STAGES").is_some() {
        println!("  names {names:?} types {types:?} coords {coordinates:?} shapes {seconds:.3}s");
    }
    assert!(resolved.diagnostics.is_empty() && found.is_empty(), "the program is right");
    seconds
}
