//! Comments between two tokens: which belong to the token before, which to the token after.
//!
//! The answer depends only on facts that printing preserves — line ends after a comment, the kinds
//! of the tokens — so that a formatted program is read the same way again:
//! - comments on the line of the token before, up to the end of that line, stay at its end;
//! - comments on the line of the token after, with nothing behind them, stay right before it, or,
//!   when it is a comma, semicolon or closing bracket, right after the token before, unless that
//!   is an opening bracket;
//! - all others, and every doc comment, have lines of their own.
//!
//! A line comment, and a block comment of several lines, always ends its line.

use super::doc::Place;
use crate::kind::SyntaxKind::*;
use crate::tree::{Token, Tree};

/// A comment and the number of line ends before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment<'t> {
    pub(super) text: &'t str,
    /// Where it begins in the source.
    pub(super) start: usize,
    pub(super) place: Place,
    pub(super) newlines_before: usize,
}

/// What lies between two tokens.
#[derive(Clone, Debug, Default)]
pub(super) struct Gap<'t> {
    comments: Vec<Comment<'t>>,
    /// How many of the comments belong to the token before.
    n_trailing: usize,
    /// Line ends after the last comment.
    pub(super) newlines_after: usize,
}

impl<'t> Gap<'t> {
    /// The gap before a token.
    pub(super) fn before(token: Token<'t>) -> Gap<'t> {
        let mut first = token;
        while let Some(previous) = first.previous().filter(|token| token.kind().is_trivia()) {
            first = previous;
        }
        Gap::read(first.previous(), Some(first))
    }

    /// The gap after a token.
    pub(super) fn after(token: Token<'t>) -> Gap<'t> {
        Gap::read(Some(token), token.next())
    }

    /// The gap that is a whole file without tokens.
    pub(super) fn of_empty_file(tree: &'t Tree) -> Gap<'t> {
        Gap::read(None, tree.tokens().next())
    }

    /// Reads the trivia from `first` on.
    fn read(previous: Option<Token<'t>>, first: Option<Token<'t>>) -> Gap<'t> {
        let mut gap = Gap::default();
        let mut at = first;
        let mut line_ended = previous.is_none();
        while let Some(token) = at.filter(|token| token.kind().is_trivia()) {
            if token.kind() == WHITESPACE {
                gap.newlines_after += token.text().matches('\n').count();
            } else {
                gap.push(token, line_ended);
                line_ended = token.kind() != BLOCK_COMMENT || token.text().contains('\n');
            }
            at = token.next();
        }
        if !gap.comments.is_empty() {
            let shared = at.filter(|_| !line_ended && gap.newlines_after == 0);
            gap.place(previous, shared);
        }
        gap
    }

    /// Adds a comment: `OwnLine` if it begins a line, else `EndOfLine`, until `place` knows more.
    fn push(&mut self, token: Token<'t>, line_ended: bool) {
        let newlines_before = std::mem::take(&mut self.newlines_after);
        let begins_line = newlines_before > 0 || line_ended || token.kind() == DOC_COMMENT;
        let place = if begins_line { Place::OwnLine } else { Place::EndOfLine };
        let text = match token.kind() {
            BLOCK_COMMENT => token.text(),
            _ => token.text().trim_end(),
        };
        self.comments.push(Comment { text, start: token.range().start, place, newlines_before });
    }

    /// Decides where each comment stands. `shared` is the token after the gap if it stands on the
    /// line of the last comment.
    fn place(&mut self, previous: Option<Token<'t>>, shared: Option<Token<'t>>) {
        let begins_line = |comment: &Comment<'_>| comment.place == Place::OwnLine;
        let n = self.comments.len();
        let n_trailing = self.comments.iter().position(begins_line).unwrap_or(n);
        // The comments from here on share the line of the token after the gap.
        let run = match shared {
            Some(_) => self.comments.iter().rposition(begins_line).unwrap_or(0),
            None => n,
        };
        let keeps_left = shared.is_some_and(|next| stays_left(next) && !opens(previous));
        let inside = match (keeps_left, run) {
            (false, _) => Some(Place::BeforeToken),
            (true, 0) => Some(Place::AfterToken),
            (true, _) => None,
        };
        for (i, comment) in self.comments.iter_mut().enumerate() {
            comment.place = match inside {
                Some(place) if i >= run => place,
                _ if i + 1 < n_trailing => Place::AfterToken,
                _ if i < n_trailing => Place::EndOfLine,
                _ if begins_line(comment) => Place::OwnLine,
                _ => Place::SameLine,
            };
        }
        self.n_trailing = if inside == Some(Place::AfterToken) { n } else { n_trailing.min(run) };
    }

    /// Only white space lies between the tokens.
    pub(super) fn is_empty(&self) -> bool {
        self.comments.is_empty()
    }

    /// There are comments, and all of them stand on the line of the token after: `f(/* none */)`.
    pub(super) fn is_inline(&self) -> bool {
        self.comments.first().is_some_and(|comment| comment.place == Place::BeforeToken)
    }

    /// The comments that belong to the token before the gap.
    pub(super) fn trailing(&self) -> &[Comment<'t>] {
        &self.comments[..self.n_trailing]
    }

    /// The comments that belong to the token after the gap.
    pub(super) fn leading(&self) -> &[Comment<'t>] {
        &self.comments[self.n_trailing..]
    }
}

/// Marks that follow their left neighbour closely, and so does a comment between.
fn stays_left(token: Token<'_>) -> bool {
    matches!(token.kind(), COMMA | SEMI | GT) || token.kind().is_closer()
}

fn opens(token: Option<Token<'_>>) -> bool {
    token.is_some_and(|token| token.kind().closer().is_some())
}
