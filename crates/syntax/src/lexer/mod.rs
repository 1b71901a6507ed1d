//! Text to tokens. The lexer never fails: every byte of the text lands in exactly one token, and
//! what is wrong is recorded beside the tokens.
//!
//! It is written by hand because strings hold expressions. A stack of open interpolations tells
//! whether a `}` closes a bracket of the program or returns to the text of a string. A string ends
//! on the line where it begins, so a forgotten quote spoils one line and not the rest of the file.

mod number;
mod string;

use crate::kind::SyntaxKind::{self, *};

/// The tokens of one text: kinds, and where each begins. The last entry of `starts` is the length
/// of the text, so token `i` spans `starts[i]..starts[i + 1]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tokens {
    /// The kind of each token.
    pub kinds: Vec<SyntaxKind>,
    /// Where each token begins, and the end of the text.
    pub starts: Vec<u32>,
    /// What is wrong with single tokens.
    pub errors: Vec<LexError>,
}

impl Tokens {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// True for the empty text.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The byte range of token `i`.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }
}

/// A token that ended before it should have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LexError {
    /// What was not finished.
    pub what: Unterminated,
    /// Where it begins.
    pub start: u32,
    /// Where the text or line ended instead.
    pub end: u32,
}

/// The constructs that need an end mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unterminated {
    /// A string without its closing quote.
    String,
    /// A string that ends inside an interpolation.
    Interpolation,
    /// A block comment without its `*/`.
    Comment,
}

/// Splits a text into tokens.
pub fn lex(text: &str) -> Tokens {
    let mut lexer = Lexer::new(text);
    while lexer.pos < lexer.bytes.len() {
        lexer.next_token();
    }
    lexer.close_open_strings();
    lexer.tokens.starts.push(text.len() as u32);
    lexer.tokens
}

/// A string whose interpolation is being lexed.
struct OpenString {
    /// Where its opening quote stands.
    quote: u32,
    /// Brackets opened inside the interpolation and not closed yet.
    depth: u32,
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    tokens: Tokens,
    open_strings: Vec<OpenString>,
}

