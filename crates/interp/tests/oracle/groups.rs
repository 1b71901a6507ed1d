//! Open axes, local groups, functions.

use crate::{check, i32s};

const COLLATZ: &str = "module m {
    symbol S = until; symbol C = value start; input start: i32[];
    group {
        binding c: i32[t < S] {
            clause { [t] : t = 0 } { %0: i32 = read start[]; yield %0; }
            clause { [t] : 1 <= t < S } {
                %1: i32 = read c[t - 1]; %2: i32 = rem %1, 2i32; %3: bool = eq %2, 0i32;
                %4: i32 = if %3 { %5: i32 = div %1, 2i32; yield %5; }
                    else { %6: i32 = mul %1, 3i32; %7: i32 = add %6, 1i32; yield %7; };
                yield %4; } }
        until S index u from 1 max 10 { %8: i32 = read c[u]; %9: bool = eq %8, 1i32; yield %9; }
    }
    binding n: i32[] { clause { [] } { %10: i32 = index S; yield %10; } }
    binding last: i32[] { clause { [] } { %11: i32 = read c[S - 1]; yield %11; } }
    binding done: bool[] { clause { [] } { %12: bool = converged S; yield %12; } }
    output c, n, last, done; }";

#[test]
fn until_stops_after_the_condition_holds() {
    check(COLLATZ, vec![i32s(&[], &[6])], &[], "[6, 3, 10, 5, 16, 8, 4, 2, 1]\n9\n1\ntrue");
}

#[test]
fn until_stops_after_the_largest_number_of_steps() {
    let want = "[7, 22, 11, 34, 17, 52, 26, 13, 40, 20, 10]\n11\n10\nfalse";
    check(COLLATZ, vec![i32s(&[], &[7])], &[], want);
}

#[test]
fn no_steps_leave_the_base() {
    let text = COLLATZ.replace("max 10", "max 0");
    check(&text, vec![i32s(&[], &[7])], &[], "[7]\n1\n7\nfalse");
}

#[test]
fn open_axes_advance_in_lockstep_whatever_their_place() {
    check(
        "module m {
            symbol S = until;
            group {
                binding a: i32[j < 2, t < S] {
                    clause { [j, t] : t = 0 and 0 <= j < 2 } { %0: i32 = index j; yield %0; }
                    clause { [j, t] : 1 <= t < S and 0 <= j < 2 } {
                        %1: i32 = read b[t - 1]; %2: i32 = read a[j, t - 1]; %3: i32 = add %1, %2; yield %3; } }
                binding b: i32[s < S] { clause { [s] : 0 <= s < S } { %4: i32 = read a[1, s]; yield %4; } }
                until S index u from 1 max 100 { %5: i32 = read b[u]; %6: bool = gt %5, 5i32; yield %6; } }
            output a, b; }",
        vec![],
        &[],
        "[[0, 1, 3, 7], [1, 2, 4, 8]]\n[1, 2, 4, 8]",
    );
}

#[test]
fn local_groups_see_what_surrounds_them() {
    check(
        "module m { binding r: i32[i < 3] { clause { [i] : 0 <= i < 3 } {
            %0: i32 = index 100*i;
            binding l: i32[k < 4] {
                clause { [k] : k = 0 } { yield %0; }
                clause { [k] : 1 <= k < 4 } {
                    %1: i32 = read l[k - 1]; %2: i32 = index k + i; %3: i32 = add %1, %2; yield %3; } }
            %4: i32 = read l[3]; yield %4; } } output r; }",
        vec![],
        &[],
        "[6, 109, 212]",
    );
}

