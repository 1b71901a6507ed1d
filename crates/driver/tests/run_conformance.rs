//! Conformance programs run: what is lowered gives the values and lines that its case expects.
//! Skipped where the shared cases are not at hand.
//!
//! A case counts as not answered yet when the compiler says that it cannot lower something, when a
//! derivative would have to be expanded, when a file format is missing, or when the oracle takes
//! too long. Every other case must be right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use einlang_driver::{Options, lowering, pipeline};
use einlang_interp::host::{call_function, run_program};
use einlang_interp::io::MemoryIo;
use einlang_interp::options::Options as RunOptions;
use einlang_interp::show::json_of;
use einlang_interp::stop::{Stop, StopCode};
use einlang_interp::value::HostValue;
use einlang_sema::lower::{self, Lowered};
use einlang_source::{MemoryWorld, Sources};
use einlang_tir::passes::{Ctx, PASSES, run_passes};

/// How many cases were answered when this was written; fewer is a step back.
const LEAST_RIGHT: usize = 275;

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed =
        std::fs::read_dir(folder).map(|list| list.filter_map(|e| e.ok()).map(|e| e.path()));
    let mut found: Vec<PathBuf> = listed.map(Iterator::collect).unwrap_or_default();
    found.sort();
    found
}

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/cases");
    let mut found = Vec::new();
    for case in entries(&root).iter().flat_map(|section| entries(section)) {
        match case.is_dir() {
            true if case.join("main.ein").is_file() => found.push(case.join("main.ein")),
            false if case.extension().is_some_and(|ext| ext == "ein") => found.push(case),
            _ => {}
        }
    }
    found
}

fn world_of(folder: &Path, below: &str, mut world: MemoryWorld) -> MemoryWorld {
    for entry in entries(folder) {
        let name = entry.file_name().map(|name| name.to_string_lossy().into_owned());
        let path = format!("{below}{}", name.unwrap_or_default());
        if entry.is_dir() {
            world = world_of(&entry, &format!("{path}/"), world);
        } else if let Ok(text) = std::fs::read_to_string(&entry) {
            world = world.with(&path, text.as_str());
        }
    }
    world
}

/// What became of a case.
enum Outcome {
    /// It is checked elsewhere, or nothing can answer it yet.
    Open,
    Right,
    Wrong(String),
}

struct Case<'t> {
    text: &'t str,
    flags: Vec<&'t str>,
}

impl<'t> Case<'t> {
    fn new(text: &'t str) -> Case<'t> {
        let flags = directives(text, "flags: ").flat_map(str::split_whitespace).collect();
        Case { text, flags }
    }

    fn outputs(&self) -> Option<Vec<String>> {
        let at = self.flags.iter().position(|flag| *flag == "--outputs")?;
        Some(self.flags.get(at + 1)?.split(',').map(str::to_owned).collect())
    }
}

fn directives<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| line.strip_prefix("//! ")?.strip_prefix(name))
}

fn judge(path: &Path, text: &str) -> Outcome {
    let case = Case::new(text);
    let is_other = ["error ", "input "].iter().any(|name| directives(text, name).next().is_some());
    if is_other {
        return Outcome::Open;
    }
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let mut world = MemoryWorld::new();
    if path.ends_with("main.ein") {
        world = path.parent().map_or(world, |folder| world_of(folder, "", MemoryWorld::new()));
    }
    let options = Options { outputs: case.outputs(), ..Options::default() };
    let compilation = pipeline::compile(&world, &mut sources, file, Path::new(""), &options);
    let zero_fill = case.flags.contains(&"--zero-fill");
    let options = lower::Options { zero_fill, outputs: case.outputs(), ..Default::default() };
    match lowering::lowered(&compilation, &options) {
        None => Outcome::Wrong("it does not compile".to_owned()),
        Some(Err(diagnostics)) => match diagnostics.iter().next() {
            Some(d) if d.message.starts_with("not supported yet") => Outcome::Open,
            other => Outcome::Wrong(other.map_or(String::new(), |d| d.message.clone())),
        },
        Some(Ok(mut lowered)) => {
            for module in &mut lowered.program.modules {
                let ctx = Ctx { verify: true, ..Ctx::default() };
                if let Err(stopped) = run_passes(module, PASSES, &ctx, &mut |_, _| {}) {
                    return Outcome::Wrong(format!("{stopped:?}"));
                }
            }
            run(&case, &lowered, &sources)
        }
    }
}

