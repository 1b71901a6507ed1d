//! What stops a module, with its sentence.

use einlang_interp::options::Options;
use einlang_interp::oracle::Oracle;
use einlang_interp::stop::StopCode;

use crate::{evaluate, f32s, i32_scalar, i32s, module, stops};

#[track_caller]
fn stop(text: &str, inputs: Vec<einlang_interp::tensor::TensorValue>, want: &str) {
    assert_eq!(stops(text, inputs, &Options::default()), want);
}

const GATHER: &str = "module m {
    symbol N = shape table 0; symbol M = shape at 0; input table: f32[N]; input at: i32[M];
    binding got: f32[i < M] { clause { [i] : 0 <= i < M } {
        %0: i32 = read at[i]; %1: f32 = read table[%0]; yield %1; } } output got; }";

#[test]
fn an_index_outside_names_tensor_axis_index_and_extent() {
    let table = || f32s(&[3], &[1.0, 2.0, 3.0]);
    let want = "E0702: `table` is read at index 7 of axis 0, whose extent is 3 (at `got[i = 1]`)";
    stop(GATHER, vec![table(), i32s(&[2], &[0, 7])], want);
    let want = "E0702: `table` is read at index -1 of axis 0, whose extent is 3 (at `got[i = 0]`)";
    stop(GATHER, vec![table(), i32s(&[1], &[-1])], want);
}

#[test]
fn a_wrong_proof_is_never_silent() {
    let text = GATHER.replace("read table[%0]", "read table[i + 3] proved");
    stop(
        &text,
        vec![f32s(&[3], &[1.0, 2.0, 3.0]), i32s(&[1], &[0])],
        "internal: `table` is read at index 3 of axis 0, whose extent is 3, although this was \
         proved impossible (at `got[i = 0]`)",
    );
}

#[test]
fn coordinates_are_named() {
    stop(
        "module m {
            binding a: f32[t < 3: time] { clause { [t] : 0 <= t < 3 } { yield 1.0f32; } }
            binding b: f32[] { clause { [] } { %0: f32 = read a[3]; yield %0; } } output b; }",
        vec![],
        "E0702: `a` is read at index 3 of axis 0 (`time`), whose extent is 3",
    );
}

#[test]
fn a_self_read_without_a_base() {
    stop(
        "module m { binding h: i32[t < 4] { clause { [t] : 1 <= t < 4 } {
            %0: i32 = read h[t - 1]; yield %0; } } output h; }",
        vec![],
        "E0502: `h[t = 0]` is read, but no clause defines that point (at `h[t = 1]`)",
    );
}

#[test]
fn a_self_read_outside_the_box() {
    stop(
        "module m { binding h: i32[t < 4] { clause { [t] : 0 <= t < 4 } {
            %0: i32 = read h[t - 1]; yield %0; } } output h; }",
        vec![],
        "E0501: `h` is read at index -1 of axis 0, whose extent is 4 (at `h[t = 0]`)",
    );
}

#[test]
fn zero_fill_can_be_asked_for_from_outside() {
    let text = "module m { binding h: i32[t < 4] { clause { [t] : 1 <= t < 4 } {
        %0: i32 = read h[t - 1]; %1: i32 = add %0, 1i32; yield %1; } } output h; }";
    let options = Options { zero_fill: true, ..Options::default() };
    let got = evaluate(&module(text), vec![], &[], &options);
    assert_eq!(got.as_deref(), Ok("[0, 1, 2, 3]"));
}

const DEPTH: &str = "module m {
    symbol T = shape parent 0; input parent: i32[T];
    binding depth: i32[t < T] {
        clause { [t] : t = 0 and t < T } { yield 0i32; }
        clause { [t] : 1 <= t < T } {
            %0: i32 = read parent[t]; %1: i32 = read depth[%0]; %2: i32 = add %1, 1i32; yield %2; } }
    output depth; }";

