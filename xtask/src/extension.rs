//! The Python package as it is in the checkout: its extension module and its sources in one folder.

use crate::binary::CHECKS;
use crate::llvm;
use crate::process;
use crate::project::Project;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

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
