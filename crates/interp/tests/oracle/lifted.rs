//! What `lift_locals` saves, in steps of the oracle. That it changes no value is tested with every
//! module of these tests.

use einlang_interp::options::Options;
use einlang_tir::module::Module;
use einlang_tir::passes::{Ctx, Pass, lift_locals, run_passes};

use crate::{evaluate, module};

/// The module with its locals lifted.
#[track_caller]
pub(crate) fn lifted(module: &Module) -> Module {
    let mut lifted = module.clone();
    let pass = Pass { name: "lift_locals", run: lift_locals };
    let ctx = Ctx { verify: true, ..Ctx::default() };
    let done = run_passes(&mut lifted, &[pass], &ctx, &mut |_, _| {});
    assert_eq!(done, Ok(()), "{module}\n{lifted}");
    lifted
}

/// The smallest power of two that is enough as a limit of steps.
fn steps(module: &Module) -> u64 {
    let enough = |limit: u64| {
        let options = Options { steps: Some(limit), ..Options::default() };
        evaluate(module, vec![], &[], &options).is_ok()
    };
    let limits = (0..40).map(|bits| 1 << bits);
    limits.into_iter().find(|limit| enough(*limit)).expect("it ends")
}

/// Asserts how many steps a module takes before and after, at most.
#[track_caller]
fn saves(text: &str, before: u64, after: u64) {
    let module = module(text);
    assert_eq!((steps(&module), steps(&lifted(&module))), (before, after), "{text}");
}

#[test]
fn the_locals_of_a_tensor_body_are_computed_once_for_each_row() {
    let text = "module m { binding y: i32[r < 20, c < 20] {
        clause { [r, c] : 0 <= r < 20 and 0 <= c < 20 } {
            binding d: i32[i < 20] { clause { [i] : 0 <= i < 20 } {
                %1: i32 = reduce add identity 0i32 over { [j] : 0 <= j < 20 } do {
                    %0: i32 = index i * 1 + j + r; yield %0; };
                yield %1; } }
            %3: i32 = reduce max identity -1i32 over { [k] : 0 <= k < 20 } do {
                %2: i32 = read d[k]; yield %2; };
            %4: i32 = read d[c];
            %5: i32 = sub %3, %4;
            yield %5; } } output y; }";
    saves(text, 1 << 20, 1 << 15);
}

#[test]
fn a_recurrence_keeps_what_depends_on_its_step_alone() {
    let text = "module m { binding h: i32[t < 20, i < 20] {
        clause { [t, i] : t = 0 and 0 <= i < 20 } { %0: i32 = index i; yield %0; }
        clause { [t, i] : 1 <= t < 20 and 0 <= i < 20 } {
            %2: i32 = reduce add identity 0i32 over { [k] : 0 <= k < 20 } do {
                %1: i32 = read h[t - 1, k]; yield %1; };
            %3: i32 = read h[t - 1, i];
            %4: i32 = sub %2, %3;
            yield %4; } } output h; }";
    saves(text, 1 << 15, 1 << 12);
}

#[test]
fn two_fields_share_what_they_have_in_common() {
    let field = |name: &str, n: u32| {
        format!(
            "binding {name}: i32[] {{ clause {{ [] }} {{
                binding l{n}: i32[i{n} < 50] {{ clause {{ [i{n}] : 0 <= i{n} < 50 }} {{
                    %{a}: i32 = reduce add identity 0i32 over {{ [j{n}] : 0 <= j{n} < 50 }} do {{
                        %{b}: i32 = index i{n} + j{n}; yield %{b}; }};
                    yield %{a}; }} }}
                %{c}: i32 = reduce add identity 0i32 over {{ [k{n}] : 0 <= k{n} < 50 }} do {{
                    %{d}: i32 = read l{n}[k{n}]; yield %{d}; }};
                yield %{c}; }} }}",
            a = 10 * n,
            b = 10 * n + 1,
            c = 10 * n + 2,
            d = 10 * n + 3,
        )
    };
    let fields: String = (1..=8).map(|n| field(&format!("f{n}"), n)).collect();
    let names: Vec<String> = (1..=8).map(|n| format!("f{n}")).collect();
    saves(&format!("module m {{ {fields} output {}; }}", names.join(", ")), 1 << 16, 1 << 14);
}
