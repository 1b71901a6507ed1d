//! `cargo xtask dist`: the binary and the wheel of a release, with LLVM inside, in the folder `dist`.
//!
//! Both are tested as they are: which shared libraries they need, and whether they make machine code when the
//! environment says nothing about LLVM. The wheel is installed into an environment of its own for that. With
//! `--profile dev` all of this is tried with a build that takes less time, but for the cost of calls.

use crate::binary::RELEASE;
use crate::process;
use crate::project::Project;
use crate::{TaskResult, elf, environment, llvm};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a machine has: the C and C++ libraries, and those of two formats of compressed data.
const USUAL: &[&str] =
    &["libc", "libm", "libgcc_s", "libstdc++", "libdl", "librt", "libpthread", "libz", "libzstd"];

/// A program that needs machine code, and what it prints.
const PROGRAM: &str = "let x[i in 0..1000] = i; print(sum[i](x[i] * 2));";
const PRINTED: &str = "999000";

/// What the wheel must do.
const SESSION: &str = "
import einlang, numpy as np
assert einlang.has_native
m = einlang.loads('pub fn f(x: [f64; N]) -> f64 { sum[i](x[i] ** 2) }')
assert m.f(np.arange(4.0)) == 14.0
assert einlang.grad(m.f)(np.ones(2)).tolist() == [2.0, 2.0]
import einlang._einlang
print(einlang._einlang.__file__)
";

/// Builds both.
pub(crate) fn dist(project: &Project, args: &[String]) -> TaskResult {
    let profile = match args {
        [] => RELEASE,
        [flag, profile] if flag == "--profile" => profile.as_str(),
        _ => return Err("`dist` takes nothing but `--profile NAME`".to_owned()),
    };
    let Some(prefix) = llvm::prefix() else {
        return Err("releases need LLVM 22".to_owned());
    };
    let folder = project.root.join("dist");
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let binary = binary(project, profile, prefix, &folder)?;
    test_binary(project, &binary, profile)?;
    let wheel = wheel(project, profile, prefix, &folder)?;
    let (module, python) = test_wheel(project, &wheel, profile)?;
    if profile == RELEASE {
        test_calls(project, &python)?;
    }
    println!();
    for (what, path) in [("binary", &binary), ("wheel", &wheel), ("module of the wheel", &module)] {
        println!("{what}: {} ({:.1} MB)", path.display(), megabytes(path));
    }
    Ok(0)
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

fn megabytes(path: &Path) -> f64 {
    fs::metadata(path).map_or(0.0, |data| data.len() as f64 / 1e6)
}

fn binary(
    project: &Project,
    profile: &str,
    prefix: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    let mut cargo = project.cargo();
    cargo.args(["build", "--profile", profile, "--package", "einlang-cli", "--bin", "einlang"]);
    cargo.args(["--features", "einlang-cli/native-static"]).env(llvm::VARIABLE, prefix);
    if !process::show(&mut cargo)?.success() {
        return Err("the binary does not build".to_owned());
    }
    // The folder of the profile `dev` has another name for historical reasons.
    let built = project.binary(if profile == "dev" { "debug" } else { profile });
    let name = built.file_name().ok_or("the binary has no name")?;
    let copy = folder.join(name);
    fs::copy(&built, &copy).map_err(|error| failed(&copy, &error))?;
    // Names of functions are a sixth of the size; without the tool they stay.
    process::succeeds(Command::new("strip").arg(&copy));
    Ok(copy)
}

fn wheel(
    project: &Project,
    profile: &str,
    prefix: &Path,
    folder: &Path,
) -> Result<PathBuf, String> {
    let requirements = project.root.join("python").join("requirements-dist.txt");
    let python = environment::python(project, "python-dist", &requirements)?;
    // The folder is emptied of older wheels, so that the one that is there afterwards is the new one.
    for old in wheels(folder) {
        fs::remove_file(&old).map_err(|error| failed(&old, &error))?;
    }
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--profile", profile, "--strip"]);
    maturin.args(["--features", "native-static", "--compatibility", "linux", "--out"]).arg(folder);
    maturin.current_dir(&project.root).env(llvm::VARIABLE, prefix);
    if !process::show(&mut maturin)?.success() {
        return Err("the wheel does not build".to_owned());
    }
    let is_stable = |path: &PathBuf| path.to_string_lossy().contains("-abi3-");
    let found = wheels(folder).into_iter().find(is_stable);
    found.ok_or_else(|| "there is no wheel for the stable interface of Python".to_owned())
}

fn wheels(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "whl")).collect()
}

