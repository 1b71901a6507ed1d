//! Code that is made quickly first: the same results on the way to thorough code, whenever a process ends,
//! and whatever is found in a cache.

#![cfg(feature = "native")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use einlang_codegen::Llvm;
use einlang_driver::cache::Cache;
use einlang_driver::{
    Backend, Compile, Executable, Given, Kept, Native, Permits, Printer, ProjectIo, RunOptions,
    Session, Threads,
};
use einlang_source::MemoryWorld;

/// A program with more code than programs wait for.
const MLP: &str = include_str!("../../../bench/mlp_train_step.ein");

const MAIN: &str = "mod mlp_train_step;
input n: i32 = 6;
let x[i in 0..n, j in 0..n] = (i * 3 + j) as f32 * 0.02;
let labels[i in 0..n] = i % 2;
let w1[i in 0..n, j in 0..n] = (i - j) as f32 * 0.1;
let b1[i in 0..n] = 0.25f32;
let w2[i in 0..n, j in 0..n] = (i + j) as f32 * 0.05;
let b2[i in 0..n] = 0.125f32;
let out = mlp_train_step::run(x, labels, w1, b1, w2, b2);
print(out);
";

/// Keeps what is printed.
#[derive(Default)]
struct Lines(Vec<String>);

impl Printer for Lines {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.0.push(line.to_owned());
        Ok(())
    }
}

fn executable() -> Executable {
    let world = MemoryWorld::new().with("main.ein", MAIN).with("mlp_train_step.ein", MLP);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("main.ein")).expect("the program is there");
    session.build(file).expect("the program is right")
}

fn options(native: &Native, compile: Compile) -> RunOptions {
    let mut options = RunOptions::default();
    options.limits.backend = Backend::Native;
    options.limits.native = Some(native.clone());
    options.limits.compile = compile;
    options.limits.kept = Kept::new();
    options
}

/// What the program prints, which tells floats apart bit by bit.
fn run(executable: &Executable, options: &RunOptions) -> Vec<String> {
    let permits = Permits::new(Path::new("."), &[], &[]).expect("a folder");
    let mut lines = Lines::default();
    let mut io = ProjectIo::new(permits, &mut lines, 0);
    assert!(executable.run(options, &mut io).is_ok());
    lines.0
}

#[test]
fn calls_may_go_on_while_code_gets_better() {
    let executable = executable();
    let thorough = Native(Arc::new(Llvm::default()));
    let right = run(&executable, &options(&thorough, Compile::Thorough));
    assert_eq!(thorough.0.made().quick_runs, 0);
    let native = Native(Arc::new(Llvm::default()));
    let tiered = options(&native, Compile::Tiered);
    let is_settled = AtomicBool::new(false);
    assert_eq!(run(&executable, &tiered), right);
    assert!(native.0.made().quick_runs > 0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_settled.load(Ordering::Relaxed) {
                    assert_eq!(run(&executable, &tiered), right);
                }
            });
        }
        native.0.settle();
        is_settled.store(true, Ordering::Relaxed);
    });
    let before = native.0.made();
    assert_eq!(run(&executable, &tiered), right);
    assert_eq!(native.0.made(), before, "thorough code runs");
    assert_eq!(before.not_improved, 0);
}

#[test]
fn who_wants_thorough_code_waits_for_it() {
    let executable = executable();
    let native = Native(Arc::new(Llvm::default()));
    let right = run(&executable, &options(&native, Compile::Tiered));
    let before = native.0.made();
    assert!(before.quick_runs > 0);
    assert_eq!(run(&executable, &options(&native, Compile::Thorough)), right);
    assert_eq!(native.0.made(), before, "it was made once, and what is quick did not run again");
}

/// Contractions: rows and lanes of tiles, and what is left of both; blocks of terms; a sum below a diagonal.
const CONTRACTIONS: &str = "input n: i32 = 6;
let a[i in 0..n, k in 0..3 * n] = ((i * 7 + k * 3) % 11) as f32 * 0.3 - 1.3;
let b[k in 0..3 * n, j in 0..n + 5] = ((k * 5 + j) % 13) as f32 * 0.7 - 3.1;
let c[i in 0..n, k in 0..n] = ((i + k * 3) % 17) as f64 * 0.11 - 0.6;
let d[k in 0..n, j in 0..n] = ((k * 2 + j * 5) % 19) as f64 * 0.13 - 0.9;
let product[i, j] = sum[k](a[i, k] * b[k, j]);
let crossed[i, j] = sum[k](c[k, i] * d[k, j]) * 0.5;
let below[i in 0..n, j in 0..n] = sum[k in 0..j](c[i, k] * d[k, j]);
let squares = sum[i, j](product[i, j] * product[i, j]);
print(squares, sum[i, j](crossed[i, j]), sum[i, j](below[i, j]));
print(product[n - 1, n - 1], crossed[0, n - 1], below[n - 1, n - 1], below[0, 1]);
print([product[i, j] | i in 0..n, j in 0..n + 5, (i * 31 + j) % 41 == 0]);
print([crossed[i, j] + below[i, j] | i in 0..n, j in 0..n, (i * 31 + j) % 41 == 0]);
";

