//! `einlang build`: what is refused. `tests/embedding.rs` calls what is built.

use std::io::Write;
use std::process::Stdio;

use crate::support::Sandbox;

/// The message for a file that cannot be a library.
#[track_caller]
fn refused(text: &str, code: i32) -> String {
    let sandbox = Sandbox::with("f.ein", text);
    sandbox.einlang(&["build", "f.ein"]).ends_with(code).stderr
}

#[test]
fn the_library_has_a_known_kind() {
    let sandbox = Sandbox::with("f.ein", "pub fn f(x: f32) -> f32 { x }\n");
    sandbox.transcript("build-unknown-kind", &["build", "f.ein", "-o", "f.dll"]).ends_with(2);
}

#[test]
fn a_program_without_a_file_needs_a_name_for_its_library() {
    let text = "pub fn f(x: f32) -> f32 { 2.0 * x }\n";
    let sandbox = Sandbox::new();
    sandbox.transcript_of("build-stdin-without-name", &["build", "-"], text).ends_with(2);
    sandbox.transcript("build-source-without-name", &["build", "-c", text.trim()]).ends_with(2);
    sandbox.transcript("build-without-program", &["build"]).ends_with(2);
}

#[test]
fn a_program_comes_from_standard_input_or_the_command_line() {
    if !cfg!(feature = "native") {
        return;
    }
    let text = "pub fn f(x: f32) -> f32 { 2.0 * x }\n";
    let sandbox = Sandbox::new();
    let path = std::env::var("PATH").expect("a path");
    let built = |args: &[&str]| {
        let mut command = sandbox.command(args);
        let mut child =
            command.env("PATH", &path).stdin(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
        assert!(child.wait().expect("it ends").success());
    };
    built(&["build", "-", "-o", "libm.so"]);
    assert!(sandbox.read("m.h").contains("int32_t m_f(float x, float *out,"));
    let mut command = sandbox.command(&["build", "-c", text, "-o", "libn.a"]);
    assert!(command.env("PATH", &path).status().expect("it starts").success());
    assert!(sandbox.read("n.h").contains("int32_t n_f(float x, float *out,"));
    assert!(sandbox.path("libm.so").exists() && sandbox.path("libn.a").exists());
}

#[test]
fn without_llvm_there_is_no_library() {
    if !cfg!(feature = "native") {
        let said = refused("pub fn f(x: f32) -> f32 { x }\n", 2);
        assert!(said.contains("this build of einlang has no machine code"), "{said}");
    }
}

#[test]
fn what_c_cannot_do_is_an_error_at_the_function() {
    if !cfg!(feature = "native") {
        return;
    }
    let cases = [
        ("build-untyped", "pub fn f(x) { x }\n"),
        ("build-any-rank", "pub fn f(x: [f32; *]) -> i32 { len(shape(x)) }\n"),
        ("build-prints", "pub fn f(x: f32) -> f32 { print(x); x }\n"),
        (
            "build-two",
            "pub fn f(x: f32) -> f32 { print(x); x }\npub fn release(x: f32) -> f32 { x }\n",
        ),
        (
            "build-recursion",
            "pub fn f(n: i32) -> (i32, i32) { if n < 2 { (n, 1) } else { f(n - 1) } }\n",
        ),
        (
            "build-endless",
            "enum T { L, N(T) }\npub fn f(b: bool) -> i32 {\n    let t = if b { T::L } else { T::N(T::L) };\n    \
             match t { T::L => 0, _ => 1 }\n}\n",
        ),
        ("build-text", "pub fn f(x: str) -> str { x }\n"),
        ("build-private", "fn f(x: f32) -> f32 { x }\n"),
        ("build-main", "pub fn f(x: f32) -> f32 { x }\nfn main() { f(1.0) }\n"),
        ("build-input", "input n: i32;\npub fn f(x: f32) -> f32 { x }\n"),
        ("build-mistake", "pub fn f(x: f32) -> f32 { y }\n"),
    ];
    for (name, text) in cases {
        let sandbox = Sandbox::with("f.ein", text);
        sandbox.transcript(name, &["build", "f.ein"]).ends_with(1);
    }
}
