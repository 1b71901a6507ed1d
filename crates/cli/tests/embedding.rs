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

/// Builds the library of the model in a folder.
fn build(folder: &Path, library: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
    done(
        command
            .current_dir(programs())
            .args(["build", "model.ein", "-o"])
            .arg(folder.join(library)),
    );
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
two of three weights: 1, assertion failed: there are 3 weights, not 2
share by 0: 1, model.ein:35:19: integer division by zero
another type: 1, argument `b` must be a tensor of f32 with rank 1, but is one of f64 with rank 1
another length: 1, model.ein:5:8: axis 0 of `b` has another extent than its type says
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
        build(folder.path(), library);
        let mut cc = Command::new("cc");
        cc.args(["-Wall", "-Werror", "-I."])
            .arg(programs().join("main.c"))
            .current_dir(folder.path());
        done(cc.args([&format!("./{library}"), "-lm", "-o", "main"]));
        let mut main = Command::new(folder.path().join("main"));
        assert_eq!(done(main.current_dir(folder.path())), FROM_C, "{library}");
    }
}

#[test]
fn rust_calls_it_on_several_threads() {
    if !cfg!(feature = "native") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path(), "libmodel.so");
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let mut rustc = Command::new(rustc);
    rustc.args(["--edition", "2024", "-L", ".", "-l", "model", "-o", "main"]);
    done(rustc.arg(programs().join("main.rs")).current_dir(folder.path()));
    let mut main = Command::new(folder.path().join("main"));
    let said = done(main.env("LD_LIBRARY_PATH", folder.path()));
    assert_eq!(said, "Ok([0.5, 1.25, 2.125])\nOk(0)\nthreads agree: true\n");
}
