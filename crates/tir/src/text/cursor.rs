//! A position in the tokens of a text, shared by the readers of tensor and host IR.

use std::ops::Range;

use super::lexer::{Token, tokens};
use super::{Parsed, TextError};
use crate::constant::Const;
use crate::types::{Elem, Ident};

/// How deeply regions may nest.
const MAX_DEPTH: usize = 100;

/// Where the reader is.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    pub(super) text: &'a str,
    tokens: Vec<(Token<'a>, Range<usize>)>,
    at: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Parsed<Cursor<'a>> {
        Ok(Cursor { text, tokens: tokens(text)?, at: 0, depth: 0 })
    }

    pub(crate) fn peek(&self) -> Option<&Token<'a>> {
        self.peek_at(0)
    }

    /// The token `ahead` places further on.
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<&Token<'a>> {
        self.tokens.get(self.at + ahead).map(|token| &token.0)
    }

    pub(crate) fn skip(&mut self, n_tokens: usize) {
        self.at += n_tokens;
    }

    /// The byte where the token `ahead` places further on starts.
    pub(super) fn byte_at(&self, ahead: usize) -> usize {
        self.tokens.get(self.at + ahead).map_or(self.text.len(), |token| token.1.start)
    }

    /// The text of the next tokens, without what surrounds them.
    pub(super) fn slice(&self, n_tokens: usize) -> &'a str {
        let start = self.byte_at(0);
        let last = n_tokens.checked_sub(1).and_then(|n| self.tokens.get(self.at + n));
        &self.text[start..last.map_or(start, |token| token.1.end)]
    }

    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(TextError::at(self.text, self.byte_at(0), message))
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        match self.peek() {
            Some(token) => self.fail(format!("expected {what}, found {token}")),
            None => self.fail(format!("expected {what}, found the end")),
        }
    }

    pub(crate) fn sees(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    pub(crate) fn sees_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(found)) if *found == word)
    }

    /// Steps over the sign if it is next.
    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        let found = self.sees(sign);
        self.at += usize::from(found);
        found
    }

    /// Steps over the keyword if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.sees_word(word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.eat(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    pub(crate) fn end(&self) -> Parsed<()> {
        if self.peek().is_none() { Ok(()) } else { self.expected("the end") }
    }

    pub(crate) fn word(&mut self) -> Parsed<&'a str> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = *word;
                self.at += 1;
                Ok(word)
            }
            _ => self.expected("a word"),
        }
    }

    pub(crate) fn ident(&mut self) -> Parsed<Ident> {
        match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name)) => {
                let name = Ident::new(name);
                self.at += 1;
                Ok(name)
            }
            _ => self.expected("a name"),
        }
    }

    pub(crate) fn elem(&mut self) -> Parsed<Elem> {
        match self.peek() {
            Some(Token::Word(word)) if Elem::parse(word).is_some() => {
                let elem = Elem::parse(word).unwrap_or(Elem::Bool);
                self.at += 1;
                Ok(elem)
            }
            _ => self.expected("an element type"),
        }
    }

    pub(crate) fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => self.expected("a string"),
        }
    }

    /// An integer that fits.
    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let negative = if self.eat("-") { "-" } else { "" };
        match self.peek() {
            Some(Token::Number(digits)) => match format!("{negative}{digits}").parse() {
                Ok(number) => {
                    self.at += 1;
                    Ok(number)
                }
                Err(_) => self.expected("an integer"),
            },
            _ => self.expected("an integer"),
        }
    }

    /// The constant that is next, if one is.
    pub(crate) fn constant(&mut self) -> Option<Const> {
        let minus = usize::from(self.sees("-"));
        let (Token::Word(text) | Token::Number(text)) = self.peek_at(minus)? else { return None };
        let sign = if minus == 1 { "-" } else { "" };
        let constant = Const::parse_typed(&format!("{sign}{text}"))?;
        self.at += minus + 1;
        Some(constant)
    }

    /// Items separated by commas, at least one.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Enters something that may nest.
    pub(crate) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.fail("nested too deeply") } else { Ok(()) }
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
