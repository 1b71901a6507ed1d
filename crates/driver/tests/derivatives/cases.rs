//! Programs whose derivatives were computed by other means.

use einlang_driver::Session;
use einlang_driver::run::RunOptions;
use einlang_interp::io::MemoryIo;
use einlang_source::MemoryWorld;
use einlang_tir::passes::Mode;

use crate::{close, numbers, words};

/// The output `out` of a program, in every mode.
fn check(text: &str, expected: &[f64]) {
    for mode in [Mode::Forward, Mode::Reverse, Mode::Cheaper] {
        let world = MemoryWorld::new();
        let mut session = Session::new(&world).with_mode(mode);
        let file = session.add_text("case.ein", text);
        let outcome = match session.run(file, &RunOptions::default(), &mut MemoryIo::default()) {
            Ok(outcome) => outcome,
            Err(failure) => panic!("{mode:?}: {}\n{text}", words(&failure)),
        };
        let out = outcome.outputs.iter().find(|output| output.name == "out");
        let found = out.map(|output| numbers(&output.value)).unwrap_or_default();
        assert_eq!(found.len(), expected.len(), "{mode:?}: {found:?}\n{text}");
        for (a, b) in found.iter().zip(expected) {
            assert!(close(*a, *b, 1e-7), "{mode:?}: {found:?}, not {expected:?}\n{text}");
        }
    }
}

#[test]
fn a_linear_system_by_its_matrix() {
    // The gradient by the matrix is `-outer(inv(A).T @ (2 x), x)`.
    let text = "use std::linalg::solve;
        let A = [[4.0f64, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]];
        let x = solve(A, [1.0f64, 2.0, 3.0]);
        let q = sum[i](x[i] ** 2);
        let out = @q / @A;";
    let expected = [
        [-0.02702155332, 0.19722627999, 0.48297144155],
        [0.03332183664, -0.24321110654, -0.59557995381],
        [0.12281055522, -0.89637589154, -2.19506222260],
    ];
    check(text, &expected.concat());
}

#[test]
fn a_slice_of_the_recurrence_around_the_request() {
    let text = "struct S { x: f64, v: f64 }
        let s[0] = S { x: 1.0f64, v: 0.5 };
        let s[t in 1..3] = {
            let e = s[t - 1].x ** 2 * s[t - 1].v;
            let g = @e / @s[t - 1];
            S { x: s[t - 1].x - 0.1 * g.x, v: s[t - 1].v - 0.1 * g.v }
        };
        let out = [s[2].x, s[2].v];";
    // By hand: (1, 0.5), (0.9, 0.4), (0.9 - 0.1 * 2 * 0.9 * 0.4, 0.4 - 0.1 * 0.81).
    check(text, &[0.828, 0.319]);
}

#[test]
fn what_is_detached_needs_no_derivative() {
    let text = "let x = 2.7f64;
        let y = x * floor(x) + detach((x as i32) as f64) * x;
        let out = @y / @x;";
    check(text, &[4.0]);
}

#[test]
fn zeros_in_a_product_and_its_second_derivative() {
    let text = "let x = [2.0f64, 0.0, 3.0];
        let p = prod[i](x[i]);
        let g = @p / @x;
        let out = @g / @x;";
    check(text, &[0.0, 3.0, 0.0, 3.0, 0.0, 2.0, 0.0, 2.0, 0.0]);
}

#[test]
fn the_number_of_steps_is_a_constant() {
    let text = "let a = 2.0f64;
        let r[0] = a;
        let r[k in 1..] = 0.5 * r[k - 1] until r[k] < 0.3, max 50;
        let last_one = r[last];
        let out = @last_one / @a;";
    check(text, &[0.125]);
}

#[test]
fn a_float_through_an_integer_binding_is_refused() {
    let world = MemoryWorld::new();
    let mut session = Session::new(&world);
    let text = "let x = 2.7; let n = x as i32; let y = 2.0 * (n as f32); let g = @y / @x;";
    let file = session.add_text("case.ein", text);
    let failure = session.build(file).expect_err("there is no derivative");
    assert!(words(&failure).starts_with("E0602"), "{}", words(&failure));
}
