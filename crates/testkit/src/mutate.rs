//! Small mistakes, made on purpose: one token of a text deleted, doubled, exchanged or replaced.
//!
//! A mutation knows where it happened, so that a test can ask whether the message about it points
//! there. Tokens next to the change stay what they are: where they would join, a space keeps them
//! apart, so that exactly one token of the sequence changes.

use std::ops::{Range, RangeInclusive};

use einlang_syntax::SyntaxKind::{self, FLOAT, IDENT, INT};
use einlang_syntax::lexer::{Tokens, lex};

use crate::generate::Source;

/// Names and numbers that take the place of others: common ones, and some that are no tokens of
/// the kind they replace.
const NAMES: &[&str] = &["x", "i", "zzz", "last", "in", "let", "größe", "fn", "mut"];
const NUMBERS: &[&str] = &["0", "7", "1.5", "0xff", "1e9", "300u8", "0b1", "12abc", "1e"];

/// What was done to the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A token is gone.
    Delete,
    /// A token stands twice.
    Duplicate,
    /// Two tokens have exchanged places.
    Swap,
    /// A name has become another one.
    Rename,
    /// A number has become another one.
    Renumber,
}

/// A text with one small mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutation {
    /// The text with the mistake.
    pub text: String,
    /// What was done.
    pub change: Change,
    /// The bytes of the original text from the first to the last token concerned.
    pub bytes: Range<usize>,
    /// The lines, counted from 1, from the token before those bytes to the one after them. The
    /// mutated text has the same lines.
    pub lines: RangeInclusive<u32>,
}

/// A text that can be mutated: its tokens other than white space and comments.
pub struct Mutator<'t> {
    text: &'t str,
    tokens: Vec<(SyntaxKind, Range<usize>)>,
}

impl<'t> Mutator<'t> {
    /// Finds the tokens of a text.
    pub fn new(text: &'t str) -> Mutator<'t> {
        let Tokens { kinds, starts, .. } = lex(text);
        let ranges = starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        let tokens = kinds.into_iter().zip(ranges).filter(|(kind, _)| !kind.is_trivia());
        Mutator { text, tokens: tokens.collect() }
    }

    /// How many tokens there are to change.
    pub fn n_tokens(&self) -> usize {
        self.tokens.len()
    }

    /// The text of a token.
    pub fn token(&self, i: usize) -> &'t str {
        &self.text[self.tokens[i].1.clone()]
    }

    /// The text without token `i`.
    pub fn delete(&self, i: usize) -> Mutation {
        self.replaced(Change::Delete, i, "")
    }

    /// The text with token `i` twice.
    pub fn duplicate(&self, i: usize) -> Mutation {
        let token = self.token(i);
        self.replaced(Change::Duplicate, i, &format!("{token} {token}"))
    }

    /// The text with two tokens exchanged.
    pub fn swap(&self, i: usize, j: usize) -> Mutation {
        let (i, j) = (i.min(j), i.max(j));
        let (first, second) = (self.tokens[i].1.clone(), self.tokens[j].1.clone());
        let bytes = first.start..second.end;
        if i == j {
            return self.spliced(Change::Swap, bytes, &[self.token(i)]);
        }
        let between = &self.text[first.end..second.start];
        self.spliced(Change::Swap, bytes, &[self.token(j), between, self.token(i)])
    }

    /// The text with token `i`, a name, spelled in another way.
    pub fn rename(&self, i: usize, name: &str) -> Mutation {
        self.replaced(Change::Rename, i, name)
    }

    /// The text with another number as token `i`.
    pub fn renumber(&self, i: usize, number: &str) -> Mutation {
        self.replaced(Change::Renumber, i, number)
    }

    /// The text without each token in turn.
    pub fn deletions(&self) -> impl Iterator<Item = (usize, Mutation)> {
        (0..self.n_tokens()).map(|i| (i, self.delete(i)))
    }

