//! Code with AddressSanitizer finds accesses outside of buffers, in every way code makes them.
//!
//! A kernel is run by a copy of this program into which the runtime of the sanitizer is loaded. Kernels
//! that stay inside end well; those that go one element too far, which nothing but a wrong proof in the
//! compiler would do, are caught. Without that runtime on the computer there is nothing to test.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;

use einlang_codegen::Llvm;
use einlang_interp::native::{NativeCompiler, Wanted, run_alone};
use einlang_interp::options::{Options, Threads};
use einlang_interp::tensor::TensorValue;
use einlang_loops::ir::parse_kernel;

/// The variable that tells the copy what to run.
const KERNEL: &str = "EINLANG_TEST_KERNEL";

const N: usize = 64;

/// A kernel that copies an input of `N` elements, with these statements as its body.
fn kernel(buffers: &str, body: &str) -> String {
    format!(
        "kernel part {{
  symbols x.0;
  indices i, t;
  size x.0 = shape 0 0;
  buffer 0 input x: f32[full (`x.0`)];
  buffer 1 y: f32[full (`x.0`)];
{buffers}  output 1;
  body {{
    alloc 1;
{body}  }}
}}
"
    )
}

/// Kernels by name; those that end in `far` leave a buffer.
fn kernels() -> Vec<(&'static str, String)> {
    let copy = |role: &str, from: &str, to: &str| {
        let body = format!(
            "    loop i in (0, `x.0`) {role} {{
      %0: f32 = load 0[({from})] proved;
      %1: f32 = mul %0, 2.0f32;
      store 1[({to})] = %1;
    }}
"
        );
        kernel("", &body)
    };
    let stack = |at: &str| {
        let body = format!(
            "    alloc 2;
    loop t in (0, 20) seq {{
      store 2[({at})] = 1.0f32;
    }}
    loop i in (0, `x.0`) seq {{
      %0: f32 = load 2[(i mod 20)] proved;
      store 1[(i)] = %0;
    }}
"
        );
        kernel("  buffer 2 s: f32[full (20)] stack;\n", &body)
    };
    vec![
        ("load", copy("seq", "i", "i")),
        ("load far", copy("seq", "i + 1", "i")),
        ("load before far", copy("seq", "i - 1", "i")),
        ("store far", copy("par", "i", "i + 1")),
        ("lanes", copy("lane 16", "i", "i")),
        ("lanes load far", copy("lane 16", "i + 1", "i")),
        ("lanes store far", copy("lane 16", "i", "i + 1")),
        ("stack", stack("t")),
        ("stack far", stack("t + 1")),
    ]
}

/// What the copy does.
#[test]
fn run_one_kernel() {
    let Ok(name) = std::env::var(KERNEL) else { return };
    let text = kernels().into_iter().find(|(other, _)| *other == name).expect("a kernel").1;
    let kernel = parse_kernel(&text).expect("it parses");
    let llvm = Llvm::default().sanitised();
    let code = llvm.compile(&kernel, Wanted::default()).expect("it compiles");
    let x = TensorValue::f32s([N], (0..N).map(|i| i as f32).collect::<Vec<_>>()).expect("a tensor");
    let options =
        Options { threads: Threads { most: 2, least_work: Some(0) }, ..Options::default() };
    run_alone(&kernel, &*code, &[Arc::new(x)], &[], &options).expect("it runs");
}

/// The runtime of the sanitizer, where the C compiler has one.
fn runtime() -> Option<PathBuf> {
    let output = Command::new("cc").arg("-print-file-name=libasan.so").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_absolute().then_some(path).filter(|path| path.exists())
}

fn run(runtime: &PathBuf, name: &str) -> Output {
    let this = std::env::current_exe().expect("this program");
    let mut command = Command::new(this);
    command.args(["--exact", "run_one_kernel", "--nocapture"]).env(KERNEL, name);
    command.env("LD_PRELOAD", runtime).env("ASAN_OPTIONS", "detect_leaks=0");
    command.output().expect("it starts")
}

#[test]
fn accesses_outside_are_caught() {
    let Some(runtime) = runtime() else { return println!("there is no libasan here") };
    for (name, _) in kernels() {
        let output = run(&runtime, name);
        let told = String::from_utf8_lossy(&output.stderr);
        let caught = told.contains("ERROR: AddressSanitizer") && !output.status.success();
        assert_eq!(caught, name.ends_with("far"), "{name}: {}\n{told}", output.status);
        assert!(caught || output.status.success(), "{name}: {}\n{told}", output.status);
    }
}
