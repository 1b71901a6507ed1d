//! Every backend computes what the interpreter does, at awkward extents: none, one, primes, and one
//! less and one more than the lanes and blocks of sums. Without LLVM, `native` runs as bytecode.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const EXTENTS: &[usize] = &[0, 1, 2, 7, 8, 9, 17, 127, 128, 129, 257];

/// Sums, prefixes, guards, defaults, recurrences and keys over one axis.
fn program(n: usize, elem: &str) -> String {
    format!(
        "const N = {n};
let x[i in 0..N] = ((i * 37 + 11) % 23 - 7) as {elem};
let total = sum[i](x[i]);
let most = max[i in 0..N](x[i]);
let some = sum[i](x[i] * x[i] where i % 3 == 1);
let prefix[i] = sum[k in 0..=i](x[k]);
let grid[i in 0..N, j in 0..3] = total + x[i];
let cells = sum[i, j](grid[i, j]);
let chain[i in 0..N + 1] = chain[i - 1 else 1 as {elem}] + x[i - 1 else 0 as {elem}];
let bins[b in 0..5] = sum[i](x[i] where (i % 5) == b);
let near[i in 0..N] = x[i] + x[i - 1 else 0 as {elem}] + x[i + 1 else 0 as {elem}];
let below = any[i](x[i] < (0 as {elem}));
"
    )
}

fn outputs(path: &Path, backend: &str) -> Value {
    scheduled(path, backend, None)
}

/// The outputs, by the schedule in a file if there is one.
fn scheduled(path: &Path, backend: &str, schedule: Option<&Path>) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
    command.args(["run", "--json", "--explain", "--backend", backend]).arg(path);
    if let Some(schedule) = schedule {
        command.arg("--schedule").arg(schedule);
    }
    let output = command.output().expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{backend}: {stderr}");
    let fell_back = stderr.contains("point by point") || stderr.contains("no machine code");
    assert!(backend == "interp" || !fell_back, "{backend}: {stderr}");
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    all["outputs"].clone()
}

/// Rounding in `f32` and in `f64`.
const SINGLE: f64 = 1e-5;
const DOUBLE: f64 = 1e-13;

/// The same structure, and numbers that differ by rounding at most.
fn agree(a: &Value, b: &Value, rounding: f64) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b, rounding))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| agree(a, b, rounding)))
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= rounding * (1.0 + a.abs()),
            _ => false,
        },
        (a, b) => a == b,
    }
}

#[test]
fn backends_agree_at_awkward_extents() {
    let folder = tempfile::tempdir().expect("a folder");
    for n in EXTENTS {
        for elem in ["f32", "f64", "i32"] {
            let path = folder.path().join("main.ein");
            std::fs::write(&path, program(*n, elem)).expect("a file");
            let right = outputs(&path, "interp");
            assert_eq!(right["x"]["shape"], serde_json::json!([n]));
            assert_eq!(right, outputs(&path, "bytecode"), "bytecode, {n} of {elem}");
            let native = outputs(&path, "native");
            assert!(agree(&right, &native, SINGLE), "{n} of {elem}: {right}\n{native}");
        }
    }
}