    /// Any mutation; nothing when the text has no token, or none of the kind that was drawn.
    pub fn random(&self, source: &mut Source<'_>) -> Option<Mutation> {
        let i = source.below(self.n_tokens());
        self.tokens.get(i)?;
        match source.below(5) {
            0 => Some(self.delete(i)),
            1 => Some(self.duplicate(i)),
            2 => Some(self.swap(i, source.below(self.n_tokens()))),
            3 => Some(self.rename(self.some(source, &[IDENT])?, source.pick(NAMES))),
            _ => Some(self.renumber(self.some(source, &[INT, FLOAT])?, source.pick(NUMBERS))),
        }
    }

    /// One of the tokens of these kinds.
    fn some(&self, source: &mut Source<'_>, kinds: &[SyntaxKind]) -> Option<usize> {
        let found = |i: &usize| kinds.contains(&self.tokens[*i].0);
        let all: Vec<usize> = (0..self.n_tokens()).filter(found).collect();
        all.get(source.below(all.len())).copied()
    }

    fn replaced(&self, change: Change, i: usize, replacement: &str) -> Mutation {
        self.spliced(change, self.tokens[i].1.clone(), &[replacement])
    }

    fn spliced(&self, change: Change, bytes: Range<usize>, replacement: &[&str]) -> Mutation {
        let mut text = self.text[..bytes.start].to_string();
        for piece in replacement.iter().copied().chain([&self.text[bytes.end..]]) {
            if would_join(&text, piece) {
                text.push(' ');
            }
            text.push_str(piece);
        }
        let lines = self.lines_around(&bytes);
        Mutation { text, change, bytes, lines }
    }

    fn lines_around(&self, bytes: &Range<usize>) -> RangeInclusive<u32> {
        let before = self.tokens.iter().rev().find(|(_, token)| token.end <= bytes.start);
        let after = self.tokens.iter().find(|(_, token)| token.start >= bytes.end);
        let first = before.map_or(0, |(_, token)| token.start);
        let last = after.map_or(self.text.len(), |(_, token)| token.start);
        self.line(first)..=self.line(last)
    }

    /// The line of a byte, counted from 1.
    fn line(&self, at: usize) -> u32 {
        1 + self.text[..at].bytes().filter(|byte| *byte == b'\n').count() as u32
    }
}

/// Two words in a row need a space. Marks are left alone: a mark that joins another is a mistake
/// of its own, and inside a string a space would be text.
fn would_join(before: &str, after: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    before.ends_with(is_word) && after.starts_with(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "let x =\n  a + 12; // note\nlet y = x;\n";

    fn texts(make: impl Fn(&Mutator<'_>) -> Mutation) -> String {
        make(&Mutator::new(TEXT)).text
    }

    #[test]
    fn each_change_is_exactly_one() {
        assert_eq!(texts(|m| m.delete(3)), "let x =\n   + 12; // note\nlet y = x;\n");
        assert_eq!(texts(|m| m.duplicate(2)), "let x = =\n  a + 12; // note\nlet y = x;\n");
        assert_eq!(texts(|m| m.swap(6, 3)), "let x =\n  ; + 12 a // note\nlet y = x;\n");
        assert_eq!(texts(|m| m.swap(1, 1)), TEXT);
        assert_eq!(texts(|m| m.rename(1, "in")), "let in =\n  a + 12; // note\nlet y = x;\n");
        assert_eq!(texts(|m| m.renumber(5, "0x")), "let x =\n  a + 0x; // note\nlet y = x;\n");
    }

    #[test]
    fn lines_reach_from_the_token_before_to_the_one_after() {
        let mutator = Mutator::new(TEXT);
        assert_eq!(mutator.token(2), "=");
        assert_eq!(mutator.delete(2).lines, 1..=2);
        assert_eq!(mutator.delete(4).lines, 2..=2);
        assert_eq!(mutator.delete(6).lines, 2..=3);
        assert_eq!(mutator.delete(11).lines, 3..=4);
        assert_eq!(mutator.deletions().count(), 12);
    }

    #[test]
    fn neighbours_stay_apart() {
        assert_eq!(Mutator::new("x[i]").delete(1).text, "x i]");
        assert_eq!(Mutator::new("a+b").delete(1).text, "a b");
    }

    #[test]
    fn a_text_without_tokens_has_no_mutation() {
        assert_eq!(Mutator::new("// note\n").random(&mut Source::from_seed(1)), None);
    }
}
