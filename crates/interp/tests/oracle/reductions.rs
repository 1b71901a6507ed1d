//! Reductions: order, start, guards, states of several parts.

use crate::{check, f32s, i32s};

/// A module with a vector input and one scalar output.
fn over(elem: &str, reduce: &str) -> String {
    format!(
        "module m {{ symbol N = shape x 0; input x: {elem}[N];
         binding r: {elem}[] {{ clause {{ [] }} {{ {reduce} yield %0; }} }} output r; }}"
    )
}

#[test]
fn matrix_product() {
    check(
        "module m {
            symbol M = shape A 0; symbol K = shape A 1; symbol N = shape B 1;
            input A: f32[M, K]; input B: f32[K, N];
            binding C: f32[i < M, j < N] { clause { [i, j] : 0 <= i < M and 0 <= j < N } {
                %0: f32 = reduce add identity 0.0f32 commutative reassociable over { [k] : 0 <= k < K } do {
                    %1: f32 = read A[i, k] proved; %2: f32 = read B[k, j] proved;
                    %3: f32 = mul %1, %2; yield %3; };
                yield %0; } } output C; }",
        vec![f32s(&[2, 3], &[1., 2., 3., 4., 5., 6.]), f32s(&[3, 2], &[1., 0., 0., 1., 2., 2.])],
        &[],
        "[[7.0, 8.0], [16.0, 17.0]]",
    );
}

#[test]
fn an_empty_domain_gives_the_start() {
    let sum = over(
        "f32",
        "%0: f32 = reduce add identity 0.0f32 over { [k] : 0 <= k < N } do { %1: f32 = read x[k]; yield %1; };",
    );
    check(&sum, vec![f32s(&[0], &[])], &[], "0.0");
    let max = over(
        "f32",
        "%0: f32 = reduce max identity -inff32 over { [k] : 0 <= k < N } do { %1: f32 = read x[k]; yield %1; };",
    );
    check(&max, vec![f32s(&[0], &[])], &[], "-inf");
}

#[test]
fn init_is_combined_once_on_the_left() {
    let text = over(
        "i32",
        "%0: i32 = reduce { |%1: i32, %2: i32| %3: i32 = mul %1, 10i32; %4: i32 = add %3, %2; yield %4; }
         init 7i32 over { [k] : 0 <= k < N } do { %5: i32 = read x[k]; yield %5; };",
    );
    check(&text, vec![i32s(&[3], &[1, 2, 3])], &[], "7123");
    check(&text, vec![i32s(&[0], &[])], &[], "7");
}

#[test]
fn the_first_term_may_be_the_start() {
    let text = over(
        "i32",
        "%0: i32 = reduce sub first over { [k] : 0 <= k < N } do { %5: i32 = read x[k]; yield %5; };",
    );
    check(&text, vec![i32s(&[3], &[10, 2, 3])], &[], "5");
}

#[test]
fn terms_come_in_lexicographic_order() {
    check(
        "module m { binding r: i64[] { clause { [] } {
            %0: i64 = reduce { |%1: i64, %2: i64| %3: i64 = mul %1, 10i64; %4: i64 = add %3, %2; yield %4; }
            init 0i64 over { [a, b] : 0 <= a < 3 and a <= b < 3 } do {
                %5: i64 = index 3*a + b; yield %5; };
            yield %0; } } output r; }",
        vec![],
        &[],
        "12458",
    );
}

#[test]
fn unions_and_congruences_are_enumerated_once() {
    check(
        "module m { binding r: i64[] { clause { [] } {
            %0: i64 = reduce { |%1: i64, %2: i64| %3: i64 = mul %1, 10i64; %4: i64 = add %3, %2; yield %4; }
            init 0i64 over { [k] : (0 <= k < 4) or (2 <= k < 9 and k mod 3 = 2) } do {
                %5: i64 = index k; yield %5; };
            yield %0; } } output r; }",
        vec![],
        &[],
        "12358",
    );
}

#[test]
fn guards_drop_terms_and_hand_values_on() {
    let text = over(
        "i32",
        "%0: i32 = reduce add identity 0i32 over { [k] : 0 <= k < N } where {
            %1: i32 = read x[k]; %2: bool = gt %1, 0i32; %3: i32 = mul %1, %1; yield %2, %3; }
         do { |%4: i32| yield %4; };",
    );
    check(&text, vec![i32s(&[4], &[1, -5, 3, 0])], &[], "10");
}

