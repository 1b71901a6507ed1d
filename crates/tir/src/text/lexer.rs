//! Words, numbers, strings and signs.

use std::fmt;
use std::ops::Range;

use super::{Parsed, TextError};

/// One word of the text form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token<'a> {
    /// A keyword or name.
    Word(&'a str),
    /// A name in back-quotes.
    Quoted(&'a str),
    /// A number with whatever letters follow it.
    Number(&'a str),
    /// `%7`
    Value(u32),
    /// A string.
    Text(String),
    /// Punctuation.
    Sign(&'static str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Quoted(text) | Token::Number(text) => write!(f, "`{text}`"),
            Token::Value(number) => write!(f, "`%{number}`"),
            Token::Text(_) => f.write_str("a string"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// Longer signs come first.
const SIGNS: [&str; 24] = [
    "->", "=>", "<=", ">=", "!=", "==", "<", ">", "=", "{", "}", "[", "]", "(", ")", ",", ";", ":",
    "+", "-", "*", "/", "%", "|",
];

/// True when the name is a single word.
pub(super) fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_word) && chars.all(continues_word)
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'' | '.')
}

/// The tokens of a text, each with the bytes it covers.
pub(super) fn tokens(text: &str) -> Parsed<Vec<(Token<'_>, Range<usize>)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else {
            let (token, length) = token(rest, c)
                .ok_or_else(|| TextError::at(text, at, format!("unexpected `{c}`")))?;
            tokens.push((token, at..at + length));
            at += length;
        }
    }
    Ok(tokens)
}

/// The token at the start of `rest`, whose first character is `c`, and its length.
fn token(rest: &str, c: char) -> Option<(Token<'_>, usize)> {
    match c {
        '`' => {
            let end = rest[1..].find('`')?;
            Some((Token::Quoted(&rest[1..=end]), end + 2))
        }
        '"' => string(rest),
        '%' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
            Some((Token::Value(rest[1..=digits].parse().ok()?), digits + 1))
        }
        c if c.is_ascii_digit() => {
            let length = number_length(rest);
            Some((Token::Number(&rest[..length]), length))
        }
        c if starts_word(c) => {
            let length = rest.find(|c| !continues_word(c)).unwrap_or(rest.len());
            Some((Token::Word(&rest[..length]), length))
        }
        _ => {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            Some((Token::Sign(sign), sign.len()))
        }
    }
}

/// Digits, a point, letters, and a sign directly after an exponent's `e`.
fn number_length(rest: &str) -> usize {
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        let in_exponent = matches!(c, '+' | '-') && before == 'e' && !rest.starts_with("0x");
        if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || in_exponent) {
            return at;
        }
        before = c;
    }
    rest.len()
}

fn string(rest: &str) -> Option<(Token<'_>, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((Token::Text(text), at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                other => text.push(other),
            },
            c => text.push(c),
        }
    }
    None
}
