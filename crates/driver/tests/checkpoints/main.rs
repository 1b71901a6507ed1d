//! Derivatives through long recurrences are the same however trajectories are kept, and with checkpoints
//! they take little memory. They are the same to the bit unless sums run in lanes: sums over time are
//! added up in pairs of segments then, and otherwise from the first block to the last. Sums over a part of
//! time differ by rounding as well.
//!
//! `EINLANG_CASES=2000 cargo test -p einlang-driver --test checkpoints` tries more programs.

mod forms;

use std::path::Path;

use einlang_driver::run::{Executable, RunOptions};
use einlang_driver::{Backend, Checkpoint, Given, Session};
use einlang_interp::io::MemoryIo;
use einlang_interp::value::HostValue;
use einlang_source::MemoryWorld;
use einlang_testkit::generate::Source;
use einlang_tir::constant::Const;
use einlang_tir::types::Elem;

/// Inputs that programs may have besides `T`.
const INPUTS: &[(&str, &str)] = &[
    ("W", "[[0.3, -0.2, 0.5], [0.1, 0.4, -0.3], [-0.6, 0.2, 0.1]]"),
    ("w", "[0.3, -0.2, 0.5, 0.7]"),
    ("g0", "[0.3, -0.2, 0.5, 0.7, 0.1]"),
];

/// Programs with gradients by vectors and matrices, whose sums over time run in lanes, or with sums over
/// a part of time, whose terms have other places in segments.
const IN_LANES: &[&str] = &[
    "batch",
    "batch_outside",
    "blocks",
    "coarse",
    "every_tenth",
    "grid3",
    "guarded_grid",
    "layers",
    "layers_of_input",
    "lstm",
    "open_guarded",
    "parts_of_time",
    "rnn",
    "row_grid",
    "short_rows",
    "stacked",
];

fn plan(text: &str) -> Checkpoint {
    Checkpoint::parse(text, |bytes| bytes.parse().map_err(|_| "bytes".to_owned())).expect("a plan")
}

/// The numbers of a value.
fn numbers(value: &HostValue) -> Vec<Const> {
    match value {
        HostValue::Scalar(scalar) => vec![*scalar],
        HostValue::Tensor(tensor) => tensor.consts().collect(),
        HostValue::Node(node) => node.items.iter().flat_map(numbers).collect(),
        HostValue::Str(_) => Vec::new(),
    }
}

/// The same numbers: to the bit, or but for the association of sums that run in lanes.
fn same(a: &[Const], b: &[Const], in_lanes: bool) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a.as_float(), b.as_float()) {
            (Some(x), Some(y)) if in_lanes => {
                let digits = if a.elem() == Elem::F32 { 1e-4 } else { 1e-11 };
                !x.is_finite() && !y.is_finite() || (x - y).abs() <= digits * (1.0 + x.abs())
            }
            _ => a.bits() == b.bits(),
        })
}

/// The same numbers but for rounding.
fn near(a: &[Const], b: &[Const]) -> bool {
    let pair = |(a, b): (&Const, &Const)| Some((a.as_float()?, b.as_float()?));
    let close = |(x, y): (f64, f64)| {
        !x.is_finite() && !y.is_finite() || (x - y).abs() <= 1e-8 * (1.0 + x.abs())
    };
    a.len() == b.len() && a.iter().zip(b).all(|both| pair(both).is_some_and(close))
}

/// The numbers of all outputs, and the most memory that was in use.
fn run(executable: &Executable, text: &str, steps: usize, checkpoint: &str) -> (Vec<Const>, u64) {
    run_on(Backend::Bytecode, executable, text, steps, checkpoint)
}

fn run_on(
    backend: Backend,
    executable: &Executable,
    text: &str,
    steps: usize,
    checkpoint: &str,
) -> (Vec<Const>, u64) {
    let mut options = RunOptions::default();
    options.limits.backend = backend;
    options.limits.checkpoint = plan(checkpoint);
    options.inputs.push(("T".to_owned(), Given::Text(steps.to_string())));
    for (name, value) in INPUTS {
        if text.contains(&format!("input {name}:")) {
            options.inputs.push(((*name).to_owned(), Given::Text((*value).to_owned())));
        }
    }
    let outcome = executable.run(&options, &mut MemoryIo::default());
    let outcome = outcome.unwrap_or_else(|why| panic!("{checkpoint}, {steps}: {why:?}\n{text}"));
    let report = &options.limits.report;
    let fell_back = report.regions().into_iter().find(|region| region.fallback.is_some());
    assert!(fell_back.is_none(), "{checkpoint}, {steps}: {fell_back:?}\n{text}");
    (outcome.outputs.iter().flat_map(|o| numbers(&o.value)).collect(), report.peak())
}

