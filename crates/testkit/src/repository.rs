//! Where things lie: the project, and the conformance cases that other implementations share.

use std::env;
use std::path::{Path, PathBuf};

/// The folder that holds the workspace.
///
/// The variable that cargo sets at run time comes first: two checkouts that share a target folder
/// also share this compiled crate, and the path compiled into it may be the other's.
pub fn root() -> PathBuf {
    let compiled = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let start = env::var_os("CARGO_MANIFEST_DIR").map_or(compiled, PathBuf::from);
    let found = start.ancestors().find(|folder| is_root(folder));
    found.expect("invariant: tests run inside a checkout").to_path_buf()
}

/// The crates lie below the workspace and nowhere else; the fuzz targets have a manifest too.
fn is_root(folder: &Path) -> bool {
    folder.join("Cargo.toml").is_file() && folder.join("crates").is_dir()
}

/// The conformance cases, when they lie beside the project as they do for its developers.
pub fn conformance() -> Option<PathBuf> {
    let path = root().parent()?.join("shared").join("conformance");
    path.is_dir().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_this_crate() {
        assert!(root().join("crates/testkit/src/repository.rs").is_file());
    }
}
