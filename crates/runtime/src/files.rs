//! Files as a whole: read within a limit, written beside their place and moved over it.
//!
//! Invariants: a file is replaced as a whole or not at all, keeps its permissions, and a link to it
//! stays a link; a file whose permissions say that it must not be written is not replaced; only
//! regular files are read, so that no pipe or device makes a program wait.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use crate::error::{FileError, Kind};

/// Held while a file is being written.
static WRITING: Mutex<()> = Mutex::new(());

/// Everything in a file, unless that is more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return Err(FileError::malformed("this is a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(FileError::malformed("this is not a regular file"));
    }
    let too_large = || {
        let message = format!("the file is larger than the limit of {limit} bytes");
        FileError::too_large(message)
    };
    if metadata.len() > limit {
        return Err(too_large());
    }
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// The names of the files and folders in a folder, sorted.
pub fn list(path: &Path) -> Result<Vec<String>, FileError> {
    let entries = fs::read_dir(path).map_err(|error| unreadable(&error))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Replaces a file, or makes it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace(path, bytes).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FileError::new(Kind::NotFound, "there is no such folder"),
        _ => FileError::new(Kind::NotFound, plain(&error)),
    })
}

/// Replaces a file, or makes it: the bytes are written beside the place and moved there once they
/// are safely on the disk. A pipe or a device gets them as they come.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link is followed first: what is replaced is the file it leads to.
    let target = fs::canonicalize(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(path.to_owned()),
        _ => Err(error),
    })?;
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(Metadata::is_dir) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return fs::OpenOptions::new().write(true).open(&target)?.write_all(bytes);
    }
    let _writing = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut new = beside(&target, old.is_some())?;
    new.write_all(bytes)?;
    if let Some(old) = &old {
        take_over(new.as_file(), old)?;
    }
    new.as_file().sync_all()?;
    new.persist(&target)?;
    Ok(())
}

/// Waits until no file is being written, but not longer than `patience`. As long as the answer is
/// kept no other file is begun, so a process can end without leaving a temporary one behind.
pub fn hold_writes(patience: Duration) -> Option<MutexGuard<'static, ()>> {
    let deadline = Instant::now() + patience;
    loop {
        match WRITING.try_lock() {
            Ok(guard) => return Some(guard),
            Err(_) if Instant::now() >= deadline => return None,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A temporary file in the folder of the target. It is private until it takes over permissions;
/// if there are none to take over, it has those of any new file.
fn beside(target: &Path, is_private: bool) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".einlang-");
    #[cfg(unix)]
    if !is_private {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// Gives the new file the owner, where that is allowed, and the permissions of the old one.
fn take_over(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Only the superuser may give files away, and for everyone else nothing changes.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(old.permissions())
}

fn unreadable(error: &io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            FileError::new(Kind::NotFound, "there is no such file")
        }
        _ => FileError::new(Kind::NotFound, plain(error)),
    }
}

/// What the system says, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "the system gives no reason".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read_within_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        write(&path, b"one").expect("a new file");
        write(&path, b"three").expect("the same file");
        assert_eq!(read(&path, 5).as_deref(), Ok(&b"three"[..]));
        assert_eq!(read(&path, 4).map_err(|error| error.kind), Err(Kind::TooLarge));
        assert_eq!(list(folder.path()), Ok(vec!["a".to_owned()]), "nothing else is left");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_stays_one() {
        use std::os::unix::fs::FileTypeExt;
        let device = Path::new("/dev/null");
        write(device, b"gone").expect("it takes anything");
        assert!(fs::metadata(device).expect("it is there").file_type().is_char_device());
    }

    #[test]
    fn what_cannot_be_read_or_written_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = |result: Result<Vec<u8>, FileError>| result.expect_err("no file").message;
        assert_eq!(said(read(&folder.path().join("a"), 9)), "there is no such file");
        assert_eq!(said(read(folder.path(), 9)), "this is a folder, not a file");
        let missing = write(&folder.path().join("no/a"), b"").expect_err("no folder");
        assert_eq!(missing.message, "there is no such folder");
        assert!(write(folder.path(), b"").is_err());
    }

    #[test]
    fn writes_can_be_held() {
        let guard = hold_writes(Duration::from_secs(60)).expect("nobody writes for long");
        assert!(hold_writes(Duration::from_millis(1)).is_none());
        drop(guard);
    }
}
