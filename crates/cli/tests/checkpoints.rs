//! Machine code gives the same values however trajectories are kept. Without LLVM it is bytecode, which
//! `einlang-driver` tests at more extents and to the bit.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The outputs, and the bytes that values took at most.
fn run(path: &Path, steps: usize, checkpoint: &str) -> (Value, u64) {
    let text = std::fs::read_to_string(path).expect("a program");
    let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
    command.args(["run", "--json", "--explain", "--checkpoint", checkpoint]).arg(path);
    command.arg("--input").arg(format!("T={steps}"));
    let inputs = [
        ("W", "[[0.3, -0.2, 0.5], [0.1, 0.4, -0.3], [-0.6, 0.2, 0.1]]"),
        ("w", "[0.3, -0.2, 0.5, 0.7]"),
        ("g0", "[0.3, -0.2, 0.5, 0.7, 0.1]"),
    ];
    for (name, value) in inputs {
        if text.contains(&format!("input {name}:")) {
            command.arg("--input").arg(format!("{name}={value}"));
        }
    }
    let output = command.output().expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{checkpoint}: {stderr}");
    let fell_back = stderr.contains("point by point") || stderr.contains("no machine code");
    assert!(!fell_back, "{}, {checkpoint}: {stderr}", path.display());
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let bytes = all["timings"]["peak_bytes"].as_u64().expect("a number");
    (all["outputs"].clone(), bytes)
}

/// The same structure, and numbers that differ by the association of sums at most.
fn agree(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| agree(a, b)))
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-4 * (1.0 + a.abs()),
            _ => false,
        },
        (a, b) => a == b,
    }
}

#[test]
fn plans_give_the_same_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/checkpoint");
    let files = std::fs::read_dir(folder).expect("the folder");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    for path in paths {
        for steps in [130, 700] {
            let (wanted, _) = run(&path, steps, "none");
            for checkpoint in ["sqrt", "binomial:2", "budget:500"] {
                let (found, _) = run(&path, steps, checkpoint);
                assert!(agree(&found, &wanted), "{checkpoint}, {steps}: {}", path.display());
            }
        }
    }
}
