//! The texts of a session, and the way from byte offsets to lines and columns.
//!
//! Invariants: a text never changes once it is added, so spans stay valid; a line ends with `\n`
//! or `\r\n` and with nothing else; columns count Unicode scalar values from 1, and a byte order
//! mark takes none of them, as in an editor. Every question has an answer: a span that does not
//! fit its text is clamped to it, and a file of another session is empty.

use std::iter;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::span::{FileId, Span};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where a span lies, for people. Lines and columns count from 1; the end is exclusive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LineRange {
    /// Line of the first character.
    pub line: u32,
    /// Column of the first character.
    pub col: u32,
    /// Line on which the span ends.
    pub end_line: u32,
    /// Column just after the last character.
    pub end_col: u32,
}

/// The files of a session, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<File>,
}

impl Sources {
    /// A store without files.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a text under the name that diagnostics will show. Adding a name again makes a new
    /// file: spans of the old text go on pointing into the old text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = u32::try_from(self.files.len()).expect("invariant: fewer than 2^32 files");
        self.files.push(File::new(name.into(), addressable(text.into())));
        FileId(id)
    }

    /// Every file, in the order of addition.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// The name under which the file was added.
    pub fn name(&self, file: FileId) -> &str {
        self.file(file).map_or("<unknown file>", |file| &file.name)
    }

    /// The whole text, byte order mark included.
    pub fn text(&self, file: FileId) -> &str {
        self.file(file).map_or("", |file| &file.text)
    }

    /// The whole text, shared.
    pub fn text_arc(&self, file: FileId) -> Arc<str> {
        self.file(file).map_or_else(|| Arc::from(""), |file| Arc::clone(&file.text))
    }

    /// The text that a span covers.
    pub fn slice(&self, span: Span) -> &str {
        let span = self.clamp(span);
        &self.text(span.file)[span.range()]
    }

    /// The span cut to its text and widened to whole characters; a backward one becomes empty.
    pub fn clamp(&self, span: Span) -> Span {
        let text = self.text(span.file);
        let start = text.floor_char_boundary(span.start as usize);
        let end = text.ceil_char_boundary((span.end as usize).min(text.len())).max(start);
        Span { file: span.file, start: offset(start), end: offset(end) }
    }

    /// The lines and columns of a span. A place inside a line break counts as the line's end.
    pub fn line_col(&self, span: Span) -> LineRange {
        let span = self.clamp(span);
        let place = |at| self.file(span.file).map_or((1, 1), |file| file.line_and_column(at));
        let ((line, col), (end_line, end_col)) = (place(span.start), place(span.end));
        LineRange { line, col, end_line, end_col }
    }

    /// The number of lines. A final line break begins one more, empty line.
    pub fn n_lines(&self, file: FileId) -> u32 {
        self.file(file).map_or(1, |file| offset(file.line_starts().len()))
    }

    /// The span of a line (from 1) without its line break and without a byte order mark; empty
    /// at the nearest end of the text when there is no such line.
    pub fn line_span(&self, file: FileId, line: u32) -> Span {
        let index = line.saturating_sub(1) as usize;
        let content = self.file(file).map_or(0..0, |file| file.line_content(index));
        Span { file, start: offset(content.start), end: offset(content.end) }
    }

    /// The text of a line (from 1) without its line break.
    pub fn line_text(&self, file: FileId, line: u32) -> &str {
        self.slice(self.line_span(file, line))
    }

    fn file(&self, file: FileId) -> Option<&File> {
        self.files.get(file.index())
    }
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    text: Arc<str>,
    /// Most files are never mentioned in a diagnostic, so their lines are found on demand.
    line_starts: OnceLock<Box<[u32]>>,
}

impl File {
    fn new(name: String, text: Arc<str>) -> File {
        File { name, text, line_starts: OnceLock::new() }
    }

    /// The offset of each line's first byte; never empty.
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            iter::once(0).chain(breaks.map(|(at, _)| offset(at + 1))).collect()
        })
    }

    /// The bytes of a line (from 0) that an editor shows.
    fn line_content(&self, line: usize) -> Range<usize> {
        let starts = self.line_starts();
        let Some(start) = starts.get(line).map(|start| *start as usize) else {
            return self.text.len()..self.text.len();
        };
        let end = starts.get(line + 1).map_or(self.text.len(), |next| *next as usize);
        let line_text = without_break(&self.text[start..end]);
        let has_mark = line == 0 && line_text.starts_with(BYTE_ORDER_MARK);
        let mark = if has_mark { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        start + mark..start + line_text.len()
    }

    /// Line and column, both from 1, of a character boundary.
    fn line_and_column(&self, at: u32) -> (u32, u32) {
        let line = self.line_starts().partition_point(|start| *start <= at).saturating_sub(1);
        let content = self.line_content(line);
        let at = (at as usize).clamp(content.start, content.end);
        let n_before = self.text[content.start..at].chars().count();
        (offset(line + 1), offset(n_before + 1))
    }
}