/// Producers inside the loop of a recurrence, a reduction whose state is a tensor, edges of a stencil,
/// and the gradient of it all, with nothing but the ends observed.
fn windows(n: usize) -> String {
    format!(
        "const N = {n};
let x[t in 0..N, d in 0..3]: f64 = ((t * 37 + d * 11) % 23 - 7) as f64 / 9.0;
fn ended(x: [f64; T, 3]) -> f64 {{
    let score[t] = sum[d](x[t, d] * (d + 1) as f64);
    let gate[t] = 1.0 / (1.0 + exp(-score[t]));
    let p[0] = 0.5;
    let p[t in 1..T + 1] = p[t - 1] * gate[t - 1] + score[t - 1] * gate[t - 1];
    p[T]
}}
let end = ended(x);
let slope = @end / @x;
let ahead = {{
    let q[t in 0..N + 2] = (t * t % 7) as f64 / 3.0;
    let h[0] = 1.0;
    let h[t in 1..N + 1] = h[t - 1] * 0.5 + q[t] * q[t - 1] + q[t + 1];
    h[N]
}};
let turn = {{
    let unit[i in 0..2, j in 0..2]: f64 = if i == j {{ 1.0 }} else {{ 0.0 }};
    let step[k in 0..N, i in 0..2, j in 0..2] = ((k + i + 2 * j) % 5) as f64 * 0.2;
    reduce[k](unit, |a, b| {{ let c[i, j] = sum[m](a[i, m] * b[m, j]); c }})(step[k])
}};
let smooth = {{
    let u[0, i in 0..N] = x[i, 1];
    let u[t in 1..4, i in 0..N] = 0.5 * u[t - 1, i] + 0.25 * u[t - 1, i - 1 else 0.0]
        + 0.25 * u[t - 1, i + 1 else 1.0];
    u[3]
}};
"
    )
}

#[test]
fn windows_agree_at_awkward_extents() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.ein");
    for n in EXTENTS {
        std::fs::write(&path, windows(*n)).expect("a file");
        let right = outputs(&path, "interp");
        assert_eq!(right["slope"]["shape"], serde_json::json!([n, 3]));
        let bytecode = outputs(&path, "bytecode");
        assert!(agree(&right, &bytecode, DOUBLE), "{n}: {right}\n{bytecode}");
        let native = outputs(&path, "native");
        assert!(agree(&right, &native, DOUBLE), "{n}: {right}\n{native}");
    }
}

/// Lanes with and without a tail, gathers, folds and conditions in lanes, and rounds that are jammed.
/// Rows that are computed together, steps that are taken at once, extremes along an axis.
fn rows(n: usize) -> String {
    format!(
        "input n: i32 = {n};
let x[i in 0..n, d in 0..5]: f64 = ((i * 37 + d * 11) % 23 - 7) as f64 / 9.0;
let y[j in 0..n + 2, d in 0..5]: f64 = ((j * 29 + d * 7) % 19 - 8) as f64 / 8.0;
fn mixed(x: [f64; N, D], y: [f64; M, D]) -> [f64; N, D] {{
    let like[i, j] = sum[d](x[i, d] * y[j, d]);
    let most[i] = max[j](like[i, j] where (i + j) % 3 != 1);
    let weight[i, j] = exp(like[i, j] - most[i]) where (i + j) % 3 != 1 else 0.0;
    let out[i, d] = sum[j](weight[i, j] * y[j, d]) / sum[j](weight[i, j]);
    out
}}
fn norms(x: [f64; N, D]) -> [f64; N, D] {{
    let mu[i] = mean[d](x[i, d]);
    let var[i] = mean[d]((x[i, d] - mu[i]) ** 2);
    let z[i, d] = (x[i, d] - mu[i]) / sqrt(var[i] + 0.01);
    let out[i, d] = z[i, d] * tanh(z[i, d]);
    out
}}
fn widest(w: [i32; N, N]) -> [i32; N, N] {{
    let d[0, i, j] = w[i, j];
    let d[k in 1..N + 1, i in 0..N, j in 0..N] = max(
        d[k - 1, i, j],
        min(d[k - 1, i, k - 1], d[k - 1, k - 1, j])
    );
    d[N]
}}
let w[i in 0..n, j in 0..n] = (i * 31 + j * 17) % 97 - 11;
let a = mixed(x, y);
let b = norms(x);
let c = widest(w);
let least[i in 0..n] = min[j](w[i, j] where w[i, j] > i);
"
    )
}

#[test]
fn rows_and_pivots_agree_at_awkward_extents() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.ein");
    for n in [0, 1, 2, 13, 47, 64, 65, 66] {
        std::fs::write(&path, rows(n)).expect("a file");
        let right = outputs(&path, "interp");
        assert_eq!(right["a"]["shape"], serde_json::json!([n, 5]));
        let bytecode = outputs(&path, "bytecode");
        assert!(agree(&right, &bytecode, DOUBLE), "{n}: {right}\n{bytecode}");
        let native = outputs(&path, "native");
        assert!(agree(&right, &native, DOUBLE), "{n}: {right}\n{native}");
    }
}

