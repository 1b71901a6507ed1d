//! Random programs run on the oracle and on the bytecode executor: the same bits, and the same errors.
//!
//! `EINLANG_PROGRAMS=10000 cargo test -p einlang-driver --test backends` tries more.

use einlang_driver::Session;
use einlang_driver::run::{Executable, Failure, RunOptions};
use einlang_driver::{Backend, Report};
use einlang_interp::io::MemoryIo;
use einlang_interp::value::HostValue;
use einlang_source::MemoryWorld;
use einlang_testkit::generate::Source;
use einlang_testkit::generate::program::{Section, program};
use einlang_testkit::mutate::Mutator;

fn n_programs() -> u64 {
    let wanted = std::env::var("EINLANG_PROGRAMS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// The outputs as shapes and bits, or what stopped the program.
type Ended = Result<Vec<(String, Vec<usize>, Vec<u64>)>, String>;

fn bits(value: &HostValue) -> Vec<u64> {
    match (value.as_scalar(), value.as_tensor()) {
        (Some(scalar), _) => vec![scalar.bits()],
        (None, Some(tensor)) => tensor.consts().map(|constant| constant.bits()).collect(),
        (None, None) => vec![],
    }
}

fn run(executable: &Executable, backend: Backend) -> (Ended, Report) {
    let mut options = RunOptions::default();
    options.limits.backend = backend;
    let ended = match executable.run(&options, &mut MemoryIo::default()) {
        Ok(outcome) => {
            let outputs = outcome.outputs.into_iter();
            Ok(outputs.map(|o| (o.name, o.shape, bits(&o.value))).collect())
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

/// Runs a text on both; how many modules ran as loops and how many did not.
#[track_caller]
fn compare(text: &str) -> (usize, usize) {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("generated.ein", text);
    let Ok(executable) = session.build(file) else { return (0, 0) };
    let (wanted, _) = run(&executable, Backend::Oracle);
    let (found, report) = run(&executable, Backend::Bytecode);
    let regions = report.regions();
    assert_eq!(found, wanted, "{regions:?}\n{text}");
    let n_fallbacks = regions.iter().filter(|region| region.fallback.is_some()).count();
    // A program that catches its errors has some.
    if wanted.is_ok() && !text.contains("try ") {
        assert_eq!(n_fallbacks, 0, "{regions:?}\n{text}");
    }
    (regions.len() - n_fallbacks, n_fallbacks)
}

#[test]
fn right_programs_agree() {
    let mut n_loops = 0;
    for seed in 0..n_programs() {
        let made = program(&mut Source::from_seed(seed), Section::ALL, 8);
        n_loops += compare(&made.text).0;
    }
    assert!(n_loops as u64 >= n_programs() / 2, "only {n_loops} modules ran as loops");
}

#[test]
fn changed_programs_agree() {
    for seed in 0..n_programs() {
        let made = program(&mut Source::from_seed(seed), Section::ALL, 6);
        for number in 0..4 {
            let mut source = Source::from_seed(1_000_003 * seed + number);
            let mutator = Mutator::new(&made.text);
            let all = 0..mutator.n_tokens();
            let is_number = |at: &usize| mutator.token(*at).bytes().all(|b| b.is_ascii_digit());
            let numbers: Vec<usize> = all.filter(is_number).collect();
            if numbers.is_empty() {
                continue;
            }
            let at = source.pick(&numbers);
            let Ok(before) = mutator.token(at).parse::<i64>() else { continue };
            let after = if source.pick(&[true, false]) { before + 1 } else { (before - 1).max(0) };
            compare(&mutator.renumber(at, &after.to_string()).text);
        }
    }
}

/// How a text ends on the bytecode executor with some limits.
fn with_limits(text: &str, change: impl Fn(&mut RunOptions)) -> (Ended, Report) {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("limits.ein", text);
    let executable = session.build(file).expect("the program is right");
    let mut options = RunOptions::default();
    options.limits.backend = Backend::Bytecode;
    change(&mut options);
    let ended = match executable.run(&options, &mut MemoryIo::default()) {
        Ok(outcome) => {
            Ok(outcome.outputs.iter().map(|o| (o.name.clone(), vec![], bits(&o.value))).collect())
        }
        Err(Failure::Program(found)) => {
            Err(found.iter().map(|d| d.code.to_string()).collect::<Vec<_>>().join(" "))
        }
        Err(Failure::Usage { message, .. } | Failure::Bug(message)) => Err(message),
    };
    (ended, options.limits.report)
}

const LONG: &str = "let f[0] = 1; let f[t in 1..30000000] = (f[t - 1] * 3 + 1) % 1009;";

#[test]
fn limits_and_interrupts_hold() {
    let steps = with_limits(LONG, |options| options.limits.steps = Some(10_000));
    assert_eq!(steps.0, Err("E0803".to_owned()));
    let memory = with_limits(LONG, |options| options.limits.memory = 1 << 20);
    assert_eq!(memory.0, Err("E0801".to_owned()));
    let timeout = with_limits(LONG, |options| {
        options.timeout = Some(std::time::Duration::from_millis(1));
    });
    assert_eq!(timeout.0, Err("E0803".to_owned()));
    let interrupted = with_limits(LONG, |options| options.limits.interrupt.set());
    assert_eq!(interrupted.0, Err("E0803".to_owned()));
}

#[test]
fn traps_are_left_to_the_oracle() {
    let text = "let a = [1, 0, 2]; let q[i] = 6 / a[i]; let first = q[0];";
    let (ended, report) = with_limits(text, |_| {});
    assert_eq!(ended, Err("E0701".to_owned()));
    assert!(report.regions().iter().any(|region| region.fallback.is_some()));
    let overflow = "let a = [1, 2147483647]; let b[i] = a[i] + 1;";
    let checked = with_limits(overflow, |options| options.limits.checked = true);
    assert_eq!(checked.0, Err("E0704".to_owned()));
    assert!(with_limits(overflow, |_| {}).0.is_ok());
}

#[test]
fn memory_is_the_plan() {
    let text = "let h[0, j in 0..100] = j; let h[t in 1..1000, j in 0..100] = h[t - 1, 99 - j] + 1; \
                fn main() { h[999, 7] }";
    let (ended, report) = with_limits(text, |_| {});
    assert_eq!(ended, Ok(vec![("main".to_owned(), vec![], vec![1091])]));
    // Two rows of 400 bytes, the result, and the calls that are open.
    assert!((800..=1100).contains(&report.peak()), "{}", report.peak());
}