#[test]
fn sums_of_products_are_the_same_bits() {
    let world = MemoryWorld::new().with("main.ein", CONTRACTIONS);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("main.ein")).expect("the program is there");
    let executable = session.build(file).expect("the program is right");
    let native = Native(Arc::new(Llvm::default()));
    for n in ["2", "17", "32", "75", "110"] {
        let [quick, thorough] = [Compile::Quick, Compile::Thorough].map(|compile| {
            let mut options = options(&native, compile);
            options.inputs = vec![("n".to_owned(), Given::Text(n.to_owned()))];
            run(&executable, &options)
        });
        assert_eq!(quick, thorough, "n = {n}");
    }
}

/// A large kernel whose sums have few terms, as many as the program says: those are loops where code is made quickly.
const MIXTURE: &str = "mod gmm_grad;
input n: i32 = 70;
let x[i in 0..n, a in 0..3] = ((i * 7 + a * 5) % 13) as f64 * 0.17 - 1.1;
let alpha[k in 0..16] = (k % 5) as f64 * 0.25;
let mu[k in 0..16, a in 0..3] = ((k * 3 + a) % 7) as f64 * 0.3 - 0.9;
let q[k in 0..16, a in 0..3] = ((k + a) % 4) as f64 * 0.125;
let L[k in 0..16, a in 0..3, b in 0..3] = ((k + a * 2 + b) % 5) as f64 * 0.15;
print(gmm_grad::run(x, alpha, mu, q, L, 1.0, 2.0));
";

#[test]
fn short_loops_are_the_same_bits() {
    let mixture = include_str!("../../../bench/gmm_grad.ein");
    let world = MemoryWorld::new().with("main.ein", MIXTURE).with("gmm_grad.ein", mixture);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("main.ein")).expect("the program is there");
    let executable = session.build(file).expect("the program is right");
    let native = Native(Arc::new(Llvm::default()));
    let [quick, thorough] = [Compile::Quick, Compile::Thorough]
        .map(|compile| run(&executable, &options(&native, compile)));
    assert_eq!(quick, thorough);
}

/// Neighbours in a window, rows from the last to the first, truth values, and sums and extremes of them.
const NEIGHBOURS: &str = "
input n: i32;
let x[i in 0..n, j in 0..n] = ((i * 7 + j * 3) % 11) as f64 * 0.25;
let u[0, i in 0..n, j in 0..n] = x[i, j];
let u[t in 1..6, i in 0..n, j in 0..n] = if i > 0 && i + 1 < n && j > 0 && j + 1 < n {
    0.3 * (u[t - 1, i - 1, j] + u[t - 1, i, j - 1]) - u[t - 1, i, j] + 0.7 * u[t - 1, i, j + 1]
} else {
    0.5 * u[t - 1, i, j]
};
let b[n - 1, j in 0..n] = x[n - 1, j];
let b[i in 0..n - 1, j in 0..n] = 0.5 * b[i + 1, j] + x[i, n - 1 - j];
let large[i in 0..n, j in 0..n] = x[i, j] > 1.0;
let picked[i] = sum[j](if large[i, j] { u[5, i, j] } else { b[i, j] });
let top[i] = max[j](u[5, i, j] - b[j, i]);
print(u[5, n - 1, 0], picked, top);
";

#[test]
fn places_found_once_are_the_same_bits() {
    let world = MemoryWorld::new().with("main.ein", NEIGHBOURS);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("main.ein")).expect("the program is there");
    let executable = session.build(file).expect("the program is right");
    let native = Native(Arc::new(Llvm::default()));
    for n in ["1", "2", "7", "16", "41", "130"] {
        let [quick, thorough] = [Compile::Quick, Compile::Thorough].map(|compile| {
            let mut options = options(&native, compile);
            options.inputs = vec![("n".to_owned(), Given::Text(n.to_owned()))];
            run(&executable, &options)
        });
        assert_eq!(quick, thorough, "{n}");
    }
}

#[test]
fn what_is_dropped_is_not_waited_for() {
    let executable = executable();
    let native = Native(Arc::new(Llvm::default()));
    let tiered = options(&native, Compile::Tiered);
    let right = run(&executable, &tiered);
    assert!(native.0.end(true), "nothing is being made any more");
    assert_eq!(run(&executable, &tiered), right);
    let fresh = options(&native, Compile::Tiered);
    assert_eq!(run(&executable, &fresh), right);
}

