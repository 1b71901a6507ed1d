//! The standard library as the resolver sees it: texts by path, handed in from outside.
//!
//! Nothing of it is read before a program names it, and then only the files that a name of the
//! program can lead to (`modules/library.rs`). This crate holds no text of the library.

use std::sync::Arc;

/// Where the texts of `std` come from.
pub trait Library: Sync {
    /// The text of a file such as `mod.ein` or `math/mod.ein`, if there is one.
    fn text(&self, path: &str) -> Option<Arc<str>>;
}

/// No library: a path into `std` then leads to something of which nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn text(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}
