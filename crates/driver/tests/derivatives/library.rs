//! Derivatives through the standard library: every public function that has one, against differences.
//!
//! The calls are in `tests/derivatives/library.txt`, which must name all that `std` offers.

use std::path::{Path, PathBuf};

use einlang_driver::run::{Executable, Given, RunOptions};
use einlang_interp::io::MemoryIo;
use einlang_interp::options::Backend;
use einlang_testkit::parallel::judge_all;
use einlang_tir::passes::Mode;

use super::{build, close, numbers, words};

/// The point and the direction of the derivatives.
const POINT: [f64; 12] = [0.31, 0.57, 0.83, 0.22, 0.68, 0.45, 0.91, 0.37, 0.74, 0.53, 0.29, 0.62];
const WAY: [f64; 12] = [0.7, -0.4, 0.3, 0.9, -0.8, 0.5, 0.2, -0.6, 0.4, -0.3, 0.8, -0.5];

/// Tensors made of the vector.
const TENSORS: &str = "
    let A[i in 0..3, j in 0..3] = x[3 * i + j];
    let M[i in 0..3, j in 0..4] = x[4 * i + j];
    let B[i in 0..2, j in 0..3, k in 0..2] = x[6 * i + 2 * j + k];
    let Q[a in 0..1, b in 0..1, i in 0..3, j in 0..4] = x[4 * i + j];
    let K[a in 0..1, b in 0..1, i in 0..2, j in 0..2] = x[2 * i + j];
    let S[i in 0..2, j in 0..2] = x[i + 2 * j];
    let G[i in 0..2, j in 0..6] = x[6 * i + j];
    let L[i in 0..2, j in 0..8] = x[3 * i + j];
    let C[a in 0..1, b in 0..4, i in 0..3] = x[3 * b + i];
    let P[a in 0..2, s in 0..3, t in 0..3] =
        x[a + 3 * s + t] / sum[u in 0..3](x[a + 3 * s + u]);
    let R[a in 0..2, s in 0..3] = x[2 * s + a];
    let I[i in 0..3, j in 0..3] = if i == j { 1.0f64 } else { 0.0 };
    let D[i in 0..3, j in 0..3] = if i == j { (2 * i) as f64 } else { 0.0 };
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lines() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("tests/derivatives/library.txt"));
    let text = text.expect("the list of calls");
    text.lines().filter(|line| !line.starts_with("//")).map(str::to_owned).collect()
}

/// A program that gives the value of a call and its derivative along the direction, in both modes.
fn program(call: &str, elem: &str) -> String {
    let tensors = if elem == "f64" { TENSORS } else { "" };
    format!(
        "use std::array;\nuse std::linalg;\nuse std::math;\nuse std::ml;\nuse std::numerics;\n\
         use std::random;\n\
         input x0: [{elem}; 12];\ninput s: {elem};\n\
         fn total<F>(a: [F; ..r]) -> F {{ sum[..r](a[..r] * a[..r] + 0.7 * a[..r]) }}\n\
         fn f(x: [{elem}; 12]) -> {elem} {{{tensors}    total({call})\n}}\n\
         let way = {WAY:?} as [{elem}; 12];\nlet x = x0 + s * way;\n\
         let y = f(x);\nlet g = @y / @x;\nlet back = sum[i](g[i] * way[i]);\nlet along = @y / @s;\n"
    )
}

/// The numbers of all outputs, at a step along the direction.
fn run(executable: &Executable, backend: Backend, step: f64) -> Result<Vec<f64>, String> {
    let inputs = [("x0", format!("{POINT:?}")), ("s", format!("{step:?}"))];
    let inputs = inputs.map(|(name, value)| (name.to_owned(), Given::Text(value)));
    let mut options = RunOptions { inputs: inputs.into(), ..RunOptions::default() };
    options.limits.backend = backend;
    let outcome = executable.run(&options, &mut MemoryIo::default());
    let outcome = outcome.map_err(|failure| words(&failure))?;
    Ok(outcome.outputs.iter().flat_map(|output| numbers(&output.value)).collect())
}

fn check(line: &str) -> Result<(), String> {
    let (call, elem) = match line.strip_prefix("f32 ") {
        Some(call) => (call, "f32"),
        None => (line, "f64"),
    };
    let (step, tolerance) = if elem == "f64" { (1e-3, 1e-6) } else { (2e-2, 2e-2) };
    let text = program(call, elem);
    let outputs = ["y", "back", "along"].map(str::to_owned);
    let executable = build(&text, &outputs, Mode::Cheaper);
    let primal = build(&text, &outputs[..1], Mode::Cheaper);
    let value = |step: f64| run(&primal, Backend::Bytecode, step).map(|values| values[0]);
    let difference = |step: f64| Ok((value(step)? - value(-step)?) / (2.0 * step));
    let difference: &dyn Fn(f64) -> Result<f64, String> = &difference;
    let expected = (4.0 * difference(step)? - difference(2.0 * step)?) / 3.0;
    for backend in [Backend::Oracle, Backend::Bytecode] {
        let found = run(&executable, backend, 0.0)?;
        if !found[1..].iter().all(|derivative| close(*derivative, expected, tolerance)) {
            return Err(format!("{:?} by {backend:?}, not {expected}", &found[1..]));
        }
    }
    Ok(())
}

#[test]
fn derivatives_of_the_library_agree_with_differences() {
    let calls: Vec<String> =
        lines().into_iter().filter(|line| !line.starts_with("none ")).collect();
    assert!(calls.len() > 250);
    // The long run tries all of them.
    let every = if std::env::var_os("EINLANG_PROGRAMS").is_some() { 1 } else { 3 };
    let calls: Vec<String> = calls.into_iter().step_by(every).collect();
    judge_all(&calls, String::clone, |_, call| check(call));
}

/// The names in the braces of `pub use` in the list of an area.
fn offered(area: &str) -> Vec<String> {
    let path = root().join("std").join(area).join("mod.ein");
    let text = std::fs::read_to_string(path).expect("the list of an area");
    let uses = text.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let lists = uses.flat_map(|list| list.rsplit("::").next());
    let names = lists.flat_map(|list| list.trim_matches(['{', '}']).split(','));
    names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_list_of_calls_is_complete() {
    let lines = lines();
    for area in ["array", "linalg", "math", "ml", "numerics", "random"] {
        let names = offered(area);
        assert!(names.len() > 5, "{area}: {names:?}");
        let none = format!("none {area}: ");
        let without = lines.iter().find_map(|line| line.strip_prefix(&none)).unwrap_or_default();
        for name in names {
            let call = format!("{area}::{name}(");
            let tried = lines.iter().any(|line| line.contains(&call));
            let known = tried || without.split(' ').any(|other| other == name);
            assert!(known, "`std::{area}::{name}` is not in tests/derivatives/library.txt");
        }
    }
}