/// The line without its `\n` or `\r\n`.
fn without_break(line: &str) -> &str {
    line.strip_suffix('\n').map_or(line, |rest| rest.strip_suffix('\r').unwrap_or(rest))
}

/// The text cut to what offsets can address. A [`crate::World`] refuses larger files when they
/// are read, so this only keeps texts from elsewhere within the invariant.
fn addressable(text: Arc<str>) -> Arc<str> {
    match text.len() <= u32::MAX as usize {
        true => text,
        false => Arc::from(&text[..text.floor_char_boundary(u32::MAX as usize)]),
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("invariant: every text is addressable")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (Sources, FileId) {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text);
        (sources, file)
    }

    fn place(text: &str, start: u32, end: u32) -> (u32, u32, u32, u32) {
        let (sources, file) = one(text);
        let at = sources.line_col(Span { file, start, end });
        (at.line, at.col, at.end_line, at.end_col)
    }

    #[test]
    fn names_and_texts_come_back() {
        let (mut sources, first) = one("let x = 1;");
        let second = sources.add("g.ein", String::from("let y = 2;"));
        assert_eq!(sources.ids().collect::<Vec<_>>(), [first, second]);
        assert_eq!((sources.name(first), sources.name(second)), ("f.ein", "g.ein"));
        assert_eq!(sources.text(second), "let y = 2;");
        assert_eq!(&*sources.text_arc(first), "let x = 1;");
        assert_eq!(sources.slice(Span::new(second, 4, 5)), "y");
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        assert_eq!(place("ab\ncd\n", 0, 2), (1, 1, 1, 3));
        assert_eq!(place("ab\ncd\n", 1, 4), (1, 2, 2, 2));
        assert_eq!(place("", 0, 0), (1, 1, 1, 1));
    }

    #[test]
    fn the_end_of_the_text_follows_its_last_line_break() {
        assert_eq!(place("ab\n", 3, 3), (2, 1, 2, 1));
        assert_eq!(place("ab", 2, 2), (1, 3, 1, 3));
    }

    #[test]
    fn columns_count_scalar_values() {
        assert_eq!(place("β=界😀x", 0, 2), (1, 1, 1, 2));
        assert_eq!(place("β=界😀x", 10, 11), (1, 5, 1, 6));
        assert_eq!(place("e\u{301}x", 3, 4), (1, 3, 1, 4));
    }

    #[test]
    fn crlf_ends_a_line_and_a_lone_cr_does_not() {
        assert_eq!(place("ab\r\ncd", 4, 6), (2, 1, 2, 3));
        assert_eq!(place("ab\r\ncd", 3, 3), (1, 3, 1, 3), "inside the break is the line's end");
        assert_eq!(place("ab\rcd", 3, 5), (1, 4, 1, 6));
        assert_eq!(one("a\r\r\nb").0.line_text(FileId(0), 1), "a\r");
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        assert_eq!(place("\u{feff}ab\ncd", 3, 4), (1, 1, 1, 2));
        assert_eq!(place("\u{feff}ab\ncd", 0, 3), (1, 1, 1, 1));
        assert_eq!(place("\u{feff}ab\ncd", 6, 7), (2, 1, 2, 2));
        let (sources, file) = one("\u{feff}ab\ncd");
        assert_eq!(sources.line_text(file, 1), "ab");
        assert_eq!(sources.text(file).len(), 8, "the text itself keeps the mark");
    }

    #[test]
    fn spans_that_do_not_fit_are_clamped() {
        assert_eq!(place("ab", 1, 99), (1, 2, 1, 3));
        assert_eq!(place("ab", u32::MAX, u32::MAX), (1, 3, 1, 3));
        assert_eq!(place("ab", 2, 1), (1, 3, 1, 3));
        assert_eq!(place("界", 1, 2), (1, 1, 1, 2), "whole characters");
    }

    #[test]
    fn lines_can_be_listed() {
        let (sources, file) = one("ab\r\n\nc");
        let lines: Vec<_> = (1..=4).map(|line| sources.line_text(file, line)).collect();
        assert_eq!((sources.n_lines(file), lines), (3, vec!["ab", "", "c", ""]));
        assert_eq!(sources.line_span(file, 3), Span::new(file, 5, 6));
        assert_eq!(sources.line_text(file, 0), "ab");
    }

    #[test]
    fn a_file_of_another_session_is_empty() {
        let (sources, _) = one("ab");
        let stranger = FileId(7);
        assert_eq!((sources.name(stranger), sources.text(stranger)), ("<unknown file>", ""));
        assert_eq!(sources.line_col(Span::new(stranger, 3, 9)).end_col, 1);
        assert_eq!(sources.line_text(stranger, 1), "");
    }
}
