//! `einlang bench` and `einlang profile`.

use crate::support::Sandbox;

const PROGRAM: &str = "input n: i32 = 50;
let a[i in 0..n, j in 0..n] = (i * j % 7) as f32;
let c[i, j] = sum[k](a[i, k] * a[k, j]);
let h[0] = 1.0;
let h[t in 1..1000] = 0.5 * h[t - 1] + 1.0;
let end = sum[i](2.0 * c[i, i]) + h[999];
print(\"printed\");
";

#[test]
fn a_program_is_timed_and_not_heard() {
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    let said = sandbox.einlang(&["bench", "p.ein", "--runs", "2", "--input", "n=9"]).ends_with(0);
    let words = ["check:", "first run:", "later:", "in the median of 2", "memory:"];
    assert!(words.iter().all(|word| said.stdout.contains(word)), "{}", said.stdout);
    assert!(!said.stdout.contains("printed") && said.stderr.is_empty(), "{said:?}");
    let none = sandbox.einlang(&["bench", "p.ein", "--runs", "0"]).ends_with(2);
    assert!(none.stderr.contains("0 is not in"), "{}", none.stderr);
}

#[test]
fn mistakes_are_reported_as_always() {
    let sandbox = Sandbox::with("p.ein", "let a = [1, 0]; let q[i] = 6 / a[i];\n");
    let said = sandbox.einlang(&["bench", "p.ein"]).ends_with(1);
    assert!(said.stderr.starts_with("error[E0701]: integer division by zero"), "{}", said.stderr);
    let said = sandbox.einlang(&["profile", "-c", "let x = y;"]);
    assert!(said.ends_with(1).stderr.starts_with("error[E0110]"));
}

#[test]
fn lines_are_profiled() {
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    if !cfg!(feature = "native") {
        let said = sandbox.einlang(&["profile", "p.ein"]).ends_with(2);
        assert!(said.stderr.contains("only machine code is profiled"), "{}", said.stderr);
        return;
    }
    let said = sandbox.einlang(&["profile", "p.ein", "--outputs", "end"]).ends_with(0).stdout;
    let row = |name: &str| said.lines().find(|line| line.contains(&format!("`{name}`")));
    assert!(said.lines().next().is_some_and(|head| head.contains("GFLOP/s")), "{said}");
    assert!(row("c").is_some_and(|row| row.contains("p.ein:3")), "{said}");
    let rate = row("c").and_then(|row| row.split_whitespace().nth(4)?.parse::<f64>().ok());
    assert!(rate.is_some_and(f64::is_finite), "it has a rate: {said}");
    assert!(row("h").is_some_and(|row| row.contains("[2 of 1000]")), "a window is shown: {said}");
    assert!(said.contains("in kernels ") && !said.contains("printed"), "{said}");
    let other = sandbox.einlang(&["profile", "p.ein", "--backend", "interp"]).ends_with(2);
    assert!(other.stderr.contains("only machine code is profiled"), "{}", other.stderr);
}

#[test]
fn tensors_of_a_round_are_profiled_with_their_extents() {
    let program = "input n: i32 = 50;
let x[i in 0..n, j in 0..n] = (i * j % 7) as f32;
let top[i] = max[j](x[i, j]);
let e[i, j] = exp(x[i, j] - top[i]);
let all[i] = sum[j](e[i, j]);
let y[i, j] = e[i, j] / all[i];
";
    let sandbox = Sandbox::with("p.ein", program);
    if cfg!(feature = "native") {
        let said = sandbox.einlang(&["profile", "p.ein", "--outputs", "y"]).ends_with(0).stdout;
        assert!(said.contains("`top` [1 of 50], `e` [1 of 50 x 50]"), "{said}");
    }
}
