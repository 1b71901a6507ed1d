//! Gives the crate numbers that change with its source and with that of the crates that plan, so that what
//! another version made is never taken for its own.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

/// The folders that machine code depends on, besides the loop IR.
const CODE: &[&str] = &["src"];

/// The folders that the loop IR of a module depends on.
const PLANS: &[&str] = &["../index/src", "../tir/src", "../loops/src", "../interp/src"];

fn main() {
    for (name, folders) in [("EINLANG_CODEGEN", CODE), ("EINLANG_PLANS", PLANS)] {
        let mut hasher = DefaultHasher::new();
        for folder in folders {
            println!("cargo::rerun-if-changed={folder}");
            for path in files(Path::new(folder)) {
                hasher.write(path.to_string_lossy().as_bytes());
                hasher.write(&std::fs::read(&path).unwrap_or_default());
            }
        }
        println!("cargo::rustc-env={name}={:016x}", hasher.finish());
    }
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