fn built(text: &str, check: impl FnOnce(&Executable)) {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("checkpoint.ein", text);
    match session.build(file) {
        Ok(executable) => check(&executable),
        Err(why) => panic!("{why:?}\n{text}"),
    }
}

#[test]
fn plans_give_the_same_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checkpoint");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ein"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 10);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a program");
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let in_lanes = IN_LANES.contains(&name);
        built(&text, |executable| {
            for steps in [2, 3, 128, 129, 400, 1000] {
                let (wanted, full) = run(executable, &text, steps, "none");
                for checkpoint in ["sqrt", "binomial:1", "binomial:2", "binomial:4", "budget:1000"]
                {
                    let (found, least) = run(executable, &text, steps, checkpoint);
                    let equal = same(&found, &wanted, in_lanes);
                    assert!(equal, "{checkpoint}, {steps}: {}", path.display());
                    assert!(
                        steps < 1000 || least < full || text.contains("@loss / @r)"),
                        "{checkpoint}: {least} of {full} bytes: {}",
                        path.display()
                    );
                }
            }
        });
    }
}

#[test]
fn memory_grows_with_the_root_of_the_steps() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checkpoint/scalar.ein");
    let text = std::fs::read_to_string(path).expect("a program");
    built(&text, |executable| {
        let (_, small) = run(executable, &text, 10_000, "sqrt");
        let (found, large) = run(executable, &text, 1_000_000, "sqrt");
        let (wanted, full) = run(executable, &text, 1_000_000, "none");
        assert!(same(&found, &wanted, false));
        // Two segments of 1024 planes, a checkpoint for each of 977, and a few small things.
        assert!(large < 8 * (2 * 1025 + 977) + 1000, "{large} bytes");
        assert!(large < 10 * small && full > 500 * large, "{small}, {large} and {full} bytes");
    });
}

#[test]
fn memory_grows_with_the_root_in_other_orders_and_steps() {
    let names = ["ahead", "batch_outside", "blocks", "coarse", "every_tenth", "layers"];
    for name in names.into_iter().chain(["layers_of_input", "short_rows"]) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checkpoint");
        let path = folder.join(format!("{name}.ein"));
        let text = std::fs::read_to_string(path).expect("a program");
        built(&text, |executable| {
            let (_, small) = run(executable, &text, 1 << 16, "sqrt");
            let (found, large) = run(executable, &text, 1 << 18, "sqrt");
            let (wanted, full) = run(executable, &text, 1 << 18, "none");
            assert!(same(&found, &wanted, true), "{name}");
            let sizes = format!("{name}: {small}, {large} and {full} bytes");
            assert!(5 * large < 11 * small && full > 40 * large, "{sizes}");
        });
    }
}

#[test]
fn memory_of_a_grid_grows_with_the_root_of_its_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checkpoint/soft_edit.ein");
    let text = std::fs::read_to_string(path).expect("a program");
    built(&text, |executable| {
        let (wanted, full) = run(executable, &text, 16_384, "none");
        let (found, least) = run(executable, &text, 16_384, "sqrt");
        assert!(same(&found, &wanted, false));
        // Rows of 24 numbers: `c`, `D` and its adjoint, a segment of 256 each and a few rows around
        // it, with one flag a point, and a checkpoint of a row for each of 64 segments.
        let row = 24 * 8;
        assert!(least < row * (4 * 260 + 2 * 64) + 2000, "{least} bytes");
        assert!(full > 3 * row * 16_384 && full > 30 * least, "{least} of {full} bytes");
    });
}

#[test]
fn the_budget_is_what_is_kept_at_most() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checkpoint/scalar.ein");
    let text = std::fs::read_to_string(path).expect("a program");
    built(&text, |executable| {
        // Two trajectories of 8 bytes a step.
        let (_, within) = run(executable, &text, 10_000, "budget:160000");
        let (_, beyond) = run(executable, &text, 10_001, "budget:160000");
        assert!(within >= 160_000, "{within} bytes");
        assert!(beyond < 90_000, "{beyond} bytes");
    });
}

