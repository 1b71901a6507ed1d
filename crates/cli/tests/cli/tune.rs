//! `einlang tune`.

use std::fs;

use crate::support::{Answer, Sandbox};

const PROGRAM: &str = "input n: i32 = 40;
let a[i in 0..n, j in 0..n] = ((i * 31 + j * 17) % 13) as f32 * 0.25;
let c[i, j] = sum[k](a[i, k] * a[k, j]);
print(c);
";

fn answer(sandbox: &Sandbox, args: &[&str]) -> Answer {
    let mut command = sandbox.command(args);
    command.env("EINLANG_CACHE_DIR", sandbox.path("kept"));
    Answer::of(&command.output().expect("the binary starts"))
}

#[test]
fn a_program_is_tuned_and_means_the_same() {
    let sandbox = Sandbox::with("p.ein", PROGRAM);
    if !cfg!(feature = "native") {
        let said = answer(&sandbox, &["tune", "p.ein"]).ends_with(2);
        assert!(said.stderr.contains("no machine code that could be tuned"), "{}", said.stderr);
        return;
    }
    let before = answer(&sandbox, &["run", "p.ein"]).ends_with(0);
    let said = answer(&sandbox, &["tune", "p.ein", "--budget", "3"]).ends_with(0);
    assert!(said.stdout.starts_with("as planned:  "), "{}", said.stdout);
    assert!(said.stdout.contains("\ntried ") && said.stderr.is_empty(), "{said:?}");
    let after = answer(&sandbox, &["run", "p.ein"]).ends_with(0);
    assert!(!before.stdout.is_empty() && before.stdout == after.stdout);
    // Whether anything was faster depends on the day.
    let forgot = answer(&sandbox, &["tune", "p.ein", "--forget"]).ends_with(0);
    assert!(forgot.stdout.starts_with("forgot "), "{}", forgot.stdout);
    let again = answer(&sandbox, &["tune", "p.ein", "--forget"]).ends_with(0);
    assert_eq!(again.stdout, "forgot 0 schedules\n");
    let info = answer(&sandbox, &["cache"]).ends_with(0);
    assert!(info.stdout.ends_with("tuned schedules: 0\n"), "{}", info.stdout);
}

#[test]
fn mistakes_are_told() {
    let sandbox = Sandbox::with("p.ein", "let a = [1, 0]; let q[i] = 6 / a[i];\n");
    let said = answer(&sandbox, &["tune", "p.ein"]).ends_with(1);
    assert!(said.stderr.starts_with("error[E0701]: integer division by zero"), "{}", said.stderr);
    let both = answer(&sandbox, &["tune", "p.ein", "--forget", "-o", "s"]).ends_with(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
    let slow = answer(&sandbox, &["tune", "p.ein", "--backend", "interp", "--outputs", "a"]);
    let slow = slow.ends_with(2);
    assert!(slow.stderr.contains("no machine code that could be tuned"), "{}", slow.stderr);
    assert!(fs::metadata(sandbox.path("kept/tuned")).is_err(), "nothing is kept");
}
