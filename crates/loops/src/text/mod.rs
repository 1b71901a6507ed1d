//! What the text forms of schedules and kernels share: words, numbers, signs and raw pieces.

use std::fmt;

/// Why a text could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// The position in bytes.
    pub at: usize,
    /// One phrase.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.at)
    }
}

impl std::error::Error for TextError {}

pub(crate) type Parsed<T> = Result<T, TextError>;

/// How deeply blocks may nest.
const MAX_DEPTH: usize = 200;

/// A position in a text.
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, at: 0, depth: 0 }
    }

    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(TextError { at: self.at, message: message.into() })
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Steps over a sign if it is next.
    pub(crate) fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    pub(crate) fn expect(&mut self, sign: &str) -> Parsed<()> {
        match self.eat(sign) {
            true => Ok(()),
            false => self.fail(format!("expected `{sign}`")),
        }
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    fn word_length(&self) -> usize {
        let rest = self.rest();
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '#');
        rest.find(|c| !part(c)).unwrap_or(rest.len())
    }

    /// Steps over a word if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let found = self.rest().get(..self.word_length()) == Some(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => self.fail(format!("expected `{word}`")),
        }
    }

    /// The next word without stepping over it.
    pub(crate) fn peek_word(&mut self) -> &'t str {
        self.skip_space();
        self.rest().get(..self.word_length()).unwrap_or("")
    }

    /// A name: a word, or anything in back-quotes.
    pub(crate) fn name(&mut self) -> Parsed<String> {
        self.skip_space();
        if self.eat("`") {
            let Some(end) = self.rest().find('`') else { return self.fail("a name has no end") };
            let name = self.rest()[..end].to_owned();
            self.at += end + 1;
            return Ok(name);
        }
        let word = self.peek_word();
        if word.is_empty() {
            return self.fail("expected a name");
        }
        self.at += word.len();
        Ok(word.to_owned())
    }

    pub(crate) fn number(&mut self) -> Parsed<i64> {
        self.skip_space();
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
        match rest[..sign + digits].parse() {
            Ok(number) => {
                self.at += sign + digits;
                Ok(number)
            }
            Err(_) => self.fail("expected a number"),
        }
    }

    /// A text in quotes, in which quotes and backslashes have a backslash before them.
    pub(crate) fn quoted(&mut self) -> Parsed<String> {
        self.expect("\"")?;
        let mut found = String::new();
        let mut escaped = false;
        for (at, c) in self.rest().char_indices() {
            match (escaped, c) {
                (true, c) => {
                    found.push(c);
                    escaped = false;
                }
                (false, '\\') => escaped = true,
                (false, '"') => {
                    self.at += at + 1;
                    return Ok(found);
                }
                (false, c) => found.push(c),
            }
        }
        self.fail("a text has no end")
    }

    /// Everything up to one of the signs, brackets and back-quotes taken as a whole.
    pub(crate) fn raw(&mut self, ends: &[char]) -> Parsed<&'t str> {
        self.skip_space();
        let (mut depth, mut quoted) = (0_usize, false);
        for (at, c) in self.rest().char_indices() {
            if !quoted && depth == 0 && ends.contains(&c) {
                let found = self.rest()[..at].trim();
                self.at += at;
                return Ok(found);
            }
            match c {
                '`' => quoted = !quoted,
                '(' | '[' | '{' if !quoted => depth += 1,
                ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.fail("an expression has no end")
    }

    /// Reads something one level deeper.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail("blocks nest too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// A list with commas up to a closing sign.
    pub(crate) fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut found = Vec::new();
        if self.eat(close) {
            return Ok(found);
        }
        loop {
            found.push(item(self)?);
            if self.eat(close) {
                return Ok(found);
            }
            self.expect(",")?;
        }
    }
}

/// A text in quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(if c == '\n' { ' ' } else { c });
    }
    quoted + "\""
}

/// A name, in back-quotes where it would not read back as one word.
pub(crate) fn show_name(name: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '#');
    match !name.is_empty() && name.chars().all(part) {
        true => name.to_owned(),
        false => format!("`{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_one_by_one() {
        let mut cursor = Cursor::new(" loop `a b` x.1 -3 \"q\\\"\" (f(a, b), c]) ]");
        assert!(cursor.eat_word("loop") && !cursor.eat_word("x"));
        assert_eq!(cursor.name().as_deref(), Ok("a b"));
        assert_eq!(cursor.name().as_deref(), Ok("x.1"));
        assert_eq!(cursor.number(), Ok(-3));
        assert_eq!(cursor.quoted().as_deref(), Ok("q\""));
        assert_eq!(cursor.raw(&[']']), Ok("(f(a, b), c])"));
        assert_eq!(quote("a\"b"), "\"a\\\"b\"");
    }
}
