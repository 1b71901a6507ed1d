//! How much work derivatives are, counted in the code that comes out.
//!
//! Each program of `tests/derivatives/work` says in its first lines which output is the value, which
//! outputs are counted together, and how many operations they may take at most: a product and sum of
//! numbers, and `value` for what the value takes. The exact numbers are in the table beside the
//! folder.

use std::path::{Path, PathBuf};

use einlang_driver::{lowering, pipeline};
use einlang_loops::checkpoint::Checkpoint;
use einlang_loops::plan::{Choices, plan};
use einlang_loops::schedule::Checkpoints;
use einlang_sema::lower;
use einlang_sema::shapes::Options;
use einlang_source::{MemoryWorld, Sources};
use einlang_tir::module::Module;
use einlang_tir::passes::{Ctx, PASSES, run_passes};
use einlang_tir::types::Ident;
use einlang_tir::work::{Counts, work_of};

fn module(text: &str, outputs: &[&str]) -> Module {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let names: Vec<String> = outputs.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { outputs: Some(names.clone()), ..Options::default() };
    let world = MemoryWorld::new();
    let compilation = pipeline::compile(&world, &mut sources, file, Path::new(""), &options);
    let options = lower::Options { outputs: Some(names), ..Default::default() };
    let errors: Vec<&str> = compilation.diagnostics.iter().map(|d| d.message.as_str()).collect();
    let lowered = lowering::lowered(&compilation, &options);
    let lowered = lowered.unwrap_or_else(|| panic!("{errors:?}\n{text}"));
    let mut program = lowered.expect("it can be lowered").program;
    assert_eq!(program.modules.len(), 1, "{text}");
    let mut module = program.modules.remove(0);
    let ctx = Ctx { verify: true, ..Ctx::default() };
    let done = run_passes(&mut module, PASSES, &ctx, &mut |_, _| {});
    assert!(done.is_ok(), "{done:?}\n{text}");
    module
}

/// The work for some outputs of a program.
fn work(text: &str, outputs: &[&str]) -> Counts {
    let module = module(text, outputs);
    work_of(&module, &module.outputs, &[]).counts().expect("extents are numbers")
}

/// What the first lines of a program say after a word.
fn said<'a>(text: &'a str, word: &str) -> &'a str {
    let lines = text.lines().map_while(|line| line.strip_prefix("// "));
    let mut found = lines.filter_map(|line| line.strip_prefix(word)?.strip_prefix(": "));
    found.next().unwrap_or_else(|| panic!("no line `// {word}:` in\n{text}"))
}

fn counted(counts: Counts, kind: &str) -> u128 {
    match kind {
        "multiplications" => counts.multiplications,
        "operations" => counts.all(),
        _ => panic!("`{kind}` is not counted"),
    }
}

/// The value of sums of products, such as `3 * (100 + 2) * value`.
fn evaluate(text: &str, value: f64) -> f64 {
    let (mut sum, mut depth, mut start) = (0.0, 0, 0);
    let mut terms = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '+' if depth == 0 => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    for term in terms {
        let mut product = 1.0;
        let mut rest = term.trim();
        while !rest.is_empty() {
            let factor = match rest.strip_prefix('(') {
                Some(inside) => {
                    let end = inside.find(')').expect("a closing parenthesis");
                    let value = evaluate(&inside[..end], value);
                    rest = &inside[end + 1..];
                    value
                }
                None => {
                    let end = rest.find('*').unwrap_or(rest.len());
                    let word = rest[..end].trim();
                    rest = &rest[end..];
                    if word == "value" { value } else { word.parse().expect("a number") }
                }
            };
            product *= factor;
            rest = rest.trim().strip_prefix('*').unwrap_or("").trim();
        }
        sum += product;
    }
    sum
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/derivatives/work")
}

#[test]
fn programs_take_no_more_than_they_say() {
    let files = std::fs::read_dir(folder()).expect("a folder");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    assert!(paths.len() >= 40, "only {} programs", paths.len());
    let mut table = String::from("program: value; counted (multiplications, additions, others)\n");
    let mut broken = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a text");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let outputs: Vec<&str> = said(&text, "outputs").split(", ").collect();
        let value = work(&text, &[said(&text, "value")]);
        let all = work(&text, &outputs);
        let row = |c: Counts| format!("{} {} {}", c.multiplications, c.additions, c.others);
        table.push_str(&format!("{name}: {}; {}\n", row(value), row(all)));
        let (bound, kind) = said(&text, "most").rsplit_once(' ').expect("what is counted");
        let most = evaluate(bound, counted(value, kind) as f64);
        if counted(all, kind) as f64 > most {
            broken.push(format!("{name}: {} {kind}, at most {most}", counted(all, kind)));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let recorded = folder().with_extension("out");
    if std::env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&recorded, &table).expect("the table is written");
    }
    let expected = std::fs::read_to_string(&recorded).unwrap_or_default();
    assert_eq!(table, expected, "EINLANG_BLESS=1 rewrites the table");
}

/// With checkpoints, what is computed again is the recurrence, once.
#[test]
fn a_trajectory_is_computed_again_once() {
    let text = std::fs::read_to_string(folder().join("lstm.ein")).expect("a text");
    let outputs: Vec<&str> = said(&text, "outputs").split(", ").collect();
    let value = work(&text, &[said(&text, "value")]);
    let choices =
        Choices { checkpoint: Checkpoint::Segments(Checkpoints::Sqrt), ..Default::default() };
    let planned = plan(&module(&text, &outputs), &choices).expect("a plan");
    let [replay] = &planned.schedule.replays[..] else { panic!("segments of one trajectory") };
    let parts = replay.forward.iter().filter(|part| part.again);
    let groups = planned.module.groups.iter();
    let is_again = |name: &Ident| parts.clone().any(|part| part.group == *name);
    let again = groups.filter(|group| is_again(&group.bindings[0].name));
    let names: Vec<Ident> =
        again.flat_map(|group| &group.bindings).map(|binding| binding.name.clone()).collect();
    assert!(!names.is_empty());
    let all = work(&text, &outputs);
    let more = work_of(&planned.module, &names, &[]).counts().expect("extents are numbers");
    let products = |counts: Counts| counts.multiplications as f64;
    assert!(products(more) <= products(value), "{more:?} of {value:?}");
    assert!(products(all) <= 3.0 * products(value), "{all:?} of {value:?}");
    assert!(products(all) + products(more) <= 4.0 * products(value));
    println!("lstm: value {value:?}, gradient {all:?}, again {more:?}");
}

#[test]
fn bounds_are_evaluated() {
    assert_eq!(evaluate("3 * (100 + 2) * value + 1", 2.0), 613.0);
}
