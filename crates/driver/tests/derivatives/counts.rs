//! How much work derivatives are, counted in the code that comes out.

use std::path::Path;

use einlang_driver::{lowering, pipeline};
use einlang_sema::lower;
use einlang_sema::shapes::Options;
use einlang_source::{MemoryWorld, Sources};
use einlang_tir::module::Module;
use einlang_tir::passes::{Ctx, PASSES, run_passes};
use einlang_tir::work::{Counts, work_of};

fn module(text: &str, outputs: &[&str]) -> Module {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let names: Vec<String> = outputs.iter().map(|name| (*name).to_owned()).collect();
    let options = Options { outputs: Some(names.clone()), ..Options::default() };
    let world = MemoryWorld::new();
    let compilation = pipeline::compile(&world, &mut sources, file, Path::new(""), &options);
    let options = lower::Options { outputs: Some(names), ..Default::default() };
    let lowered = lowering::lowered(&compilation, &options).expect("it has no errors");
    let mut program = lowered.expect("it can be lowered").program;
    assert_eq!(program.modules.len(), 1, "{text}");
    let mut module = program.modules.remove(0);
    let ctx = Ctx { verify: true, ..Ctx::default() };
    let done = run_passes(&mut module, PASSES, &ctx, &mut |_, _| {});
    assert!(done.is_ok(), "{done:?}\n{text}");
    module
}

/// The work for some outputs of a program.
fn work(text: &str, outputs: &[&str]) -> Counts {
    let module = module(text, outputs);
    work_of(&module, &module.outputs, &[]).counts().expect("extents are numbers")
}

fn ratio(text: &str, value: &str, all: &[&str]) -> f64 {
    let (primal, both) = (work(text, &[value]), work(text, all));
    both.multiplications as f64 / primal.multiplications as f64
}

const MLP: &str = "
input X: [f32; 64, 100];
input T: [f32; 64, 10];
input W1: [f32; 100, 200];
input b1: [f32; 200];
input W2: [f32; 200, 10];
input b2: [f32; 10];
let h[n, j] = tanh(sum[i](X[n, i] * W1[i, j]) + b1[j]);
let o[n, k] = sum[j](h[n, j] * W2[j, k]) + b2[k];
let loss = sum[n, k]((o[n, k] - T[n, k]) ** 2) / 64.0;
let gW1 = @loss / @W1;
let gb1 = @loss / @b1;
let gW2 = @loss / @W2;
let gb2 = @loss / @b2;
";

#[test]
fn the_gradient_of_a_network_is_three_times_its_value() {
    let ratio = ratio(MLP, "loss", &["loss", "gW1", "gb1", "gW2", "gb2"]);
    assert!(ratio <= 3.0, "{ratio}");
}

#[test]
fn parameters_share_the_sweep() {
    let one = work(MLP, &["gW1"]).multiplications as f64;
    let all = work(MLP, &["gW1", "gb1", "gW2", "gb2"]).multiplications as f64;
    assert!(all <= 1.2 * one, "{one} and {all}");
}

#[test]
fn the_gradient_of_a_convolution_is_two_convolutions() {
    let text = "
        input X: [f32; 8, 4, 32, 32];
        input W: [f32; 16, 4, 3, 3];
        let Y[n, o, p, q] = sum[c, r, s](X[n, c, p + r, q + s] * W[o, c, r, s]);
        let loss = sum[n, o, p, q](Y[n, o, p, q] ** 2);
        let gX = @loss / @X;
        let gW = @loss / @W;";
    let found = ratio(text, "loss", &["loss", "gX", "gW"]);
    assert!(found <= 3.05, "{found}");
}