#[test]
fn data_dependent_self_reads_reach_back_only() {
    crate::check(DEPTH, vec![i32s(&[4], &[0, 0, 1, 1])], &[], "[0, 1, 2, 2]");
    // 3 could be computed first, but comes later in the order.
    let want = "E0504: `depth[t = 3]` is read before it is computed (at `depth[t = 2]`)";
    stop(DEPTH, vec![i32s(&[4], &[0, 0, 3, 1])], want);
    let want = "E0504: `depth[t = 1]` is read before it is computed (at `depth[t = 1]`)";
    stop(DEPTH, vec![i32s(&[2], &[0, 1])], want);
}

#[test]
fn the_order_of_a_data_dependent_read_may_descend() {
    let text = "module m {
        symbol T = shape next 0; input next: i32[T];
        binding d: i32[t < T] {
            clause { [t] : t = T - 1 and t >= 0 } { yield 0i32; }
            clause { [t] : 0 <= t < T - 1 } {
                %0: i32 = read next[t]; %1: i32 = read d[%0]; %2: i32 = read d[t + 1];
                %3: i32 = add %1, %2; %4: i32 = add %3, 1i32; yield %4; } }
        output d; }";
    crate::check(text, vec![i32s(&[4], &[3, 2, 3, 0])], &[], "[4, 3, 1, 0]");
    let want = "E0504: `d[t = 0]` is read before it is computed (at `d[t = 2]`)";
    stop(text, vec![i32s(&[4], &[3, 2, 0, 0])], want);
}

#[test]
fn points_that_need_themselves() {
    stop(
        "module m { binding h: i32[t < 4] { clause { [t] : 0 <= t < 4 } {
            %0: i32 = read h[3 - t] else { yield 0i32; }; yield %0; } } output h; }",
        vec![],
        "E0204: `h[t = 0]` depends on itself (at `h[t = 3]`)",
    );
    stop(
        "module m { group {
            binding a: i32[t < 4] { clause { [t] : 0 <= t < 4 } { %0: i32 = read b[t]; yield %0; } }
            binding b: i32[s < 4] { clause { [s] : 0 <= s < 4 } { %1: i32 = read a[s]; yield %1; } } }
            output a; }",
        vec![],
        "E0503: `a[t = 0]` depends on itself (at `b[s = 0]`)",
    );
}

#[test]
fn a_length_that_needs_itself() {
    stop(
        "module m { symbol S = until; group {
            binding a: i32[t < S] { clause { [t] : 0 <= t < S } { %0: i32 = index S; yield %0; } }
            until S index u from 0 max 4 { %1: i32 = read a[u]; %2: bool = gt %1, 2i32; yield %2; } }
            output a; }",
        vec![],
        "E0503: the length of `a` is needed while `a` is being computed (at `a[t = 0]`)",
    );
}

#[test]
fn arithmetic_traps() {
    let text = "module m { input d: i32[]; binding q: i32[i < 2] { clause { [i] : 0 <= i < 2 } {
        %0: i32 = read d[]; %1: i32 = index 10*i; %2: i32 = div %1, %0; yield %2; } } output q; }";
    let want = "E0701: integer division by zero: `0 / 0` (at `q[i = 0]`)";
    stop(text, vec![i32_scalar(0)], want);
    let power = text.replace("div %1, %0", "ipow %1, %0");
    let want = "E0701: negative integer power: `0 ** -2` (at `q[i = 0]`)";
    stop(&power, vec![i32_scalar(-2)], want);
}

#[test]
fn checked_arithmetic_traps() {
    let text = "module m { binding q: i8[i < 2] { clause { [i] : 0 <= i < 2 } {
        %0: i8 = index 100*i; %1: i8 = add %0, 100i8; yield %1; } } output q; }";
    let checked = Options { checked: true, ..Options::default() };
    let want = "E0704: overflow: `100 + 100` does not fit i8 (at `q[i = 1]`)";
    assert_eq!(stops(text, vec![], &checked), want);
    crate::check(text, vec![], &[], "[100, -56]");
    let nan = "module m { binding q: f32[] { clause { [] } {
        %0: f32 = sqrt -1.0f32; yield %0; } } output q; }";
    assert_eq!(stops(nan, vec![], &checked), "E0704: `sqrt` of -1.0 gives NaN");
}

