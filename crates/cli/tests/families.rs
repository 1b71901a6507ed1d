//! Programs of each family that machine code has schedules of its own for, at awkward extents: what
//! they compute is what the interpreter computes, with lengths that are known and unknown to the
//! compiler, and the same bit by bit on one thread and on three.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// None, one, and one less and one more than vectors, tiles, and blocks of rows and of steps.
const EXTENTS: &[[usize; 3]] = &[
    [0, 3, 2],
    [1, 1, 1],
    [2, 5, 0],
    [3, 17, 33],
    [13, 7, 16],
    [34, 16, 9],
    [65, 13, 5],
    [97, 6, 5],
    [3, 4, 130],
];

/// How far sums and functions may be apart, relative to the largest number of a tensor.
fn rounding(elem: &str) -> f64 {
    if elem == "f32" { 2e-5 } else { 1e-12 }
}

fn outputs(path: &Path, wanted: &str, extents: &[String], options: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
    command
        .args(["run", "--json", "--quiet", "--outputs", wanted])
        .args(extents)
        .args(options)
        .arg(path);
    let output = command.output().expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {extents:?} {options:?}: {stderr}", path.display());
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    all["outputs"].clone()
}

fn numbers(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| numbers(value, out)),
        other => out.push(other.as_f64().unwrap_or(f64::NAN)),
    }
}

fn assert_close(right: &Value, found: &Value, rounding: f64, what: &str) {
    for (name, right) in right.as_object().expect("outputs") {
        assert_eq!(right["shape"], found[name]["shape"], "{what}: {name}");
        let (mut a, mut b) = (Vec::new(), Vec::new());
        numbers(&right["data"], &mut a);
        numbers(&found[name]["data"], &mut b);
        assert_eq!(a.len(), b.len(), "{what}: {name}");
        let most = a.iter().map(|number| number.abs()).fold(1.0, f64::max);
        for (a, b) in a.iter().zip(&b) {
            let same = (a - b).abs() <= rounding * most || a.is_nan() && b.is_nan();
            assert!(same, "{what}: {name} has {b}, not {a}");
        }
    }
}

/// Only what is wanted is observed, so that the rest may be kept in windows or not at all.
fn check(family: &str, wanted: &str) {
    check_at(family, wanted, EXTENTS);
}

fn check_at(family: &str, wanted: &str, all: &[[usize; 3]]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/families");
    let text = std::fs::read_to_string(root.join(format!("{family}.ein"))).expect("the program");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("main.ein");
    for (number, extents) in all.iter().enumerate() {
        let elem = if number % 2 == 0 { "f64" } else { "f32" };
        let mut text = text.replace("real", elem);
        // Every other program knows its lengths.
        let known = number % 3 == 1;
        let mut given = Vec::new();
        for (name, extent) in ["N", "M", "Q"].iter().zip(extents) {
            if known {
                let constant = format!("const {name} = {extent};");
                text = text.replace(&format!("input {name}: i32;"), &constant);
            } else {
                given.extend(["--input".to_owned(), format!("{name}={extent}")]);
            }
        }
        std::fs::write(&path, text).expect("a file");
        let what = format!("{family} {extents:?} of {elem}");
        let right = outputs(&path, wanted, &given, &["--backend", "interp"]);
        let bytecode = outputs(&path, wanted, &given, &["--backend", "bytecode"]);
        assert_close(&right, &bytecode, rounding(elem), &what);
        let one = outputs(&path, wanted, &given, &["--threads", "1"]);
        assert_close(&right, &one, rounding(elem), &what);
        assert_eq!(one, outputs(&path, wanted, &given, &["--threads", "3"]), "{what}");
    }
}

#[test]
fn contractions() {
    check("contraction", "product,nearest,distance,turned,mixed,loss,slope_a,slope_b");
}

/// Blocks have 96 points, and there are eight at a time.
#[test]
fn streams() {
    check("streams", "total,first");
    let extents = [[95, 3, 2], [96, 16, 3], [97, 17, 1], [767, 1, 3], [769, 5, 2], [1540, 16, 2]];
    check_at("streams", "total,first", &extents);
}

