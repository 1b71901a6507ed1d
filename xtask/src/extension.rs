//! The Python package as it is in the checkout: its extension module and its sources in one folder.

use crate::binary::build_with_extension;
use crate::project::Project;
use std::fs;
use std::io;
use std::path::PathBuf;

/// Builds the extension module in a profile and puts the package together. The answer is the folder for `PYTHONPATH`.
pub(crate) fn stage(project: &Project, profile: &str) -> Result<PathBuf, String> {
    build_with_extension(project, profile)?;
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
    let built = project.target_dir().join(profile).join(library);
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
