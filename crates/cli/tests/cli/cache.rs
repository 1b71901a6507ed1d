//! `einlang cache`, and what is kept between runs.

use std::fs;

use crate::support::{Answer, Sandbox};

const PROGRAM: &str = "input n: i32 = 5;
let x[i in 0..n] = i as f32 * 0.5;
print(sum[i](x[i] * x[i]));
let h[0] = 1.0;
let h[t in 1..n + 1] = h[t - 1] * 0.5 + x[t - 1];
print(h[last]);
";

/// A run that keeps code in the sandbox.
fn run(sandbox: &Sandbox, more: &[&str]) -> Answer {
    let args = [&["run", "p.ein", "--backend", "native", "--explain"], more].concat();
    let mut command = sandbox.command(&args);
    command.env("EINLANG_CACHE_DIR", sandbox.path("kept"));
    Answer::of(&command.output().expect("the binary starts")).ends_with(0)
}

/// The kernels that a run compiled, and those it found.
fn made(answer: &Answer) -> (u64, u64) {
    let line = answer.stderr.lines().find_map(|line| line.strip_prefix("note: kernels compiled: "));
    let (compiled, found) =
        line.and_then(|line| line.split_once(", from the cache: ")).expect("it says");
    (compiled.parse().expect("a number"), found.parse().expect("a number"))
}

#[test]
fn there_may_be_no_folder_for_it() {
    Sandbox::new().transcript("cache-nowhere", &["cache"]).ends_with(2);
}

#[test]
fn an_empty_cache_is_shown_and_cleared() {
    let sandbox = Sandbox::new();
    let answer = |action| {
        let mut command = sandbox.command(&["cache", action]);
        command.env("EINLANG_CACHE_DIR", "kept");
        Answer::of(&command.output().expect("the binary starts")).ends_with(0)
    };
    let shown =
        "folder: kept\nkernels and plans: 0\nbytes: 0 of at most 268435456\ntuned schedules: 0\n";
    assert_eq!(answer("info").stdout, shown);
    assert_eq!(answer("clear").stderr, "removed 0 kernels and plans (0 bytes)\n");
}

#[test]
fn a_new_length_compiles_nothing() {
    if !cfg!(feature = "native") {
        return;
    }
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    let (first, none) = made(&run(&sandbox, &[]));
    assert!(first >= 2 && none == 0, "{first} {none}");
    for n in ["0", "1", "2", "16", "17", "1000", "100003"] {
        let answer = run(&sandbox, &["--input", &format!("n={n}")]);
        assert_eq!(made(&answer), (0, first), "n = {n}");
    }
    let fresh = run(&sandbox, &["--no-cache"]);
    assert_eq!(made(&fresh), (first, 0));
    let checked = run(&sandbox, &["--checked"]);
    assert_eq!(made(&checked), (first, 0), "other options, other code");
}

#[test]
fn damaged_objects_are_made_again() {
    if !cfg!(feature = "native") {
        return;
    }
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    let right = run(&sandbox, &[]);
    let (n, _) = made(&right);
    for (number, entry) in
        fs::read_dir(sandbox.path("kept")).expect("a folder").flatten().enumerate()
    {
        let mut bytes = fs::read(entry.path()).expect("an object");
        match number % 2 {
            0 => bytes.truncate(bytes.len() / 2),
            _ => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
        }
        fs::write(entry.path(), bytes).expect("a file");
    }
    let again = run(&sandbox, &[]);
    assert_eq!((made(&again), again.stdout), ((n, 0), right.stdout.clone()));
    let found = run(&sandbox, &[]);
    assert_eq!((made(&found), found.stdout), ((0, n), right.stdout));
}

#[test]
fn runs_may_share_it() {
    if !cfg!(feature = "native") {
        return;
    }
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    let outputs: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| run(&sandbox, &[]).stdout)).collect();
        runs.into_iter().map(|run| run.join().expect("it ran")).collect()
    });
    assert!(outputs.iter().all(|output| *output == outputs[0] && !output.is_empty()));
}

#[test]
fn what_is_missing_is_made_again() {
    if !cfg!(feature = "native") {
        return;
    }
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    let right = run(&sandbox, &[]).stdout;
    let all = fs::read_dir(sandbox.path("kept")).expect("a folder").flatten();
    let paths: Vec<_> = all.map(|entry| entry.path()).collect();
    assert!(paths.len() > 2, "there are kernels and plans");
    // A plan may be left without its code, and code without its plan.
    for path in &paths {
        fs::remove_file(path).expect("it is there");
        assert_eq!(run(&sandbox, &[]).stdout, right);
    }
}

#[test]
fn plans_that_are_found_know_where_tensors_were_defined() {
    if !cfg!(feature = "native") {
        return;
    }
    let text = "let x[i in 0..n] = i as f32;\nprint(sum[i](x[i] * x[n - 1 - i]));\n";
    let sandbox = Sandbox::new();
    let too_much = |before: &str| {
        fs::write(sandbox.path("p.ein"), format!("input n: i32 = 4000000;\n{before}{text}"))
            .expect("a file");
        let args = ["run", "p.ein", "--backend", "native", "--max-memory", "1M"];
        let mut command = sandbox.command(&args);
        command.env("EINLANG_CACHE_DIR", sandbox.path("kept"));
        Answer::of(&command.output().expect("the binary starts")).ends_with(1).stderr
    };
    let first = too_much("");
    assert!(first.contains("p.ein:2:1"), "{first}");
    assert_eq!(too_much(""), first);
    let moved = too_much("// a remark\n");
    assert!(moved.contains("p.ein:3:1"), "{moved}");
}
