//! Random sums of products run point by point and as loops: the same numbers, in whatever order they are
//! multiplied. They are whole numbers, so there is nothing to round.
//!
//! `EINLANG_PROGRAMS=10000 cargo test -p einlang-driver --test contractions` tries more.

use std::fmt::Write;

use einlang_driver::run::RunOptions;
use einlang_driver::{Backend, Session, Stage};
use einlang_interp::io::MemoryIo;
use einlang_loops::schedule::{Schedule, parse_schedules};
use einlang_source::MemoryWorld;
use einlang_testkit::generate::Source;

/// Inputs have the first five; the last is an index of results only.
const INDICES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
const LAST: usize = 5;

fn n_programs() -> u64 {
    let wanted = std::env::var("EINLANG_PROGRAMS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(200)
}

/// A few indices, in any order.
fn some(source: &mut Source<'_>, from: &[usize], most: usize) -> Vec<usize> {
    let (mut left, mut taken) = (from.to_vec(), Vec::new());
    let wanted = source.below(most + 1);
    while taken.len() < wanted && !left.is_empty() {
        taken.push(left.remove(source.below(left.len())));
    }
    taken
}

fn listed(indices: &[usize]) -> String {
    indices.iter().map(|at| INDICES[*at]).collect::<Vec<_>>().join(", ")
}

/// A product of inputs, which are declared, and the indices that it mentions.
fn product(
    source: &mut Source<'_>,
    sizes: &[usize],
    inputs: &mut String,
    n_inputs: &mut usize,
) -> (String, Vec<usize>) {
    let all: Vec<usize> = (0..LAST).collect();
    let (mut text, mut mentioned) = (String::new(), Vec::new());
    for number in 0..1 + source.below(4) {
        let mut at = some(source, &all, 3);
        if at.is_empty() {
            at.push(source.below(LAST));
        }
        let name = format!("t{n_inputs}");
        *n_inputs += 1;
        let (head, terms): (Vec<String>, Vec<String>) = at
            .iter()
            .enumerate()
            .map(|(place, of)| {
                (format!("a{place} in 0..{}", sizes[*of]), format!("{} * a{place}", place + 3))
            })
            .unzip();
        let offset = source.below(9);
        let _ = writeln!(
            inputs,
            "    let {name}[{}] = ({} + {offset}) % 7 - 3;",
            head.join(", "),
            terms.join(" + ")
        );
        let sign = if number > 0 { " * " } else { "" };
        let _ = write!(text, "{sign}{name}[{}]", listed(&at));
        mentioned.extend(at);
    }
    mentioned.sort_unstable();
    mentioned.dedup();
    (text, mentioned)
}

/// A program with a function that returns sums of products, one of them of another sum.
fn program(source: &mut Source<'_>) -> String {
    let sizes: Vec<usize> = INDICES.iter().map(|_| source.below(7)).collect();
    let (mut inputs, mut n_inputs) = (String::new(), 0);
    let (inner, mentioned) = product(source, &sizes, &mut inputs, &mut n_inputs);
    let mut outer = some(source, &mentioned, 2);
    let rest: Vec<usize> = mentioned.iter().copied().filter(|at| !outer.contains(at)).collect();
    // Some indices run below another.
    let ranged = |at: &usize, others: &[usize], source: &mut Source<'_>| match others.first() {
        Some(other) if sizes[*other] == sizes[*at] && source.flip() => {
            format!("{} in 0..{}", INDICES[*at], INDICES[*other])
        }
        _ => format!("{} in 0..{}", INDICES[*at], sizes[*at]),
    };
    let mut ranges: Vec<String> = rest.iter().map(|at| ranged(at, &outer, source)).collect();
    // How often everything counts depends on an index that no factor has, or on data.
    if source.one_in(3) {
        outer.push(LAST);
        ranges
            .push(source.pick(&["q in 0..n", "q in 0..2 * n - 3", "q in 0..times[n]"]).to_owned());
    }
    let only = source.pick(&["", "", " where n > 1"]);
    let only = if outer.contains(&LAST) { only } else { "" };
    let heads: Vec<String> =
        outer.iter().map(|at| format!("{} in 0..{}", INDICES[*at], sizes[*at])).collect();
    let summed = |ranges: &[String], term: &str| match ranges {
        [] => format!("({term})"),
        _ => format!("sum[{}]({term})", ranges.join(", ")),
    };
    let head = |heads: &[String]| match heads {
        [] => String::new(),
        _ => format!("[{}]", heads.join(", ")),
    };
    let place = |indices: &[usize]| match indices {
        [] => String::new(),
        _ => format!("[{}]", listed(indices)),
    };
    let mut body =
        format!("    let d{} = {};\n", head(&heads), summed(&ranges, &format!("{inner}{only}")));
    // What was summed is multiplied and summed again.
    let last = some(source, &outer, 1);
    let again: Vec<usize> = outer.iter().copied().filter(|at| !last.contains(at)).collect();
    let ranges: Vec<String> =
        again.iter().map(|at| format!("{} in 0..{}", INDICES[*at], sizes[*at])).collect();
    let heads: Vec<String> =
        last.iter().map(|at| format!("{} in 0..{}", INDICES[*at], sizes[*at])).collect();
    let (more, of_more) = product(source, &sizes, &mut inputs, &mut n_inputs);
    let others: Vec<String> = of_more
        .iter()
        .filter(|at| !outer.contains(at))
        .map(|at| format!("{} in 0..{}", INDICES[*at], sizes[*at]))
        .collect();
    let ranges: Vec<String> = ranges.into_iter().chain(others).collect();
    let read = format!("d{}", place(&outer));
    let term = match source.below(4) {
        0 => format!("{read} * {more}"),
        1 => format!("{read} - {more}"),
        2 => format!("-{read} * {more} + 2 * {more}"),
        _ => read,
    };
    let _ = writeln!(body, "    let e{} = {};", head(&heads), summed(&ranges, &term));
    let times = "    let times[a0 in 0..7] = (5 * a0 + 1) % 4;\n";
    format!("fn f() {{\n{times}{inputs}{body}    e\n}}\nlet out = f();\n")
}