#[test]
fn argmax_takes_the_first_of_equals() {
    check(
        "module m { symbol N = shape x 0; input x: f32[N];
         binding at: i32[] { clause { [] } {
            %0: f32, %1: i32 = reduce { |%2: f32, %3: i32, %4: f32, %5: i32|
                %6: bool = gt %4, %2;
                %7: f32, %8: i32 = if %6 { yield %4, %5; } else { yield %2, %3; };
                yield %7, %8; } first over { [k] : 0 <= k < N } do {
                %9: f32 = read x[k]; %10: i32 = index k; yield %9, %10; };
            yield %1; } } output at; }",
        vec![f32s(&[5], &[1.0, 4.0, 2.0, 4.0, 0.0])],
        &[],
        "1",
    );
}

#[test]
fn states_may_hold_tensors() {
    check(
        "module m { binding r: i32[] { clause { [] } {
            binding zero: i32[a < 2] { clause { [a] : 0 <= a < 2 } { yield 0i32; } }
            %0: i32, o: i32[2] = reduce { |%1: i32, l: i32[2], %2: i32, r1: i32[2]|
                %3: i32 = add %1, %2;
                binding both: i32[b < 2] { clause { [b] : 0 <= b < 2 } {
                    %4: i32 = read l[b]; %5: i32 = read r1[b]; %6: i32 = add %4, %5; yield %6; } }
                yield %3, both; } init 0i32, zero over { [k] : 0 <= k < 1000 } do {
                binding term: i32[c < 2] { clause { [c] : 0 <= c < 2 } {
                    %7: i32 = index k + c; yield %7; } }
                yield 1i32, term; };
            %8: i32 = read o[0]; %9: i32 = read o[1]; %10: i32 = sub %9, %8; %11: i32 = add %8, %10;
            yield %11; } } output r; }",
        vec![],
        &[],
        "500500",
    );
}

#[test]
fn float_sums_are_combined_in_pairs() {
    // One after the other, a large term would swallow the small ones.
    let mut values = vec![1.0_f32; 1 << 12];
    values[0] = 16_777_216.0;
    let plain = "%0: f32 = reduce add identity 0.0f32 over { [k] : 0 <= k < N } do { %1: f32 = read x[k]; yield %1; };";
    let pairs = plain.replace("identity 0.0f32", "identity 0.0f32 reassociable");
    check(&over("f32", plain), vec![f32s(&[1 << 12], &values)], &[], "16777216.0");
    check(&over("f32", &pairs), vec![f32s(&[1 << 12], &values)], &[], "16781310.0");
}

#[test]
fn nan_in_a_maximum_is_never_larger() {
    let max = over(
        "f32",
        "%0: f32 = reduce max identity -inff32 over { [k] : 0 <= k < N } do { %1: f32 = read x[k]; yield %1; };",
    );
    check(&max, vec![f32s(&[3], &[f32::NAN, 1.0, f32::NAN])], &[], "1.0");
}

#[test]
fn bounds_may_be_local_parameters() {
    check(
        "module m { symbol lo = local; symbol N = shape x 0; input x: i32[N];
         binding r: i32[i < N] { clause { [i] : 0 <= i < N } {
            %0: i32 = read x[i];
            param lo = %0;
            %1: i32 = reduce add identity 0i32 over { [k] : lo <= k < 4 } do { %2: i32 = index k; yield %2; };
            yield %1; } } output r; }",
        vec![i32s(&[3], &[0, 3, 9])],
        &[],
        "[6, 3, 0]",
    );
}

#[test]
fn prefix_sums_of_prefix_sums() {
    check(
        "module m {
            binding c: i64[i < 5] { clause { [i] : 0 <= i < 5 } {
                %0: i64 = reduce add identity 0i64 over { [k] : 0 <= k <= i } do { %1: i64 = index k; yield %1; };
                yield %0; } }
            binding d: i64[j < 5] { clause { [j] : 0 <= j < 5 } {
                %2: i64 = reduce add identity 0i64 over { [q] : 0 <= q <= j } do { %3: i64 = read c[q]; yield %3; };
                yield %2; } } output d; }",
        vec![],
        &[],
        "[0, 1, 4, 10, 20]",
    );
}
