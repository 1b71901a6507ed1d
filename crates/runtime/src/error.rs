//! What can go wrong with a file, as data.

use std::fmt;

/// The kind of a problem with a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Nothing can be read or written there.
    NotFound,
    /// The path leaves the folders that are allowed.
    Outside,
    /// The bytes are not what they should be.
    Malformed,
    /// The data are sound, but of another type or shape than can be used.
    Unsuitable,
    /// The data need more memory than allowed.
    TooLarge,
}

/// A problem with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileError {
    /// The kind.
    pub kind: Kind,
    /// One sentence without a final stop. Decoders do not know the name of the file, so it is not
    /// part of what they say.
    pub message: String,
}

impl FileError {
    /// A problem of a kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> FileError {
        FileError { kind, message: message.into() }
    }

    /// Bytes that are not what they should be.
    pub fn malformed(message: impl Into<String>) -> FileError {
        FileError::new(Kind::Malformed, message)
    }

    /// Data of another type or shape.
    pub fn unsuitable(message: impl Into<String>) -> FileError {
        FileError::new(Kind::Unsuitable, message)
    }

    /// Data beyond the memory that is allowed.
    pub fn too_large(message: impl Into<String>) -> FileError {
        FileError::new(Kind::TooLarge, message)
    }

    /// The problem with a prefix, such as `cannot read `a.npy``.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> FileError {
        self.message = format!("{prefix}: {}", self.message);
        self
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FileError {}