/// A recurrence of a few values with random terms, and a loss of its points.
fn random_program(source: &mut Source) -> String {
    let names = ["a", "b", "c"];
    let n_states = 1 + source.pick(&[0, 0, 1, 2]);
    let lookback = source.pick(&[1, 1, 2, 3]);
    let vector = source.pick(&[false, true]);
    let down = source.pick(&[false, false, true]);
    let open = !down && source.pick(&[false, false, true]);
    let axis = if vector { ", j in 0..4" } else { "" };
    let own = |name: &str, offset: i64| {
        let at = if down { format!("t + {offset}") } else { format!("t - {offset}") };
        if vector { format!("{name}[{at}, j]") } else { format!("{name}[{at}]") }
    };
    let mut text =
        "input T: i32 = 10;\nfn main() {\n    let p = 0.7f64;\n    let q = 0.2f64;\n".to_owned();
    if !open {
        text += "    let u[t in 0..T] = cos(t as f64);\n";
    }
    // How long an open axis is, is not known to what goes along with it.
    let along = if open { "cos(t as f64)" } else { "u[t]" };
    for name in &names[..n_states] {
        for base in 0..lookback {
            let at = if down { format!("(T - {})", base + 1) } else { base.to_string() };
            text += &format!("    let {name}[{at}{axis}] = 0.{}f64 * q;\n", base + 3);
        }
    }
    let mutual = n_states > 1 && (open || source.pick(&[false, true]));
    for (number, name) in names[..n_states].iter().enumerate() {
        let mut terms = Vec::new();
        if mutual {
            terms.push(format!("0.1 * {}", own(names[(number + 1) % n_states], 1)));
        }
        for _ in 0..source.pick(&[1, 2, 3]) {
            let read = own(source.pick(&names[..=number]), source.pick(&[1, lookback]));
            terms.push(match source.pick(&[0, 1, 2, 3]) {
                0 => format!("p * sin({read})"),
                1 => format!("q * {read} * {read}"),
                2 => format!("0.3 * tanh({read} + {along})"),
                _ => format!("0.5 * {read} * cos(p * {read})"),
            });
        }
        if vector && source.pick(&[false, true]) {
            let at = if down { "t + 1" } else { "t - 1" };
            terms.push(format!("0.1 * sum[k in 0..4]({name}[{at}, k] * p)"));
        }
        let range = match (down, open) {
            (false, false) => format!("{lookback}..T"),
            (false, true) => format!("{lookback}.."),
            (true, _) => format!("0..T - {lookback}"),
        };
        let until = match open && number == 0 {
            true => format!(" until t >= T + {}, max 3000", source.pick(&[0, 1, 4])),
            false => String::new(),
        };
        let body = terms.join(" + ");
        let clause = format!("    let {name}[t in {range}{axis}]");
        // Which clause a point has may be data: then it is remembered which points were stored.
        text += &match source.pick(&[false, false, true]) {
            false => format!("{clause} = {body}{until};\n"),
            true => format!(
                "{clause} = {body} where {along} > 0.1{until};\n\
                 {clause} = 0.4 * {} + 0.1 * q where {along} <= 0.1;\n",
                own(name, 1)
            ),
        };
    }
    let first = names[0];
    let last = names[n_states - 1];
    let end = if down { "0" } else { "last" };
    let at = |name: &str, time: &str| {
        if vector { format!("{name}[{time}, 2]") } else { format!("{name}[{time}]") }
    };
    let element = |name: &str| at(name, end);
    let all = if vector { "t, j in 0..4" } else { "t" };
    let point = |name: &str| if vector { format!("{name}[t, j]") } else { format!("{name}[t]") };
    let some = source.pick(&["t != 3", "t % 3 == 1", "t < 2 || t > 6", "t > 4"]);
    let k = if vector { "k, 1" } else { "k" };
    let loss = match (source.pick(&[0, 1, 2, 3, 4, 5, 6]), vector) {
        (6, _) if !open => {
            format!(
                "sum[k in 0..T / 4]({first}[4 * {k}] * cos({last}[3 * {k}])) + {}",
                element(first)
            )
        }
        (0, _) => format!("{0} * {0}", element(first)),
        (1, _) => format!("sum[{all}]({} * {})", point(last), point(first)),
        (2, _) => format!("sum[{all}]({} where {some}) + {}", point(first), element(last)),
        (3, _) => format!("{} * {}", at(first, "1"), at(last, "last")),
        (4, _) => format!("{} + {}", at(first, "last - 2"), at(last, "0")),
        (_, false) => format!("sin({}) + {}", element(first), element(last)),
        (_, true) => format!("sum[j in 0..4]({first}[{end}, j] * {last}[{end}, j])"),
    };
    let loss = with_another(source, &mut text, loss);
    text += &format!("    let loss = {loss};\n    (loss, @loss / @p, @loss / @q)\n}}\n");
    text
}

