//! Public functions called with values, and their derivatives.

use einlang_driver::{
    Argument, Ask, Backend, Call, Executable, Failure, Limits, RunOptions, Session,
};
use einlang_interp::io::MemoryIo;
use einlang_interp::tensor::{Storage, TensorValue};
use einlang_interp::value::HostValue;
use einlang_source::MemoryWorld;
use einlang_tir::types::Elem;

const TEXT: &str = "\
print(\"never\");
const half = 0.5;
/// Squares, weighted.
pub fn f(w: [f64; n], x: [f64; m, n]) -> [f64; m] {
    let y[m] = half * sum[n](x[m, n] * w[n] ** 2);
    y
}
pub fn scaled(x: f64, k: f64 = 3.0) -> f64 { k * x }
fn main() { 1 }
";

fn built(function: &str, types: &[(Option<&str>, &str)], ask: Ask) -> Result<Executable, Failure> {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("f.ein", TEXT);
    let argument = |(name, ty): &(Option<&str>, &str)| Argument {
        name: name.map(str::to_owned),
        ty: (*ty).to_owned(),
    };
    let arguments = types.iter().map(argument).collect();
    session.build_call(file, &Call { function: function.to_owned(), arguments, ask, of: None })
}

fn tensor(shape: &[usize], values: &[f64]) -> HostValue {
    let data = Storage::F64(values.to_vec().into());
    HostValue::tensor(TensorValue::new(shape.to_vec(), data).expect("it fits"))
}

fn called(executable: &Executable, values: Vec<HostValue>) -> Vec<Vec<f64>> {
    run(executable, values).iter().map(numbers).collect()
}

/// The same without the value of the function, which is a tuple.
fn derived(executable: &Executable, values: Vec<HostValue>) -> Vec<Vec<f64>> {
    run(executable, values).iter().skip(1).map(numbers).collect()
}

fn numbers(value: &HostValue) -> Vec<f64> {
    match value {
        HostValue::Scalar(number) => vec![f64::from_bits(number.bits())],
        HostValue::Tensor(tensor) => {
            tensor.consts().map(|number| f64::from_bits(number.bits())).collect()
        }
        other => panic!("{other:?} is no number"),
    }
}

fn run(executable: &Executable, values: Vec<HostValue>) -> Vec<HostValue> {
    let limits = Limits { backend: Backend::Bytecode, ..Limits::default() };
    let options = RunOptions { limits, ..RunOptions::default() };
    let mut io = MemoryIo::default();
    let called = executable.call(values, &options, &mut io).expect("it runs");
    assert!(io.lines.is_empty(), "statements of the file are left out");
    called.values
}

fn inputs() -> Vec<HostValue> {
    vec![tensor(&[2], &[1.0, 2.0]), tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0])]
}

const TYPES: &[(Option<&str>, &str)] = &[(None, "[f64; n]"), (None, "[f64; m, n]")];

#[test]
fn signatures_are_found_in_a_file_without_errors() {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("f.ein", TEXT);
    let found = session.signatures(file).expect("no errors");
    let names: Vec<&str> = found.iter().map(|signature| signature.name.as_str()).collect();
    assert_eq!(names, ["f", "scaled"]);
    assert_eq!(found[0].doc, "Squares, weighted.");
    let wrong = session.add_text("g.ein", "pub fn g() { y }");
    assert!(matches!(session.signatures(wrong), Err(Failure::Program(_))));
}

#[test]
fn a_call_gives_the_value_and_runs_again_with_other_extents() {
    let value = built("f", TYPES, Ask::Value).expect("it compiles");
    assert_eq!(called(&value, inputs()), [[4.5, 9.5]]);
    let longer = vec![tensor(&[1], &[2.0]), tensor(&[3, 1], &[1.0, 2.0, 3.0])];
    assert_eq!(called(&value, longer), [[2.0, 4.0, 6.0]]);
}

#[test]
fn defaults_are_those_of_the_function() {
    let one = |value: f64| tensor(&[], &[value]);
    let usual = built("scaled", &[(None, "f64")], Ask::Value).expect("it compiles");
    assert_eq!(called(&usual, vec![one(2.0)]), [[6.0]]);
    let named = &[(None, "f64"), (Some("k"), "f64")];
    let given = built("scaled", named, Ask::Value).expect("it compiles");
    assert_eq!(called(&given, vec![one(2.0), one(5.0)]), [[10.0]]);
}

