//! `einlang explain-derivatives`.

use crate::support::Sandbox;

const MODEL: &str = "\
input W: [f64; 20, 10];
input x: [f64; 10];
input v: [f64; 10];
input u: [f64; N];
let y[i] = tanh(sum[j](W[i, j] * x[j]));
let loss = sum[i](y[i] ** 2);
let gradient = @loss / @W;
let jacobian = @y / @x;
let column = (@y / @x)[:, 3];
let one = (@y / @x)[2, 3];
let along[i] = sum[j]((@y / @x)[i, j] * v[j]);
let s[i] = sin(u[i]);
let elementwise = @s / @u;
let nothing = @loss / @u;
";

#[test]
fn a_report_for_people() {
    let sandbox = Sandbox::with("model.ein", MODEL);
    let call = ["explain-derivatives", "model.ein"];
    sandbox.transcript("explain-derivatives", &call).ends_with(0);
    let plain = ["explain-derivatives", "-c", "let x = [1.0, 2.0];"];
    sandbox.transcript("explain-derivatives-nothing", &plain).ends_with(0);
}

#[test]
fn a_list_for_tools() {
    let sandbox = Sandbox::with("model.ein", MODEL);
    let call = ["explain-derivatives", "model.ein", "--outputs", "gradient,nothing", "--json"];
    sandbox.transcript("explain-derivatives-json", &call).ends_with(0);
}

#[test]
fn mistakes() {
    let sandbox = Sandbox::with("model.ein", MODEL);
    sandbox.transcript("explain-derivatives-without-file", &["explain-derivatives"]).ends_with(2);
    let wrong = ["explain-derivatives", "-c", "let n = 3; let d = @n / @n;"];
    sandbox.transcript("explain-derivatives-error", &wrong).ends_with(1);
}
