//! Reading the text forms of this crate: affine and quasi-affine expressions and domains.
//!
//! ```text
//! domain  = "{" "[" [name {"," name}] "]" [":" formula] "}"
//! formula = conj {"or" conj}            conj = unit {"and" unit}
//! unit    = "true" | "false" | "not" unit | "exists" name {"," name} ":" formula
//!         | "(" formula ")" | sum compare sum {compare sum}
//! compare = "<" | "<=" | ">" | ">=" | "=" | "!="
//! sum     = ["-"] product {("+" | "-") product}
//! product = factor {"*" factor | ("/" | "%" | "mod") number}
//! factor  = number | name | "(" sum ")" | "floor" "(" product "/" number ")"
//! bound   = sum | ("min" | "max") "(" bound {"," bound} ")"
//! ```
//!
//! `/` and `%` are the language's truncating operators, `floor` and `mod` the flooring ones. Names
//! that are not words stand in back-quotes. A name that the table does not know becomes a symbol,
//! between brackets an index. Nothing printed by this crate is rejected, and no text panics.

use std::fmt;

use crate::affine::Affine;
use crate::domain::Domain;
use crate::error::GaveUp;
use crate::minmax::MinMax;
use crate::quasi::Quasi;
use crate::var::Vars;

mod expr;
mod formula;
mod lexer;

use lexer::{Token, tokens};

/// Why a text could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The byte where reading stopped.
    pub at: usize,
    /// What was wrong there.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.message)
    }
}

impl std::error::Error for ParseError {}

pub(crate) type Parsed<T> = Result<T, ParseError>;

const KEYWORDS: [&str; 8] = ["and", "or", "not", "exists", "true", "false", "floor", "mod"];

/// True when the name is a single word of the text forms.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts && chars.all(lexer::continues_name) && !KEYWORDS.contains(&name)
}

impl Quasi {
    /// Reads an expression such as `2*floor(i / 2) + n - 1`.
    pub fn parse(text: &str, vars: &mut Vars) -> Parsed<Quasi> {
        let mut parser = Parser::new(text, vars)?;
        let expr = parser.sum()?;
        parser.end()?;
        Ok(expr)
    }
}

impl Affine {
    /// Reads an expression such as `2*i + n - 1`.
    pub fn parse(text: &str, vars: &mut Vars) -> Parsed<Affine> {
        let expr = Quasi::parse(text, vars)?;
        let error = || ParseError { at: 0, message: "the expression is not affine".to_owned() };
        expr.as_affine().cloned().ok_or_else(error)
    }
}

impl MinMax {
    /// Reads a bound such as `min(n - 1, m)`.
    pub fn parse(text: &str, vars: &mut Vars) -> Parsed<MinMax> {
        let mut parser = Parser::new(text, vars)?;
        let bound = parser.bound()?;
        parser.end()?;
        Ok(bound)
    }
}

impl Domain {
    /// Reads a domain such as `{ [i, j] : 0 <= i < n and j = 2*i + 1 }`.
    pub fn parse(text: &str, vars: &mut Vars) -> Parsed<Domain> {
        let mut parser = Parser::new(text, vars)?;
        let domain = parser.domain()?;
        parser.end()?;
        Ok(domain)
    }
}

/// How deeply parentheses may nest.
const MAX_DEPTH: usize = 64;

/// A position in the tokens of a text.
struct Parser<'a> {
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    length: usize,
    depth: usize,
    vars: &'a mut Vars,
    /// Names bound by `exists`, innermost last.
    bound: Vec<(&'a str, crate::var::Var)>,
    next_local: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, vars: &'a mut Vars) -> Parsed<Parser<'a>> {
        let (tokens, length) = (tokens(text)?, text.len());
        Ok(Parser { tokens, at: 0, length, depth: 0, vars, bound: Vec::new(), next_local: 0 })
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|t| t.0)
    }

    /// Steps over the token if it is next.
    fn eat(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: Token<'_>) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { self.fail(format!("expected {token}")) }
    }

    fn end(&self) -> Parsed<()> {
        if self.peek().is_none() { Ok(()) } else { self.fail("expected the end") }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let at = self.tokens.get(self.at).map_or(self.length, |t| t.1);
        Err(ParseError { at, message: message.into() })
    }

    /// Reports where arithmetic or elimination gave up.
    fn known<T>(&self, result: Result<T, GaveUp>) -> Parsed<T> {
        result.or_else(|reason| self.fail(reason.to_string()))
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}
