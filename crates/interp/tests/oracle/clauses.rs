//! Clauses, guards, reads and what no clause covers.

use crate::{check, f32s, i32_scalar, i32s};

#[test]
fn fibonacci() {
    check(
        "module m { binding fib: i64[n < 10] {
            clause { [n] : n = 0 } { yield 0i64; }
            clause { [n] : n = 1 } { yield 1i64; }
            clause { [n] : 2 <= n < 10 } {
                %0: i64 = read fib[n - 1]; %1: i64 = read fib[n - 2]; %2: i64 = add %0, %1;
                yield %2; } } output fib; }",
        vec![],
        &[],
        "[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]",
    );
}

#[test]
fn the_last_clause_that_covers_wins() {
    check(
        "module m { binding a: i32[i < 5] {
            clause { [i] : 0 <= i < 5 } { yield 1i32; }
            clause { [i] : 1 <= i < 4 } { yield 2i32; }
            clause { [i] : i = 2 } { yield 3i32; } } output a; }",
        vec![],
        &[],
        "[1, 2, 3, 2, 1]",
    );
}

#[test]
fn a_false_guard_leaves_the_point_to_the_clause_before() {
    check(
        "module m { binding a: i32[i < 4] {
            clause { [i] : 0 <= i < 4 } { %9: i32 = index 10 + i; yield %9; }
            clause { [i] : 0 <= i < 4 } where {
                %0: i32 = index i; %1: i32 = rem %0, 2i32; %2: bool = eq %1, 0i32;
                %3: i32 = mul %0, 100i32; yield %2, %3;
            } { |%4: i32| yield %4; } } output a; }",
        vec![],
        &[],
        "[0, 11, 200, 13]",
    );
}

#[test]
fn uncovered_points_are_zero() {
    check(
        "module m {
            binding a: f32[i < 4] { clause { [i] : i mod 2 = 1 and 0 <= i < 4 } { yield 1.5f32; } }
            binding b: bool[i' < 2] { clause { [i'] : i' = 1 } { yield true; } }
            output a, b; }",
        vec![],
        &[],
        "[0.0, 1.5, 0.0, 1.5]\n[false, true]",
    );
}

#[test]
fn guards_may_read_other_bindings() {
    check(
        "module m {
            symbol N = shape x 0; input x: i32[N];
            binding pos: i32[i < N] { clause { [i] : 0 <= i < N } where {
                %0: i32 = read x[i] proved; %1: bool = gt %0, 0i32; yield %1; } {
                %2: i32 = read x[i] proved; yield %2; } }
            output pos; }",
        vec![i32s(&[4], &[3, -1, 0, 7])],
        &[],
        "[3, 0, 0, 7]",
    );
}

#[test]
fn default_reads_answer_outside_and_where_nothing_is_defined() {
    check(
        "module m {
            binding a: i32[i < 4] { clause { [i] : 1 <= i < 3 } { yield 5i32; } }
            binding b: i32[j < 6] { clause { [j] : 0 <= j < 6 } {
                %0: i32 = read a[j - 1] else { %1: i32 = index -j; yield %1; }; yield %0; } }
            output b; }",
        vec![],
        &[],
        "[0, -1, 5, 5, -4, -5]",
    );
}

#[test]
fn a_default_replaces_the_base_clause() {
    check(
        "module m { binding h: i32[t < 4] { clause { [t] : 0 <= t < 4 } {
            %0: i32 = read h[t - 1 ] else { yield 100i32; }; %1: i32 = index t;
            %2: i32 = add %0, %1; yield %2; } } output h; }",
        vec![],
        &[],
        "[100, 101, 103, 106]",
    );
}

#[test]
fn zero_fill_serves_self_reads_that_ask_for_it() {
    check(
        "module m { binding h: i32[t < 4] zero_fill { clause { [t] : 1 <= t < 4 } {
            %0: i32 = read h[t - 1]; %1: i32 = add %0, 1i32; yield %1; } } output h; }",
        vec![],
        &[],
        "[0, 1, 2, 3]",
    );
}

#[test]
fn arms_are_lazy() {
    check(
        "module m {
            symbol N = shape d 0; input d: i32[N];
            binding q: i32[i < N] { clause { [i] : 0 <= i < N } {
                %0: i32 = read d[i]; %1: bool = eq %0, 0i32;
                %2: i32 = if %1 { yield -1i32; } else { %3: i32 = div 100i32, %0; yield %3; };
                yield %2; } } output q; }",
        vec![i32s(&[3], &[7, 0, -3])],
        &[],
        "[14, -1, -33]",
    );
}

#[test]
fn switches_choose_by_number() {
    check(
        "module m { binding s: i32[i < 5] { clause { [i] : 0 <= i < 5 } {
            %0: i32 = index i - 1;
            %1: i32 = switch %0 { -1 { yield 7i32; } 2 { yield 8i32; } else { yield 9i32; } };
            yield %1; } } output s; }",
        vec![],
        &[],
        "[7, 9, 9, 8, 9]",
    );
}

