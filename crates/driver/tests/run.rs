//! Running programs: what they give, what stops them, and what their inputs may be.

use std::path::Path;
use std::time::Duration;

use einlang_driver::{
    Failure, Given, Limits, Options, Outcome, Permits, Printer, ProjectIo, RunOptions, Session,
};
use einlang_interp::io::{Io, MemoryIo};
use einlang_interp::tensor::TensorValue;
use einlang_interp::value::HostValue;
use einlang_source::MemoryWorld;
use einlang_tir::types::Elem;

/// Runs a program with inputs as a command line gives them, in a world of memory.
fn run(program: &str, inputs: &[(&str, &str)]) -> Result<(Outcome, Vec<String>), Failure> {
    let given = |(name, text): &(&str, &str)| ((*name).into(), Given::Text((*text).into()));
    let options =
        RunOptions { inputs: inputs.iter().map(given).collect(), ..RunOptions::default() };
    run_with(program, &options, Options::default())
}

fn run_with(
    program: &str,
    options: &RunOptions,
    checking: Options,
) -> Result<(Outcome, Vec<String>), Failure> {
    let world = MemoryWorld::new().with("f.ein", program);
    let mut session = Session::new(&world).with_options(checking);
    let file = session.load(Path::new("f.ein")).expect("it is there");
    let mut io = MemoryIo::default();
    let outcome = session.run(file, options, &mut io)?;
    Ok((outcome, io.lines))
}

/// The JSON of one output.
#[track_caller]
fn json(program: &str, inputs: &[(&str, &str)], name: &str) -> String {
    let (outcome, _) = run(program, inputs).unwrap_or_else(|failure| panic!("{failure:?}"));
    outcome.output(name).expect("there is such an output").json()
}

