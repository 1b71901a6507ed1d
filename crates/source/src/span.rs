//! Places in source text. Offsets are bytes into the UTF-8 text of one file and always lie on
//! character boundaries; lines and columns are computed only when somebody has to read them.

use std::ops::Range;

/// One file known to a [`crate::Sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub(crate) u32);

impl FileId {
    /// The file that was added first, for messages about what no file holds.
    pub const FIRST: FileId = FileId(0);

    /// The position of this file in the order in which files were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A half-open range of bytes of one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file the bytes belong to.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        debug_assert!(start <= end, "a span never runs backwards");
        Span { file, start, end }
    }

    /// The empty span at `offset`.
    pub fn at(file: FileId, offset: u32) -> Span {
        Span { file, start: offset, end: offset }
    }

    /// The smallest span that holds both. Both must lie in the same file.
    pub fn cover(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file, "only spans of one file have a cover");
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a range of byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether all of another span lies in this one.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// True when no byte is covered: a place between two characters.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}
