//! Where things are: the project root, the folder of build outputs, the shared test material.

use std::env;
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The checkout that the task works on.
pub(crate) struct Project {
    /// The folder that holds the workspace manifest.
    pub(crate) root: PathBuf,
}

impl Project {
    /// The project of the running `cargo xtask`.
    ///
    /// The variable that cargo sets at run time comes first: two checkouts that share a target
    /// folder also share the compiled `xtask`, and the path compiled into it may be the other's.
    pub(crate) fn locate() -> Project {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf);
        Project { root }
    }

    /// A cargo command that starts in the project root.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root);
        command
    }

    /// A git command that starts in the project root.
    pub(crate) fn git(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.root);
        command
    }

    /// Where a build in a profile leaves the `einlang` binary.
    pub(crate) fn binary(&self, profile: &str) -> PathBuf {
        self.target_dir().join(profile).join(format!("einlang{EXE_SUFFIX}"))
    }

    /// A folder of the material shared between implementations, if it lies beside the project.
    pub(crate) fn shared(&self, name: &str) -> Option<PathBuf> {
        let path = self.root.parent()?.join("shared").join(name);
        path.exists().then_some(path)
    }

    /// The folder of build outputs; `join` keeps an absolute `CARGO_TARGET_DIR` as it is.
    pub(crate) fn target_dir(&self) -> PathBuf {
        self.root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
    }
}