#[test]
fn orders_agree() {
    let mut n_factored = 0;
    for seed in 0..n_programs() {
        let text = program(&mut Source::from_seed(seed));
        let world = MemoryWorld::new();
        let mut session = Session::new(&world);
        let file = session.add_text("generated.ein", text.as_str());
        let Ok(executable) = session.build(file) else { panic!("it is right:\n{text}") };
        let decided = session.ir(file, Some(Stage::Decide)).text;
        let run = |backend: Backend, schedules: Vec<Schedule>| {
            let mut options = RunOptions::default();
            options.limits.backend = backend;
            // A schedule that was decided is not always accepted.
            let is_given = !schedules.is_empty();
            options.limits.schedules = schedules;
            let outcome = executable.run(&options, &mut MemoryIo::default());
            let outputs = outcome.unwrap_or_else(|_| panic!("it runs:\n{text}")).outputs;
            let regions = options.limits.report.regions();
            let ran = regions.iter().all(|region| region.fallback.is_none());
            assert!(ran || is_given || backend == Backend::Oracle, "{regions:?}\n{text}");
            let values = outputs.into_iter().map(|output| {
                let shown = match (output.value.as_scalar(), output.value.as_tensor()) {
                    (Some(scalar), _) => vec![scalar.bits()],
                    (None, Some(tensor)) => tensor.consts().map(|number| number.bits()).collect(),
                    (None, None) => panic!("a number:\n{text}"),
                };
                (output.shape, shown)
            });
            values.collect::<Vec<_>>()
        };
        let wanted = run(Backend::Oracle, Vec::new());
        assert_eq!(run(Backend::Bytecode, Vec::new()), wanted, "{text}");
        let given = parse_schedules(&decided).expect("it reads back");
        assert_eq!(run(Backend::Bytecode, given), wanted, "{decided}\n{text}");
        n_factored += u64::from(decided.contains(".part"));
    }
    assert!(n_factored >= n_programs() / 10, "only {n_factored} were factored");
}
