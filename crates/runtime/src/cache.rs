//! A folder of things that took long to make, each found again by the text it was made from.
//!
//! Invariants: what comes out was put in under exactly the same key, whole: an entry holds its key and a
//! checksum, and whatever does not match is as good as absent. Entries are written beside their place and
//! moved there, so any number of processes may share a folder and end at any moment. The folder stays
//! below its limit: the entries that were used longest ago go first. Nothing that goes wrong with the
//! disk is an error; the thing is made again.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The first bytes of an entry; another layout gets another number.
const MAGIC: &[u8; 8] = b"einobj1\n";

/// The bytes of an entry before its key: magic, the lengths of key and value.
const HEADER: usize = 24;

/// An entry that was not touched for so long is touched when it is used.
const TOUCH_AFTER: Duration = Duration::from_secs(3600);

/// A temporary file that is older was left by a process that crashed.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// The most bytes that are kept for a user.
const USUAL_LIMIT: u64 = 256 << 20;

/// A folder of entries.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    /// How many bytes may be written before the folder is looked at again.
    allowance: AtomicU64,
}

/// What a folder holds.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Contents {
    /// How many entries.
    pub n_entries: u64,
    /// How many bytes they take.
    pub bytes: u64,
}

impl Cache {
    /// The cache in a folder, which is made when something is put in.
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Cache {
        Cache { folder: folder.into(), limit, allowance: AtomicU64::new(0) }
    }

