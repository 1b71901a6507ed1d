//! Random programs, and random recurrences under random legal schedules, as machine code: integers are
//! what the oracle computes, floats differ by rounding, errors are the same, and the number of threads
//! changes no bit.
//!
//! `EINLANG_PROGRAMS=10000` and `EINLANG_SCHEDULES=20000` try more.

#![cfg(feature = "native")]

// The generator of recurrences speaks of schedules, which the driver passes on.
extern crate einlang_driver as einlang_loops;

#[path = "../../driver/tests/recurrence/mod.rs"]
mod recurrence;
#[path = "../../driver/tests/recurrence/shake.rs"]
mod shake;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use einlang_codegen::Llvm;
use einlang_driver::{
    Backend, Compile, Executable, Failure, Native, Options, Permits, Printer, ProjectIo, Ran,
    Report, RunOptions, Schedule, Session, Stage, Threads, parse_schedules,
};
use einlang_source::MemoryWorld;
use einlang_testkit::generate::Source;
use einlang_testkit::generate::program::{Section, program};
use einlang_testkit::parallel::judge_all;
use serde_json::Value;

fn wanted(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Keeps what is printed.
#[derive(Default)]
struct Lines(Vec<String>);

impl Printer for Lines {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.0.push(line.to_owned());
        Ok(())
    }
}

/// The outputs, or what stopped the program.
type Ended = Result<Value, String>;

fn run(
    executable: &Executable,
    backend: Backend,
    native: &Native,
    with: &[Schedule],
    n_threads: usize,
) -> (Ended, Report) {
    run_made(executable, backend, native, with, n_threads, Compile::Thorough)
}

fn run_made(
    executable: &Executable,
    backend: Backend,
    native: &Native,
    with: &[Schedule],
    n_threads: usize,
    compile: Compile,
) -> (Ended, Report) {
    let mut options = RunOptions::default();
    options.limits.compile = compile;
    options.limits.backend = backend;
    options.limits.native = Some(native.clone());
    options.limits.schedules = with.to_vec();
    // However little there is to do, threads do it together.
    options.limits.threads = Threads { most: n_threads, least_work: Some(0) };
    let mut lines = Lines::default();
    let permits = Permits::new(Path::new("."), &[], &[]).expect("a folder");
    let mut io = ProjectIo::new(permits, &mut lines, 0);
    let ended = match executable.run(&options, &mut io) {
        Ok(outcome) => {
            let all: Value = serde_json::from_str(&outcome.json()).expect("JSON");
            Ok(all["outputs"].clone())
        }
        Err(Failure::Program(found)) => {
            let all =
                found.iter().map(|d| format!("{} {} {:?}", d.code, d.message, d.primary.span));
            Err(all.collect::<Vec<_>>().join("\n"))
        }
        Err(Failure::Usage { message, .. } | Failure::Bug(message)) => Err(message),
    };
    (ended, options.limits.report)
}

/// Whether values are the same, floats as far as their type and the order of additions allow.
fn agree(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| agree(a, b)))
        }
        (Value::Number(x), Value::Number(y)) if x.is_f64() || y.is_f64() => {
            match (x.as_f64(), y.as_f64()) {
                (Some(x), Some(y)) => (x - y).abs() <= 1e-4 * (1.0 + x.abs().max(y.abs())),
                _ => false,
            }
        }
        (a, b) => a == b,
    }
}

fn same(right: &Ended, found: &Ended) -> bool {
    match (right, found) {
        (Ok(a), Ok(b)) => agree(a, b),
        (a, b) => a == b,
    }
}

/// Several compilers, so that threads of one are seldom busy with another program. Every second one
/// runs threads in turns.
fn natives() -> Vec<Native> {
    let sanitise = std::env::var_os("EINLANG_SANITISE").is_some();
    let llvm = || if sanitise { Llvm::default().sanitised() } else { Llvm::default() };
    let made = [llvm(), llvm().in_turns(), llvm(), llvm().in_turns()];
    made.into_iter().map(|llvm| Native(Arc::new(llvm))).collect()
}

fn build(text: &str, outputs: Option<Vec<String>>) -> Option<(Executable, String)> {
    let world = MemoryWorld::new();
    let options = Options { outputs, ..Options::default() };
    let mut session = Session::new(&world).with_options(options);
    let file = session.add_text("generated.ein", text);
    let schedules = session.ir(file, Some(Stage::Decide)).text;
    session.build(file).ok().map(|executable| (executable, schedules))
}

