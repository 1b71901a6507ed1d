//! Long recurrences, and the limits.

use std::time::Instant;

use einlang_interp::options::Options;
use einlang_interp::oracle::Oracle;
use einlang_tir::module::Module;

use crate::{check, evaluate, module, stops};

/// `h[t] = h[t - 1] + 1`, of which only the last point is read.
fn last_of(n: usize) -> Module {
    module(&format!(
        "module m {{
            binding h: i64[t < {n}] {{
                clause {{ [t] : t = 0 }} {{ yield 0i64; }}
                clause {{ [t] : 1 <= t < {n} }} {{ %0: i64 = read h[t - 1]; %1: i64 = add %0, 1i64; yield %1; }} }}
            binding last: i64[] {{ clause {{ [] }} {{ %2: i64 = read h[{n} - 1]; yield %2; }} }}
            output last; }}"
    ))
}

#[test]
fn a_million_points_may_wait_for_each_other() {
    let got = evaluate(&last_of(1_000_000), vec![], &[], &Options::default());
    assert_eq!(got.as_deref(), Ok("999999"));
}

#[test]
fn local_recurrences_may_be_long() {
    check(
        "module m { binding r: i64[] { clause { [] } {
            binding l: i64[k < 200000] {
                clause { [k] : k = 0 } { yield 0i64; }
                clause { [k] : 1 <= k < 200000 } { %0: i64 = read l[k - 1]; %1: i64 = add %0, 2i64; yield %1; } }
            %2: i64 = read l[199999]; yield %2; } } output r; }",
        vec![],
        &[],
        "399998",
    );
}

#[test]
fn reductions_may_build_long_chains_of_states() {
    check(
        "module m { binding r: i64[] { clause { [] } {
            binding zero: i64[a < 1] { clause { [a] : 0 <= a < 1 } { yield 0i64; } }
            o: i64[1] = reduce { |l: i64[1], r1: i64[1]|
                binding both: i64[b < 1] { clause { [b] : 0 <= b < 1 } {
                    %4: i64 = read l[b]; %5: i64 = read r1[b]; %6: i64 = add %4, %5; yield %6; } }
                yield both; } init zero over { [k] : 0 <= k < 100000 } do {
                binding term: i64[c < 1] { clause { [c] : 0 <= c < 1 } { %7: i64 = index k; yield %7; } }
                yield term; };
            %8: i64 = read o[0]; yield %8; } } output r; }",
        vec![],
        &[],
        "4999950000",
    );
}

#[test]
fn memory_is_limited() {
    let text = "module m { binding big: f32[i < 2000000, j < 2000000] {
        clause { [i, j] : 0 <= i < 2000000 and 0 <= j < 2000000 } { yield 1.0f32; } } output big; }";
    let want = "E0801: `big` has more points than any memory";
    assert_eq!(stops(text, vec![], &Options::default()), want);
    let text = text.replace("2000000", "100000");
    let want = "E0801: `big` needs more memory than the limit of 4.0 GiB";
    assert_eq!(stops(&text, vec![], &Options::default()), want);
    let small = Options { memory: 1 << 20, ..Options::default() };
    let stop = evaluate(&last_of(1_000_000), vec![], &[], &small).expect_err("too many points");
    assert_eq!(stop.code.as_str(), "E0801");
}

#[test]
fn one_point_of_a_huge_tensor_is_no_problem() {
    check(
        "module m {
            binding big: i64[i < 100000, j < 100000] {
                clause { [i, j] : 0 <= i < 100000 and 0 <= j < 100000 } { %0: i64 = index i - j; yield %0; } }
            binding one: i64[] { clause { [] } { %1: i64 = read big[99999, 7]; yield %1; } }
            output one; }",
        vec![],
        &[],
        "99992",
    );
}

#[test]
fn steps_and_time_are_limited() {
    let few = Options { steps: Some(1000), ..Options::default() };
    let stop = evaluate(&last_of(10_000), vec![], &[], &few).expect_err("too many steps");
    assert_eq!(stop.code.as_str(), "E0803");
    assert!(stop.message.starts_with("the program took more than the 1000 steps allowed"));
    let late = Options { deadline: Some(Instant::now()), ..Options::default() };
    let stop = evaluate(&last_of(10_000), vec![], &[], &late).expect_err("too late");
    assert_eq!(stop.code.as_str(), "E0803");
    // A domain without points that is long to search.
    let sparse = "module m { binding r: i64[] { clause { [] } {
        %0: i64 = reduce add identity 0i64 over { [a, b] : 0 <= a < 1000000 and 0 <= b < 1000000 and 2*a = 2*b + 1 } do { yield 1i64; };
        yield %0; } } output r; }";
    let got = evaluate(
        &module(sparse),
        vec![],
        &[],
        &Options { steps: Some(1 << 22), ..Options::default() },
    );
    assert!(got.as_deref() == Ok("0") || got.is_err_and(|stop| stop.code.as_str() == "E0803"));
}

#[test]
fn calls_without_end_are_limited() {
    let text = "module m {
        fn f { |%0: i32| %1: i32 = call f(%0); yield %1; }
        binding r: i32[] { clause { [] } { %2: i32 = call f(1i32); yield %2; } } output r; }";
    let got = stops(text, vec![], &Options::default());
    assert_eq!(got, "E0802: `f` calls itself more than 10000 deep");
}

/// Run with `--release -- --ignored --nocapture` to see the speed.
#[test]
#[ignore = "a measurement, not a test"]
fn points_per_second() {
    for n in [1_000_000] {
        let module = last_of(n);
        for name in ["h", "last"] {
            let options = Options::default();
            let mut oracle = Oracle::new(&module, vec![], vec![], &options).expect("it starts");
            let start = Instant::now();
            oracle.output(name).expect("it runs");
            let seconds = start.elapsed().as_secs_f64();
            println!("{name}: {:.2} million points per second", n as f64 / seconds / 1e6);
        }
    }
}
