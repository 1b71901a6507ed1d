//! Where a label is shown.
//!
//! Spans say what the compiler means; readers need a place they can see. Here the end of the file
//! becomes the end of its last visible line, spans stop before the line break they swallowed, and
//! spans over lines too long to show are cut to their first line. Invariant: a shown range lies on
//! character boundaries within the visible contents of its first and last line.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Label};
use crate::files::Sources;
use crate::span::{FileId, Span};

/// A label as it is drawn.
pub(super) struct Mark {
    pub(super) file: FileId,
    pub(super) range: Range<usize>,
    /// First and last line, from 1.
    pub(super) lines: (u32, u32),
    /// The columns that a picture of the label must show, from 0.
    pub(super) columns: Range<usize>,
    pub(super) text: String,
    pub(super) is_primary: bool,
}

/// The span as reports give it, in lines and columns as well as in the picture. An empty span at
/// the end of the file moves back to the last visible character, as rustc does: the empty line
/// after it would show the reader nothing.
pub(super) fn reported(sources: &Sources, span: Span) -> Span {
    let span = sources.clamp(span);
    let text = sources.text(span.file);
    if !span.is_empty() || span.range().start < text.len() {
        return span;
    }
    let first = sources.line_span(span.file, 1).range().start;
    let end = text.trim_end().len().max(first);
    Span::at(span.file, end as u32)
}

/// All labels of a diagnostic, the primary one first.
pub(super) fn marks(sources: &Sources, diagnostic: &Diagnostic, columns: usize) -> Vec<Mark> {
    let mut marks = vec![mark(sources, &diagnostic.primary, true, columns)];
    for label in &diagnostic.secondary {
        add(&mut marks, mark(sources, label, false, columns));
    }
    marks
}

/// Two labels on the same lines would be drawn as two brackets around each other, so their words
/// are joined.
fn add(marks: &mut Vec<Mark>, mark: Mark) {
    let is_bracket = mark.lines.0 < mark.lines.1;
    let same = |other: &&mut Mark| other.file == mark.file && other.range == mark.range;
    match marks.iter_mut().find(same).filter(|_| is_bracket) {
        Some(other) => {
            let words = [other.text.as_str(), &mark.text];
            let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
            other.text = words.join("; ");
        }
        None => marks.push(mark),
    }
}

fn mark(sources: &Sources, label: &Label, is_primary: bool, columns: usize) -> Mark {
    let span = reported(sources, label.span);
    let (range, lines) = drawn(sources, span, columns);
    let at = sources.line_col(Span {
        file: span.file,
        start: range.start as u32,
        end: range.end as u32,
    });
    let columns = match lines.0 == lines.1 {
        true => at.col as usize - 1..at.end_col as usize - 1,
        false => 0..columns,
    };
    Mark { file: span.file, range, lines, columns, text: label.text.clone(), is_primary }
}

/// The range that is underlined and its first and last line.
fn drawn(sources: &Sources, span: Span, columns: usize) -> (Range<usize>, (u32, u32)) {
    let at = sources.line_col(span);
    let content = |line| sources.line_span(span.file, line).range();
    let start = within(span.start, &content(at.line));
    let mut last = at.end_line;
    let mut end = within(span.end, &content(last));
    while last > at.line && end == content(last).start {
        last -= 1;
        end = content(last).end;
    }
    let is_long = |line| sources.line_text(span.file, line).chars().count() > columns;
    if last > at.line && (at.line..=last).any(is_long) {
        last = at.line;
        end = content(last).end;
    }
    (start..end.max(start), (at.line, last))
}

/// An offset moved into the visible contents of its line: out of the line break behind them, or
/// out of the byte order mark before them.
pub(super) fn within(offset: u32, content: &Range<usize>) -> usize {
    (offset as usize).clamp(content.start, content.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;

    fn check(text: &str, start: u32, end: u32) -> (Range<usize>, (u32, u32)) {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", text);
        let span = reported(&sources, Span { file, start, end });
        drawn(&sources, span, 80)
    }

    #[test]
    fn the_end_of_the_file_is_shown_after_the_last_visible_character() {
        assert_eq!(check("ab\n", 3, 3), (2..2, (1, 1)));
        assert_eq!(check("ab  \n\n \n", 8, 8), (2..2, (1, 1)));
        assert_eq!(check("ab", 2, 2), (2..2, (1, 1)));
        assert_eq!(check("", 5, 9), (0..0, (1, 1)));
        assert_eq!(check(" \n", 2, 2), (0..0, (1, 1)));
        assert_eq!(check("\u{feff}\n", 4, 4), (3..3, (1, 1)));
    }

    #[test]
    fn line_breaks_are_not_underlined() {
        assert_eq!(check("ab\ncd\n", 0, 3), (0..2, (1, 1)));
        assert_eq!(check("ab\n\n\ncd", 0, 5), (0..2, (1, 1)));
        assert_eq!(check("ab\r\ncd", 3, 4), (2..2, (1, 1)));
        assert_eq!(check("ab\ncd", 2, 4), (2..4, (1, 2)));
    }

    #[test]
    fn long_lines_are_not_bracketed() {
        let text = format!("a\n{}\n", "x".repeat(100));
        assert_eq!(check(&text, 0, 50), (0..1, (1, 1)));
    }

    #[test]
    fn equal_brackets_share_their_words() {
        let mut sources = Sources::new();
        let file = sources.add("f.ein", "ab\ncd");
        let span = Span::new(file, 0, 5);
        let diagnostic = Diagnostic::error(Code::E0101, "m", span, "")
            .with_label(span, "one")
            .with_label(span, "two");
        let marks = marks(&sources, &diagnostic, 80);
        assert_eq!((marks.len(), marks[0].text.as_str()), (1, "one; two"));
    }
}