fn run(case: &Case<'_>, lowered: &Lowered, sources: &Sources) -> Outcome {
    let options = RunOptions {
        checked: case.flags.contains(&"--checked"),
        deadline: Some(Instant::now() + Duration::from_secs(5)),
        ..RunOptions::default()
    };
    let mut io = MemoryIo::default();
    let mut inputs = Vec::new();
    for input in &lowered.inputs {
        let Some(default) = &input.default else { return Outcome::Open };
        match call_function(&lowered.program, default, Vec::new(), &options, &mut io) {
            Ok(values) => inputs.extend(values),
            Err(stop) => return stopped(case, &stop, sources),
        }
    }
    match run_program(&lowered.program, inputs, &options, &mut io) {
        Err(stop) => stopped(case, &stop, sources),
        Ok(values) => {
            let names = lowered.outputs.iter().map(|output| output.name.as_str());
            compare(case, &names.zip(&values).collect(), &io.lines)
        }
    }
}

fn stopped(case: &Case<'_>, stop: &Stop, sources: &Sources) -> Outcome {
    let expected = directives(case.text, "run-error ").next();
    let is_open = match stop.code {
        StopCode::Internal => stop.message.contains("was not expanded"),
        StopCode::Unavailable => true,
        StopCode::Steps => expected.is_none(),
        _ => false,
    };
    if is_open {
        return Outcome::Open;
    }
    let line = stop
        .loc
        .0
        .map(|span| sources.text(span.file)[..span.start as usize].matches('\n').count() + 1);
    let message = format!("{} at {line:?}: {}", stop.code.as_str(), stop.message);
    let Some(expected) = expected else { return Outcome::Wrong(message) };
    let mut words = expected.split_whitespace();
    let fits = |pattern: &str| {
        let same = |(a, b): (char, char)| a == 'x' || a == b;
        pattern.len() == 5 && pattern.chars().zip(stop.code.as_str().chars()).all(same)
    };
    if !words.next().is_some_and(|codes| codes.split('|').any(fits)) {
        return Outcome::Wrong(message);
    }
    let mut words = words.skip_while(|word| *word != "line").skip(1);
    match words.next().and_then(|number| number.parse::<usize>().ok()) {
        Some(wanted) if line != Some(wanted) => Outcome::Wrong(message),
        _ => Outcome::Right,
    }
}

fn compare(case: &Case<'_>, outputs: &BTreeMap<&str, &HostValue>, lines: &[String]) -> Outcome {
    if let Some(expected) = directives(case.text, "run-error ").next() {
        return Outcome::Wrong(format!("it ran, where {expected} was expected"));
    }
    for line in directives(case.text, "out ") {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (wanted, tolerance) = match rest.strip_prefix("~ ").and_then(|r| r.rsplit_once(" tol "))
        {
            Some((wanted, tolerance)) => (wanted, tolerance.parse().ok()),
            None => (rest.trim_start_matches("= "), None),
        };
        let Some(value) = outputs.get(name) else {
            return Outcome::Wrong(format!("there is no output `{name}`"));
        };
        let got = json_of(value);
        if !same(&got, wanted, tolerance) {
            return Outcome::Wrong(format!("`{name}` is {got}, not {wanted}"));
        }
    }
    let wanted: Vec<&str> = case
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("//! stdout:"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let printed: Vec<&str> = lines.iter().flat_map(|line| line.split('\n')).collect();
    match wanted.is_empty() || printed == wanted {
        true => Outcome::Right,
        false => Outcome::Wrong(format!("it printed {printed:?}, not {wanted:?}")),
    }
}

/// Whether two JSON texts are equal but for white space and, with a tolerance, for small
/// differences of numbers.
fn same(got: &str, wanted: &str, tolerance: Option<f64>) -> bool {
    let (got, wanted) = (tokens(got), tokens(wanted));
    got.len() == wanted.len()
        && got.iter().zip(&wanted).all(|(a, b)| match (tolerance, a.parse(), b.parse()) {
            (Some(tolerance), Ok(a), Ok(b)) => {
                let (a, b): (f64, f64) = (a, b);
                (a - b).abs() <= tolerance * (1.0 + b.abs())
            }
            _ => a == b,
        })
}

fn tokens(json: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_text = false;
    let mut open = false;
    for c in json.chars() {
        match c {
            '"' => {
                in_text = !in_text;
                if in_text {
                    tokens.push(String::new());
                }
                open = in_text;
            }
            c if in_text => tokens.last_mut().expect("a text is open").push(c),
            ',' | '[' | ']' | '{' | '}' | ':' => {
                tokens.push(c.to_string());
                open = false;
            }
            c if c.is_whitespace() => open = false,
            c => {
                if !open {
                    tokens.push(String::new());
                }
                open = true;
                tokens.last_mut().expect("a number is open").push(c);
            }
        }
    }
    tokens
}

#[test]
fn what_is_lowered_gives_the_expected_values() {
    let mut wrong = Vec::new();
    let mut n_right = 0;
    let all = cases();
    for path in &all {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        match judge(path, &text) {
            Outcome::Open => {}
            Outcome::Right => n_right += 1,
            Outcome::Wrong(why) => wrong.push(format!("{}: {why}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{} cases are wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(all.is_empty() || n_right >= LEAST_RIGHT, "only {n_right} cases are answered");
}