#[test]
fn random_programs_agree() {
    let natives = natives();
    let seeds: Vec<u64> = (0..wanted("EINLANG_PROGRAMS", 150)).collect();
    let n_code = AtomicUsize::new(0);
    judge_all(
        &seeds,
        |seed| format!("seed {seed}"),
        |at, seed| {
            let native = &natives[at % natives.len()];
            let made = program(&mut Source::from_seed(*seed), Section::ALL, 8);
            let Some((executable, _)) = build(&made.text, None) else { return Ok(()) };
            let (right, _) = run(&executable, Backend::Oracle, native, &[], 1);
            let (found, report) = run(&executable, Backend::Native, native, &[], 1);
            let n_threads = 2 + *seed as usize % 2;
            let (again, _) = run(&executable, Backend::Native, native, &[], n_threads);
            if again != found {
                let text = &made.text;
                return Err(format!("{n_threads} threads\n{found:?}\n{again:?}\n{text}"));
            }
            let (quick, _) = run_made(&executable, Backend::Native, native, &[], 1, Compile::Quick);
            if quick != found {
                return Err(format!("made quickly\n{found:?}\n{quick:?}\n{}", made.text));
            }
            let regions = report.regions();
            if !same(&right, &found) {
                return Err(format!("{right:?}\n{found:?}\n{regions:?}\n{}", made.text));
            }
            n_code.fetch_add(
                regions.iter().filter(|r| r.ran == Ran::MachineCode).count(),
                Ordering::Relaxed,
            );
            match regions.iter().any(|region| region.ran == Ran::Loops) {
                true => Err(format!("no machine code: {regions:?}\n{}", made.text)),
                false => Ok(()),
            }
        },
    );
    assert!(n_code.load(Ordering::Relaxed) * 2 >= seeds.len(), "{n_code:?}");
}

#[test]
fn random_schedules_agree() {
    let natives = natives();
    let enough = wanted("EINLANG_SCHEDULES", 2000) as usize;
    // Every second schedule or so is legal.
    let seeds: Vec<u64> = (0..4 * enough as u64).collect();
    let n_legal = AtomicUsize::new(0);
    judge_all(
        &seeds,
        |seed| format!("seed {seed}"),
        |at, seed| {
            let native = &natives[at % natives.len()];
            let mut source = Source::from_seed(*seed);
            let text = recurrence::program(&mut source);
            let Some((executable, schedules)) = build(&text, Some(vec!["o".to_owned()])) else {
                return Ok(());
            };
            let (right, _) = run(&executable, Backend::Oracle, native, &[], 1);
            for turn in 0..4 {
                if n_legal.load(Ordering::Relaxed) >= enough {
                    return Ok(());
                }
                let Ok(mut shaken) = parse_schedules(&schedules) else { return Ok(()) };
                shaken.iter_mut().for_each(|schedule| shake::shake(schedule, &mut source));
                let n_threads = 1 + turn % 3;
                let (found, report) = run(&executable, Backend::Native, native, &shaken, n_threads);
                if !same(&right, &found) {
                    let shaken: String = shaken.iter().map(ToString::to_string).collect();
                    return Err(format!(
                        "{n_threads} threads\n{right:?}\n{found:?}\n{shaken}\n{text}"
                    ));
                }
                // Every fourth is made quickly too.
                let again = (turn == 0).then(|| {
                    let (on, how) = (Backend::Native, Compile::Quick);
                    run_made(&executable, on, native, &shaken, n_threads, how).0
                });
                if again.as_ref().is_some_and(|again| *again != found) {
                    let shaken: String = shaken.iter().map(ToString::to_string).collect();
                    return Err(format!("made quickly\n{found:?}\n{again:?}\n{shaken}\n{text}"));
                }
                let ran = report.regions().iter().any(|region| region.ran == Ran::MachineCode);
                n_legal.fetch_add(usize::from(ran), Ordering::Relaxed);
            }
            Ok(())
        },
    );
    let n_legal = n_legal.load(Ordering::Relaxed);
    assert!(n_legal >= enough, "only {n_legal} schedules were legal");
}
