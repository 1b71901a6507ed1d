//! Project tasks: `cargo xtask run|test|tidy|bless|bench|asan|dist`.
//!
//! Each task is one module named after its command. The crate uses the standard library only, so
//! that the first `cargo xtask …` on a fresh machine compiles in a moment, and it depends on no
//! other crate of the workspace, so that it still runs when one of them does not compile.

mod asan;
mod bench;
mod binary;
mod bless;
mod conformance;
mod dist;
mod elf;
mod environment;
mod extension;
mod json;
mod latency;
mod llvm;
mod manifest;
mod memory;
mod probes;
mod process;
mod project;
mod run;
mod table;
mod test;
mod tidy;

use project::Project;
use std::process::ExitCode;

/// What a task gives back: the exit code to end with, or a sentence about why it could not work.
type TaskResult = Result<u8, String>;

const HELP: &str = "\
Project tasks of Einlang

usage: cargo xtask <task> [arguments]

  run FILE [args…]       build the release binary and run `einlang run FILE args…`
  test [step|filter…]    every check that CI makes, or only the named steps and tests
  tidy [--verbose]       layering, file budgets, error pages, text hygiene, manifests, links
  bless [filter…]        rewrite the expectations of fixture tests and list what changed
  bench [name…]          benchmarks, start-up time (`startup`) and the time to machine code (`latency`)
  bench memory           the tensor storage of long recurrences
  bench table [option…]  the benchmark beside the project; writes docs/performance.md and its picture
  bench peaks|scaling    what a call of each workload takes of memory; twice the work, a second thread
  bench first            how long the first call of each workload takes
  bench probes           kernels with hand-written schedules against hand-written C
  dist [--profile dev]   the release binary and the Python wheel, with LLVM inside, in `dist`
  llvm                   find LLVM 22, or install it, and print where it is
  asan [N]               generated programs, N random schedules and conformance with AddressSanitizer
  help                   this text

steps of `test`, in order:
  fmt clippy tidy tests docs conformance-check conformance std python

examples:
  cargo xtask run examples/tour.ein
  cargo xtask run model.ein --input lr=0.2 --json
  cargo xtask test                    # before every commit
  cargo xtask test clippy tidy        # two steps only
  cargo xtask test parser             # only tests whose name contains `parser`
  cargo xtask tidy --verbose          # also lists files and functions worth splitting
  cargo xtask bless parser            # then read the difference before committing it
  cargo xtask bench parse startup
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(args: &[String]) -> TaskResult {
    let Some((task, rest)) = args.split_first() else {
        return help();
    };
    match task.as_str() {
        "run" => run::run(&Project::locate(), rest),
        "test" => test::test(&Project::locate(), rest),
        "tidy" => tidy::tidy(&Project::locate(), rest),
        "bless" => bless::bless(&Project::locate(), rest),
        "bench" => bench::bench(&Project::locate(), rest),
        "dist" => dist::dist(&Project::locate(), rest),
        "llvm" => llvm::llvm(),
        "asan" => asan::asan(&Project::locate(), rest),
        "help" | "-h" | "--help" => help(),
        _ => Err(format!("there is no task `{task}`; `cargo xtask help` lists them")),
    }
}

fn help() -> TaskResult {
    print!("{HELP}");
    Ok(0)
}
