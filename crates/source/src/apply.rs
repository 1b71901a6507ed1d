//! Carrying out the edits that a help proposes.
//!
//! Invariant: the result contains every replacement exactly once and every untouched byte of the
//! text exactly once, in order; if edits contradict each other nothing is applied at all.

use std::error::Error;
use std::fmt;

use crate::diagnostic::Edit;
use crate::span::Span;

/// Two edits that touch the same text, so that applying both has no one meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overlap {
    /// The edit that starts first.
    pub first: Span,
    /// The edit that starts before the first one has ended.
    pub second: Span,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (self.first.range(), self.second.range());
        write!(f, "the edits of bytes {first:?} and {second:?} overlap")
    }
}

impl Error for Overlap {}

/// The text after all edits, which must belong to this text.
///
/// Edits may come in any order. Insertions at one place keep the order in which they are given
/// and stand before the replacement of what follows the place. A span that does not fit the text
/// is cut to it.
pub fn apply_edits(text: &str, edits: &[Edit]) -> Result<String, Overlap> {
    let mut done = String::with_capacity(text.len());
    let mut copied = 0;
    for edit in in_order(edits)? {
        let start = text.floor_char_boundary(edit.span.start as usize).max(copied);
        let end = text.ceil_char_boundary((edit.span.end as usize).min(text.len())).max(start);
        done.push_str(&text[copied..start]);
        done.push_str(&edit.replacement);
        copied = end;
    }
    done.push_str(&text[copied..]);
    Ok(done)
}

/// The edits by place, or the first two that contradict each other.
fn in_order(edits: &[Edit]) -> Result<Vec<&Edit>, Overlap> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    for pair in sorted.windows(2) {
        let (first, second) = (pair[0].span, pair[1].span);
        if second.start < first.end {
            return Err(Overlap { first, second });
        }
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    fn edit(start: u32, end: u32, replacement: &str) -> Edit {
        Edit { span: Span { file: FileId(0), start, end }, replacement: replacement.into() }
    }

    #[track_caller]
    fn check(text: &str, edits: &[Edit], expected: &str) {
        assert_eq!(apply_edits(text, edits).as_deref(), Ok(expected));
    }

    #[test]
    fn text_is_inserted_replaced_and_deleted() {
        check("let x = 1", &[], "let x = 1");
        check("let x = 1", &[edit(9, 9, ";")], "let x = 1;");
        check("let x = 1", &[edit(4, 5, "width")], "let width = 1");
        check("let mut x", &[edit(4, 8, "")], "let x");
    }

    #[test]
    fn several_edits_apply_together_in_any_order() {
        check("a < b < c", &[edit(4, 5, "b && b"), edit(0, 1, "x")], "x < b && b < c");
        check(
            "ab",
            &[edit(1, 1, "2"), edit(0, 0, "("), edit(1, 1, "3"), edit(2, 2, ")")],
            "(a23b)",
        );
        check("ab", &[edit(0, 1, "x"), edit(1, 2, "y")], "xy");
        check("ab", &[edit(1, 2, "B"), edit(1, 1, "-")], "a-B");
    }

    #[test]
    fn contradicting_edits_are_refused() {
        let error = apply_edits("abcd", &[edit(2, 4, "x"), edit(0, 3, "y")]).unwrap_err();
        assert_eq!((error.first.range(), error.second.range()), (0..3, 2..4));
        assert_eq!(error.to_string(), "the edits of bytes 0..3 and 2..4 overlap");
        assert!(apply_edits("abcd", &[edit(0, 2, "x"), edit(1, 1, "y")]).is_err());
        assert!(apply_edits("abcd", &[edit(0, 2, "x"), edit(0, 2, "x")]).is_err());
    }

    #[test]
    fn spans_that_do_not_fit_are_cut() {
        check("ab", &[edit(1, 99, "x")], "ax");
        check("ab", &[edit(50, 99, "x")], "abx");
        check("界b", &[edit(1, 2, "x")], "xb");
        check("界", &[edit(0, 1, "x"), edit(1, 2, "y")], "xy");
    }
}