/// Now and then a second trajectory, of another length, which may begin where the first one ends.
fn with_another(source: &mut Source, text: &mut String, loss: String) -> String {
    if source.pick(&[false, true, true]) {
        return loss;
    }
    let start = source.pick(&["p", "0.3 * first"]);
    if start != "p" {
        *text += &format!("    let first = {loss};\n");
    }
    let length = source.pick(&["T", "2 * T", "T + 3"]);
    *text += &format!("    let z[0] = 0.5 * sin({start});\n");
    *text += &format!("    let z[t in 1..{length}] = q * cos(z[t - 1]) + 0.3 * p * z[t - 1];\n");
    let own = source.pick(&["z[last] * z[last]", "sum[t](z[t] * z[t])"]);
    if start == "p" { format!("{loss} + {own}") } else { own.to_owned() }
}

#[test]
fn random_recurrences_give_the_same_values() {
    let wanted = std::env::var("EINLANG_CASES").ok().and_then(|text| text.parse().ok());
    let (n_programs, mut n_smaller) = (wanted.unwrap_or(40_u64), 0);
    for seed in 0..n_programs {
        let mut source = Source::from_seed(seed);
        let text = random_program(&mut source);
        let steps = source.pick(&[5, 130, 260, 513]);
        let plan = source.pick(&["binomial:1", "binomial:2", "binomial:3", "budget:3000"]);
        built(&text, |executable| {
            let (wanted, full) = run(executable, &text, steps, "none");
            // Rounding grows without end in some long recurrences.
            let (few, _) = run(executable, &text, 9, "none");
            let (oracle, _) = run_on(Backend::Oracle, executable, &text, 9, "none");
            assert!(near(&few, &oracle), "{seed}: {few:?}, {oracle:?}\n{text}");
            for checkpoint in ["sqrt", plan] {
                let (found, least) = run(executable, &text, steps, checkpoint);
                // Terms of a part of time have other places in segments.
                let rounded =
                    text.contains("j in") || text.contains("where t ") || text.contains("4 * k");
                let equal = same(&found, &wanted, rounded);
                assert!(equal, "{seed}, {checkpoint}, {steps}:\n{text}");
                n_smaller += u64::from(least != full);
            }
        });
    }
    assert!(n_smaller > n_programs / 2, "only {n_smaller} of {n_programs} used checkpoints");
}

#[test]
fn random_forms_keep_little_and_give_the_same_values() {
    let wanted = std::env::var("EINLANG_CASES").ok().and_then(|text| text.parse().ok());
    for seed in 0..wanted.unwrap_or(40_u64) {
        let mut source = Source::from_seed(seed);
        let (text, rounded) = forms::random_form(&mut source);
        let plan = source.pick(&["binomial:1", "binomial:3", "budget:30000"]);
        built(&text, |executable| {
            let (few, _) = run(executable, &text, 12, "none");
            let (oracle, _) = run_on(Backend::Oracle, executable, &text, 12, "none");
            assert!(near(&few, &oracle), "{seed}: {few:?}, {oracle:?}\n{text}");
            for steps in [12, 700, 4096] {
                let (wanted, full) = run(executable, &text, steps, "none");
                for checkpoint in ["sqrt", plan] {
                    let (found, least) = run(executable, &text, steps, checkpoint);
                    let equal = same(&found, &wanted, rounded);
                    assert!(equal, "{seed}, {checkpoint}, {steps}:\n{text}");
                    let little = steps < 4096 || 2 * least < full;
                    assert!(little, "{seed}, {checkpoint}: {least} of {full} bytes:\n{text}");
                }
            }
        });
    }
}