impl<'t> Lexer<'t> {
    fn new(text: &'t str) -> Lexer<'t> {
        // Programs average about three bytes a token, white space included.
        let expected = text.len() / 3 + 1;
        let tokens = Tokens {
            kinds: Vec::with_capacity(expected),
            starts: Vec::with_capacity(expected + 1),
            errors: Vec::new(),
        };
        Lexer { text, bytes: text.as_bytes(), pos: 0, tokens, open_strings: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: SyntaxKind, start: usize) {
        self.tokens.kinds.push(kind);
        self.tokens.starts.push(start as u32);
    }

    fn next_token(&mut self) {
        let start = self.pos;
        let byte = self.bytes[start];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.whitespace(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string_open(),
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            0x80.. => self.non_ascii(),
            _ => self.punctuation(byte),
        }
        debug_assert!(self.pos > start, "every token has at least one byte");
    }

    fn whitespace(&mut self) {
        let start = self.pos;
        while matches!(self.peek(0), b' ' | b'\t' | b'\r' | b'\n') {
            if self.bytes[self.pos] == b'\n' {
                self.close_open_strings();
            }
            self.pos += 1;
        }
        self.push(WHITESPACE, start);
    }

    fn word(&mut self) {
        let start = self.pos;
        self.skip_identifier();
        let kind = keyword_or_ident(&self.text[start..self.pos]);
        self.push(kind, start);
    }

    /// Passes over identifier characters, ASCII ones without decoding.
    fn skip_identifier(&mut self) {
        loop {
            match self.peek(0) {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.pos += 1,
                0x80.. => match self.char_here() {
                    Some(c) if unicode_ident::is_xid_continue(c) => self.pos += c.len_utf8(),
                    _ => return,
                },
                _ => return,
            }
        }
    }

    fn char_here(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    fn non_ascii(&mut self) {
        let start = self.pos;
        let Some(c) = self.char_here() else { return };
        self.pos += c.len_utf8();
        if unicode_ident::is_xid_start(c) {
            self.skip_identifier();
            self.push(IDENT, start);
        } else if c == '\u{feff}' || c.is_whitespace() {
            self.push(WHITESPACE, start);
        } else {
            self.push(UNKNOWN, start);
        }
    }

    fn line_comment(&mut self) {
        let start = self.pos;
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        let length = if rest[..length].ends_with(b"\r") { length - 1 } else { length };
        self.pos += length;
        // Four slashes are a rule across the page, not documentation.
        let doc = rest.starts_with(b"///") && !rest.starts_with(b"////");
        self.push(if doc { DOC_COMMENT } else { LINE_COMMENT }, start);
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        self.pos += 2;
        let mut depth = 1;
        while depth > 0 && self.pos < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => (depth, self.pos) = (depth + 1, self.pos + 2),
                (b'*', b'/') => (depth, self.pos) = (depth - 1, self.pos + 2),
                (b'\n', _) => {
                    self.close_open_strings();
                    self.pos += 1;
                }
                _ => self.pos += 1,
            }
        }
        if depth > 0 {
            self.error(Unterminated::Comment, start, self.pos);
        }
        self.push(BLOCK_COMMENT, start);
    }

    fn error(&mut self, what: Unterminated, start: usize, end: usize) {
        self.tokens.errors.push(LexError { what, start: start as u32, end: end as u32 });
    }

    fn punctuation(&mut self, byte: u8) {
        let start = self.pos;
        if self.in_interpolation() && self.interpolation_mark(byte) {
            return;
        }
        let (kind, length) = punctuation_at(byte, self.peek(1), self.peek(2));
        self.pos += length;
        self.push(kind, start);
    }
}

fn keyword_or_ident(word: &str) -> SyntaxKind {
    match word.len() {
        1 if word == "_" => UNDERSCORE,
        2..=6 => SyntaxKind::keyword(word).unwrap_or(IDENT),
        _ => IDENT,
    }
}

/// The longest punctuation mark that begins with these bytes, and its length.
fn punctuation_at(first: u8, second: u8, third: u8) -> (SyntaxKind, usize) {
    match (first, second) {
        (b'.', b'.') if third == b'=' => (DOT2EQ, 3),
        (b'.', b'.') => (DOT2, 2),
        (b':', b':') => (COLON2, 2),
        (b'=', b'=') => (EQ2, 2),
        (b'=', b'>') => (FAT_ARROW, 2),
        (b'!', b'=') => (NEQ, 2),
        (b'!', b'>') => (BANG_GT, 2),
        (b'<', b'=') => (LTEQ, 2),
        (b'>', b'=') => (GTEQ, 2),
        (b'*', b'*') => (STAR2, 2),
        (b'&', b'&') => (AND2, 2),
        (b'|', b'|') => (PIPE2, 2),
        (b'|', b'>') => (PIPE_GT, 2),
        (b'?', b'>') => (QUESTION_GT, 2),
        (b'-', b'>') => (ARROW, 2),
        _ => (single(first), 1),
    }
}

fn single(byte: u8) -> SyntaxKind {
    match byte {
        b'(' => L_PAREN,
        b')' => R_PAREN,
        b'[' => L_BRACK,
        b']' => R_BRACK,
        b'{' => L_BRACE,
        b'}' => R_BRACE,
        b',' => COMMA,
        b';' => SEMI,
        b':' => COLON,
        b'.' => DOT,
        b'=' => EQ,
        b'<' => LT,
        b'>' => GT,
        b'+' => PLUS,
        b'-' => MINUS,
        b'*' => STAR,
        b'/' => SLASH,
        b'%' => PERCENT,
        b'!' => BANG,
        b'|' => PIPE,
        b'?' => QUESTION,
        b'@' => AT,
        b'#' => HASH,
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests;
