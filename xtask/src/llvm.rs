//! LLVM 22, for machine code. Everything but the crate `codegen` builds without it.
//!
//! Where it is missing and the system's package manager may be used, it is installed; otherwise one
//! line says what is left out and how to get it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::{TaskResult, process};

/// The variable by which the bindings find LLVM.
pub(crate) const VARIABLE: &str = "LLVM_SYS_221_PREFIX";

/// Where Debian and Ubuntu put it.
const USUAL: &str = "/usr/lib/llvm-22";

/// The packages that hold it.
const PACKAGES: &[&str] = &["llvm-22-dev", "libpolly-22-dev", "libzstd-dev", "zlib1g-dev"];

/// The feature of the command line that wants it.
pub(crate) const CLI_FEATURE: &str = "einlang-cli/native";

/// The features of the whole workspace that want it: the Python package has one too.
pub(crate) const FEATURES: &str = "einlang-cli/native,einlang-python/native";

/// The crate that wants it.
pub(crate) const CRATE: &str = "einlang-codegen";

/// Where LLVM is, after trying to install it; found out once.
pub(crate) fn prefix() -> Option<&'static Path> {
    static PREFIX: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PREFIX.get_or_init(|| {
        if let Some(prefix) = installed() {
            return Some(prefix);
        }
        let can_install = may_install();
        if can_install {
            eprintln!("installing LLVM 22 with apt-get");
            install();
        }
        let found = installed();
        if found.is_none() {
            let how = PACKAGES.join(" ");
            eprintln!("without LLVM 22 there is no machine code; to get it: apt-get install {how}");
        }
        found
    });
    found.as_deref()
}

/// `cargo xtask llvm`: prints where LLVM is, after trying to install it; nothing if it is nowhere.
pub(crate) fn llvm() -> TaskResult {
    if let Some(prefix) = prefix() {
        println!("{}", prefix.display());
    }
    Ok(0)
}

/// Prepares a cargo command, of the workspace or of the command line alone: with LLVM the feature is
/// on, and without it the crate is left out.
pub(crate) fn prepare(cargo: &mut Command, workspace: bool) {
    match prefix() {
        Some(prefix) => {
            let features = if workspace { FEATURES } else { CLI_FEATURE };
            cargo.env(VARIABLE, prefix).args(["--features", features]);
        }
        None if workspace => {
            cargo.args(["--exclude", CRATE]);
        }
        None => {}
    }
}

fn installed() -> Option<PathBuf> {
    let given = env::var_os(VARIABLE).map(PathBuf::from);
    let places = given.into_iter().chain([PathBuf::from(USUAL)]);
    places.into_iter().find(|place| place.join("bin").join("llvm-config").exists())
}

/// Whether packages can be installed without asking anybody.
fn may_install() -> bool {
    let is_root = process::capture(Command::new("id").arg("-u"))
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    is_root && process::succeeds(Command::new("apt-get").arg("--version"))
}

fn install() {
    let quiet = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        process::succeeds(&mut command)
    };
    if quiet(&["update", "-qq"]) {
        quiet(&[&["install", "-y", "-qq"][..], PACKAGES].concat());
    }
}
