//! `cargo xtask bench latency`: how long programs take to start, with and without machine code of
//! earlier runs.
//!
//! Cold is a run with an empty cache, warm one that finds everything. Each figure is the smallest of
//! several runs, since a busy machine only ever adds.

use crate::process;
use crate::project::Project;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How often each program is started.
const N_RUNS: usize = 5;

/// How many kernels the large program has.
const N_KERNELS: usize = 60;

/// A folder for programs and objects that goes away again.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("einlang-latency-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Scratch(path))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Measures everything and prints one line per figure.
pub(crate) fn measure(project: &Project, binary: &Path) -> Result<(), String> {
    let scratch = Scratch::new()?;
    let tour = project.root.join("examples/tour.ein");
    let many = scratch.write("many.ein", &many_kernels())?;
    let cold = |program: &Path| smallest(|| run(binary, program, &scratch, true));
    let warm = |program: &Path| smallest(|| run(binary, program, &scratch, false));
    line("tour, cold", cold(&tour)?, 150);
    line("tour, warm", warm(&tour)?, 30);
    line(&format!("{N_KERNELS} kernels, cold"), cold(&many)?, 1000);
    line(&format!("{N_KERNELS} kernels, warm"), warm(&many)?, 1000);
    for path in workloads(&project.root.join("bench"))? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        scratch.write(&format!("{name}.ein"), &text)?;
        let caller = caller(&name, &text).ok_or(format!("{name}: there is no `pub fn run`"))?;
        let main = scratch.write("main.ein", &caller)?;
        line(&format!("{name}, first call"), cold(&main)?, 200);
    }
    Ok(())
}

fn line(what: &str, took: Duration, limit: u64) {
    let took = took.as_secs_f64() * 1e3;
    let over = if took > limit as f64 { "  OVER" } else { "" };
    println!("{what:<34} {took:8.1} ms  (at most {limit}){over}");
}

fn smallest(run: impl Fn() -> Result<Duration, String>) -> Result<Duration, String> {
    let mut times = (0..N_RUNS).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();
    Ok(times.first().copied().unwrap_or_default())
}

/// Starts the binary on a program, from its first instruction to its end.
fn run(binary: &Path, program: &Path, scratch: &Scratch, cold: bool) -> Result<Duration, String> {
    let cache = scratch.0.join("cache");
    if cold {
        let _ = fs::remove_dir_all(&cache);
    }
    let mut command = Command::new(binary);
    command.arg("run").arg(program).env("EINLANG_CACHE_DIR", cache);
    let start = Instant::now();
    let output = process::capture(&mut command)?;
    let took = start.elapsed();
    match output.status.success() {
        true => Ok(took),
        false => Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr))),
    }
}

/// The programs of a folder, by name.
fn workloads(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "ein")).collect();
    paths.sort();
    Ok(paths)
}

/// A program of as many kernels as there are prints.
fn many_kernels() -> String {
    let mut text =
        "input n: i32 = 24;\nlet a[i in 0..n, j in 0..n] = (i * j % 7) as f32;\n".to_owned();
    for number in 0..N_KERNELS {
        let name = format!("v{number}");
        text += &match number % 5 {
            0 => format!(
                "let {name}[i, j] = sum[k](a[i, k] * a[k, j]) + {number}.0;\nprint({name}[0, 1]);\n"
            ),
            1 => format!(
                "let {name}[i] = sum[j](exp(a[i, j] * 0.01) * {number}.0);\nprint({name}[1]);\n"
            ),
            2 => format!(
                "let {name}[i] = sum[k in 0..=i](a[k, 1] - {number}.0);\nprint({name}[2]);\n"
            ),
            3 => format!(
                "let {name}[0] = {number}.0;\nlet {name}[t in 1..n] = {name}[t - 1] * 0.5 + a[t, 0];\nprint({name}[3]);\n"
            ),
            _ => format!(
                "let {name}[i, j] = max(a[i, j], {number}.0) where i <= j else 0.0;\nprint({name}[0, 0]);\n"
            ),
        };
    }
    text
}

/// A program that calls the function `run` of a workload on small tensors.
fn caller(module: &str, text: &str) -> Option<String> {
    let head = text.split_once("pub fn run(")?.1;
    let mut program = format!("mod {module};\ninput n: i32 = 4;\n");
    let mut names = Vec::new();
    for param in params(head) {
        let (name, ty) = param.split_once(':')?;
        let (name, ty) = (name.trim(), ty.trim());
        program += &match ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
            Some(tensor) => tensor_of(name, tensor)?,
            None => format!("let p_{name} = {};\n", scalar_of(ty)),
        };
        names.push(format!("p_{name}"));
    }
    Some(program + &format!("let out = {module}::run({});\n", names.join(", ")))
}

/// The parameters in the text after an opening bracket.
fn params(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
                if character == ')' {
                    break;
                }
            }
            _ => {}
        }
    }
    found.retain(|param| !param.is_empty());
    found
}

/// A tensor of the type `elem; dimensions`, whose sizes are all `n`.
fn tensor_of(name: &str, ty: &str) -> Option<String> {
    let (elem, dims) = ty.split_once(';').unwrap_or((ty, "N"));
    let indices: Vec<String> = dims
        .split(',')
        .enumerate()
        .map(|(at, dim)| {
            let words = dim.trim().split(' ').map(|word| {
                match word.starts_with(|c: char| c.is_alphabetic()) {
                    true => "n",
                    false => word,
                }
            });
            format!("i{at} in 0..({})", words.collect::<Vec<_>>().join(" "))
        })
        .collect();
    Some(format!("let p_{name}[{}] = {};\n", indices.join(", "), scalar_of(elem.trim())))
}

fn scalar_of(ty: &str) -> String {
    match ty {
        "bool" => "true".to_owned(),
        "f32" | "f64" => format!("0.5{ty}"),
        _ => format!("2{ty}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_fit_their_workloads() {
        let text = "/// X.\npub fn run(a: [f32; N, 4 * H], k: i32, m: [bool; N]) -> f32 { 0.0 }\n";
        let wanted = "mod w;\ninput n: i32 = 4;\n\
                      let p_a[i0 in 0..(n), i1 in 0..(4 * n)] = 0.5f32;\n\
                      let p_k = 2i32;\nlet p_m[i0 in 0..(n)] = true;\n\
                      let out = w::run(p_a, p_k, p_m);\n";
        assert_eq!(caller("w", text).as_deref(), Some(wanted));
        assert_eq!(caller("w", "fn run() {}"), None);
    }

    #[test]
    fn there_are_as_many_kernels_as_it_says() {
        assert_eq!(many_kernels().matches("print(").count(), N_KERNELS);
    }
}
