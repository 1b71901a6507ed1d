//! All I/O that a compilation does, as a trait.
//!
//! No crate below the command line and the Python package opens a file: they ask a [`World`].
//! That is what lets the same compiler run over a disk, inside a browser, under an editor with
//! unsaved buffers, and in tests. The implementation over a disk lives with the shells; this file
//! has only the trait and a world made of memory.
//!
//! Invariant: a [`World`] reports failures as data and never prints.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the compiler may ask of its surroundings. A `&dyn World` is passed down from the shell.
pub trait World {
    /// The bytes of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, WorldError>;

    /// True when the path names a file that may be read; a directory is not one.
    fn exists(&self, path: &Path) -> bool;

    /// Replaces a file as a whole: readers see the old bytes or the new ones, never a part.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> Result<(), WorldError>;

    /// The names of the files in a directory, in any order. They serve suggestions only, so a world
    /// that cannot tell answers with none.
    fn list(&self, directory: &Path) -> Vec<String> {
        let _ = directory;
        Vec::new()
    }

    /// The text of a source file. It must be UTF-8 throughout, and nothing is stripped from it:
    /// spans are offsets into the bytes on disk, a byte order mark included.
    fn read_source(&self, path: &Path) -> Result<String, WorldError> {
        let bytes = self.read(path)?;
        if bytes.len() > u32::MAX as usize {
            return Err(WorldError::TooLarge);
        }
        String::from_utf8(bytes)
            .map_err(|error| WorldError::NotUtf8 { offset: error.utf8_error().valid_up_to() })
    }
}

/// Why a [`World`] did not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorldError {
    /// There is no such file.
    NotFound,
    /// The path names a directory.
    IsDirectory,
    /// The operating system or the project's limits forbid it.
    Denied,
    /// The text is not UTF-8.
    NotUtf8 {
        /// The first byte that belongs to no character.
        offset: usize,
    },
    /// The file has more bytes than the compiler can address or may load.
    TooLarge,
    /// Anything else, in the words of whoever found it.
    Other(String),
}

impl fmt::Display for WorldError {
    /// A phrase that fits after "cannot read `f.ein`: ".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldError::NotFound => f.write_str("there is no such file"),
            WorldError::IsDirectory => f.write_str("it is a directory"),
            WorldError::Denied => f.write_str("access is denied"),
            WorldError::NotUtf8 { offset } => write!(f, "it is not valid UTF-8 at byte {offset}"),
            WorldError::TooLarge => f.write_str("it is too large"),
            WorldError::Other(reason) => f.write_str(reason),
        }
    }
}

impl Error for WorldError {}

/// A world of files in memory, for tests and for embedders without a disk.
///
/// Paths are compared after removing `.` and resolving `..` by their spelling alone; directories
/// exist exactly as long as a file lies below them.
#[derive(Debug, Default)]
pub struct MemoryWorld {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl MemoryWorld {
    /// A world without files.
    pub fn new() -> MemoryWorld {
        MemoryWorld::default()
    }

    /// Adds or replaces a file while the world is being set up.
    #[must_use]
    pub fn with(self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> MemoryWorld {
        self.files().insert(spelled_out(path.as_ref()), bytes.into());
        self
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.files().keys().cloned().collect()
    }

    /// A panic elsewhere cannot leave the map half changed, so a poisoned lock is still good.
    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.files().keys().any(|file| file != path && file.starts_with(path))
    }
}

impl World for MemoryWorld {
    fn read(&self, path: &Path) -> Result<Vec<u8>, WorldError> {
        let path = spelled_out(path);
        let found = self.files().get(&path).cloned();
        found.ok_or_else(|| match self.is_directory(&path) {
            true => WorldError::IsDirectory,
            false => WorldError::NotFound,
        })
    }

    fn exists(&self, path: &Path) -> bool {
        self.files().contains_key(&spelled_out(path))
    }

    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> Result<(), WorldError> {
        let path = spelled_out(path);
        if self.is_directory(&path) {
            return Err(WorldError::IsDirectory);
        }
        self.files().insert(path, bytes.to_vec());
        Ok(())
    }

    fn list(&self, directory: &Path) -> Vec<String> {
        let directory = spelled_out(directory);
        let files = self.paths().into_iter().filter(|file| file.parent() == Some(&directory));
        files.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect()
    }
}

/// The path without `.`, and with each `..` taking the name before it away.
fn spelled_out(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        let after_name = matches!(plain.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if after_name => {
                plain.pop();
            }
            _ => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> MemoryWorld {
        MemoryWorld::new().with("a/main.ein", "let x = 1;").with("bad.ein", b"ab\xffcd".to_vec())
    }

    #[test]
    fn files_are_found_under_any_spelling() {
        let world = world();
        for spelling in ["a/main.ein", "./a/main.ein", "a/./main.ein", "a/b/../main.ein"] {
            assert_eq!(world.read_source(Path::new(spelling)).as_deref(), Ok("let x = 1;"));
        }
        assert!(world.exists(Path::new("a/main.ein")));
        assert_eq!(world.paths(), [PathBuf::from("a/main.ein"), PathBuf::from("bad.ein")]);
    }

    #[test]
    fn what_is_not_a_file_is_told_apart() {
        let world = world();
        assert_eq!(world.read(Path::new("none")), Err(WorldError::NotFound));
        assert_eq!(world.read(Path::new("../a/main.ein")), Err(WorldError::NotFound));
        assert_eq!(world.read(Path::new("a")), Err(WorldError::IsDirectory));
        assert!(!world.exists(Path::new("a")));
        assert_eq!(world.write_atomic(Path::new("a"), b""), Err(WorldError::IsDirectory));
    }

    #[test]
    fn sources_must_be_utf8_and_keep_their_mark() {
        let world = world().with("mark.ein", "\u{feff}x");
        let error = WorldError::NotUtf8 { offset: 2 };
        assert_eq!(error.to_string(), "it is not valid UTF-8 at byte 2");
        assert_eq!(world.read_source(Path::new("bad.ein")), Err(error));
        assert_eq!(world.read_source(Path::new("mark.ein")).as_deref(), Ok("\u{feff}x"));
    }

    #[test]
    fn directories_are_listed_without_what_lies_deeper() {
        let world = world().with("a/b/deep.ein", "");
        assert_eq!(world.list(Path::new("a")), ["main.ein"]);
        assert_eq!(world.list(Path::new(".")), ["bad.ein"]);
        assert_eq!(world.list(Path::new("none")), [""; 0]);
    }

    #[test]
    fn writing_needs_only_a_shared_world() {
        let world: &dyn World = &world();
        world.write_atomic(Path::new("out/y.npy"), b"123").expect("a new file");
        world.write_atomic(Path::new("out/y.npy"), b"45").expect("the same file again");
        assert_eq!(world.read(Path::new("out/y.npy")).as_deref(), Ok(&b"45"[..]));
    }
}
