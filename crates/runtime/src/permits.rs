//! Which paths a program may read and write.
//!
//! A program may touch what lies in its own folder; permissions name further files and folders.
//! Invariant: links and `..` are resolved before a path is judged, so neither leads out; whether
//! something exists outside of what is allowed is not told.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{FileError, Kind};

/// The folder of a program and what it may touch besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permits {
    folder: PathBuf,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Permits {
    /// The permissions of a program in a folder, at which its relative paths start. Those of the
    /// other lists start at the current directory and need not exist yet.
    pub fn new(folder: &Path, read: &[PathBuf], write: &[PathBuf]) -> io::Result<Permits> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = here.canonicalize()?;
        let current = std::env::current_dir()?;
        let located = |paths: &[PathBuf]| -> io::Result<Vec<PathBuf>> {
            let own = std::iter::once(Ok(folder.clone()));
            own.chain(paths.iter().map(|path| locate(&current.join(path)))).collect()
        };
        Ok(Permits { read: located(read)?, write: located(write)?, folder })
    }

    /// Where a file lies that is to be read.
    pub fn readable(&self, path: &str) -> Result<PathBuf, FileError> {
        self.allowed(path, &self.read, "read")
    }

    /// Where a file lies that is to be written.
    pub fn writable(&self, path: &str) -> Result<PathBuf, FileError> {
        self.allowed(path, &self.write, "write")
    }

    fn allowed(&self, path: &str, roots: &[PathBuf], verb: &str) -> Result<PathBuf, FileError> {
        let outside = || {
            let message =
                format!("the program may not {verb} `{path}`, which lies outside its folder");
            FileError::new(Kind::Outside, message)
        };
        let place = locate(&self.folder.join(path)).map_err(|_| outside())?;
        let allowed = roots.iter().any(|root| place.starts_with(root));
        if allowed { Ok(place) } else { Err(outside()) }
    }
}

/// The path without links and `..`. What does not exist yet is added to the part that does; there
/// nothing can be a link, and going up from it is refused.
fn locate(path: &Path) -> io::Result<PathBuf> {
    let mut missing: Vec<OsString> = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(mut found) => {
                found.extend(missing.iter().rev());
                return Ok(found);
            }
            Err(error) => match (error.kind(), existing.file_name(), existing.parent()) {
                (
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory,
                    Some(name),
                    Some(parent),
                ) => {
                    missing.push(name.to_owned());
                    existing = parent;
                }
                _ => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with a project in it, and a secret beside the project.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let world = tempfile::tempdir().expect("a folder");
        let project = world.path().join("project");
        fs::create_dir_all(project.join("data")).expect("a folder");
        fs::write(project.join("data/a.txt"), "").expect("a file");
        fs::write(world.path().join("secret"), "").expect("a file");
        (world, project)
    }

    #[test]
    fn paths_stay_inside() {
        let (world, project) = world();
        let permits = Permits::new(&project, &[], &[]).expect("a folder");
        let found = permits.readable("data/../data/a.txt").expect("inside");
        assert_eq!(found, project.canonicalize().expect("a folder").join("data/a.txt"));
        assert!(permits.writable("new/file.txt").is_ok());
        let secret = world.path().join("secret").display().to_string();
        let outside =
            ["../secret", "data/../../secret", "../nothing", "no/../../secret", "/", "..", &secret];
        for path in outside {
            let refused = permits.readable(path).map_err(|error| error.kind);
            assert_eq!(refused, Err(Kind::Outside), "{path}");
        }
        let inside = project.join("data/a.txt").display().to_string();
        assert!(permits.readable(&inside).is_ok(), "absolute paths are judged alike");
        assert!(permits.readable("a\0b").is_err());
    }

    #[test]
    fn permissions_widen() {
        let (world, project) = world();
        let secret = world.path().join("secret");
        let permits = Permits::new(&project, &[secret], &[world.path().join("new")]);
        let permits = permits.expect("a folder");
        assert!(permits.readable("../secret").is_ok());
        assert!(permits.writable("../secret").is_err());
        assert!(permits.writable("../new/file").is_ok());
        assert!(permits.readable("../new/file").is_err());
        assert!(permits.readable("../secret-too").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        use std::os::unix::fs::symlink;
        let (world, project) = world();
        symlink(world.path(), project.join("out")).expect("a link");
        symlink("../secret", project.join("leak")).expect("a link");
        symlink("data", project.join("in")).expect("a link");
        let permits = Permits::new(&project, &[], &[]).expect("a folder");
        for path in ["out/secret", "leak", "out/new", "out"] {
            assert!(permits.readable(path).is_err(), "{path}");
            assert!(permits.writable(path).is_err(), "{path}");
        }
        assert!(permits.readable("in/a.txt").is_ok());
    }
}
