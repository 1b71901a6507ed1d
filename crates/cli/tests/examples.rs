//! Every program in `examples/` prints what its `//! stdout:` lines say, without a warning.
//!

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use einlang_testkit::pages::files_below;
use einlang_testkit::parallel::judge_all;

/// Everything that evaluates programs. Without LLVM, `native` is `bytecode`.
const BACKENDS: [&str; 3] = ["interp", "bytecode", "native"];

/// A program and what its last lines say about it.
struct Example {
    /// Its path from `examples/`, with `/` between folders.
    name: String,
    stdout: String,
}

impl Example {
    fn read(root: &Path, path: &Path) -> Example {
        let text = fs::read_to_string(path).expect("a text file");
        let below = path.strip_prefix(root).expect("a file below the root");
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        let lines = text.lines().filter_map(|line| line.strip_prefix("//! stdout:"));
        let stdout = lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)));
        Example { name: parts.join("/"), stdout: stdout.collect() }
    }

    /// What is wrong with the program, if anything is.
    fn verdict(&self) -> Result<(), String> {
        if self.stdout.is_empty() {
            return Err("has no `//! stdout:` line".to_owned());
        }
        for backend in BACKENDS {
            let output = einlang(&["run", &self.name, "--backend", backend]);
            expect(&output, &self.stdout).map_err(|why| format!("as {backend}: {why}"))?;
        }
        Ok(())
    }
}

/// Fails unless the call went well, said nothing but this, and had nothing to warn of.
fn expect(output: &Output, said: &str) -> Result<(), String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let answer = format!("{stdout}{stderr}");
    if output.status.success() && answer == said {
        return Ok(());
    }
    Err(format!("{}\n--- expected\n{said}--- got\n{answer}", output.status))
}

fn einlang(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_einlang"))
        .args(args)
        .current_dir(examples())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// All examples, in the order of their names.
fn all() -> Vec<Example> {
    let root = examples();
    files_below(&root, "ein").iter().map(|path| Example::read(&root, path)).collect()
}

#[test]
fn every_example_prints_what_it_says() {
    let examples = all();
    assert!(examples.len() >= 48, "only {} examples", examples.len());
    judge_all(&examples, |example| example.name.clone(), |_, example| example.verdict());
}

#[test]
fn lists_name_examples_that_exist() {
    let names: Vec<String> = all().into_iter().map(|example| example.name).collect();
    let index = fs::read_to_string(examples().join("README.md")).expect("an index");
    for name in &names {
        assert!(index.contains(&format!("]({name})")), "the index does not name `{name}`");
    }
}

/// A new user's first command works: the program that the README runs is one that runs today.
#[test]
fn the_program_of_the_readme_runs() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(project.join("README.md")).expect("the README can be read");
    let command = readme.lines().find_map(|line| line.strip_prefix("$ cargo xtask run "));
    let file = command.and_then(|rest| rest.split_whitespace().next()).expect("it runs a program");
    let output = Command::new(env!("CARGO_BIN_EXE_einlang"))
        .current_dir(&project)
        .args(["run", file])
        .output()
        .expect("the binary can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty(), "{file} prints nothing");
}
