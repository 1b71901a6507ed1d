//! The `World` over a disk.
//!
//! Invariants: a file is replaced as a whole or not at all, keeps its permissions, and a link to it
//! stays a link; a file whose permissions say that it must not be written is not replaced.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::Path;

use einlang_runtime::files;
use einlang_source::{World, WorldError};

use crate::session::MAX_SOURCE_BYTES;

/// Files as the operating system shows them; relative paths start at the current directory.
#[derive(Clone, Copy, Debug)]
pub struct DiskWorld;

impl World for DiskWorld {
    fn read(&self, path: &Path) -> Result<Vec<u8>, WorldError> {
        let metadata = fs::metadata(path).map_err(|error| failure(&error))?;
        if metadata.is_dir() {
            return Err(WorldError::IsDirectory);
        }
        if metadata.len() > MAX_SOURCE_BYTES as u64 {
            return Err(WorldError::TooLarge);
        }
        let file = File::open(path).map_err(|error| failure(&error))?;
        read_limited(file)
    }

    fn exists(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn list(&self, directory: &Path) -> Vec<String> {
        let here = directory.as_os_str().is_empty();
        let entries = fs::read_dir(if here { Path::new(".") } else { directory });
        let files = entries.into_iter().flatten().flatten().filter(is_file);
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    }

    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> Result<(), WorldError> {
        files::replace(path, bytes).map_err(|error| failure(&error))
    }
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| !kind.is_dir())
}

/// Everything that a reader gives, unless it is too much. The size of a file says nothing about
/// pipes and devices, so the limit is kept while reading.
pub fn read_limited(reader: impl Read) -> Result<Vec<u8>, WorldError> {
    let mut bytes = Vec::new();
    let limit = MAX_SOURCE_BYTES as u64 + 1;
    reader.take(limit).read_to_end(&mut bytes).map_err(|error| failure(&error))?;
    if bytes.len() > MAX_SOURCE_BYTES { Err(WorldError::TooLarge) } else { Ok(bytes) }
}

fn failure(error: &io::Error) -> WorldError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => WorldError::NotFound,
        io::ErrorKind::IsADirectory => WorldError::IsDirectory,
        io::ErrorKind::PermissionDenied => WorldError::Denied,
        _ => WorldError::Other(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[test]
    fn what_is_written_can_be_read() {
        let folder = folder();
        let path = folder.path().join("a.ein");
        assert_eq!(DiskWorld.read(&path), Err(WorldError::NotFound));
        DiskWorld.write_atomic(&path, b"one").expect("a new file");
        DiskWorld.write_atomic(&path, b"two").expect("the same file");
        assert_eq!(DiskWorld.read(&path).as_deref(), Ok(&b"two"[..]));
        assert!(DiskWorld.exists(&path) && !DiskWorld.exists(folder.path()));
        assert_eq!(DiskWorld.list(folder.path()), ["a.ein"]);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left");
    }

    #[test]
    fn what_is_not_a_file_is_told_apart() {
        let folder = folder();
        assert_eq!(DiskWorld.read(folder.path()), Err(WorldError::IsDirectory));
        assert_eq!(DiskWorld.write_atomic(folder.path(), b""), Err(WorldError::IsDirectory));
        let below_a_file = folder.path().join("f/g");
        fs::write(folder.path().join("f"), "").expect("a file");
        assert_eq!(DiskWorld.read(&below_a_file), Err(WorldError::NotFound));
    }

    #[test]
    fn an_enormous_file_is_refused_unread() {
        let folder = folder();
        let path = folder.path().join("big.ein");
        let file = File::create(&path).expect("a file");
        file.set_len(MAX_SOURCE_BYTES as u64 + 1).expect("a sparse file");
        assert_eq!(DiskWorld.read(&path), Err(WorldError::TooLarge));
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_survive() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
        symlink("a", &link).expect("a link");
        DiskWorld.write_atomic(&link, b"new").expect("through the link");
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!((fs::read(&path).expect("a file"), mode & 0o777), (b"new".to_vec(), 0o640));
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    }

    #[test]
    fn a_read_only_file_is_left_alone() {
        let folder = folder();
        let path = folder.path().join("a");
        fs::write(&path, "old").expect("a file");
        let mut permissions = fs::metadata(&path).expect("a file").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("permissions");
        assert_eq!(DiskWorld.write_atomic(&path, b"new"), Err(WorldError::Denied));
        assert_eq!(fs::read(&path).expect("a file"), b"old");
    }
}