/// The binary makes machine code where nothing leads to LLVM.
fn test_binary(project: &Project, binary: &Path, profile: &str) -> Result<(), String> {
    check_needed(binary, profile)?;
    let cache = project.target_dir().join("dist-cache");
    // Machine code of earlier builds would hide that none can be made.
    let _ = fs::remove_dir_all(&cache);
    let mut run = Command::new(binary);
    run.args(["run", "--backend", "native", "-c", PROGRAM]).env_clear();
    run.env("XDG_CACHE_HOME", &cache);
    let output = process::capture(&mut run)?;
    match output.status.success() && output.stdout.trim_ascii() == PRINTED.as_bytes() {
        true => Ok(()),
        false => Err(format!(
            "the binary does not run: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// The wheel installs, makes machine code and differentiates. The answer is its module, and the Python that
/// has it.
fn test_wheel(
    project: &Project,
    wheel: &Path,
    profile: &str,
) -> Result<(PathBuf, PathBuf), String> {
    let python = environment::fresh(project, "python-dist-test")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).arg(wheel);
    if !process::show(&mut pip)?.success() {
        return Err("the wheel does not install".to_owned());
    }
    let mut session = Command::new(&python);
    session.args(["-c", SESSION]).current_dir(project.target_dir()).env_clear();
    session.env("XDG_CACHE_HOME", project.target_dir().join("dist-cache"));
    let output = process::capture(&mut session)?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the wheel does not work:\n{told}"));
    }
    let module = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    check_needed(&module, profile)?;
    Ok((module, python))
}

/// Calls of functions of the wheel cost as little as they should.
fn test_calls(project: &Project, python: &Path) -> Result<(), String> {
    let mut overhead = Command::new(python);
    overhead.arg(project.root.join("bench").join("call_overhead.py"));
    overhead.current_dir(project.target_dir());
    match process::show(&mut overhead)?.success() {
        true => Ok(()),
        false => Err("calls of functions of the wheel cost too much".to_owned()),
    }
}

/// A file needs nothing but usual libraries. Files of other systems are not looked into. Builds that are no
/// release also hold parts of LLVM that nobody calls, and what those need.
fn check_needed(path: &Path, profile: &str) -> Result<(), String> {
    let bytes =
        fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let Some(needed) = elf::needed(&bytes) else { return Ok(()) };
    println!("{} needs {}", path.display(), needed.join(", "));
    let mut unusual = unusual(&needed);
    if profile != RELEASE {
        unusual.retain(|name| name.starts_with("libLLVM"));
    }
    match unusual {
        unusual if unusual.is_empty() => Ok(()),
        unusual => Err(format!(
            "{} needs {}, which other machines do not have",
            path.display(),
            unusual.join(", ")
        )),
    }
}

/// The libraries among these that a machine may lack.
fn unusual(needed: &[String]) -> Vec<&str> {
    let stem = |name: &str| name.split(".so").next().unwrap_or(name).to_owned();
    let is_usual =
        |name: &str| name.starts_with("ld-linux") || USUAL.contains(&stem(name).as_str());
    needed.iter().map(String::as_str).filter(|name| !is_usual(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::unusual;

    #[test]
    fn llvm_is_an_unusual_library() {
        let needed = [
            "libc.so.6",
            "libLLVM.so.22.1",
            "libstdc++.so.6",
            "ld-linux-x86-64.so.2",
            "libz3.so.4",
        ];
        assert_eq!(unusual(&needed.map(str::to_owned)), ["libLLVM.so.22.1", "libz3.so.4"]);
    }
}
