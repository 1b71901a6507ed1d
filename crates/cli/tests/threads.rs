//! The programs of `bench` on one, two and three threads: not a bit differs, in whatever order threads
//! run between barriers, nor if code is made quickly. What is small is divided too, and limits, errors and interruptions are the same.

#![cfg(feature = "native")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use einlang_codegen::Llvm;
use einlang_driver::{
    Compile, Executable, Failure, Given, Kept, Native, Permits, Printer, ProjectIo, RunOptions,
    Session, Threads,
};
use einlang_source::MemoryWorld;

/// Prints nothing.
struct Silence;

impl Printer for Silence {
    fn line(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}

fn build(world: &MemoryWorld) -> Executable {
    let mut session = Session::new(world);
    let file = session.load(Path::new("main.ein")).expect("the program is there");
    match session.build(file) {
        Ok(executable) => executable,
        Err(Failure::Program(found)) => {
            let all: Vec<_> = found.iter().map(|d| d.message.clone()).collect();
            panic!("{}", all.join("\n"));
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// The outputs as they are printed, which tells floats apart bit by bit, or what went wrong.
fn run(executable: &Executable, options: &RunOptions) -> Result<String, String> {
    let permits = Permits::new(Path::new("."), &[], &[]).expect("a folder");
    let mut silence = Silence;
    let mut io = ProjectIo::new(permits, &mut silence, 0);
    match executable.run(options, &mut io) {
        Ok(outcome) => Ok(outcome.json().split("\"timings\"").next().unwrap_or("").to_owned()),
        Err(Failure::Program(found)) => {
            let each =
                found.iter().map(|d| format!("{} {} {:?}", d.code, d.message, d.primary.span));
            Err(each.collect::<Vec<_>>().join("\n"))
        }
        Err(Failure::Usage { message, .. } | Failure::Bug(message)) => panic!("{message}"),
    }
}

fn options(n_threads: usize, native: &Native) -> RunOptions {
    let mut options = RunOptions::default();
    options.limits.backend = einlang_driver::Backend::Native;
    options.limits.native = Some(native.clone());
    options.limits.threads = Threads { most: n_threads, least_work: Some(0) };
    options
}

fn native(llvm: Llvm) -> Native {
    Native(Arc::new(llvm))
}

#[test]
fn workloads_do_not_depend_on_threads() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../bench");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ein"));
    paths.sort();
    assert!(paths.len() > 20, "{paths:?}");
    let (one, many) = (native(Llvm::default()), native(Llvm::default()));
    let turns = native(Llvm::default().in_turns());
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a program");
        let main = caller(&name, &text);
        let world = MemoryWorld::new().with("main.ein", main).with(format!("{name}.ein"), text);
        let executable = build(&world);
        let right = run(&executable, &options(1, &one));
        assert!(right.is_ok(), "{name}: {right:?}");
        for (n_threads, native) in [(2, &many), (3, &many), (2, &turns), (3, &turns), (5, &turns)] {
            let found = run(&executable, &options(n_threads, native));
            assert_eq!(right, found, "{name} on {n_threads} threads");
        }
        for n_threads in [1, 2] {
            let mut quick = options(n_threads, &many);
            quick.limits.compile = Compile::Quick;
            let found = run(&executable, &quick);
            assert_eq!(right, found, "{name} on {n_threads} threads, made quickly");
        }
    }
}

/// A program that calls `run` of a workload on tensors of some numbers.
fn caller(module: &str, text: &str) -> String {
    let head = text.split_once("pub fn run(").expect("a function").1;
    let head = &head[..head.find(") ->").expect("a result")];
    let mut program = format!("mod {module};\ninput n: i32 = 7;\n");
    let mut names = Vec::new();
    let mut rest = head.trim();
    while let Some((name, after)) = rest.split_once(':') {
        let after = after.trim_start();
        let end = match after.strip_prefix('[') {
            Some(tensor) => tensor.find(']').map_or(after.len(), |at| at + 2),
            None => after.find(',').unwrap_or(after.len()),
        };
        let (name, ty) = (name.trim(), &after[..end]);
        program += &argument(name, ty);
        names.push(format!("p_{name}"));
        rest = after[end..].trim_start_matches([',', ' ', '\n']).trim();
    }
    program + &format!("let out = {module}::run({});\n", names.join(", "))
}