#[test]
fn local_groups_may_have_local_extents_and_untils() {
    check(
        "module m { symbol S = until; binding r: i32[i < 4] { clause { [i] : 0 <= i < 4 } {
            group {
                binding p: i32[t < S] {
                    clause { [t] : t = 0 and t < S } { yield 1i32; }
                    clause { [t] : 1 <= t < S } {
                        %0: i32 = read p[t - 1]; %1: i32 = mul %0, 2i32; yield %1; } }
                until S index u from 1 max 50 {
                    %2: i32 = read p[u]; %3: i32 = index 10*i; %4: bool = ge %2, %3; yield %4; } }
            %5: i32 = read p[S - 1]; %6: i32 = index 1000*S; %7: i32 = add %5, %6; yield %7; } }
            output r; }",
        vec![],
        &[],
        "[2002, 5016, 6032, 6032]",
    );
}

#[test]
fn local_groups_nest() {
    check(
        "module m { binding r: i32[i < 2] { clause { [i] : 0 <= i < 2 } {
            binding outer: i32[j < 3] { clause { [j] : 0 <= j < 3 } {
                %0: i32 = index j;
                binding inner: i32[k < 2] { clause { [k] : 0 <= k < 2 } {
                    %1: i32 = index 10*k + 100*i; %2: i32 = add %0, %1; yield %2; } }
                %3: i32 = read inner[0]; %4: i32 = read inner[1]; %5: i32 = mul %3, %4; yield %5; } }
            %6: i32 = reduce add identity 0i32 over { [q] : 0 <= q < 3 } do { %7: i32 = read outer[q]; yield %7; };
            yield %6; } } output r; }",
        vec![],
        &[],
        // (0·10 + 1·11 + 2·12), (100·110 + 101·111 + 102·112)
        "[35, 33635]",
    );
}

#[test]
fn functions_take_scalars_and_tensors() {
    check(
        "module m {
            symbol V = shape v 0; symbol N = shape x 0; input x: i32[N];
            fn dot { |v: i32[V], %0: i32|
                %1: i32 = reduce add identity 0i32 over { [k] : 0 <= k < V } do {
                    %2: i32 = read v[k]; %3: i32 = mul %2, %0; yield %3; };
                yield %1, %0; }
            binding y: i32[i < 2] { clause { [i] : 0 <= i < 2 } {
                binding l: i32[a < 3] { clause { [a] : 0 <= a < 3 } { %4: i32 = index a; yield %4; } }
                %5: i32 = index i + 1;
                %6: i32, %7: i32 = call dot(x, %5);
                %8: i32, %9: i32 = call dot(l, %6);
                %10: i32 = add %8, %7; yield %10; } } output y; }",
        vec![i32s(&[2], &[3, 4])],
        &[],
        "[22, 44]",
    );
}

#[test]
fn cholesky_of_a_small_matrix() {
    check(
        "module m {
            symbol N = shape A 0; input A: f64[N, N];
            binding L: f64[i < N, j < N] {
                clause { [i, j] : 0 <= i < N and j = i } {
                    %0: f64 = reduce add identity 0.0f64 over { [k] : 0 <= k < j } do {
                        %1: f64 = read L[i, k]; %2: f64 = mul %1, %1; yield %2; };
                    %3: f64 = read A[i, i]; %4: f64 = sub %3, %0; %5: f64 = sqrt %4; yield %5; }
                clause { [i, j] : 0 <= i < N and 0 <= j < i } {
                    %6: f64 = reduce add identity 0.0f64 over { [q] : 0 <= q < j } do {
                        %7: f64 = read L[i, q]; %8: f64 = read L[j, q]; %9: f64 = mul %7, %8; yield %9; };
                    %10: f64 = read A[i, j]; %11: f64 = sub %10, %6; %12: f64 = read L[j, j];
                    %13: f64 = div %11, %12; yield %13; } }
            output L; }",
        vec![
            einlang_interp::tensor::TensorValue::new(
                vec![3, 3],
                einlang_interp::tensor::Storage::F64(
                    vec![4.0, 12.0, -16.0, 12.0, 37.0, -43.0, -16.0, -43.0, 98.0].into(),
                ),
            )
            .expect("it fits"),
        ],
        &[],
        "[[2.0, 0.0, 0.0], [6.0, 1.0, 0.0], [-8.0, 5.0, 3.0]]",
    );
}
