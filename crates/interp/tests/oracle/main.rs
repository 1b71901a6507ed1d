//! The oracle on modules in text form, with exact values.

mod clauses;
mod generated;
mod groups;
mod lifted;
mod limits;
mod numbers;
mod reductions;
mod stops;

use einlang_interp::options::Options;
use einlang_interp::oracle::Oracle;
use einlang_interp::show::show;
use einlang_interp::stop::Stop;
use einlang_interp::tensor::{Storage, TensorValue};
use einlang_interp::value::HostValue;
use einlang_tir::module::Module;
use einlang_tir::text::parse_module;
use einlang_tir::verify::verify;

/// Reads a module and insists that it is well formed.
#[track_caller]
pub(crate) fn module(text: &str) -> Module {
    let module = parse_module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(verify(&module), [], "{text}");
    module
}

/// Evaluates all outputs, each on a line of its own.
pub(crate) fn evaluate(
    module: &Module,
    inputs: Vec<TensorValue>,
    arguments: &[i64],
    options: &Options,
) -> Result<String, Stop> {
    let mut oracle = Oracle::new(module, inputs, arguments.to_vec(), options)?;
    let mut lines = Vec::new();
    for output in oracle.outputs() {
        lines.push(show(&HostValue::tensor(oracle.output(output.as_str())?)));
    }
    Ok(lines.join("\n"))
}

/// The outputs of a module.
#[track_caller]
pub(crate) fn check(text: &str, inputs: Vec<TensorValue>, arguments: &[i64], want: &str) {
    let module = module(text);
    for module in [&module, &lifted::lifted(&module)] {
        let got = evaluate(module, inputs.clone(), arguments, &Options::default());
        assert_eq!(got.unwrap_or_else(|stop| panic!("{stop}\n{module}")), want);
    }
}

/// The first line of the error of a module.
#[track_caller]
pub(crate) fn stops(text: &str, inputs: Vec<TensorValue>, options: &Options) -> String {
    let module = module(text);
    let same = evaluate(&lifted::lifted(&module), inputs.clone(), &[], options);
    let stop = evaluate(&module, inputs, &[], options).expect_err("the module stops");
    assert_eq!(same.expect_err("it stops too").code, stop.code, "{text}");
    stop.to_string().lines().next().unwrap_or_default().to_owned()
}

pub(crate) fn i32s(shape: &[usize], values: &[i32]) -> TensorValue {
    TensorValue::new(shape.to_vec(), Storage::I32(values.to_vec().into())).expect("it fits")
}

pub(crate) fn f32s(shape: &[usize], values: &[f32]) -> TensorValue {
    TensorValue::f32s(shape, values).expect("it fits")
}

pub(crate) fn i32_scalar(value: i32) -> TensorValue {
    i32s(&[], &[value])
}
