//! Elementary functions as machine code: the same bits one by one and in lanes of any number, and at
//! most two units in the last place from what the oracle computes.

#![cfg(feature = "native")]

use std::path::Path;
use std::sync::Arc;

use einlang_codegen::Llvm;
use einlang_driver::{
    Backend, Executable, Native, Options, Permits, Printer, ProjectIo, RunOptions, Schedule,
    Session, Stage, parse_schedules,
};
use einlang_source::MemoryWorld;

struct Silent;

impl Printer for Silent {
    fn line(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}

/// The functions, and a range of arguments that is worth looking at.
const FUNCTIONS: &[(&str, &str)] = &[
    ("exp(v)", "0.21"),
    ("exp2(v)", "0.31"),
    ("expm1(v)", "0.171"),
    ("tanh(v)", "0.013"),
    ("log(abs(v))", "0.37"),
    ("log2(abs(v))", "1e-3"),
    ("log10(abs(v))", "7.7"),
    ("log1p(abs(v))", "1e-4"),
    ("sin(v)", "0.37"),
    ("cos(v)", "0.37"),
    // Some of these lanes are beyond the range of the formula, and some are not.
    ("sin(v * v * v)", "0.93"),
    ("cos(v * v * v)", "0.93"),
    ("erf(v)", "0.01"),
    ("erfc(v)", "0.02"),
    ("abs(v) ** (v * 0.01)", "0.37"),
    // Powers by roots.
    ("abs(v) ** 0.5", "0.37"),
    ("abs(v) ** 1.5", "0.37"),
    ("abs(v) ** 2.5", "0.37"),
    ("(abs(v) + 1.0) ** -0.5", "0.37"),
    ("(abs(v) + 1.0) ** -1.5", "0.37"),
];

fn build(text: &str) -> (Executable, String) {
    let world = MemoryWorld::new();
    let options = Options { outputs: Some(vec!["y".to_owned()]), ..Options::default() };
    let mut session = Session::new(&world).with_options(options);
    let file = session.add_text("math.ein", text);
    let schedules = session.ir(file, Some(Stage::Decide)).text;
    (session.build(file).unwrap_or_else(|found| panic!("{found:?}\n{text}")), schedules)
}

fn values(
    executable: &Executable,
    backend: Backend,
    with: &[Schedule],
    native: &Native,
) -> Vec<f64> {
    let mut options = RunOptions::default();
    options.limits.backend = backend;
    options.limits.native = Some(native.clone());
    options.limits.schedules = with.to_vec();
    let mut printer = Silent;
    let permits = Permits::new(Path::new("."), &[], &[]).expect("a folder");
    let mut io = ProjectIo::new(permits, &mut printer, 0);
    let outcome = executable.run(&options, &mut io).unwrap_or_else(|found| panic!("{found:?}"));
    let all: serde_json::Value = serde_json::from_str(&outcome.json()).expect("JSON");
    let numbers = all["outputs"]["y"]["data"].as_array().expect("an array").iter();
    // What JSON has no number for is a text.
    numbers.map(|v| v.as_f64().unwrap_or(f64::INFINITY)).collect()
}

#[test]
fn lanes_change_no_bit_and_errors_are_small() {
    let native = Native(Arc::new(Llvm::default()));
    for elem in ["f32", "f64"] {
        for (function, step) in FUNCTIONS {
            let text = format!(
                "use std::math::{{erf, erfc, exp2, expm1, log10, log1p, log2}};\n\
                 let y[i in 0..403] = {{ let v = (i as {elem} - 200.0) * {step}; {function} }};\n"
            );
            let (executable, schedules) = build(&text);
            let right = values(&executable, Backend::Oracle, &[], &native);
            let mut found = Vec::new();
            for role in ["par", "lane 4", "lane 16"] {
                let (before, rest) = schedules.split_once("points y/0 (0) ").expect("points");
                let (_, after) = rest.split_once(';').expect("a role");
                let with = format!("{before}points y/0 (0) {role};{after}");
                let with = parse_schedules(&with).expect("schedules");
                found.push(values(&executable, Backend::Native, &with, &native));
            }
            for other in &found[1..] {
                let bits = |of: &[f64]| of.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&found[0]), bits(other), "{function} of {elem}");
            }
            let unit = if elem == "f32" { f64::from(f32::EPSILON) } else { f64::EPSILON };
            for (at, (a, b)) in right.iter().zip(&found[0]).enumerate() {
                let fine =
                    a == b || (a - b).abs() <= 3.0 * unit * a.abs() + f64::from(f32::MIN_POSITIVE);
                assert!(fine, "{function} of {elem} at {at}: {b}, not {a}");
            }
        }
    }
}
