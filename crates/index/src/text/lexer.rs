//! Words, numbers and signs.

use std::fmt;

use super::{ParseError, Parsed};

/// One word of a text form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// A number; one that does not fit saturates and is found out of range later.
    Number(u128),
    /// A keyword or name.
    Word(&'a str),
    /// A name in back-quotes.
    Quoted(&'a str),
    /// Punctuation or an operator.
    Sign(&'static str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(n) => write!(f, "`{n}`"),
            Token::Word(word) | Token::Quoted(word) => write!(f, "`{word}`"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// Longer signs come first.
const SIGNS: [&str; 20] = [
    "<=", ">=", "!=", "==", "<", ">", "=", "{", "}", "[", "]", "(", ")", ",", ":", "+", "-", "*",
    "/", "%",
];

pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '\''
}

/// The tokens of a text, each with the byte where it starts.
pub(super) fn tokens(text: &str) -> Parsed<Vec<(Token<'_>, usize)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, length) = token(rest, c)
            .ok_or_else(|| ParseError { at, message: format!("unexpected `{c}`") })?;
        tokens.push((token, at));
        at += length;
    }
    Ok(tokens)
}

/// The token at the start of `rest`, whose first character is `c`, and its length.
fn token(rest: &str, c: char) -> Option<(Token<'_>, usize)> {
    if c == '`' {
        let name = rest[1..].split('`').next().filter(|n| n.len() + 1 < rest.len())?;
        return Some((Token::Quoted(name), name.len() + 2));
    }
    if c.is_ascii_digit() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        return Some((Token::Number(rest[..digits].parse().unwrap_or(u128::MAX)), digits));
    }
    if c.is_alphabetic() || c == '_' {
        let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        return Some((Token::Word(&rest[..length]), length));
    }
    let sign = SIGNS.iter().find(|s| rest.starts_with(**s))?;
    Some((Token::Sign(sign), sign.len()))
}