fn argument(name: &str, ty: &str) -> String {
    let of = |elem: &str, index: &str| match elem {
        "bool" => format!("({index}) % 3 == 1"),
        "f32" | "f64" => format!("(({index}) % 11 + 1) as {elem} * 0.07"),
        _ => format!("(({index}) % 3) as {elem}"),
    };
    let Some(tensor) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) else {
        return match ty {
            "f32" | "f64" => format!("let p_{name} = 0.5{ty};\n"),
            _ => format!("let p_{name} = 4{ty};\n"),
        };
    };
    let (elem, dims) = tensor.split_once(';').unwrap_or((tensor, "N"));
    let sizes = dims.split(',').map(|dim| {
        let words = dim.trim().split(' ').map(|word| {
            let is_name = word.starts_with(|c: char| c.is_alphabetic());
            if is_name { "n" } else { word }
        });
        words.collect::<Vec<_>>().join(" ")
    });
    let indices = sizes.enumerate().map(|(at, size)| (format!("i{at}"), size));
    let (names, slots): (Vec<_>, Vec<_>) =
        indices.map(|(name, size)| (name.clone(), format!("{name} in 0..({size})"))).unzip();
    let primes = ["7", "5", "3", "2"];
    let terms = names.iter().zip(primes).map(|(name, prime)| format!("{name} * {prime}"));
    let index = terms.collect::<Vec<_>>().join(" + ");
    format!("let p_{name}[{}] = {};\n", slots.join(", "), of(elem.trim(), &index))
}

const LONG: &str = "let n = 300;
let x[0, i in 0..n, j in 0..n] = (i + j) as f32;
let x[t in 1..200000, i in 0..n, j in 0..n] = x[t - 1, i, j] * 0.5 + x[t - 1, j, i] * 0.5;
let end = sum[i in 0..n, j in 0..n](x[199999, i, j]);
print(end);
";

/// A stencil, whose threads follow each other as a wave.
const LONG_WAVE: &str = "let n = 300;
let x[0, i in 0..n, j in 0..n] = (i + j) as f32;
let x[t in 1..200000, i in 0..n, j in 0..n] = x[t - 1, i, j];
let x[t in 1..200000, i in 1..n - 1, j in 1..n - 1] = x[t - 1, i - 1, j] * 0.5 + x[t - 1, i, j + 1] * 0.5;
let end = sum[i in 0..n, j in 0..n](x[199999, i, j]);
print(end);
";

/// A stencil of so few points that a row of its wave is one round.
const SHORT_WAVE: &str = "input side: i32 = 6;
fn last(n: i64) -> [f32; N, N] {
    let u[0, i in 0..n, j in 0..n] = (i * j) as f32;
    let u[t in 1..25, i in 0..n, j in 0..n] = 0.9 * u[t - 1, i, j] + 1.0;
    let u[t in 1..25, i in 1..n - 1, j in 1..n - 1] = 0.5 * (u[t - 1, i - 1, j] + u[t - 1, i, j + 1]);
    let end[i, j] = u[24, i, j];
    end
}
let out = last(side as i64);
";

#[test]
fn rounds_of_short_waves_wait() {
    let world = MemoryWorld::new().with("main.ein", SHORT_WAVE);
    let executable = build(&world);
    let native = native(Llvm::default());
    let right = run(&executable, &options(1, &native));
    assert!(right.is_ok(), "{right:?}");
    for n_threads in [2, 3, 2, 3, 2, 3, 2, 3] {
        let found = run(&executable, &options(n_threads, &native));
        assert_eq!(right, found, "on {n_threads} threads");
    }
}

#[test]
fn limits_end_teams() {
    ends(LONG);
}

#[test]
fn limits_end_waves() {
    ends(LONG_WAVE);
}

fn ends(program: &str) {
    let world = MemoryWorld::new().with("main.ein", format!("fn main() {{\n{program}}}\n"));
    let executable = build(&world);
    let native = native(Llvm::default());
    for n_threads in [1, 3] {
        let mut limited = options(n_threads, &native);
        limited.timeout = Some(Duration::from_millis(200));
        let start = Instant::now();
        let ended = run(&executable, &limited).expect_err("it takes longer");
        assert!(ended.starts_with("E0803"), "{ended}");
        assert!(start.elapsed() < Duration::from_secs(20));
        let stopped = options(n_threads, &native);
        let switch = stopped.limits.interrupt.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(200));
                switch.set();
            });
            let ended = run(&executable, &stopped).expect_err("it is stopped");
            assert!(ended.contains("interrupted"), "{ended}");
        });
    }
}

#[test]
fn the_first_error_is_the_same() {
    let text = "input k: i32 = 900;
let x[i in 0..1000] = i as i32;
let y[i in 0..1000] = 7 / (x[i] / 100 - 4);
let z[i in 0..1000] = y[x[i] * 2 - k else 1] + x[i];
print(sum[i](z[i]));
";
    let world = MemoryWorld::new().with("main.ein", text.to_owned());
    let executable = build(&world);
    let (plain, turns) = (native(Llvm::default()), native(Llvm::default().in_turns()));
    let right = run(&executable, &options(1, &plain));
    assert!(right.as_ref().is_err_and(|error| error.starts_with("E0701")), "{right:?}");
    for n_threads in [2, 3, 4] {
        for native in [&plain, &turns] {
            assert_eq!(right, run(&executable, &options(n_threads, native)));
        }
    }
}

