//! `einlang explain-storage`.

use crate::support::Sandbox;

const GRID: &str = "\
let G[0, j in 0..20] = 1;
let G[i in 0..20, 0] = 1;
let G[i in 1..20, j in 1..20] = (G[i - 1, j] + G[i, j - 1]) % 1000;
let corner = G[last, last];
";

#[test]
fn a_table_for_people() {
    let sandbox = Sandbox::with("grid.ein", GRID);
    let call = ["explain-storage", "grid.ein", "--outputs", "corner"];
    sandbox.transcript("explain-storage", &call).ends_with(0);
    sandbox.transcript("explain-storage-all", &["explain-storage", "grid.ein"]).ends_with(0);
    let plain = ["explain-storage", "-c", "let x = [1.0, 2.0];"];
    sandbox.transcript("explain-storage-nothing", &plain).ends_with(0);
}

#[test]
fn an_object_for_tools() {
    let sandbox = Sandbox::with("grid.ein", GRID);
    let call = ["explain-storage", "grid.ein", "--outputs", "corner", "--json"];
    let alone = sandbox.transcript("explain-storage-json", &call).ends_with(0).stdout;
    let run = ["run", "grid.ein", "--outputs", "corner", "--json"];
    let answer = sandbox.einlang(&run).ends_with(0).stdout;
    assert!(answer.contains(&format!("\"storage\": {}", alone.trim_end())), "{answer}");
}

#[test]
fn mistakes() {
    let sandbox = Sandbox::with("grid.ein", GRID);
    sandbox.transcript("explain-storage-without-file", &["explain-storage"]).ends_with(2);
    let wrong = ["explain-storage", "-c", "let x[t in 1..9] = x[t - 1];"];
    sandbox.transcript("explain-storage-error", &wrong).ends_with(1);
    let output = ["explain-storage", "grid.ein", "--outputs", "korner"];
    sandbox.transcript("explain-storage-output", &output).ends_with(2);
}

const LONG: &str = "\
input T: i32 = 1000000;
input a: f64 = 0.9;
input x0: f64 = 0.5;
let x[0] = x0;
let x[t in 1..T] = a * sin(x[t - 1]) + 0.1;
let loss = x[last] * x[last];
let slope = @loss / @a;
let start = @loss / @x0;
";

#[test]
fn trajectories_that_are_computed_again() {
    let sandbox = Sandbox::with("long.ein", LONG);
    let explained = |name: &str, plan: &[&str]| {
        let call = ["explain-storage", "long.ein", "--outputs", "slope,start"];
        sandbox.transcript(name, &[&call, plan].concat()).ends_with(0);
    };
    explained("explain-storage-budget", &[]);
    explained("explain-storage-sqrt", &["--checkpoint", "sqrt"]);
    explained("explain-storage-binomial", &["--checkpoint", "binomial:3"]);
    explained("explain-storage-no-checkpoints", &["--checkpoint", "none"]);
    explained("explain-storage-segments-json", &["--checkpoint", "sqrt", "--json"]);
}

const LAYERS: &str = "\
input w: [f64; L];
input T: i32;
let p = 0.7f64;
let q = 0.2f64;
let x[l in 0..L, 0] = w[l] * p;
let x[0, t in 1..T] = cos(t as f64) * q;
let x[l in 1..L, t in 1..T] = q * sin(x[l, t - 1]) + p * x[l - 1, t] * w[l];
let loss = x[last, last];
let g = @loss / @(p, q);
";

#[test]
fn a_grid_is_cut_along_its_longest_axis() {
    let sandbox = Sandbox::with("layers.ein", LAYERS);
    let call = ["explain-storage", "layers.ein", "--outputs", "g", "--checkpoint", "sqrt"];
    sandbox.transcript("explain-storage-layers", &call).ends_with(0);
}

const VARIANCE: &str = "\
input T: i32 = 700;
let a = 0.9f64;
let x[0] = 0.5f64;
let x[t in 1..T] = a * sin(x[t - 1]) + 0.1;
let m = mean[t](x[t]);
let loss = mean[t]((x[t] - m) ** 2);
let slope = @loss / @a + @loss / @x[0];
";

#[test]
fn it_is_said_what_no_segments_are_enough_for() {
    let sandbox = Sandbox::with("variance.ein", VARIANCE);
    let call = ["explain-storage", "variance.ein", "--outputs", "slope", "--checkpoint", "sqrt"];
    sandbox.transcript("explain-storage-variance", &call).ends_with(0);
}

const MAIN: &str = "\
input T: i32 = 700;
fn main() -> (f64, f64, f64) {
    let a = 0.9f64;
    let x0 = 0.5f64;
    let x[0] = x0;
    let x[t in 1..T] = a * sin(x[t - 1]) + 0.1;
    let loss = x[last] * x[last];
    (loss, @loss / @a, @loss / @x0)
}
";

#[test]
fn schedules_with_segments_read_back() {
    let sandbox = Sandbox::with("long.ein", MAIN);
    let call = ["ir", "long.ein", "--after", "decide", "--checkpoint", "sqrt"];
    let printed = sandbox.transcript("ir-checkpoint", &call).ends_with(0).stdout;
    sandbox.write("long.schedule", &printed);
    let run = |more: &[&str]| {
        let said = sandbox.einlang(&[&["run", "long.ein", "--json", "--explain"], more].concat());
        assert!(!said.stderr.contains("point by point"), "{}", said.stderr);
        let all: serde_json::Value = serde_json::from_str(&said.stdout).expect("one object");
        (all["outputs"].clone(), all["timings"]["peak_bytes"].as_u64())
    };
    let (wanted, full) = run(&["--checkpoint", "none"]);
    let (found, least) = run(&["--schedule", "long.schedule"]);
    assert_eq!(found, wanted);
    assert!(least < full, "{least:?} of {full:?} bytes");
    let other = printed.replace("segment (1, 0) state 1", "segment (1, 0) state 0");
    sandbox.write("long.schedule", &other);
    let call = ["run", "long.ein", "--schedule", "long.schedule"];
    sandbox.transcript("run-other-segments", &call).ends_with(2);
}
