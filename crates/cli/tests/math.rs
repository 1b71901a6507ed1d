//! Functions of vectors against the scalar ones in doubles: at most two units in the last place, and
//! exact where there is nothing to round.

#![cfg(feature = "native")]

use std::path::Path;
use std::sync::Arc;

use einlang_codegen::Llvm;
use einlang_driver::{Backend, Native, Permits, Printer, ProjectIo, Ran, RunOptions, Session};
use einlang_source::MemoryWorld;

struct Nowhere;

impl Printer for Nowhere {
    fn line(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }
}

/// What the outputs `x` and `y` of a program hold, computed as machine code.
fn computed(text: &str) -> (Vec<f64>, Vec<f64>) {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let file = session.add_text("main.ein", text);
    let executable = session.build(file).unwrap_or_else(|failure| panic!("{failure:?}"));
    let mut options = RunOptions::default();
    options.limits.backend = Backend::Native;
    options.limits.native = Some(Native(Arc::new(Llvm::default())));
    let permits = Permits::new(Path::new("."), &[], &[]).expect("a folder");
    let mut printer = Nowhere;
    let mut io = ProjectIo::new(permits, &mut printer, 1 << 30);
    let outcome = executable.run(&options, &mut io).unwrap_or_else(|failure| panic!("{failure:?}"));
    let regions = options.limits.report.regions();
    assert!(regions.iter().all(|region| region.ran == Ran::MachineCode), "{regions:?}");
    let mut outputs = outcome.outputs.iter().map(|output| {
        let tensor = output.value.as_tensor().expect("a tensor");
        tensor.consts().map(|c| c.as_float().expect("a float")).collect::<Vec<f64>>()
    });
    let x = outputs.next().expect("x");
    (x, outputs.next().expect("y"))
}

/// The distance between neighbours of a number of a type.
fn ulp(value: f64, double: bool) -> f64 {
    let (bits, least) = if double { (52, -1074) } else { (23, -149) };
    let exponent = if value == 0.0 { least } else { value.abs().log2().floor() as i32 - bits };
    2.0_f64.powf(f64::from(exponent.max(least)))
}

/// Compares a function at many points `first, first + step, …`.
fn agree(name: &str, elem: &str, of: fn(f64) -> f64, first: f64, step: f64) {
    let text = format!(
        "let x[i in 0..20011] = ({first:?} + {step:?} * (i as f64)) as {elem};\nlet y[i] = {name}(x[i]);\n"
    );
    let double = elem == "f64";
    let (x, y) = computed(&text);
    for (x, y) in x.into_iter().zip(y) {
        let exact = of(x);
        let rounded = if double { exact } else { f64::from(exact as f32) };
        let same = y == rounded || y.is_nan() && rounded.is_nan();
        let close = (y - exact).abs() <= 2.0 * ulp(exact, double);
        assert!(same || close, "{name} of {x:e} is {y:e}, not {exact:e}");
    }
}

#[test]
fn exponentials() {
    agree("exp", "f32", f64::exp, -110.0, 0.01);
    agree("exp", "f32", f64::exp, -1e-3, 1e-7);
    agree("exp", "f64", f64::exp, -760.0, 0.075);
    agree("exp", "f64", f64::exp, -1e-3, 1e-7);
}

#[test]
fn logarithms() {
    agree("log", "f32", f64::ln, -1.0, 1e-3);
    agree("log", "f32", f64::ln, 0.99, 1e-6);
    agree("log", "f32", f64::ln, 0.0, 1e-43);
    agree("log", "f64", f64::ln, -1.0, 1e-3);
    agree("log", "f64", f64::ln, 0.99, 1e-6);
    agree("log", "f64", f64::ln, 0.0, 1e303);
}

#[test]
fn hyperbolic_tangents() {
    agree("tanh", "f32", f64::tanh, -12.0, 1.2e-3);
    agree("tanh", "f32", f64::tanh, -1e-4, 1e-8);
    agree("tanh", "f64", f64::tanh, -25.0, 2.5e-3);
}

#[test]
fn angles() {
    agree("sin", "f32", f64::sin, -100.0, 0.01);
    agree("cos", "f32", f64::cos, -100.0, 0.01);
    agree("sin", "f32", f64::sin, 20_000.0, 1.0);
    agree("cos", "f32", f64::cos, -1e-2, 1e-6);
}

#[test]
fn what_is_no_number_stays() {
    for name in ["exp", "log", "tanh", "sin", "cos"] {
        for elem in ["f32", "f64"] {
            let text = format!(
                "let x[i in 0..40] = (if i % 4 == 0 {{ 1.0 / 0.0 }} else {{ if i % 4 == 1 {{ -1.0 / 0.0 }} \
                 else {{ if i % 4 == 2 {{ 0.0 / 0.0 }} else {{ -0.0 }} }} }}) as {elem};\n\
                 let y[i] = {name}(x[i]);\n"
            );
            let (x, y) = computed(&text);
            for (x, y) in x.into_iter().zip(y) {
                let right = match name {
                    "exp" => x.exp(),
                    "log" => x.ln(),
                    "tanh" => x.tanh(),
                    "sin" => x.sin(),
                    _ => x.cos(),
                };
                let same = y == right && y.is_sign_negative() == right.is_sign_negative();
                assert!(same || y.is_nan() && right.is_nan(), "{name} of {x} is {y}, not {right}");
            }
        }
    }
}
