//! Values as people write them on a command line, and as JSON files hold them.
//!
//! `2.5`, `-1`, `1_000`, `true`, `"text"`, `[[1, 2], [3, 4]]`, `(1, 2)`, `{"x": 1}` and
//! `P { x: 1 }`. Numbers are kept as text, for their type is that of the input.

/// How deep lists may nest.
const DEEPEST: usize = 64;

/// A value without a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Literal {
    /// Anything without brackets and quotes: a number, a truth value, a name.
    Word(String),
    Text(String),
    List(Vec<Literal>),
    Record(Vec<(String, Literal)>),
}

impl Literal {
    /// What kind of value it is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Literal::Word(word) => format!("`{word}`"),
            Literal::Text(_) => "a string".to_owned(),
            Literal::List(items) => format!("a list of {}", items.len()),
            Literal::Record(_) => "a record".to_owned(),
        }
    }
}

/// Reads a literal; the message says what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Literal, String> {
    let mut reader = Reader { rest: text.trim() };
    let literal = reader.value(0)?;
    match reader.rest.trim_start() {
        "" => Ok(literal),
        rest => Err(format!("`{}` follows the value", shortened(rest))),
    }
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(20).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn eat(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(wanted);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Literal, String> {
        if depth > DEEPEST {
            return Err("the value is nested too deeply".to_owned());
        }
        for (open, close) in [('[', ']'), ('(', ')')] {
            if self.eat(open) {
                return self.items(close, |reader| reader.value(depth + 1)).map(Literal::List);
            }
        }
        if self.eat('{') {
            return self.record(depth);
        }
        if self.eat('"') {
            return self.text().map(Literal::Text);
        }
        let word = self.word();
        // The name of a struct says nothing that its type does not.
        if !word.is_empty() && self.eat('{') {
            return self.record(depth);
        }
        match word.is_empty() {
            true => Err(match self.rest {
                "" => "a value is missing".to_owned(),
                rest => format!("`{}` is no value", shortened(rest)),
            }),
            false => Ok(Literal::Word(word)),
        }
    }

    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let ends = |c: char| c.is_whitespace() || "[](){},:\"".contains(c);
        let (word, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        word.to_owned()
    }

    fn items<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(',') {
                match self.eat(close) {
                    true => break,
                    false => return Err(format!("a `{close}` is missing")),
                }
            }
        }
        Ok(items)
    }

    fn record(&mut self, depth: usize) -> Result<Literal, String> {
        let fields = self.items('}', |reader| {
            let name = if reader.eat('"') { reader.text()? } else { reader.word() };
            match reader.eat(':') {
                true => Ok((name, reader.value(depth + 1)?)),
                false => Err(format!("a `:` is missing after `{name}`")),
            }
        });
        fields.map(Literal::Record)
    }

    /// The rest of a text after its first quote.
    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c @ ('"' | '\\' | '/')) => text.push(c),
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        text.push(code.ok_or_else(|| format!("`\\u{digits}` is no character"))?);
                    }
                    _ => return Err("a string has an unknown escape".to_owned()),
                },
                c => text.push(c),
            }
        }
        Err("a string has no closing quote".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Literal {
        Literal::Word(text.to_owned())
    }

    #[test]
    fn values_are_read() {
        assert_eq!(parse(" -2.5e3 "), Ok(word("-2.5e3")));
        assert_eq!(parse("[]"), Ok(Literal::List(Vec::new())));
        let rows = Literal::List(vec![
            Literal::List(vec![word("1"), word("2")]),
            Literal::List(vec![word("3"), word("4")]),
        ]);
        assert_eq!(parse("[[1,2],\n [3 , 4],]"), Ok(rows));
        let record = Literal::Record(vec![("x".to_owned(), word("1"))]);
        assert_eq!(parse(r#"{"x": 1}"#), Ok(record.clone()));
        assert_eq!(parse("P { x: 1 }"), Ok(record));
        assert_eq!(parse(r#""a\"\u00e9\n""#), Ok(Literal::Text("a\"é\n".to_owned())));
    }

    #[test]
    fn mistakes_are_named() {
        let said = |text: &str| parse(text).expect_err("no value");
        assert_eq!(said(""), "a value is missing");
        assert_eq!(said("[1, 2"), "a `]` is missing");
        assert_eq!(said("[1 2]"), "a `]` is missing");
        assert_eq!(said("1 2"), "`2` follows the value");
        assert_eq!(said("]"), "`]` is no value");
        assert_eq!(said("\"a"), "a string has no closing quote");
        assert_eq!(said("\"\\ud800\""), "`\\ud800` is no character");
        assert_eq!(said(&"[".repeat(100_000)), "the value is nested too deeply");
        assert_eq!(said("{x 1}"), "a `:` is missing after `x`");
    }
}
