//! The time to check a project of 50 modules, and to check it again after an edit of one function.
//! Run with `cargo xtask bench recheck`.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use einlang_driver::{Memo, Session};
use einlang_source::MemoryWorld;

const N_MODULES: usize = 50;
const N_FUNCTIONS: usize = 20;

fn main() {
    let mut memo = Memo::default();
    let (cold, n_cold) = check(&world("0.5"), &mut memo);
    println!("check    {N_MODULES} modules: {:6.1} ms, {n_cold} units", cold * 1e3);
    let (warm, n_warm) = check(&world("0.5"), &mut memo);
    println!("the same {N_MODULES} modules: {:6.1} ms, {n_warm} units", warm * 1e3);
    let (edit, n_edit) = check(&world("0.25"), &mut memo);
    println!("one edit in one of them: {:6.1} ms, {n_edit} units", edit * 1e3);
    assert_eq!((n_warm, n_edit), (0, 1), "only what was edited is checked again");
}

fn world(factor: &str) -> MemoryWorld {
    let mut root = String::new();
    let mut world = MemoryWorld::new();
    for m in 0..N_MODULES {
        let mut text = String::new();
        for f in 0..N_FUNCTIONS {
            let k = if (m, f) == (7, 3) { factor } else { "0.5" };
            write!(
                text,
                "pub fn f{f}(x: [f32; N], k: f32) -> [f32; N] {{\n    let y[0] = x[0];\n    \
                 let y[i in 1..N] = {k} * y[i - 1] + k * x[i];\n    y\n}}\n"
            )
            .expect("invariant: writing to a string cannot fail");
        }
        let before = if m > 0 { format!("crate::m{}::f1(x, 2.0)", m - 1) } else { "x".to_owned() };
        writeln!(text, "pub fn g(x: [f32; N]) -> [f32; N] {{ f0({before}, 1.0) }}")
            .expect("invariant: writing to a string cannot fail");
        writeln!(root, "mod m{m};").expect("invariant: writing to a string cannot fail");
        world = world.with(format!("m{m}.ein"), text);
    }
    writeln!(root, "let out = m{}::g([1.0, 2.0, 3.0]);", N_MODULES - 1)
        .expect("invariant: writing to a string cannot fail");
    world.with("main.ein", root)
}

/// Checks once; the seconds it took, and how many units were looked at.
fn check(world: &MemoryWorld, memo: &mut Memo) -> (f64, usize) {
    let mut session = Session::new(world);
    let start = Instant::now();
    let file = session.load(Path::new("main.ein")).expect("invariant: the root is there");
    let (found, work) = session.check_again(file, memo);
    let seconds = start.elapsed().as_secs_f64();
    assert!(found.is_empty(), "the project is right");
    (seconds, work.checked.len())
}