/// The code, message and first help of the only error, and the line of its place.
#[track_caller]
fn error(program: &str, inputs: &[(&str, &str)]) -> (String, String) {
    match run(program, inputs) {
        Err(Failure::Program(errors)) => {
            let first = errors.into_vec().remove(0);
            assert!(!first.helps.is_empty(), "{first:?}");
            (first.code.to_string(), first.message)
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn usage(result: Result<(Outcome, Vec<String>), Failure>) -> (String, String) {
    match result {
        Err(Failure::Usage { message, help }) => (message, help),
        other => panic!("{other:?}"),
    }
}

#[test]
fn outputs_have_names_types_and_shapes() {
    let program = "let x = [[1.0, 2.0]]; let n = 3; let t = (1, 0.5); let s = \"hi\";";
    let (outcome, lines) = run(program, &[]).expect("it runs");
    let all: Vec<String> =
        outcome.outputs.iter().map(|output| format!("{} {}", output.name, output.json())).collect();
    assert_eq!(
        all,
        [
            r#"x {"type": "[f32; 1, 2]", "shape": [1, 2], "data": [[1.0, 2.0]]}"#,
            r#"n {"type": "i32", "shape": [], "data": 3}"#,
            r#"t {"type": "(i32, f32)", "shape": [], "data": [1, 0.5]}"#,
            r#"s {"type": "str", "shape": [], "data": "hi"}"#,
        ]
    );
    assert!(lines.is_empty());
    let object = outcome.json();
    assert!(object.starts_with("{\"outputs\": {\"x\": {") && object.contains("\"timings\": {"));
}

#[test]
fn tensors_of_records_are_lists_of_records() {
    let program = "struct P { x: f32, n: i32 }\nlet p[i in 0..2] = P { x: 0.5, n: i };\n\
                   let q[i in 0..2] = (i, i * 2);";
    let p = r#"{"type": "[P; 2]", "shape": [2], "data": [{"x": 0.5, "n": 0}, {"x": 0.5, "n": 1}]}"#;
    assert_eq!(json(program, &[], "p"), p);
    let q = r#"{"type": "[(i32, i32); 2]", "shape": [2], "data": [[0, 0], [1, 2]]}"#;
    assert_eq!(json(program, &[], "q"), q);
}

#[test]
fn effects_come_in_source_order_and_main_is_the_value() {
    let (outcome, lines) =
        run("fn main() -> i32 { print(\"a\"); print(\"b\", 2); 7 }", &[]).expect("it runs");
    assert_eq!(lines, ["a", "b 2"]);
    assert_eq!((outcome.outputs.len(), outcome.outputs[0].text()), (1, "7".to_owned()));
    let (outcome, _) = run("fn main() { print(1); }", &[]).expect("it runs");
    assert!(outcome.outputs[0].is_unit());
}

#[test]
fn only_the_outputs_asked_for_are_given() {
    let program = "let x = 1; let total = x + 1;";
    let only = |names: &[&str]| Options {
        outputs: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..Options::default()
    };
    let (outcome, _) =
        run_with(program, &RunOptions::default(), only(&["total"])).expect("it runs");
    assert_eq!(outcome.outputs.len(), 1);
    let said = usage(run_with(program, &RunOptions::default(), only(&["totl"])));
    assert_eq!(said, ("the program has no output `totl`".into(), "did you mean `total`?".into()));
    let said = usage(run_with(program, &RunOptions::default(), only(&["q"])));
    assert_eq!(said.1, "its outputs are `x`, `total`");
}

#[test]
fn inputs_are_literals_of_their_type() {
    let get =
        |ty: &str, text: &str| json(&format!("input v: {ty}; let w = v;"), &[("v", text)], "w");
    assert_eq!(get("f32", "2"), r#"{"type": "f32", "shape": [], "data": 2.0}"#);
    assert_eq!(get("i64", "-1_000"), r#"{"type": "i64", "shape": [], "data": -1000}"#);
    assert_eq!(get("bool", "true"), r#"{"type": "bool", "shape": [], "data": true}"#);
    assert_eq!(get("f64", "-inf"), r#"{"type": "f64", "shape": [], "data": "-inf"}"#);
    assert_eq!(get("str", "a b.npy"), r#"{"type": "str", "shape": [], "data": "a b.npy"}"#);
    assert_eq!(get("str", "\"a\\n\""), r#"{"type": "str", "shape": [], "data": "a\n"}"#);
    let rows = r#"{"type": "[i32; 2, 2]", "shape": [2, 2], "data": [[1, 2], [3, 4]]}"#;
    assert_eq!(get("[i32; ?, ?]", "[[1,2],[3,4]]"), rows);
    assert_eq!(
        get("(i32, f32)", "(1, 2)"),
        r#"{"type": "(i32, f32)", "shape": [], "data": [1, 2.0]}"#
    );
}

#[test]
fn defaults_are_used_unless_a_value_is_given() {
    let program = "input lr: f32 = 0.25; input n: i32 = 3; let y = lr * 4.0; let m = n;";
    assert_eq!(json(program, &[("n", "5")], "y"), r#"{"type": "f32", "shape": [], "data": 1.0}"#);
    assert_eq!(json(program, &[("n", "5")], "m"), r#"{"type": "i32", "shape": [], "data": 5}"#);
}

#[test]
fn values_can_be_given_as_they_are() {
    let tensor = TensorValue::f32s([2], [1.0, 2.0]).expect("it fits");
    let inputs = vec![("x".to_owned(), Given::Value(HostValue::tensor(tensor)))];
    let options = RunOptions { inputs, ..RunOptions::default() };
    let program = "input x: [f64; N]; let s = sum[i](x[i]); let n = N;";
    let (outcome, _) = run_with(program, &options, Options::default()).expect("it runs");
    assert_eq!(outcome.output("s").map(|s| s.text()), Some("3.0".to_owned()));
    assert_eq!(outcome.output("n").map(|n| n.text()), Some("2".to_owned()));
}

#[test]
fn inputs_that_do_not_fit_name_the_declaration() {
    let said = |ty: &str, text: &str| {
        let (code, message) = error(&format!("input v: {ty}; let w = v;"), &[("v", text)]);
        assert_eq!(code, "E0906", "{message}");
        let prefix = "the value given for the input `v` does not serve: ";
        message.strip_prefix(prefix).expect("it names the input").to_owned()
    };
    assert_eq!(said("i32", "2.5"), "`2.5` is no i32");
    assert_eq!(said("i8", "200"), "`200` is no i8");
    assert_eq!(said("f32", "0x10"), "`0x10` is no f32");
    assert_eq!(said("bool", "1"), "`1` is no bool");
    assert_eq!(said("[i32; ?]", "1"), "`1` is no list");
    assert_eq!(said("[i32; ?]", "[[1]]"), "a list of 1 is no i32");
    assert_eq!(said("[i32; ?, ?]", "[[1, 2], [3]]"), "one of its rows has 2 elements, another 1");
    assert_eq!(said("[i32; 2]", "[1, 2, 3]"), "the extent of its axis 0 is 3, not 2");
    assert_eq!(said("f32", "[1"), "a `]` is missing");
    assert_eq!(said("(i32, f32)", "(1,)"), "it is a list of 1");
}

#[test]
fn missing_and_unknown_inputs_are_told_apart() {
    let program = "input weights: [f32; N]; let s = sum[i](weights[i]);";
    let (code, message) = error(program, &[]);
    assert_eq!((code.as_str(), message.as_str()), ("E0905", "the input `weights` has no value"));
    let said = usage(run(program, &[("weigths", "[1]")]));
    assert_eq!(said.1, "did you mean `weights`?");
    let said = usage(run("let x = 1;", &[("y", "1")]));
    assert_eq!(said.1, "declare it in the program: `input y: f32;`");
    let said = usage(run(program, &[("weights", "[1]"), ("weights", "[2]")]));
    assert_eq!(said.0, "the input `weights` is given twice");
}

#[test]
fn sizes_of_one_name_agree_between_inputs() {
    let program = "input A: [f32; M, K]; input B: [f32; K, M];\n\
                   let s = sum[i, j](A[i, j] * B[j, i]);";
    let both = |b| error(program, &[("A", "[[1, 2, 3], [4, 5, 6]]"), ("B", b)]);
    let (code, message) = both("[[1, 2, 3], [4, 5, 6]]");
    assert_eq!(code, "E0705");
    assert_eq!(message, "the size `K` is 3 in `A` (axis 1) and 2 in `B` (axis 0)");
}

#[test]
fn what_stops_a_program_is_a_diagnostic_at_its_place() {
    let world = MemoryWorld::new().with("f.ein", "let a = [1, 0];\nlet q[i] = 6 / a[i];\n");
    let mut session = Session::new(&world);
    let file = session.load(Path::new("f.ein")).expect("it is there");
    let mut io = MemoryIo::default();
    let Err(Failure::Program(errors)) = session.run(file, &RunOptions::default(), &mut io) else {
        panic!("a division by zero");
    };
    let first = errors.iter().next().expect("an error");
    assert_eq!(first.code.as_str(), "E0701");
    assert_eq!(session.sources().line_col(first.primary.span).line, 2);
}

#[test]
fn limits_stop_programs() {
    let code = |program: &str, limits: Limits, timeout: Option<Duration>| {
        let options = RunOptions { limits, timeout, ..RunOptions::default() };
        match run_with(program, &options, Options::default()) {
            Err(Failure::Program(errors)) => errors.into_vec().remove(0).code.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let usual = Limits::default;
    let walk = "let x[0] = 1; let x[t in 1..1000000] = x[t - 1] * 3 % 1000;";
    assert_eq!(code(walk, Limits { steps: Some(1000), ..usual() }, None), "E0803");
    assert_eq!(code(walk, usual(), Some(Duration::from_millis(1))), "E0803");
    assert_eq!(code(walk, Limits { memory: 1000, ..usual() }, None), "E0801");
    let deep = "fn f(n: i32) -> i32 { if n == 0 { 0 } else { 1 + f(n - 1) } } let x = f(50);";
    assert_eq!(code(deep, Limits { depth: 20, ..usual() }, None), "E0802");
    let wide = "let x = [100i8, 100i8]; let y = x[0] + x[1];";
    assert_eq!(code(wide, Limits { checked: true, ..usual() }, None), "E0704");
    let far = "let b[i in 0..6] = i * 1000000000;";
    assert_eq!(code(far, Limits { checked: true, ..usual() }, None), "E0704");
}

/// Keeps the lines.
#[derive(Default)]
struct Lines(Vec<String>);

impl Printer for Lines {
    fn line(&mut self, line: &str) -> std::io::Result<()> {
        self.0.push(line.to_owned());
        Ok(())
    }
}

/// Runs a program in a folder of a disk.
fn run_in(folder: &Path, program: &str) -> Result<Vec<String>, String> {
    let world = MemoryWorld::new().with("f.ein", program);
    let mut session = Session::new(&world);
    let file = session.load(Path::new("f.ein")).expect("it is there");
    let permits = Permits::new(folder, &[], &[]).expect("a folder");
    let mut lines = Lines::default();
    let mut io = ProjectIo::new(permits, &mut lines, 1 << 20);
    match session.run(file, &RunOptions::default(), &mut io) {
        Ok(_) => Ok(lines.0),
        Err(Failure::Program(errors)) => {
            let first = errors.into_vec().remove(0);
            Err(format!("{}: {}", first.code, first.message))
        }
        Err(failure) => panic!("{failure:?}"),
    }
}

#[test]
fn programs_read_and_write_files_of_their_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = "use std::io::{load_npy, save_npy, read_text, write_text, exists, list_dir};\n\
        let A[i in 0..2, j in 0..3] = (10 * i + j) as f64;\n\
        save_npy(\"a.npy\", A);\n\
        let B = load_npy(\"a.npy\") as [f32; N, 3];\n\
        write_text(\"t.txt\", \"hello\");\n\
        print(B[1, 2], N, read_text(\"t.txt\"), exists(\"t.txt\"), exists(\"no\"));\n\
        for name in list_dir(\".\") { print(name); }";
    let lines = run_in(folder.path(), program).expect("it runs");
    assert_eq!(lines, ["12.0 2 hello true false", "a.npy", "t.txt"]);
}

#[test]
fn tensors_with_names_are_saved_and_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let permits = Permits::new(folder.path(), &[], &[]).expect("a folder");
    let mut lines = Lines::default();
    let mut io = ProjectIo::new(permits, &mut lines, 1 << 20);
    let (a, b) = (TensorValue::f32s([2], [1.0, 2.5]), TensorValue::f32s([1, 1], [7.0]));
    let (a, b) = (a.expect("it fits"), b.expect("it fits"));
    for format in ["npz", "safetensors"] {
        let path = format!("ab.{format}");
        let both = [("a".to_owned(), &a), ("b".to_owned(), &b)];
        io.save_named(format, &path, &both).expect("two tensors");
        assert_eq!(io.load_named(format, &path, "b", Elem::F32, 2), Ok(b.clone()));
        let ints = io.load_named(format, &path, "a", Elem::I32, 1).expect("converted");
        assert_eq!(ints.consts().filter_map(|value| value.as_int()).collect::<Vec<_>>(), [1, 2]);
        let other = io.load_named(format, &path, "a", Elem::F32, 2).expect_err("another rank");
        assert_eq!(other.code.as_str(), "E0904");
        let missing = io.load_named(format, &path, "c", Elem::F32, 2).expect_err("no such name");
        assert!(missing.message.ends_with("it holds `a`, `b`"), "{}", missing.message);
    }
    let unknown = io.load_tensor("tiff", "x", Elem::F32, 2).expect_err("no such format");
    assert_eq!(unknown.code.as_str(), "E0903");
}

#[test]
fn files_that_do_not_serve_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("bad.npy"), b"\x93NUMPY\x01\0").expect("a file");
    std::fs::write(folder.path().join("v.csv"), "1,2\n3,4\n").expect("a file");
    std::fs::write(folder.path().join("latin.txt"), b"caf\xe9").expect("a file");
    let said = |call: &str| {
        let uses = "use std::io::{load_npy, load_csv, read_text, write_text};";
        run_in(folder.path(), &format!("{uses} {call}")).expect_err("it fails")
    };
    assert_eq!(
        said("let x = load_npy(\"no.npy\") as [f32; N];"),
        "E0901: there is no file `no.npy`"
    );
    let outside = said("print(read_text(\"../secret\"));");
    assert_eq!(
        outside,
        "E0902: the program may not read `../secret`, which lies outside its folder"
    );
    let outside = said("write_text(\"/nowhere/x\", \"\");");
    assert!(outside.starts_with("E0902: the program may not write `/nowhere/x`"), "{outside}");
    let bad = said("let x = load_npy(\"bad.npy\") as [f32; N];");
    assert_eq!(bad, "E0903: cannot read `bad.npy`: the file ends within its header");
    assert!(said("print(read_text(\"latin.txt\"));").starts_with("E0903: "));
    let other = said("let x = load_csv(\"v.csv\") as [f32; N];");
    assert_eq!(other, "E0904: `v.csv` holds [i64; 2, 2], which has 2 axes and not 1");
    assert!(said("write_text(\"no/x\", \"\");").starts_with("E0901: cannot write `no/x`"));
}