#[test]
fn subscripts_may_be_data() {
    check(
        "module m {
            symbol N = shape x 0; symbol M = shape at 0; input x: f32[N]; input at: i32[M];
            binding g: f32[i < M] { clause { [i] : 0 <= i < M } {
                %0: i32 = read at[i]; %1: f32 = read x[%0]; yield %1; } } output g; }",
        vec![f32s(&[3], &[0.5, 1.5, 2.5]), i32s(&[4], &[2, 0, 0, 1])],
        &[],
        "[2.5, 0.5, 0.5, 1.5]",
    );
}

#[test]
fn index_expressions_are_quasi_affine() {
    check(
        "module m { binding a: i64[i < 7] { clause { [i] : 0 <= i < 7 } {
            %0: i64 = index 10*floor((i - 3) / 2) + (i - 3) % 2; yield %0; } } output a; }",
        vec![],
        &[],
        "[-21, -10, -11, 0, 1, 10, 11]",
    );
}

#[test]
fn edit_distance_in_two_dimensions() {
    check(
        "module m {
            symbol M = shape a 0; symbol N = shape b 0; input a: i32[M]; input b: i32[N];
            binding D: i32[i < M + 1, j < N + 1] {
                clause { [i, j] : i = 0 and 0 <= j <= N } { %0: i32 = index j; yield %0; }
                clause { [i, j] : 0 <= i <= M and j = 0 } { %1: i32 = index i; yield %1; }
                clause { [i, j] : 1 <= i <= M and 1 <= j <= N } {
                    %2: i32 = read a[i - 1]; %3: i32 = read b[j - 1]; %4: bool = ne %2, %3;
                    %5: i32 = cast %4;
                    %6: i32 = read D[i - 1, j]; %7: i32 = read D[i, j - 1];
                    %8: i32 = read D[i - 1, j - 1];
                    %9: i32 = add %6, 1i32; %10: i32 = add %7, 1i32; %11: i32 = add %8, %5;
                    %12: i32 = min %9, %10; %13: i32 = min %12, %11; yield %13; } }
            output D; }",
        vec![i32s(&[2], &[1, 2]), i32s(&[3], &[1, 3, 2])],
        &[],
        "[[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 1, 1]]",
    );
}

#[test]
fn recurrences_may_descend() {
    check(
        "module m {
            symbol T = shape r 0; input r: i32[T];
            binding v: i32[t < T] {
                clause { [t] : t = T - 1 and t >= 0 } { %0: i32 = read r[t]; yield %0; }
                clause { [t] : 0 <= t < T - 1 } {
                    %1: i32 = read r[t]; %2: i32 = read v[t + 1]; %3: i32 = mul %2, 10i32;
                    %4: i32 = add %1, %3; yield %4; } } output v; }",
        vec![i32s(&[3], &[1, 2, 3])],
        &[],
        "[321, 32, 3]",
    );
}

#[test]
fn only_what_is_read_is_computed() {
    check(
        "module m {
            binding bad: i32[i < 3] { clause { [i] : 0 <= i < 3 } {
                %0: i32 = index i; %1: i32 = div 6i32, %0; yield %1; } }
            binding ok: i32[] { clause { [] } { %2: i32 = read bad[2]; yield %2; } }
            output ok; }",
        vec![],
        &[],
        "3",
    );
}

#[test]
fn symbols_come_from_arguments_shapes_values_and_extremes() {
    check(
        "module m {
            symbol P; symbol N = shape x 0; symbol K = value k; symbol L = max(N, K - 1, P);
            symbol S = min(N, K);
            input x: f32[N]; input k: i32[];
            binding a: i32[i < L] { clause { [i] : 0 <= i < S } { yield 1i32; } }
            output a; }",
        vec![f32s(&[2], &[0.0, 0.0]), i32_scalar(5)],
        &[3],
        "[1, 1, 0, 0]",
    );
}

#[test]
fn extents_may_be_computed_by_bindings() {
    check(
        "module m {
            symbol K = value n; symbol N = shape x 0; input x: i32[N];
            binding n: i64[] { clause { [] } {
                %0: i64 = reduce add identity 0i64 over { [q] : 0 <= q < N } where {
                    %1: i32 = read x[q]; %2: bool = gt %1, 0i32; yield %2; } do { yield 1i64; };
                yield %0; } }
            binding a: i32[i < K] { clause { [i] : 0 <= i < K } { %3: i32 = index i*i' ; yield %3; } }
            output a; }"
            .replace("i*i' ", "2*i")
            .as_str(),
        vec![i32s(&[4], &[1, 0, 5, 6])],
        &[],
        "[0, 2, 4]",
    );
}

#[test]
fn mutual_recursion() {
    check(
        "module m { group {
            binding a: i32[t < 4] { clause { [t] : t = 0 } { yield 1i32; }
                clause { [t] : 1 <= t < 4 } { %0: i32 = read b[t - 1]; %1: i32 = add %0, 1i32; yield %1; } }
            binding b: i32[s < 4] { clause { [s] : 0 <= s < 4 } {
                %2: i32 = read a[s]; %3: i32 = mul %2, 2i32; yield %3; } } }
            output a, b; }",
        vec![],
        &[],
        "[1, 3, 7, 15]\n[2, 6, 14, 30]",
    );
}