#[test]
fn plans_that_are_found_serve_other_sizes() {
    let executable = executable();
    let folder = tempfile::tempdir().expect("a folder");
    // Small sizes are left to one thread, and larger ones follow.
    let in_turn = |llvm: Llvm| {
        let native = Native(Arc::new(llvm));
        let mut options = options(&native, Compile::Quick);
        options.limits.threads = Threads { most: 2, least_work: Some(60_000) };
        ["6", "70", "5", "41"].map(|n| {
            options.inputs = vec![("n".to_owned(), Given::Text(n.to_owned()))];
            run(&executable, &options)
        })
    };
    let right = in_turn(Llvm::default());
    for _ in 0..2 {
        let cache = Cache::new(folder.path().join("kept"), 1 << 28);
        assert_eq!(in_turn(Llvm::with_cache(cache)), right);
    }
}

/// A folder with the program, and a cache.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("main.ein"), MAIN).expect("a file");
        std::fs::write(folder.path().join("mlp_train_step.ein"), MLP).expect("a file");
        Folder(folder)
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    fn run(&self, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
        command.args(["run", "main.ein", "--explain"]).args(more).current_dir(self.0.path());
        command.env("EINLANG_CACHE_DIR", self.cache()).env_remove("EINLANG_COMPILE");
        // What is measured may differ from run to run, and plans with it.
        command.env("EINLANG_LEAST_WORK", "60000");
        command.output().expect("the binary starts")
    }

    /// What stands in the notes: kernels compiled, from the cache, runs of quick code.
    fn counts(&self, more: &[&str]) -> (u64, u64, u64) {
        let output = self.run(more);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let number = |before: &str| {
            let rest = stderr.split_once(before).map_or("0", |(_, rest)| rest);
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().expect("a number")
        };
        let quick = number("compiled quickly: ");
        (number("kernels compiled: "), number("from the cache: "), quick)
    }
}

#[test]
fn processes_end_while_code_is_being_made() {
    let folder = Folder::new();
    let right = folder.run(&["--compile", "thorough", "--no-cache"]).stdout;
    for round in 0..20 {
        let _ = std::fs::remove_dir_all(folder.cache());
        let output = folder.run(&[]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "round {round}: {stderr}");
        assert_eq!(output.stdout, right, "round {round}");
        let left = std::fs::read_dir(folder.cache()).expect("a cache").flatten();
        let names: Vec<String> =
            left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(names.iter().all(|name| name.ends_with(".obj")), "round {round}: {names:?}");
    }
}

#[test]
fn what_another_version_kept_is_ignored_and_written_again() {
    let folder = Folder::new();
    let thorough = ["--compile", "thorough"];
    let right = folder.run(&thorough).stdout;
    let entries = || -> Vec<(PathBuf, Vec<u8>)> {
        let found = std::fs::read_dir(folder.cache()).expect("a cache").flatten();
        let mut all: Vec<(PathBuf, Vec<u8>)> = found
            .map(|entry| (entry.path(), std::fs::read(entry.path()).expect("an entry")))
            .collect();
        all.sort();
        all
    };
    // Objects and plans alike begin with the version that made them, in the entry as in its key.
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let place = |bytes: &[u8]| bytes.windows(version.len()).position(|part| part == version);
    let kept = entries();
    assert!(kept.len() > 1, "an object and a plan at least");
    for (path, bytes) in &kept {
        let (mut bytes, at) = (bytes.clone(), place(bytes).expect("a version"));
        bytes[at..at + version.len()].fill(b'9');
        std::fs::write(path, bytes).expect("an entry");
    }
    let (compiled, found, _) = folder.counts(&thorough);
    assert!(compiled > 0 && found == 0, "{compiled} compiled, {found} found");
    let places = |all: &[(PathBuf, Vec<u8>)]| -> Vec<(PathBuf, Option<usize>)> {
        all.iter().map(|(path, bytes)| (path.clone(), place(bytes))).collect()
    };
    assert_eq!(places(&entries()), places(&kept));
    let output = folder.run(&thorough);
    assert_eq!(output.stdout, right);
    assert!(folder.counts(&thorough).0 == 0, "all of it is found again");
}

#[test]
fn the_second_run_keeps_thorough_code() {
    let folder = Folder::new();
    let (n, found, quick) = folder.counts(&[]);
    assert!(n > 0 && found == 0 && quick > 0, "{n} {found} {quick}");
    // What was made quickly is there at once, and the process stays until it is better.
    let (compiled, found, _) = folder.counts(&[]);
    assert_eq!((compiled, found), (0, n));
    assert_eq!(folder.counts(&[]), (0, n, 0));
    assert_eq!(folder.counts(&["--compile", "thorough"]), (0, n, 0));
    // Neither takes the place of the other.
    let (compiled, _, quick) = folder.counts(&["--compile", "quick"]);
    assert!(compiled > 0 && quick > 0);
    assert_eq!(folder.counts(&[]), (0, n, 0));
}
