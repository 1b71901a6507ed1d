//! Every program of `tests/std` runs, and the library reference is up to date. The examples of doc
//! comments are part of the reference, whose programs `book.rs` runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use einlang_testkit::pages::{files_below, read};
use einlang_testkit::parallel::judge_all;
use einlang_testkit::repository::root;

/// Everything that evaluates programs. Without LLVM, `native` is `bytecode`.
const BACKENDS: [&str; 3] = ["interp", "bytecode", "native"];

/// A program to run, with a name for messages.
struct Program {
    name: String,
    text: String,
}

impl Program {
    /// What is wrong with the program, if anything is. It runs in a folder of its own.
    fn judge(&self, folder: &Path, backend: &str) -> Result<(), String> {
        fs::create_dir_all(folder).expect("a folder for tests");
        fs::write(folder.join("main.ein"), &self.text).expect("a file for tests");
        let output = Command::new(env!("CARGO_BIN_EXE_einlang"))
            .args(["run", "main.ein", "--explain", "--backend", backend])
            .current_dir(folder)
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .expect("the binary starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Numeric code of the library runs as loops, and as machine code wherever there is any.
        let as_loops = backend == "interp" || !said.contains("point by point");
        let fell_back = !as_loops || (backend == "native" && said.contains("no machine code"));
        if output.status.success() && !fell_back { Ok(()) } else { Err(said) }
    }
}

#[test]
fn every_program_of_the_library_tests_runs() {
    let read = |path: PathBuf| Program {
        name: format!("tests/std/{}", path.file_name().expect("a name").to_string_lossy()),
        text: read(&path),
    };
    let programs = files_below(&root().join("tests/std"), "ein");
    let all: Vec<Program> = programs.into_iter().map(read).collect();
    assert!(all.len() >= 10, "only {} programs", all.len());
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library_tests");
    let each = |program| BACKENDS.iter().map(move |backend| (program, *backend));
    let runs: Vec<(&Program, &str)> = all.iter().flat_map(each).collect();
    let name = |(program, backend): &(&Program, &str)| format!("{} as {backend}", program.name);
    judge_all(&runs, name, |n, (program, backend)| {
        program.judge(&scratch.join(n.to_string()), backend)
    });
}

/// The library reference of the book is what `einlang doc` makes of `std`. With `EINLANG_BLESS=1`
/// it is made again.
#[test]
fn the_reference_is_up_to_date() {
    let pages = Path::new("docs/book/src/library");
    let bless = std::env::var_os("EINLANG_BLESS").is_some_and(|value| value == "1");
    if bless {
        let old = files_below(&root().join(pages), "md");
        old.iter().for_each(|page| fs::remove_file(page).expect("a page can be removed"));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_einlang"));
    command.args(["doc", "std", "--output"]).arg(pages).args((!bless).then_some("--check"));
    let output = command.current_dir(root()).env_clear().output().expect("the binary starts");
    let hint = "write the new pages with `cargo xtask bless reference`";
    assert!(output.status.success(), "{hint}\n{}", String::from_utf8_lossy(&output.stdout));
    let summary = String::from_utf8_lossy(&output.stderr).into_owned();
    let n_pages = files_below(&root().join(pages), "md").len();
    assert!(bless || summary.contains(&format!("{n_pages} unchanged")), "stray pages: {summary}");
}
