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

#[test]
fn rules_are_compared_with_differences() {
    let rules = "\
fn cube(x: f64) -> f64 { x * x * x }
@fn cube(x) { 2.0 * x * x * @x }
fn area(a: f64, b: f64) -> f64 { a * sin(b) }
@fn area(a, b) from @r { (sin(b) * @r, a * cos(b) * @r) }
let w = [1.5f64, 0.3];
let y = sum[i](cube(w[i])) + area(w[0], w[1]);
print(@y / @w);
";
    let sandbox = Sandbox::with("rules.ein", rules);
    let call = ["run", "rules.ein", "--check-derivatives"];
    sandbox.transcript("check-derivatives", &call).ends_with(0);
    let call = ["run", "rules.ein", "--check-derivatives", "--backend", "bytecode"];
    sandbox.transcript("check-derivatives-bytecode", &call).ends_with(0);
    sandbox
        .einlang(&["run", "rules.ein"])
        .ends_with(0)
        .says("[4.795520206661339, 1.613004733688409]\n", "");
}

#[test]
fn rules_of_functions_on_the_host_are_compared_as_well() {
    let rules = "\
fn powers(x: f64, n: i32) -> f64 { if n == 0 { x } else { powers(x * x, n - 1) } }
@fn powers(x, n) { 3.0 * x * @x }
fn length(v: [f64; N]) -> f64 { print(\"length\"); sum[i](v[i] * v[i]) }
@fn length(v) from @r { let c[i] = 2.0 * v[i] * @r; c }
let x = 1.2f64;
let v = [1.0f64, 2.0];
let y = powers(x, 1) + length(v);
print(@y / @x, @y / @v);
";
    let sandbox = Sandbox::with("host.ein", rules);
    let call = ["run", "host.ein", "--check-derivatives"];
    sandbox.transcript("check-derivatives-host", &call).ends_with(0);
}
