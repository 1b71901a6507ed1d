//! The Python package as it is in the checkout: its extension module and its sources in one folder.

use crate::binary::{CHECKS, RELEASE};
use crate::process;
use crate::project::Project;
use crate::{TaskResult, environment, llvm};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate of the extension module.
const CRATE: &str = "einlang-python";

/// Builds the extension module in the profile of the checks and puts the package together. The answer is the
/// folder for `PYTHONPATH`.
pub(crate) fn stage(project: &Project) -> Result<PathBuf, String> {
    let mut cargo = project.cargo();
    cargo.args(["build", "--profile", CHECKS, "--quiet", "--package", CRATE]);
    if let Some(prefix) = llvm::prefix() {
        cargo.env(llvm::VARIABLE, prefix).args(["--features", "einlang-python/native"]);
    }
    let output = process::capture(&mut cargo)?;
    if !output.status.success() {
        // The compiler's own report is the best explanation there is.
        let _ = io::stderr().write_all(&output.stderr);
        return Err("the extension module does not build".to_owned());
    }
    let folder = project.target_dir().join("python");
    let package = folder.join("einlang");
    let failed = |error: io::Error| format!("cannot write {}: {error}", package.display());
    let _ = fs::remove_dir_all(&package);
    fs::create_dir_all(&package).map_err(failed)?;
    for entry in fs::read_dir(project.root.join("python").join("einlang")).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, package.join(name)).map_err(failed)?;
        }
    }
    let (library, module) = names();
    let built = project.target_dir().join(CHECKS).join(library);
    fs::copy(built, package.join(module)).map_err(failed)?;
    Ok(folder)
}

/// What cargo calls the module, and what Python calls it.
fn names() -> (&'static str, &'static str) {
    match () {
        () if cfg!(windows) => ("_einlang.dll", "_einlang.pyd"),
        () if cfg!(target_os = "macos") => ("lib_einlang.dylib", "_einlang.abi3.so"),
        () => ("lib_einlang.so", "_einlang.abi3.so"),
    }
}

/// `cargo xtask dist`: the binary and the wheel, with LLVM inside, in the folder `dist`.
pub(crate) fn dist(project: &Project) -> TaskResult {
    let Some(prefix) = llvm::prefix() else {
        return Err("releases need LLVM 22".to_owned());
    };
    let folder = project.root.join("dist");
    let failed = |error: io::Error| format!("cannot write {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut cargo = project.cargo();
    cargo.args(["build", "--release", "--bin", "einlang"]);
    cargo.args(["--features", "einlang-cli/native-static"]).env(llvm::VARIABLE, prefix);
    if !process::show(&mut cargo)?.success() {
        return Err("the binary does not build".to_owned());
    }
    let binary = project.binary(RELEASE);
    let name = binary.file_name().ok_or("the binary has no name")?;
    fs::copy(&binary, folder.join(name)).map_err(failed)?;
    wheel(project, prefix, &folder)?;
    println!("the binary and the wheel are in {}", folder.display());
    Ok(0)
}

fn wheel(project: &Project, prefix: &Path, folder: &Path) -> Result<(), String> {
    let requirements = project.root.join("python").join("requirements-dist.txt");
    let python = environment::python(project, "python-dist", &requirements)?;
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--release", "--strip"]);
    maturin.args(["--features", "native-static", "--compatibility", "linux", "--out"]).arg(folder);
    maturin.current_dir(&project.root).env(llvm::VARIABLE, prefix);
    match process::show(&mut maturin)?.success() {
        true => Ok(()),
        false => Err("the wheel does not build".to_owned()),
    }
}
