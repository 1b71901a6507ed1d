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
    let output = Command::new(env!("CARGO_BIN_EXE_einlang"))
        .args(["run", "--json", "--explain", "--backend", backend])
        .arg(path)
        .output()
        .expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{backend}: {stderr}");
    let fell_back = stderr.contains("point by point") || stderr.contains("no machine code");
    assert!(backend == "interp" || !fell_back, "{backend}: {stderr}");
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    all["outputs"].clone()
}

/// The same structure, and numbers that differ by rounding at most.
fn agree(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| agree(a, b)))
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-5 * (1.0 + a.abs()),
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
            assert!(agree(&right, &native), "{n} of {elem}: {right}\n{native}");
        }
    }
}
