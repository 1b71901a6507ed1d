//! Entries from lines that come one by one, in time that grows with the text and not its square.

use einlang_syntax::SyntaxKind;
use einlang_syntax::lexer::{Tokens, Unterminated, lex};

use super::input::{Input, input};

/// The lines of an entry that is not complete yet.
#[derive(Debug, Default)]
pub struct Reader {
    text: String,
    /// How many brackets and block comments are open.
    n_brackets: usize,
    n_comments: usize,
    /// A statement has ended.
    has_statement: bool,
    /// The first and the last word or mark.
    first: Option<SyntaxKind>,
    last: Option<SyntaxKind>,
}

impl Reader {
    /// Whether an entry has begun.
    pub fn has_begun(&self) -> bool {
        self.first.is_some() || self.n_comments > 0
    }

    /// Takes a line without its end; gives the entry that it completes. An empty line completes
    /// what is not inside brackets.
    pub fn push(&mut self, line: &str) -> Option<String> {
        self.text.push_str(line);
        self.text.push('\n');
        self.scan(line);
        let is_open = self.n_brackets > 0 || self.n_comments > 0;
        let needs_end = self.first.is_some_and(|first| {
            use SyntaxKind::{CONST, INPUT, LET, USE};
            matches!(first, LET | CONST | USE | INPUT)
        });
        let has_end = matches!(self.last, Some(SyntaxKind::SEMI | SyntaxKind::R_BRACE));
        let is_complete = match () {
            () if is_open => false,
            () if line.trim().is_empty() => true,
            () if needs_end && !has_end && !self.has_statement => false,
            () => input(&self.text) == Input::Complete,
        };
        is_complete.then(|| self.finish()).flatten()
    }

    /// The entry as it is; none if it says nothing.
    pub fn finish(&mut self) -> Option<String> {
        let Reader { text, first, n_comments, .. } = std::mem::take(self);
        (first.is_some() || n_comments > 0).then_some(text)
    }

    fn scan(&mut self, line: &str) {
        let rest = self.skip_comment(line);
        let tokens = lex(rest);
        for kind in &tokens.kinds {
            match kind {
                SyntaxKind::L_PAREN | SyntaxKind::L_BRACK | SyntaxKind::L_BRACE => {
                    self.n_brackets += 1;
                }
                SyntaxKind::R_PAREN | SyntaxKind::R_BRACK | SyntaxKind::R_BRACE => {
                    self.n_brackets = self.n_brackets.saturating_sub(1);
                }
                SyntaxKind::SEMI => self.has_statement |= self.n_brackets == 0,
                _ => {}
            }
            if !kind.is_trivia() {
                self.first = self.first.or(Some(*kind));
                self.last = Some(*kind);
            }
        }
        if let Some(start) = open_comment(&tokens) {
            self.n_comments = 1;
            self.skip_comment(&rest[start + 2..]);
        }
    }

    /// What follows the comment that a line begins in.
    fn skip_comment<'l>(&mut self, line: &'l str) -> &'l str {
        let mut rest = line;
        while self.n_comments > 0 {
            let (open, close) = (rest.find("/*"), rest.find("*/"));
            let at = match (open, close) {
                (Some(open), close) if close.is_none_or(|close| open < close) => {
                    self.n_comments += 1;
                    open
                }
                (_, Some(close)) => {
                    self.n_comments -= 1;
                    close
                }
                _ => return "",
            };
            rest = &rest[at + 2..];
        }
        rest
    }
}

fn open_comment(tokens: &Tokens) -> Option<usize> {
    let open = tokens.errors.iter().find(|error| error.what == Unterminated::Comment);
    open.map(|error| error.start as usize)
}
