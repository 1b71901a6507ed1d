//! The example of every doc comment of the standard library and every program of `tests/std` runs.
//!
//! The programs in `NOT_YET` are right and the compiler is not: once one works it leaves the list.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Programs that go wrong today, with what is in the way. Examples are named after the item they
/// document.
const NOT_YET: &[(&str, &str)] = &[
    ("std/numerics/descent.ein gradient_descent", "derivatives"),
    ("std/numerics/descent.ein newton", "derivatives"),
    ("std/numerics/fitting.ein least_squares", "derivatives"),
    ("std/numerics/fitting.ein levenberg_marquardt", "derivatives"),
    ("std/numerics/memory.ein lbfgs", "derivatives"),
    ("std/testing/derivatives.ein check_deriv", "derivatives"),
    ("tests/std/io.ein", "several sizes that a loader binds"),
    ("tests/std/linalg.ein", "derivatives"),
    ("tests/std/math.ein", "derivatives"),
    ("tests/std/ml.ein", "derivatives"),
    ("tests/std/numerics.ein", "derivatives"),
    ("tests/std/testing.ein", "derivatives, and a tensor of strings read at a rest"),
    ("tests/std/text.ein", "`upper`"),
];

/// A program to run, with a name for messages.
struct Program {
    name: String,
    text: String,
}

impl Program {
    /// What is wrong with the program, if anything is. It runs in a folder of its own.
    fn judge(&self, folder: &Path) -> Result<(), String> {
        let known = NOT_YET.iter().find(|(name, _)| *name == self.name);
        match (self.run(folder), known) {
            (Err(_), Some(_)) => Ok(()),
            (Ok(()), Some((_, why))) => Err(format!("works now ({why}); take it off `NOT_YET`")),
            (verdict, None) => verdict,
        }
    }

    fn run(&self, folder: &Path) -> Result<(), String> {
        fs::create_dir_all(folder).expect("a folder for tests");
        fs::write(folder.join("main.ein"), &self.text).expect("a file for tests");
        let output = Command::new(env!("CARGO_BIN_EXE_einlang"))
            .args(["run", "main.ein"])
            .current_dir(folder)
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .expect("the binary starts");
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The examples of a file of the library, named after the item that follows their comment.
fn examples(root: &Path, path: &Path) -> Vec<Program> {
    let below = path.strip_prefix(root).expect("a file below the root");
    let file: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    let text = fs::read_to_string(path).expect("a text file");
    let (mut found, mut open, mut inside): (Vec<Program>, Option<String>, bool) =
        Default::default();
    for line in text.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("///") else {
            if let Some(text) = open.take() {
                found.push(Program { name: format!("{} {}", file.join("/"), item(line)), text });
            }
            continue;
        };
        let comment = comment.strip_prefix(' ').unwrap_or(comment);
        if comment.starts_with("```") {
            inside = comment == "```ein";
            if inside {
                open = Some(String::new());
            }
        } else if let (true, Some(text)) = (inside, open.as_mut()) {
            text.push_str(comment);
            text.push('\n');
        }
    }
    found
}

/// The name that a line defines: `pub fn name(…`, `pub const NAME = …`, `pub use path::name;`.
fn item(line: &str) -> &str {
    let last = if let Some(path) = line.strip_prefix("pub use ") {
        path.rsplit("::").next()
    } else {
        line.split_whitespace().find(|word| !matches!(*word, "pub" | "fn" | "const" | "struct"))
    };
    let name = last.unwrap_or(line);
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(name)
}

/// The `.ein` files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ein") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn check(folder: &str, programs: &[Program]) {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(program) = programs.get(n) else {
                return wrong;
            };
            if let Err(message) = program.judge(&scratch.join(n.to_string())) {
                wrong.push(format!("{}: {message}", program.name));
            }
        }
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
}

#[test]
fn every_doc_example_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all: Vec<Program> =
        files(&root.join("std")).iter().flat_map(|path| examples(&root, path)).collect();
    assert!(all.len() >= 290, "only {} examples", all.len());
    check("doc_examples", &all);
}

#[test]
fn every_program_of_the_library_tests_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: PathBuf| Program {
        name: format!("tests/std/{}", path.file_name().expect("a name").to_string_lossy()),
        text: fs::read_to_string(&path).expect("a text file"),
    };
    let all: Vec<Program> = files(&root.join("tests/std")).into_iter().map(read).collect();
    assert!(all.len() >= 10, "only {} programs", all.len());
    check("library_tests", &all);
}
