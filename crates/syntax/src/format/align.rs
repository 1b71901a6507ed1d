//! Columns of comments: comments that stood below each other at the ends of neighbouring lines keep
//! standing below each other, as in
//!
//! ```text
//! let hist[b in 0..B] = sum[i](1 where key[i] == b); // grouped
//! let c[i] = sum[k in 0..=i](x[k]);                  // prefix
//! ```
//!
//! Invariant: comments that this pass has lined up have one column, so it lines them up again.

/// A comment at the end of a printed line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trailing {
    /// Where it begins in the printed text.
    pub(super) offset: usize,
    /// The line it ends, and where it begins there.
    pub(super) line: usize,
    pub(super) column: usize,
    /// Where it began on its line in the source.
    pub(super) source_column: usize,
}

impl Trailing {
    /// The comment stood, and stands, on the line above `next`.
    fn is_above(&self, next: &Trailing) -> bool {
        self.line + 1 == next.line && self.source_column == next.source_column
    }
}

/// Moves the comments of each run to the column of the one furthest to the right.
pub(super) fn align(text: &str, comments: &[Trailing]) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut copied = 0;
    for run in comments.chunk_by(Trailing::is_above) {
        let column = run.iter().map(|comment| comment.column).max().unwrap_or(0);
        for comment in run {
            out.push_str(&text[copied..comment.offset]);
            out.extend(std::iter::repeat_n(' ', column - comment.column));
            copied = comment.offset;
        }
    }
    out.push_str(&text[copied..]);
    out
}
