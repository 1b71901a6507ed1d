//! The hand-written schedules in `bench/probes`: they read back as printed, are legal, and give what the
//! oracle gives, at extents that leave tiles, lanes and panels incomplete.

use std::path::{Path, PathBuf};

use einlang_driver::run::{Executable, Given, RunOptions};
use einlang_driver::{Backend, Schedule, Session, parse_schedules};
use einlang_interp::io::MemoryIo;
use einlang_source::MemoryWorld;
use einlang_testkit::repository::root;

/// A probe with small inputs.
struct Probe {
    name: &'static str,
    /// The declarations of the inputs.
    types: &'static [(&'static str, &'static str)],
    inputs: Vec<(&'static str, String)>,
}

/// A matrix as a literal.
fn matrix(rows: usize, columns: usize, at: impl Fn(usize, usize) -> f64) -> String {
    let row = |i: usize| {
        let row: Vec<String> = (0..columns).map(|j| format!("{:?}", at(i, j))).collect();
        format!("[{}]", row.join(", "))
    };
    format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(", "))
}

fn list(n: usize, at: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..n).map(at).collect::<Vec<_>>().join(", "))
}

fn some(i: usize, j: usize) -> f64 {
    ((i * 37 + j * 11 + 5) % 23) as f64 / 8.0 - 1.0
}

fn unit(i: usize, j: usize) -> f64 {
    f64::from(u8::from(i == j))
}

fn probes(n: usize) -> Vec<Probe> {
    let states = if n.is_multiple_of(2) { 4 } else { 3 };
    let scalar = |value: f64| format!("{value:?}");
    let letters = |seed: usize| list(n + seed, |i| ((i * i + seed * i) % 4).to_string());
    vec![
        Probe {
            name: "matmul_f32",
            types: &[("a", "[f32; ?, ?]"), ("b", "[f32; ?, ?]")],
            inputs: vec![("a", matrix(n, n + 2, some)), ("b", matrix(n + 2, n + 5, some))],
        },
        Probe {
            name: "edit_distance",
            types: &[("a", "[i32]"), ("b", "[i32]")],
            inputs: vec![("a", letters(0)), ("b", letters(3))],
        },
        Probe {
            name: "hotspot2d",
            types: &[
                ("temp", "[f32; ?, ?]"),
                ("power", "[f32; ?, ?]"),
                ("steps", "i32"),
                ("cap", "f32"),
                ("rx", "f32"),
                ("ry", "f32"),
                ("rz", "f32"),
                ("amb", "f32"),
            ],
            inputs: vec![
                ("temp", matrix(n, n + 1, some)),
                ("power", matrix(n, n + 1, some)),
                ("steps", "5".to_owned()),
                ("cap", scalar(0.5)),
                ("rx", scalar(0.25)),
                ("ry", scalar(0.125)),
                ("rz", scalar(0.0625)),
                ("amb", scalar(2.0)),
            ],
        },
        Probe {
            name: "kalman",
            types: &[
                ("z", "[f64; ?, ?]"),
                ("F", "[f64; ?, ?]"),
                ("H", "[f64; ?, ?]"),
                ("Q", "[f64; ?, ?]"),
                ("R", "[f64; ?, ?]"),
                ("m0", "[f64]"),
                ("P0", "[f64; ?, ?]"),
            ],
            inputs: vec![
                ("z", matrix(n, 2, some)),
                ("F", matrix(states, states, |i, j| unit(i, j) + 0.1 * unit(i + 2, j))),
                ("H", matrix(2, states, unit)),
                ("Q", matrix(states, states, |i, j| 0.01 * unit(i, j))),
                ("R", matrix(2, 2, unit)),
                ("m0", list(states, |_| "0.0".to_owned())),
                ("P0", matrix(states, states, |i, j| 10.0 * unit(i, j))),
            ],
        },
        Probe {
            name: "lorenz_ensemble",
            types: &[
                ("s0", "[f64; ?, ?]"),
                ("steps", "i32"),
                ("dt", "f64"),
                ("sigma", "f64"),
                ("rho", "f64"),
                ("beta", "f64"),
            ],
            inputs: vec![
                ("s0", matrix(n, 3, some)),
                ("steps", "7".to_owned()),
                ("dt", scalar(0.005)),
                ("sigma", scalar(10.0)),
                ("rho", scalar(28.0)),
                ("beta", scalar(2.5)),
            ],
        },
    ]
}

