//! Libraries for C, called from C and from Rust as the programs in `tests/embedding` do.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/embedding")
}

/// Runs a tool that must not fail.
#[track_caller]
fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the tool starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {stdout}{stderr}");
    stdout.into_owned()
}

/// Builds a library of a program in a folder.
fn build(folder: &Path, program: &str, library: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
    done(command.current_dir(programs()).args(["build", program, "-o"]).arg(folder.join(library)));
}

const FROM_C: &str = "\
layer 2 x 3: 1 13 5 4 14.5 14
by columns: 1 13 5 4 14.5 14
error 7, slope 1.7
error 0.63, slope 1.91
error 0.0567, slope 1.973
smooth: 0.5 1.25 2.125
count: 1 0 3 0
clamp: 1 4 7
mixed: 14
later: 1125899906842626
weighted: 1.75, sorted: 1 2 3
doubled: 48
two of three weights: 1, model.ein:55:5: E0703: assertion failed: there are 3 weights, not 2
share by 0: 1, model.ein:35:19: E0701: integer division by zero: `2 / 0`
another type: 1, argument `b` must be a tensor of f32 with rank 1, but is one of f64 with rank 1
another length: 1, model.ein:5:8: E0705: axis 0 of `b` has another extent than its type says (2 and 3)
more than memory: 1, there is not enough memory
without a message: 1
without a result: 1, result `out` is null
";

#[test]
fn c_calls_shared_and_static_libraries() {
    if !cfg!(feature = "native") {
        return;
    }
    for library in ["libmodel.so", "libmodel.a"] {
        let folder = tempfile::tempdir().expect("a folder");
        build(folder.path(), "model.ein", library);
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Werror", "-I."])
            .arg(programs().join("main.c"))
            .current_dir(folder.path());
        done(cc.args([&format!("./{library}"), "-lm", "-o", "main"]));
        let mut main = Command::new(folder.path().join("main"));
        assert_eq!(done(main.current_dir(folder.path())), FROM_C, "{library}");
    }
}

const FROM_SERVICE: &str = "\
copy: 2 3 4
names: 12 18 12 7
steps: 6 1, 3 0, collatz 112
taken: 1 3
service.ein:41:16: E0702: `x` is read at index 7 of axis 0, whose extent is 3
service.ein:45:54: E0702: `x` is read at index -1 of axis 1, whose extent is 3
service.ein:48:18: E0703: assertion failed: logarithms are of positive numbers
service.ein:53:5: E0703: assertion failed: 1.0 and 1.0, 1.00, -03
service.ein:53:5: E0703: assertion failed: 0.1 and 0.1, 0.10, -02
service.ein:53:5: E0703: assertion failed: 1e20 and 1e20, 100000000000000000000.00, -01
service.ein:53:5: E0703: assertion failed: -1e-5 and -1e-5, -0.00, 000
service.ein:53:5: E0703: assertion failed: 123456.789 and 123456.79, 123456.79, 001
service.ein:53:5: E0703: assertion failed: 1000000000000000.0 and 1000000000000000.0, 1000000000000000.00, 002
service.ein:53:5: E0703: assertion failed: inf and inf, inf, 003
service.ein:53:5: E0703: assertion failed: NaN and NaN, nan, 004
special: 0.284682870473 0.703156640645 -0.0483837764682 0.497094102464
divisors: 12 252 12 6 1 36, deep 1000
deeper: 1, E0802: calls of `deep` are nes
swing: 0.75 -0.5, chosen 5 6
area 0, area 12, area 8
links: 2 2
service.ein:103:42: E0504: `d` is read at a point that is not computed
halves: 3600
";

#[test]
fn two_libraries_in_one_program() {
    if !cfg!(feature = "native") {
        return;
    }
    for kind in ["so", "a"] {
        let folder = tempfile::tempdir().expect("a folder");
        let libraries = ["service", "model"].map(|name| {
            let library = format!("lib{name}.{kind}");
            build(folder.path(), &format!("{name}.ein"), &library);
            format!("./{library}")
        });
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Werror", "-I."])
            .arg(programs().join("service.c"))
            .current_dir(folder.path());
        done(cc.args(&libraries).args(["-lm", "-o", "main"]));
        let mut main = Command::new(folder.path().join("main"));
        assert_eq!(done(main.current_dir(folder.path())), FROM_SERVICE, "{kind}");
    }
}

#[test]
fn rust_calls_it_on_several_threads() {
    if !cfg!(feature = "native") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path(), "model.ein", "libmodel.so");
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let mut rustc = Command::new(rustc);
    rustc.args(["--edition", "2024", "-L", ".", "-l", "model", "-o", "main"]);
    done(rustc.arg(programs().join("main.rs")).current_dir(folder.path()));
    let mut main = Command::new(folder.path().join("main"));
    let said = done(main.env("LD_LIBRARY_PATH", folder.path()));
    assert_eq!(said, "Ok([0.5, 1.25, 2.125])\nOk(0)\nthreads agree: true\n");
}