#[test]
fn extents_that_disagree_are_an_error_of_the_program() {
    let value = built("f", TYPES, Ask::Value).expect("it compiles");
    let values = vec![tensor(&[3], &[1.0; 3]), tensor(&[2, 2], &[1.0; 4])];
    let failed = value.call(values, &RunOptions::default(), &mut MemoryIo::default());
    let Err(Failure::Program(found)) = failed else { panic!("{failed:?}") };
    let error = found.iter().next().expect("there is one");
    assert_eq!(error.code.as_str(), "E0705");
    assert_eq!(error.message, "the size `n` is 3 in `w` (axis 0) and 2 in `x` (axis 1)");
    let places: Vec<&str> = error.spans().map(|span| &TEXT[span.range()]).collect();
    assert_eq!(places, ["x: [f64; m, n]", "w: [f64; n]"]);
}

/// Whoever calls a function wrote neither its inputs nor the call.
#[test]
fn messages_about_a_call_are_about_the_function() {
    let types: &[(Option<&str>, &str)] = &[(Some("x"), "[f64; ?, ?]"), (Some("w"), "[f32; ?]")];
    let Err(Failure::Program(found)) = built("f", types, Ask::Value) else { panic!("it fails") };
    for error in found.iter() {
        let words = format!("{error:?}");
        assert!(!words.contains("einlang_"), "{words}");
        assert!(error.spans().all(|span| span.range().end <= TEXT.len()), "{words}");
    }
    assert!(found.has_errors());
}

#[test]
fn derivatives_follow_the_value() {
    let whole = built("f", TYPES, Ask::Derivatives(vec![0])).expect("it compiles");
    assert_eq!(called(&whole, inputs()), [vec![4.5, 9.5], vec![1.0, 4.0, 3.0, 8.0]]);
    let rows = built("f", TYPES, Ask::Rows(vec![0], 1)).expect("it compiles");
    let row =
        HostValue::tensor(TensorValue::new(Vec::new(), Storage::I64(vec![1].into())).expect("one"));
    assert_eq!(called(&rows, [inputs(), vec![row]].concat()), [[3.0, 8.0]]);
}

#[test]
fn products_with_vectors_take_them_after_the_arguments() {
    let forward = built("f", TYPES, Ask::Tangent(vec![0])).expect("it compiles");
    let with_tangent = [inputs(), vec![tensor(&[2], &[1.0, 0.5])]].concat();
    assert_eq!(called(&forward, with_tangent), [[4.5, 9.5], [3.0, 7.0]]);
    let reverse = built("f", TYPES, Ask::Cotangent(vec![0, 1])).expect("it compiles");
    let with_cotangent = [inputs(), vec![tensor(&[2], &[1.0, -1.0])]].concat();
    let expected = [vec![4.5, 9.5], vec![-2.0, -4.0], vec![0.5, 2.0, -0.5, -2.0]];
    assert_eq!(called(&reverse, with_cotangent), expected);
}

#[test]
fn inputs_that_are_not_declared_are_added() {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("p.ein", "input k: f64; let y[i] = k * x[i];");
    assert_eq!(session.declared_inputs(file), ["k"]);
    let given = |name: &str| [(name.to_owned(), "[f64; ?]".to_owned())];
    let whole = session.with_inputs(file, &given("x")).expect("it is used");
    assert!(session.check(whole).is_empty());
    let unused = session.with_inputs(file, &given("z"));
    assert!(matches!(unused, Err(Failure::Usage { .. })), "{unused:?}");
}

#[test]
fn parts_of_a_tuple_are_differentiated() {
    let text = "pub fn f(x: [f64; n]) -> (f64, [f64; n], i32) {\n    \
                let y[n] = x[n] ** 2;\n    (sum[n](x[n]), y, 3)\n}\n";
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("f.ein", text);
    let mut built = |ask: Ask, of: Option<usize>| {
        let arguments = vec![Argument { name: None, ty: "[f64; n]".to_owned() }];
        session.build_call(file, &Call { function: "f".to_owned(), arguments, ask, of })
    };
    let x = || tensor(&[2], &[1.0, 2.0]);
    let rows = built(Ask::Rows(vec![0], 1), Some(1)).expect("it compiles");
    let second = HostValue::from(einlang_tir::constant::Const::int(Elem::I32, 1));
    assert_eq!(called(&rows, vec![x(), second]), [[0.0, 4.0]]);
    let pulled = built(Ask::Cotangent(vec![0]), None).expect("it compiles");
    let one = HostValue::from(einlang_tir::constant::Const::one(Elem::F64));
    let outputs = derived(&pulled, vec![x(), one, tensor(&[2], &[10.0, 100.0])]);
    assert_eq!(outputs, [[21.0, 401.0]]);
    let pushed = built(Ask::Tangent(vec![0]), None).expect("it compiles");
    assert_eq!(derived(&pushed, vec![x(), x()]), [vec![3.0], vec![2.0, 8.0]]);
    for (ask, of) in [(Ask::Rows(vec![0], 1), Some(3)), (Ask::Rows(vec![0], 2), Some(1))] {
        assert!(matches!(built(ask, of), Err(Failure::Usage { .. })));
    }
}