#[test]
fn the_gradient_of_an_lstm_is_three_times_its_value() {
    let text = "
        input X: [f32; 50, 40];
        input Wx: [f32; 4, 64, 40];
        input Wh: [f32; 4, 64, 64];
        input b: [f32; 4, 64];
        fn sigmoid(x: f32) -> f32 { 1.0 / (1.0 + exp(-x)) }
        let h[0, j in 0..64] = 0.0;
        let c[0, j in 0..64] = 0.0;
        let z[t in 1..51, g in 0..4, j in 0..64] =
            sum[i](X[t - 1, i] * Wx[g, j, i]) + sum[k](h[t - 1, k] * Wh[g, j, k]) + b[g, j];
        let c[t in 1..51, j in 0..64] =
            sigmoid(z[t, 1, j]) * c[t - 1, j] + sigmoid(z[t, 0, j]) * tanh(z[t, 2, j]);
        let h[t in 1..51, j in 0..64] = sigmoid(z[t, 3, j]) * tanh(c[t, j]);
        let loss = sum[j](h[50, j] ** 2);
        let gx = @loss / @Wx;
        let gh = @loss / @Wh;
        let gb = @loss / @b;";
    let found = ratio(text, "loss", &["loss", "gx", "gh", "gb"]);
    assert!(found <= 3.0, "{found}");
}

#[test]
fn a_chain_costs_in_proportion_to_its_length() {
    let chain = |n: usize| {
        let mut text = "input x: [f64; 1000];\nlet y0[i] = x[i];\n".to_owned();
        for at in 1..=n {
            let before = at - 1;
            text.push_str(&format!("let y{at}[i] = sin(y{before}[i]) * y{before}[i];\n"));
        }
        text.push_str(&format!("let s = sum[i](y{n}[i]);\nlet g = @s / @x;\n"));
        work(&text, &["g"]).all() as f64
    };
    let (short, long) = (chain(10), chain(20));
    assert!(long <= 2.1 * short, "{short} and {long}");
}

#[test]
fn a_stencil_costs_the_same_at_every_point() {
    let stencil = |n: usize| {
        let text = format!(
            "input u: [f64; {n}];
            let v[i in 0..{n}] = 0.5 * u[i] + 0.25 * u[i - 1 else 0.0] + 0.25 * u[i + 1 else 0.0];
            let s = sum[i](v[i] ** 2);
            let g = @s / @u;"
        );
        work(&text, &["g"]).all() as f64 / n as f64
    };
    let (small, large) = (stencil(100), stencil(10_000));
    assert!(large <= 1.05 * small && large <= 40.0, "{small} and {large}");
}

#[test]
fn a_diagonal_costs_one_sweep() {
    let text = "input x: [f64; 1000];
        let y[i] = exp(sin(x[i])) * x[i];
        let J = @y / @x;";
    let found = work(text, &["J"]).all();
    assert!(found <= 1000 * 12, "{found}");
}

#[test]
fn a_power_is_differentiated_as_by_hand() {
    let text = "input x: f64; let y = x ** 5; let d = @y / @x; let e = @d / @x;";
    // `4 * x ** 3 * 5`: a power and two products, and the reads that share them.
    let found = work(text, &["e"]).all();
    assert!(found <= 5, "{found}");
}

#[test]
fn a_product_with_a_vector_needs_no_jacobian() {
    let text = "
        input W: [f64; 300, 300];
        input x: [f64; 300];
        input v: [f64; 300];
        let y[i] = tanh(sum[j](W[i, j] * x[j]));
        let jvp[i] = sum[j]((@y / @x)[i, j] * v[j]);
        let vjp[j] = sum[i](v[i] * (@y / @x)[i, j]);";
    for output in ["jvp", "vjp"] {
        let found = work(text, &[output]).multiplications;
        assert!(found <= 2 * 300 * 300 + 10 * 300, "{output}: {found}");
    }
}

#[test]
fn the_gradient_of_a_linear_system_step_is_linear_in_time() {
    let text = |n: usize| {
        format!(
            "input a: f64;
            let x[0] = 1.0;
            let x[t in 1..{n}] = sin(a * x[t - 1]);
            let loss = sum[t](x[t] ** 2);
            let g = @loss / @a;
            let adjoint = @loss / @x;"
        )
    };
    let (short, long) = (work(&text(100), &["g"]).all(), work(&text(1000), &["g"]).all());
    assert!(long <= 11 * short, "{short} and {long}");
    let found = work(&text(1000), &["adjoint"]).all();
    assert!(found <= 12 * 1000, "{found}");
}