/// The same, some of whose phases go through a block one centre at a time.
#[test]
fn mixtures() {
    check("mixture", "step,spread,weight");
    let extents = [[1, 3, 2], [3, 17, 9], [95, 3, 2], [97, 13, 5], [769, 4, 1], [770, 2, 17]];
    check_at("mixture", "step,spread,weight", &extents);
}

#[test]
fn extremes() {
    check("extremes", "best,least,highest,lowest");
}

#[test]
fn rims() {
    check("rim", "off,slope_first,slope_k");
}

#[test]
fn fields_with_fixed_rims() {
    check("fields", "heat,wave,space,after,above,slope");
}

#[test]
fn normal_equations() {
    check("normal", "total");
}

#[test]
fn products() {
    check("products", "chained,total,often,loss,slope_b,slope_w");
}

/// One less and one more than a block of terms, and than the rows that go through it.
#[test]
fn long_sums() {
    let extents =
        [[74, 515, 3], [73, 257, 5], [2, 256, 33], [0, 300, 2], [75, 0, 3], [145, 255, 1]];
    let wanted =
        "product,layer,nearest,furthest,apart,squares,counted,gram,strided,batch,slope_a,slope_b";
    check_at("long_sums", wanted, &extents);
    check_at("long_sums", "across", &[[515, 74, 1], [257, 5, 1]]);
    // Few rows; the second and the fifth know how many.
    let extents = [[12, 385, 33], [25, 769, 17], [13, 384, 2], [24, 386, 1], [40, 513, 9]];
    check_at("long_sums", wanted, &extents);
}

/// Extents below, at and above those of vectors.
#[test]
fn places() {
    let extents = [[0, 5, 2], [1, 1, 1], [5, 0, 3], [7, 16, 0], [48, 33, 3], [49, 131, 2]];
    check_at("places", "end,back,picked,top,scaled,loss,slope", &extents);
}

#[test]
fn convolutions() {
    check("convolution", "y,slope_w,slope_x");
}

#[test]
fn networks() {
    check("network", "end,slope_w,slope_x");
}

/// Tiles have 16 or 32 columns.
#[test]
fn layers() {
    let wanted = "last,slope_x,slope_h";
    check_at("layers", wanted, &[[3, 17, 2], [2, 5, 0], [1, 1, 1], [0, 3, 2]]);
    check_at("layers", "last", &[[3, 33, 13], [2, 65, 12], [4, 32, 25], [2, 16, 3]]);
}

#[test]
fn cells() {
    check_at("cell", "slope_x,slope_h,slope_b", &[[3, 17, 2], [2, 5, 0], [5, 16, 9], [1, 1, 1]]);
}

#[test]
fn grids() {
    check("grid", "far,plane");
}

/// Rows and planes that would lie a power of two apart.
#[test]
fn rows_apart() {
    let extents =
        [[34, 256, 3], [64, 256, 5], [33, 512, 2], [16, 128, 4], [1, 256, 1], [0, 256, 2]];
    check_at("grid", "far,plane", &extents);
    check_at("network", "end,slope_w,slope_x", &[[5, 128, 3]]);
    check_at(
        "cell",
        "slope_x,slope_h,slope_b",
        &[[3, 128, 2], [4, 64, 3], [2, 32, 1], [0, 256, 2]],
    );
}

/// One less and one more than strips of each kind have rows, and enough of them for several threads.
#[test]
fn strips_of_grids() {
    let extents = [[255, 9, 1], [1023, 4, 2], [1024, 1, 1], [2049, 0, 1], [4097, 17, 2], [0, 7, 1]];
    check_at("strips", "far,best,path", &extents);
}

#[test]
fn ensembles() {
    check("ensemble", "end,paths,shrunk,leaked");
}

#[test]
fn weights_of_rows() {
    check("attention", "mixed,both,last");
    // Rows of a tile are packed where several panels of lanes go through them, those of the head that is read.
    check_at("attention", "mixed,both", &[[50, 70, 20], [97, 130, 13], [24, 257, 33]]);
}

#[test]
fn triangles_and_small_matrices() {
    check("triangle", "loss,slope_x,slope_l,spread,slope_f");
}

#[test]
fn filters_and_tangents() {
    check("filter", "y,z,g,h,end,bend");
}
