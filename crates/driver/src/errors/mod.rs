//! The words for sources that cannot be read, one file per code.
//!
//! Such a message is about a file as a whole. Its place is the start of a source that bears the
//! name of the file and has no text, which renders as the name alone, without an excerpt.

mod e0901_file_not_found;
mod e0903_malformed_file;

use einlang_source::{Diagnostic, FileId, WorldError};

pub(crate) use e0901_file_not_found::suggest_path;
pub(crate) use e0903_malformed_file::not_utf8;

/// The message for a source whose bytes could not be had. `file` is the empty source that stands
/// for it.
pub(crate) fn unreadable(name: &str, file: FileId, error: &WorldError) -> Diagnostic {
    match error {
        WorldError::IsDirectory => e0903_malformed_file::directory(name, file),
        WorldError::TooLarge => e0903_malformed_file::too_large(name, file),
        error => e0901_file_not_found::not_found(name, file, error),
    }
}
