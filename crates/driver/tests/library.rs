//! The standard library: what is loaded of it, and that the programs in `tests/std` use every
//! function.

use std::path::{Path, PathBuf};

use einlang_driver::library::Std;
use einlang_driver::{Compilation, Options, pipeline};
use einlang_sema::Library;
use einlang_source::{MemoryWorld, Sources, render};

const AREAS: &[&str] =
    &["array", "image", "io", "linalg", "math", "ml", "numerics", "random", "testing", "text"];

fn compile(world: &MemoryWorld, text: &str) -> (Compilation, String) {
    let mut sources = Sources::new();
    let file = sources.add("main.ein", text);
    let options = Options::default();
    let compilation = pipeline::compile(world, &mut sources, file, Path::new(""), &options);
    let shown = compilation.diagnostics.iter();
    let style = render::Options::default();
    let said: Vec<String> = shown.map(|d| render::human(&sources, d, &style)).collect();
    (compilation, said.join("\n"))
}

fn n_parsed(text: &str) -> usize {
    let (compilation, said) = compile(&MemoryWorld::new(), text);
    assert_eq!(said, "", "{text}");
    compilation.resolved.trees.len()
}

fn codes(world: &MemoryWorld, text: &str) -> Vec<String> {
    let (compilation, _) = compile(world, text);
    let codes = compilation.diagnostics.iter().map(|d| d.code.as_str().to_string());
    codes.collect()
}

#[test]
fn only_what_a_program_names_is_parsed() {
    assert_eq!(n_parsed("let x = sqrt(2.0);"), 1);
    // The program, the list of areas, the list of topics, and one topic.
    assert_eq!(n_parsed("use std::math::sqrt;\nlet x = sqrt(2.0);"), 4);
    assert_eq!(n_parsed("use std::math::*;\nlet x = gcd(4, 6);"), 4);
    assert_eq!(n_parsed("let x = std::math::PI * 2.0;"), 4);
    assert_eq!(n_parsed("use std::math as m;\nlet x = m::sqrt(2.0) + m::PI;"), 5);
    assert_eq!(n_parsed("use std::math::*;\nlet x = 1;"), 3);
    assert!(n_parsed("use std::linalg::solve;\nlet x = solve([[2.0]], [4.0]);") < 8);
}

#[test]
fn paths_into_the_library_take_every_form() {
    let text = "
        mod math { pub fn sqrt(x) { x } }
        use std::math::*;
        use std::ml::{relu as r, softmax};
        use std::math as m;
        use std as library;
        let a = exp2(1.0) + erf(0.5) + m::erf(0.5) + library::math::cbrt(8.0);
        let b = r([1.0, -1.0]);
        let c = softmax(b);
        let d = math::sqrt(4);
        fn inner(x) { use std::math::cbrt as root; root(x) }
        let e = inner(8.0);
        let gamma = gamma(3.0) + e;
        let f: f64 = std::math::PI;
    ";
    assert_eq!(compile(&MemoryWorld::new(), text).1, "");
}

#[test]
fn wrong_paths_into_the_library_are_told_apart() {
    let world = MemoryWorld::new();
    assert_eq!(codes(&world, "use std::maths::sqrt;"), ["E0111"]);
    assert_eq!(codes(&world, "use std::math::sqroot;"), ["E0112"]);
    assert_eq!(codes(&world, "use std::math::powers;"), ["E0113"]);
    assert_eq!(codes(&world, "let x = std::array::shapes::axis_of(1, 2);"), ["E0113"]);
    assert_eq!(codes(&world, "let x = std::intrinsics::erf(1.0);"), ["E0111"]);
    assert_eq!(codes(&world, "use python::numpy;"), [""; 0]);
    assert_eq!(codes(&world, "use python;"), ["E0111"]);
    assert_eq!(codes(&world, "use python::numpy::*;"), ["E0111"]);
    let (_, said) = compile(&world, "use std::math::sqroot;");
    assert!(said.contains("`std::math` has no item `sqroot`"), "{said}");
    assert!(said.contains("did you mean"), "{said}");
}

#[test]
fn files_have_no_place_in_indexed_definitions() {
    let world = MemoryWorld::new();
    let saving = "use std::io::save_npy;\nlet y[i in 0..3] = { save_npy(\"y.npy\", [i]); i };";
    assert_eq!(codes(&world, saving), ["E0410"]);
    let reading = "use std::io::read_text;\nlet n = sum[i in 0..3](len(read_text(\"a\")));";
    assert_eq!(codes(&world, reading), ["E0410"]);
    assert!(compile(&world, saving).1.contains("`save_npy` cannot be used"));
}

#[test]
fn what_is_loaded_needs_a_type() {
    let world = MemoryWorld::new();
    assert_eq!(codes(&world, "use std::io::load_npy;\nlet x = load_npy(\"x.npy\");"), ["E0402"]);
    let typed = "use std::io::load_npy;
        let x = load_npy(\"x.npy\") as [f32; N, 3];
        let y: [i32; 2] = load_npy(\"y.npy\");
        let s = sum[i, j](x[i, j]) + N as f32;";
    assert_eq!(compile(&world, typed).1, "");
}

#[test]
fn mistakes_are_reported_at_the_call_and_not_inside_the_library() {
    let text = "use std::math::lerp;\nlet x = lerp(1.0, true, 0.5);";
    let (compilation, said) = compile(&MemoryWorld::new(), text);
    let primary: Vec<u32> = compilation.diagnostics.iter().map(|d| d.primary.span.start).collect();
    assert_eq!(primary, [29], "{said}");
    assert!(said.contains("`lerp` does not work for these arguments"), "{said}");
}

/// The names that an area offers, with the file that holds each.
fn offered(area: &str) -> Vec<(String, String)> {
    let list = text(&format!("{area}/mod.ein"));
    let mut found = Vec::new();
    for item in list.split("pub use ").skip(1) {
        let item = item.split(';').next().unwrap_or("");
        let (topic, names) = item.split_once("::").unwrap_or((item, ""));
        for name in names.trim_matches(|c| "{}".contains(c)).split(',') {
            let name = name.trim().trim_matches(|c| "{}".contains(c)).trim();
            if !name.is_empty() {
                found.push((name.to_string(), format!("{area}/{topic}.ein")));
            }
        }
    }
    found
}

fn text(path: &str) -> String {
    Std.text(path).unwrap_or_else(|| panic!("there is no `{path}`")).to_string()
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/std")
}

#[test]
fn the_programs_check_and_use_everything() {
    for area in AREAS {
        let path = programs().join(format!("{area}.ein"));
        let program = std::fs::read_to_string(&path).expect("there is a program for each area");
        let (_, said) = compile(&MemoryWorld::new(), &program);
        assert_eq!(said, "", "{}", path.display());
        let words: Vec<&str> = program.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        for (name, _) in offered(area) {
            assert!(words.contains(&name.as_str()), "`{name}` is not used in {}", path.display());
        }
    }
}