    /// The cache of this user, where there is a place for one.
    pub fn of_user() -> Option<Cache> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let usual = || {
            let of_user = given("XDG_CACHE_HOME").filter(|path| path.is_absolute());
            let of_user = of_user.or_else(|| given("HOME").map(|home| home.join(".cache")));
            of_user.map(|folder| folder.join("einlang"))
        };
        let folder = given("EINLANG_CACHE_DIR").or_else(usual)?;
        Some(Cache::new(folder, USUAL_LIMIT))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The most bytes that are kept.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What was put in under this key, if it is still there.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.path(key);
        if !is_trusted(&self.folder) {
            return None;
        }
        let bytes = fs::read(&path).ok()?;
        match value(&bytes, key) {
            Some(value) => {
                touch(&path);
                Some(value.to_vec())
            }
            None => {
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps a value under a key, if the disk permits.
    pub fn put(&self, key: &str, value: &[u8]) {
        let entry = entry(key, value);
        let size = entry.len() as u64;
        if size <= self.limit && self.write(&self.path(key), &entry).is_ok() {
            self.make_room(size);
        }
    }

    /// Removes what was put in under a key; says whether there was anything.
    pub fn remove(&self, key: &str) -> bool {
        fs::remove_file(self.path(key)).is_ok()
    }

    /// What the folder holds.
    pub fn contents(&self) -> Contents {
        let mut found = Contents::default();
        for (_, size, _) in self.entries() {
            found.n_entries += 1;
            found.bytes += size;
        }
        found
    }

    /// Removes every entry.
    pub fn clear(&self) -> io::Result<Contents> {
        let mut removed = Contents::default();
        for (path, size, _) in self.entries() {
            match fs::remove_file(path) {
                Ok(()) => {
                    removed.n_entries += 1;
                    removed.bytes += size;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    fn path(&self, key: &str) -> PathBuf {
        let (a, b) = (hash(b"a", key.as_bytes()), hash(b"b", key.as_bytes()));
        self.folder.join(format!("{a:016x}{b:016x}.obj"))
    }

    fn write(&self, path: &Path, entry: &[u8]) -> io::Result<()> {
        make_folder(&self.folder)?;
        if !is_trusted(&self.folder) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        file.write_all(entry)?;
        file.persist(path)?;
        Ok(())
    }

    /// Every entry with its size and when it was last used.
    fn entries(&self) -> Vec<(PathBuf, u64, SystemTime)> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let of = files.filter_map(|file| {
            let path = file.path();
            let is_entry = path.extension().is_some_and(|extension| extension == "obj");
            let metadata = file.metadata().ok().filter(|m| is_entry && m.is_file())?;
            Some((path, metadata.len(), metadata.modified().ok()?))
        });
        of.collect()
    }

    /// Looks at the folder once in a while, and removes what is too much.
    fn make_room(&self, written: u64) {
        let allowed = self.allowance.load(Ordering::Relaxed);
        if written <= allowed {
            self.allowance.fetch_sub(written, Ordering::Relaxed);
            return;
        }
        self.remove_left_behind();
        let mut entries = self.entries();
        let mut total: u64 = entries.iter().map(|entry| entry.1).sum();
        if total > self.limit {
            entries.sort_by_key(|entry| entry.2);
            for (path, size, _) in entries {
                if total <= self.limit / 4 * 3 {
                    break;
                }
                if fs::remove_file(path).is_ok() {
                    total -= size;
                }
            }
        }
        self.allowance.store((self.limit.saturating_sub(total)) / 4, Ordering::Relaxed);
    }

    fn remove_left_behind(&self) {
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_new = file.file_name().to_string_lossy().starts_with(".new-");
            let modified = file.metadata().and_then(|metadata| metadata.modified()).ok();
            let age = modified.and_then(|time| time.elapsed().ok()).unwrap_or_default();
            if is_new && age > LEFT_BEHIND {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

/// Makes the folder, for its owner alone.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Whether nobody else may put entries in: they are run as they are.
fn is_trusted(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o002 == 0)
    }
    #[cfg(not(unix))]
    {
        folder.is_dir()
    }
}

/// Remembers that an entry was used.
fn touch(path: &Path) {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let age = modified.and_then(|time| time.elapsed().ok()).unwrap_or_default();
    if age > TOUCH_AFTER
        && let Ok(file) = File::options().append(true).open(path)
    {
        let _ = file.set_modified(SystemTime::now());
    }
}

fn hash(salt: &[u8], bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(salt);
    hasher.write(bytes);
    hasher.finish()
}

/// The bytes of an entry.
fn entry(key: &str, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + key.len() + value.len() + 8);
    bytes.extend(MAGIC);
    bytes.extend((key.len() as u64).to_le_bytes());
    bytes.extend((value.len() as u64).to_le_bytes());
    bytes.extend(key.as_bytes());
    bytes.extend(value);
    let checksum = hash(b"", &bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// The value of an entry, if it is whole and has this key.
fn value<'b>(bytes: &'b [u8], key: &str) -> Option<&'b [u8]> {
    let (body, checksum) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    let rest = body.strip_prefix(MAGIC)?;
    let (n_key, rest) = rest.split_at_checked(8)?;
    let (n_value, rest) = rest.split_at_checked(8)?;
    let n_key = usize::try_from(u64::from_le_bytes(n_key.try_into().ok()?)).ok()?;
    let (found, value) = rest.split_at_checked(n_key)?;
    let is_whole = u64::from_le_bytes(n_value.try_into().ok()?) == value.len() as u64
        && u64::from_le_bytes(checksum.try_into().ok()?) == hash(b"", body);
    (is_whole && found == key.as_bytes()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(limit: u64) -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path().join("a/b"), limit);
        (folder, cache)
    }

    #[test]
    fn what_was_put_in_comes_out() {
        let (_folder, cache) = in_folder(1 << 20);
        assert_eq!(cache.get("k"), None);
        cache.put("k", b"value");
        cache.put("empty", b"");
        assert_eq!(cache.get("k").as_deref(), Some(&b"value"[..]));
        assert_eq!(cache.get("empty").as_deref(), Some(&b""[..]));
        assert_eq!(cache.get("other"), None);
        cache.put("k", b"newer");
        assert_eq!(cache.get("k").as_deref(), Some(&b"newer"[..]));
        assert_eq!(cache.contents().n_entries, 2);
        cache.put("gone", b"value");
        assert!(cache.remove("gone") && !cache.remove("gone"));
        assert_eq!(cache.get("gone"), None);
        assert_eq!(cache.clear().expect("it is ours").n_entries, 2);
        assert_eq!(cache.get("k"), None);
    }

    #[test]
    fn damage_is_absence() {
        let (_folder, cache) = in_folder(1 << 20);
        cache.put("k", b"some value");
        let path = cache.path("k");
        let whole = fs::read(&path).expect("an entry");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            fs::write(&path, &bytes).expect("a file");
            assert_eq!(cache.get("k"), None, "byte {at}");
            fs::write(&path, &whole[..at]).expect("a file");
            assert_eq!(cache.get("k"), None, "the first {at} bytes");
            assert!(!path.exists());
        }
        // A collision of names would show in the key.
        fs::write(&path, entry("another", b"value")).expect("a file");
        assert_eq!(cache.get("k"), None);
    }

    #[test]
    fn the_folder_stays_below_its_limit() {
        let (_folder, cache) = in_folder(10_000);
        for number in 0..100 {
            cache.put(&format!("{number}"), &[0; 500]);
            assert!(cache.contents().bytes <= 10_000 + 600, "{:?}", cache.contents());
        }
        assert!(cache.contents().n_entries >= 10);
        cache.put("huge", &[0; 20_000]);
        assert_eq!(cache.get("huge"), None);
    }

    #[test]
    fn many_may_share_it() {
        let (_folder, cache) = in_folder(1 << 20);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..50 {
                        let (key, value) = (format!("{}", number % 7), vec![number % 7; 3000]);
                        cache.put(&key, &value);
                        let found = cache.get(&key);
                        assert!(found.is_none_or(|found| found == value));
                    }
                });
            }
        });
        let left = fs::read_dir(cache.folder()).expect("a folder").count();
        assert_eq!(left, 7);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_anyone_may_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, cache) = in_folder(1 << 20);
        cache.put("k", b"value");
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(cache.folder(), open).expect("it is ours");
        assert_eq!(cache.get("k"), None);
        cache.put("j", b"value");
        assert_eq!(cache.contents().n_entries, 1);
    }
}
