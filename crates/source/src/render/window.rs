//! The lines of source that a snippet shows.
//!
//! A snippet gets only the lines it needs, made harmless, and offsets are carried over into them.
//! Invariant: a [`Window`] holds whole lines, so the line numbers it reports are those of the file.

use std::ops::Range;

use super::neutral;
use crate::files::Sources;
use crate::span::FileId;

/// Some consecutive lines of a file.
pub(super) struct Window<'a> {
    raw: &'a str,
    start: usize,
    first_line: u32,
}

impl<'a> Window<'a> {
    /// The lines `first..=last` of a file, with their line breaks but without a byte order mark.
    pub(super) fn new(sources: &'a Sources, file: FileId, first: u32, last: u32) -> Window<'a> {
        let text = sources.text(file);
        let start = sources.line_span(file, first).range().start;
        let end = sources.line_span(file, last).range().end;
        let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
        Window { raw: &text[start..end], start, first_line: first }
    }

    /// The number of the first line.
    pub(super) fn first_line(&self) -> usize {
        self.first_line as usize
    }

    /// The text as it may be shown.
    pub(super) fn text(&self) -> String {
        neutral::source(self.raw)
    }

    /// A range of the file as a range of [`Window::text`].
    pub(super) fn map(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| neutral::source(&self.raw[..at - self.start]).len();
        place(range.start)..place(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_harmless_and_offsets_follow() {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "one\na\u{1b}b\r\nthree");
        let window = Window::new(&sources, file, 2, 2);
        assert_eq!((window.first_line(), window.text().as_str()), (2, "a␛b\r\n"));
        assert_eq!(window.map(&(6..7)), 4..5);
        assert_eq!(Window::new(&sources, file, 2, 3).text(), "a␛b\r\nthree");
        assert_eq!(Window::new(&sources, file, 3, 3).map(&(9..14)), 0..5);
    }
}