#[test]
fn asserts_and_traps_in_regions() {
    let text = "module m { symbol N = shape x 0; input x: f32[N];
        binding y: f32[i < N] { clause { [i] : 0 <= i < N } {
            %0: f32 = read x[i]; %1: bool = ge %0, 0.0f32; assert %1 \"negative\";
            %2: f32 = sqrt %0; yield %2; } } output y; }";
    let want = "E0703: assertion failed: negative (at `y[i = 2]`)";
    stop(text, vec![f32s(&[4], &[4.0, 1.0, -2.0, -3.0])], want);
    let text = text.replace("assert %1 \"negative\"", "trap overflow \"no\"");
    stop(&text, vec![f32s(&[1], &[0.0])], "E0704: no (at `y[i = 0]`)");
}

#[test]
fn a_reduction_of_nothing() {
    stop(
        "module m { symbol N = shape x 0; input x: f32[N];
         binding r: f32[] { clause { [] } { %0: f32 = reduce max first over { [k] : 0 <= k < N } do {
            %1: f32 = read x[k]; yield %1; }; yield %0; } } output r; }",
        vec![f32s(&[0], &[])],
        "E0706: `argmax`, `argmin` or another reduction without identity has no terms",
    );
}

#[test]
fn entry_checks_show_both_sides() {
    stop(
        "module m { symbol N = shape a 0; symbol M = shape b 0; check N = M \"extents differ\";
         input a: f32[N]; input b: f32[M]; output a; }",
        vec![f32s(&[2], &[0.0; 2]), f32s(&[3], &[0.0; 3])],
        "E0705: extents differ (2 and 3)",
    );
    stop(
        "module m { symbol N = shape a 0; input a: f32[N]; input b: f32[2*N]; output a; }",
        vec![f32s(&[2], &[0.0; 2]), f32s(&[3], &[0.0; 3])],
        "E0705: axis 0 of `b` has extent 3, but `2*N` is 4",
    );
}

#[test]
fn inputs_are_checked() {
    let text = "module m { symbol N = shape a 0; input a: f32[N]; output a; }";
    stop(text, vec![], "E0905: the input `a` is missing");
    let want = "E0906: the input `a` wants f32 of rank 1, not i32 of rank 0";
    stop(text, vec![i32_scalar(1)], want);
}

#[test]
fn derivatives_must_be_expanded_before() {
    stop(
        "module m { symbol N = shape a 0; input a: f32[N]; binding d: f32[] { clause { [] } {
            %0: f32 = deriv a[0] / a[0]; yield %0; } } output d; }",
        vec![f32s(&[1], &[1.0])],
        "internal: the derivative `@a / @a` was not expanded before running",
    );
}

#[test]
fn what_stopped_can_be_asked_again() {
    let module = module(DEPTH);
    let options = Options::default();
    let inputs = vec![i32s(&[4], &[0, 0, 3, 1])];
    let mut oracle = Oracle::new(&module, inputs, vec![], &options).expect("it starts");
    let first = oracle.output("depth").map_err(|stop| stop.code);
    assert_eq!(first, Err(StopCode::NotComputed));
    assert_eq!(oracle.point("depth", &[1]), Ok(Some(1)));
    let again = oracle.output("depth").map_err(|stop| stop.code);
    assert_eq!(again, Err(StopCode::NotComputed));
}

#[test]
fn points_that_wait_are_listed() {
    let text = "module m {
        binding a: i32[i < 2] { clause { [i] : 0 <= i < 2 } { %0: i32 = index i; %1: i32 = div 1i32, %0; yield %1; } }
        binding b: i32[j < 2] { clause { [j] : 0 <= j < 2 } { %2: i32 = read a[j]; yield %2; } }
        output b; }";
    let stop = evaluate(&module(text), vec![], &[], &Options::default()).expect_err("it stops");
    assert_eq!(stop.notes, ["needed for `b[j = 0]`"]);
}