/// Recurrences whose pivots are at different places beside their step, and of planes that are no squares.
fn crossings(n: usize) -> String {
    format!(
        "input n: i32 = {n};
let w[i in 0..n, j in 0..n + 5] = ((i * 31 + j * 17 + i * j) % 97) as f32 - 11.0;
fn crossed(w: [f32; N, M], n: i32) -> [f32; N, M] {{
    let d[0, i, j] = w[i, j];
    let d[k in 1..n + 1, i in 0..N, j in 0..M] = min(
        d[k - 1, i, j],
        d[k - 1, i, k + 2] + d[k - 1, k - 1, j] + 0.5 * d[k - 1, i, k + 2]
    );
    d[n]
}}
fn beside(w: [f32; N, M], n: i32) -> [f32; N, M] {{
    let d[0, i, j] = w[i, j];
    let d[k in 1..n, i in 0..N, j in 0..M] = max(
        d[k - 1, i, j],
        min(min(d[k - 1, i, k - 1], d[k - 1, k, j]), min(d[k - 1, i, k], d[k - 1, k - 1, j]))
    );
    d[n - 1]
}}
let a = crossed(w, n);
let b = beside(w, n);
"
    )
}

/// Steps that compute from numbers of the program, and steps that ask whether a neighbour is there.
const STEPS: &str = "
struct State { x: f64, v: f64 }
fn swing(x: [f64; N, 2], h: f64, k: f64) -> [f64; N] {
    let s[0, i in 0..N] = State { x: x[i, 0], v: x[i, 1] };
    let s[t in 1..10, i in 0..N] = {
        let before = s[t - 1, i];
        let half = before.v + h / 2.0 * (-k) * before.x;
        State { x: before.x + h * half, v: half }
    };
    let end[i in 0..N] = s[9, i].x;
    end
}
fn cool(x: [f64; N, M], h: f64) -> [f64; N, M] {
    let u[0, i, j] = x[i, j];
    let u[t in 1..10, i in 0..N, j in 0..M] = {
        let here = u[t - 1, i, j];
        here + h * (u[t - 1, i - 1, j else here] + u[t - 1, i, j + 1 else here] - 2.0 * here)
    };
    u[9]
}
input h: f64 = 0.125;
input k: f64 = 1.5;
let x[i in 0..n, j in 0..2] = ((i * 3 + j * 5) % 7) as f64 / 3.0;
let wide[i in 0..n, j in 0..n + 1] = ((i * 3 + j * 5) % 11) as f64;
let a = swing(x, h, k);
let b = cool(wide, h);
";

#[test]
fn numbers_and_neighbours_of_steps_agree_at_awkward_extents() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.ein");
    for n in [0, 1, 2, 7, 8, 15, 17, 33] {
        std::fs::write(&path, format!("input n: i32 = {n};{STEPS}")).expect("a file");
        let right = outputs(&path, "interp");
        assert_eq!(right["b"]["shape"], serde_json::json!([n, n + 1]));
        for backend in ["bytecode", "native"] {
            let found = outputs(&path, backend);
            assert!(agree(&right, &found, DOUBLE), "{backend}, {n}: {right}\n{found}");
        }
    }
}

#[test]
fn pivots_cross_where_they_did() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.ein");
    for n in [1, 63, 64, 65, 100] {
        std::fs::write(&path, crossings(n)).expect("a file");
        let right = outputs(&path, "interp");
        assert_eq!(right["a"]["shape"], serde_json::json!([n, n + 5]));
        for backend in ["bytecode", "native"] {
            assert_eq!(right, outputs(&path, backend), "{backend}, {n}");
        }
    }
}

#[test]
fn roles_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, schedule) = (folder.path().join("main.ein"), folder.path().join("roles"));
    let grid = "
