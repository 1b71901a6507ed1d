//! Random programs: right ones compute exactly the values they are known to have, and mutated ones
//! never get past the checker, the entry checks and the checks of the interpreter unseen.
//!
//! `cargo test -p einlang-driver --test generated -- --nocapture` prints who found what.

use std::collections::BTreeMap;

use einlang_driver::Session;
use einlang_driver::run::{Failure, RunOptions};
use einlang_interp::io::MemoryIo;
use einlang_interp::value::HostValue;
use einlang_source::{MemoryWorld, Severity};
use einlang_testkit::generate::Source;
use einlang_testkit::generate::program::{Fact, Section, Value, program};
use einlang_testkit::mutate::Mutator;

const N_MUTANTS: u64 = 12;

/// How many programs are tried; `EINLANG_PROGRAMS=10000` tries more.
fn n_programs() -> u64 {
    let wanted = std::env::var("EINLANG_PROGRAMS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(150)
}

/// How running a text ended.
enum Ended {
    /// With these outputs, after printing these lines.
    Outputs(Vec<(String, Vec<usize>, HostValue)>, Vec<String>),
    /// It was rejected before anything ran, with these codes.
    Rejected(Vec<&'static str>),
    /// It is one of the programs that this version refuses to run.
    Refused(String),
    /// It stopped while it ran.
    Stopped(&'static str),
    /// The compiler or the interpreter broke a promise.
    Bug(String),
}

fn run(text: &str) -> Ended {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("generated.ein", text);
    let executable = match session.build(file) {
        Ok(executable) => executable,
        Err(Failure::Program(found)) => {
            let errors = found.iter().filter(|d| d.severity == Severity::Error);
            let codes: Vec<&'static str> = errors.clone().map(|d| d.code.as_str()).collect();
            let is_unfinished = |message: &str| {
                message.contains("not supported yet") || message.contains("no derivative yet")
            };
            let unfinished = errors.clone().find(|d| is_unfinished(&d.message));
            return match unfinished {
                Some(diagnostic) => Ended::Refused(diagnostic.message.clone()),
                None => Ended::Rejected(codes),
            };
        }
        Err(Failure::Usage { message, .. } | Failure::Bug(message)) => return Ended::Bug(message),
    };
    let mut options = RunOptions::default();
    options.limits.steps = Some(20_000_000);
    options.limits.memory = 1 << 28;
    let mut io = MemoryIo::default();
    match executable.run(&options, &mut io) {
        Ok(outcome) => {
            let outputs = outcome.outputs.into_iter();
            Ended::Outputs(outputs.map(|o| (o.name, o.shape, o.value)).collect(), io.lines)
        }
        Err(Failure::Program(found)) => {
            Ended::Stopped(found.iter().next().map_or("?", |diagnostic| diagnostic.code.as_str()))
        }
        Err(Failure::Usage { message, .. } | Failure::Bug(message)) => Ended::Bug(message),
    }
}

/// The numbers of a value in row-major order.
fn numbers(value: &HostValue) -> Vec<f64> {
    let number = |constant: einlang_tir::constant::Const| {
        let float = constant.as_float().or_else(|| constant.as_int().map(|value| value as f64));
        float.or_else(|| constant.as_bool().map(f64::from)).unwrap_or(f64::NAN)
    };
    match (value.as_scalar(), value.as_tensor()) {
        (Some(scalar), _) => vec![number(scalar)],
        (None, Some(tensor)) => tensor.consts().map(number).collect(),
        (None, None) => Vec::new(),
    }
}

fn expected(fact: &Fact) -> Option<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Int(value) => *value as f64,
        Value::Float(value) => *value,
        Value::Bool(value) => f64::from(*value),
    };
    Some(fact.expected.as_ref()?.iter().map(number).collect())
}

#[test]
fn right_programs_compute_what_they_must() {
    let mut n_compared = 0;
    for seed in 0..n_programs() {
        let mut made = program(&mut Source::from_seed(seed), Section::ALL, 8);
        if seed % 3 == 0 {
            made.text = with_hidden_extents(&made.text);
        }
        let (outputs, printed) = match run(&made.text) {
            Ended::Outputs(outputs, printed) => (outputs, printed),
            Ended::Rejected(codes) => panic!("rejected with {codes:?}\n{}", made.text),
            Ended::Stopped(code) => panic!("stopped with {code}\n{}", made.text),
            Ended::Refused(message) | Ended::Bug(message) => panic!("{message}\n{}", made.text),
        };
        assert_eq!(printed, made.printed, "what is printed\n{}", made.text);
        for fact in made.facts.iter().filter(|fact| !fact.name.contains('.')) {
            let found = outputs.iter().rev().find(|(name, ..)| *name == fact.name);
            let (Some((_, shape, value)), Some(wanted)) = (found, expected(fact)) else { continue };
            assert_eq!(*shape, fact.shape, "the shape of `{}`\n{}", fact.name, made.text);
            assert_eq!(numbers(value), wanted, "`{}`\n{}", fact.name, made.text);
            n_compared += 1;
        }
    }
    assert!(n_compared > 5 * n_programs(), "only {n_compared} bindings were compared");
}

/// The same program with extents that only a run knows: vectors of numbers pass through a filter
/// that keeps them all.
fn with_hidden_extents(text: &str) -> String {
    let hidden = |line: &str| {
        let (name, value) = line.strip_prefix("let ")?.split_once(" = ")?;
        let list = value.strip_prefix('[')?.strip_suffix("];")?;
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let numbers = list.bytes().all(|b| b.is_ascii_digit() || b", .-".contains(&b));
        (plain && numbers).then(|| format!("let {name} = [v | v in [{list}], v == v];"))
    };
    text.lines().map(|line| hidden(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

/// A mistake of the kind that people make with indices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mistake {
    RenamedIndex,
    ChangedNumber,
    SwappedAxes,
    DroppedClause,
}

const MISTAKES: [Mistake; 4] =
    [Mistake::RenamedIndex, Mistake::ChangedNumber, Mistake::SwappedAxes, Mistake::DroppedClause];

fn is_index(token: &str) -> bool {
    token.len() == 1 && token.chars().all(|c| c.is_ascii_lowercase())
}

/// The text with one mistake of a kind, if it has a place for one.
fn mutated(text: &str, mistake: Mistake, source: &mut Source<'_>) -> Option<String> {
    if mistake == Mistake::DroppedClause {
        let lines: Vec<&str> = text.lines().collect();
        let target = |line: &str| {
            let (name, _) = line.trim_start().strip_prefix("let ")?.split_once('[')?;
            Some(name.to_owned())
        };
        let clauses =
            |name: &str| lines.iter().filter(|l| target(l).as_deref() == Some(name)).count();
        let several: Vec<usize> = (0..lines.len())
            .filter(|at| target(lines[*at]).is_some_and(|name| clauses(&name) > 1))
            .collect();
        let dropped = pick(&several, source)?;
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != dropped);
        return Some(kept.map(|(_, line)| format!("{line}\n")).collect());
    }
    let mutator = Mutator::new(text);
    let all: Vec<usize> = (0..mutator.n_tokens()).collect();
    let indices: Vec<usize> = all.iter().copied().filter(|i| is_index(mutator.token(*i))).collect();
    match mistake {
        Mistake::RenamedIndex => {
            let (at, other) = (pick(&indices, source)?, pick(&indices, source)?);
            let name = mutator.token(other);
            (mutator.token(at) != name).then(|| mutator.rename(at, name).text)
        }
        Mistake::ChangedNumber => {
            let numbers: Vec<usize> = (all.iter().copied())
                .filter(|i| mutator.token(*i).bytes().all(|b| b.is_ascii_digit()))
                .collect();
            let at = pick(&numbers, source)?;
            let number: i64 = mutator.token(at).parse().ok()?;
            let changed = if source.pick(&[true, false]) { number + 1 } else { number - 1 };
            (changed >= 0).then(|| mutator.renumber(at, &changed.to_string()).text)
        }
        Mistake::SwappedAxes => {
            let pairs: Vec<usize> = (0..all.len().saturating_sub(2))
                .filter(|i| {
                    let [a, comma, b] = [*i, i + 1, i + 2].map(|at| mutator.token(at));
                    is_index(a) && comma == "," && is_index(b) && a != b
                })
                .collect();
            let at = pick(&pairs, source)?;
            Some(mutator.swap(at, at + 2).text)
        }
        Mistake::DroppedClause => None,
    }
}

fn pick(list: &[usize], source: &mut Source<'_>) -> Option<usize> {
    (!list.is_empty()).then(|| source.pick(list))
}

/// Who found a mistake: the checker, a check at entry, a check of one point; or the program is one
/// that cannot be run yet; or it is none.
#[derive(Clone, Copy, Default, Debug)]
struct Detections {
    n_static: usize,
    n_entry: usize,
    n_run_time: usize,
    n_refused: usize,
    n_harmless: usize,
}

#[test]
fn no_mistake_slips_through() {
    let mut found: BTreeMap<Mistake, Detections> = BTreeMap::new();
    for seed in 0..n_programs() {
        let made = program(&mut Source::from_seed(seed), Section::ALL, 6);
        let text = if seed % 2 == 0 { made.text } else { with_hidden_extents(&made.text) };
        for number in 0..N_MUTANTS {
            let mistake = MISTAKES[number as usize % MISTAKES.len()];
            let mut source = Source::from_seed(1_000_003 * seed + number);
            let Some(text) = mutated(&text, mistake, &mut source) else { continue };
            let detections = found.entry(mistake).or_default();
            match run(&text) {
                Ended::Outputs(..) => detections.n_harmless += 1,
                Ended::Rejected(_) => detections.n_static += 1,
                Ended::Stopped("E0705") => detections.n_entry += 1,
                Ended::Stopped(_) => detections.n_run_time += 1,
                Ended::Refused(_) => detections.n_refused += 1,
                Ended::Bug(message) => panic!("slipped through: {message}\n{text}"),
            }
        }
    }
    println!("mistake          static  entry run time refused harmless");
    for (mistake, d) in &found {
        let Detections { n_static, n_entry, n_run_time, n_refused, n_harmless } = d;
        let name = format!("{mistake:?}");
        println!("{name:15} {n_static:7} {n_entry:6} {n_run_time:8} {n_refused:7} {n_harmless:8}");
    }
    for (mistake, d) in &found {
        assert!(d.n_static > 0, "the checker finds none of {mistake:?}");
    }
}