/// Several tiles of time and of rows. All numbers are whole, so the oracle has the same.
/// Sizes are inputs: those that are numbers of the program would be known to be small, and have no tiles.
const STENCILS: &str = "input steps: i32 = 21;
input height: i32 = 71;
input side: i32 = 11;
input length: i32 = 131;
fn plane(n: i64, m: i64, steps: i32) -> [f64; N, M] {
    let first[i in 0..n, j in 0..m] = ((i * 7 + j * 5) % 11) as f64;
    let u[0, i in 0..n, j in 0..m] = first[i, j];
    let u[t in 1..steps + 1, i in 0..n, j in 0..m] = {
        let here = u[t - 1, i, j];
        here + u[t - 1, i - 1, j else here] - u[t - 1, i + 1, j - 1 else 2.0]
    };
    u[steps]
}
fn space(n: i64, steps: i32) -> [f64; N, N, N] {
    let u[0, i in 0..n, j in 0..n, k in 0..n] = ((i * 7 + j * 5 + k * 3) % 11) as f64;
    let u[t in 1..steps + 1, i in 0..n, j in 0..n, k in 0..n] = u[t - 1, i, j, k];
    let u[t in 1..steps + 1, i in 1..n - 1, j in 1..n - 1, k in 1..n - 1] = u[t - 1, i - 1, j, k]
        + u[t - 1, i + 1, j, k] - u[t - 1, i, j, k] + u[t - 1, i, j, k + 1];
    u[steps]
}
// Rows that are long enough to begin with aligned vectors, and no multiple of any.
fn rows(n: i64, m: i64, steps: i32) -> [f64; N, M] {
    let u[0, i in 0..n, j in 0..m] = ((i * 7 + j * 5) % 11) as f64;
    let u[t in 1..steps + 1, i in 0..n, j in 0..m] = u[t - 1, i, j];
    let u[t in 1..steps + 1, i in 0..n, j in 1..m - 1] = u[t - 1, i, j - 1] - u[t - 1, i, j + 1];
    u[steps]
}
let long = rows(3, length as i64, steps);
let longer = rows(2, length as i64 / 2 + 1, steps);
let flat = plane(height as i64, 6, steps);
let wide = space(side as i64, steps);
let small = plane(71, 6, steps);
let cube = space(11, steps);
";

#[test]
fn tiles_of_steps_change_nothing() {
    let world = MemoryWorld::new().with("main.ein", STENCILS.to_owned());
    let executable = build(&world);
    let (plain, turns) = (native(Llvm::default()), native(Llvm::default().in_turns()));
    for (steps, side) in [(1, 11), (7, 17), (8, 1), (21, 11), (25, 2), (9, 0), (45, 11)] {
        let given = [("steps", steps), ("side", side)];
        let given = given.map(|(name, n)| (name.to_owned(), Given::Text(n.to_string()))).to_vec();
        let right =
            run(&executable, &RunOptions { inputs: given.clone(), ..RunOptions::default() });
        assert!(right.is_ok(), "{right:?}");
        for (n_threads, native) in [1, 2, 3, 2, 4, 2].map(|n| (n, &plain)) {
            let with = RunOptions { inputs: given.clone(), ..options(n_threads, native) };
            assert_eq!(right, run(&executable, &with), "{steps} steps on {n_threads} threads");
        }
        for n_threads in [2, 3] {
            let with = RunOptions { inputs: given.clone(), ..options(n_threads, &turns) };
            assert_eq!(right, run(&executable, &with), "{steps} steps on {n_threads} in turns");
        }
    }
}

/// Code that is kept was made for a small call: a large one gets its threads, and the same numbers.
#[test]
fn more_work_than_before_is_divided() {
    let text = "input first: [f64; N];
fn power(first: [f64; N]) -> [f64; N] {
    let x[0, i] = first[i];
    let x[t in 1..20, i in 0..N] = 0.5 * x[t - 1, i] + x[t - 1, N - 1 - i];
    x[19]
}
let end = power(first);
";
    let world = MemoryWorld::new().with("main.ein", text.to_owned());
    let executable = build(&world);
    let llvm = native(Llvm::default());
    let run_with = |n: usize, options: RunOptions| {
        let first: Vec<String> = (0..n).map(|i| format!("{}.0", i % 13)).collect();
        let first = format!("[{}]", first.join(", "));
        let inputs = vec![("first".to_owned(), Given::Text(first))];
        run(&executable, &RunOptions { inputs, ..options }).expect("it runs")
    };
    let mut kept = options(2, &llvm);
    kept.limits.threads.least_work = Some(60_000);
    kept.limits.kept = Kept::new();
    for n in [30, 200_000, 40, 200_000] {
        assert_eq!(run_with(n, kept.clone()), run_with(n, options(1, &llvm)), "{n}");
    }
    // One kernel for one thread, the same for small calls, and the divided one for large calls.
    assert_eq!(llvm.0.made().compiled, 2, "{:?}", llvm.0.made());
}