let q[i in 0..N, j in 0..N + 2] = x[(i * 7 + j * 3) % N] * (if j > i { x[i] } else { 2 as f32 });
let turned[j in 0..N + 2, i in 0..N] = q[i, j] - x[N - 1 - i];
let product[i in 0..N, j in 0..N] = sum[k in 0..N + 2](q[i, k] * turned[k, j]);
let rows[i in 0..N] = max[j](product[i, j]);
let marks[i in 0..N] = rows[i] > x[i];
";
    for n in [1, 3, 8, 17, 33] {
        let text = program(n, "f32") + grid;
        std::fs::write(&path, text).expect("a file");
        let right = outputs(&path, "interp");
        let printed = Command::new(env!("CARGO_BIN_EXE_einlang"))
            .args(["ir", "--after", "decide"])
            .arg(&path)
            .output()
            .expect("the binary starts");
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        for role in ["lane 2", "lane 16", "unroll 3"] {
            let text = printed.replace(" par;", &format!(" {role};"));
            assert_ne!(text, printed, "there are free loops");
            std::fs::write(&schedule, text).expect("a file");
            for backend in ["bytecode", "native"] {
                let found = scheduled(&path, backend, Some(&schedule));
                assert!(agree(&right, &found, SINGLE), "{backend}, {n}, {role}: {right}\n{found}");
            }
        }
    }
}

/// Numbers of all magnitudes, with the ties between neighbours, in a narrow type and back.
fn narrow(elem: &str) -> String {
    format!(
        "let wide[i in 0..6400] = {{
    let size = (1.0 + (i % 128) as f32 / 128.0) * 2.0 ** (i / 128 - 30);
    if i % 3 == 0 {{ -size }} else {{ size }}
}};
let x[i] = wide[i] as {elem};
let back[i] = x[i] as f32;
let double[i] = x[i] as f64;
let whole[i] = x[i] as i32;
let sum[i in 0..6399] = (x[i] + x[i + 1]) as f32;
let product[i in 0..6300] = (x[i] * x[i + 100]) as f32;
let quotient[i in 0..6300] = (x[i] / x[i + 77]) as f32;
let root[i] = sqrt(abs(x[i])) as f32;
let below[i in 0..6399] = x[i] < x[i + 1];
let least = min[i](x[i]) as f32;
let zero = (0.0 as {elem}) as f32;
let none[i in 0..4] = ((x[i] - x[i]) / (x[i] - x[i])) as f32;
let counted[i in 0..256] = ((i - 128) as {elem}) as f32;
"
    )
}

#[test]
fn narrow_floats_are_rounded_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    for elem in ["f16", "bf16", "f8e4m3"] {
        let path = folder.path().join("narrow.ein");
        std::fs::write(&path, narrow(elem)).expect("a file");
        let mut right = outputs(&path, "interp");
        let mut native = outputs(&path, "native");
        // The order of additions is not fixed; everything else is the same to the last bit.
        assert!(right["back"]["data"].as_array().is_some_and(|data| data.len() == 6400));
        for name in ["wide", "x"] {
            right[name].take();
            native[name].take();
        }
        assert_eq!(right, native, "{elem}");
    }
}

/// A long loop and a long sum, each without another loop around or inside.
const LONG: [&str; 2] = [
    "let f[0] = 1; let f[t in 1..2000000000] = (f[t - 1] * 3 + 1) % 1009; let g = f[last];",
    "input n: i32 = 300000; let a[i in 0..n] = i as f32; \
     let y[i in 0..n] = sum[k](a[k] * a[i]); let g = y[0];",
];

#[test]
fn long_loops_can_be_stopped() {
    for text in LONG {
        let output = Command::new(env!("CARGO_BIN_EXE_einlang"))
            .args(["run", "--outputs", "g", "--timeout", "300ms", "-c", text])
            .output()
            .expect("the binary starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with("error[E0803]: the program took longer"), "{text}: {stderr}");
    }
}