fn folder() -> PathBuf {
    root().join("bench")
}

fn schedule(name: &str) -> (String, Vec<Schedule>) {
    let path = folder().join("probes").join(format!("{name}.schedule"));
    let text = std::fs::read_to_string(path).expect("the schedule is there");
    let parsed = parse_schedules(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    (text, parsed)
}

fn build(probe: &Probe) -> Executable {
    let name = probe.name;
    let text = std::fs::read_to_string(folder().join(format!("{name}.ein"))).expect("a program");
    let mut main = format!("mod {name};\n");
    for (input, ty) in probe.types {
        main += &format!("input {input}: {ty};\n");
    }
    let args: Vec<String> =
        probe.types.iter().map(|(input, _)| format!("{input} = {input}")).collect();
    main += &format!("let out = {name}::run({});\n", args.join(", "));
    let world = MemoryWorld::new().with("main.ein", main).with(format!("{name}.ein"), text);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("main.ein")).expect("it is there");
    session.build(file).unwrap_or_else(|failure| panic!("{name}: {failure:?}"))
}

/// The numbers of the last output, and why something ran point by point.
fn run(
    executable: &Executable,
    probe: &Probe,
    backend: Backend,
    by: &[Schedule],
) -> (Vec<f64>, String) {
    let given = probe.inputs.iter();
    let inputs = given.map(|(name, text)| ((*name).to_owned(), Given::Text(text.clone())));
    let mut options = RunOptions { inputs: inputs.collect(), ..RunOptions::default() };
    (options.limits.backend, options.limits.schedules) = (backend, by.to_vec());
    let outcome = executable.run(&options, &mut MemoryIo::default());
    let outcome = outcome.unwrap_or_else(|failure| panic!("{}: {failure:?}", probe.name));
    let value = &outcome.outputs.last().expect("an output").value;
    let number =
        |c: einlang_driver::Const| c.as_float().or(c.as_int().map(|n| n as f64)).expect("a number");
    let values = match (value.as_scalar(), value.as_tensor()) {
        (Some(scalar), _) => vec![number(scalar)],
        (None, Some(tensor)) => tensor.consts().map(number).collect(),
        (None, None) => Vec::new(),
    };
    let regions = options.limits.report.regions();
    let why = regions.iter().filter_map(|region| region.fallback.clone());
    (values, why.collect::<Vec<_>>().join("; "))
}

#[test]
fn schedules_read_back_as_printed() {
    for probe in probes(1) {
        let (text, parsed) = schedule(probe.name);
        assert_eq!(parsed.iter().map(ToString::to_string).collect::<String>(), text);
    }
}

#[test]
fn schedules_give_what_the_oracle_gives() {
    for n in [1, 2, 5, 17, 34] {
        for probe in probes(n) {
            let (executable, (_, by)) = (build(&probe), schedule(probe.name));
            let (right, _) = run(&executable, &probe, Backend::Oracle, &[]);
            let (found, why) = run(&executable, &probe, Backend::Bytecode, &by);
            assert_eq!((why.as_str(), found.len()), ("", right.len()), "{}, {n}", probe.name);
            for (a, b) in right.iter().zip(&found) {
                let off = (a - b).abs() / (1.0 + a.abs());
                assert!(off <= 1e-5, "{}, {n}: {a} and {b}", probe.name);
            }
        }
    }
}
