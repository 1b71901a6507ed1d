//! Gives the crate a number that changes with its source, so that objects made by another version of the
//! code generator are never taken for its own.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=src");
    let mut hasher = DefaultHasher::new();
    for path in files(Path::new("src")) {
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&std::fs::read(&path).unwrap_or_default());
    }
    println!("cargo::rustc-env=EINLANG_CODEGEN={:016x}", hasher.finish());
}

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let each = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    });
    each.collect()
}
