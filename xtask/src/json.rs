//! A small JSON reader, for the diagnostics that `einlang` prints one object per line.
//!
//! It accepts slightly more than JSON (numbers are whatever the standard library reads as one);
//! it never accepts less.

use std::iter::Peekable;
use std::str::Chars;

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string, escapes resolved.
    String(String),
    /// `[…]`
    Array(Vec<Json>),
    /// `{…}`, in the order written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one value that is the whole text, or nothing if the text is not JSON.
    pub(crate) fn parse(text: &str) -> Option<Json> {
        let mut reader = Reader { chars: text.chars().peekable() };
        let value = reader.value()?;
        reader.skip_space();
        reader.chars.next().is_none().then_some(value)
    }

    /// The value of a key, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Json> {
        self.skip_space();
        match self.chars.peek()? {
            '{' => self.object(),
            '[' => self.array(),
            '"' => self.string().map(Json::String),
            _ => self.word(),
        }
    }

    fn object(&mut self) -> Option<Json> {
        let members = self.list('{', '}', |reader| {
            reader.skip_space();
            let key = reader.string()?;
            reader.expect(':')?;
            Some((key, reader.value()?))
        })?;
        Some(Json::Object(members))
    }

    fn array(&mut self) -> Option<Json> {
        self.list('[', ']', Reader::value).map(Json::Array)
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.expect(close).is_some() {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.expect(close).is_some() {
                return Some(items);
            }
            self.expect(',')?;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.chars.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => self.unicode()?,
            c => c,
        })
    }

    /// The four digits after `\u`; a pair of surrogates makes one character.
    fn unicode(&mut self) -> Option<char> {
        let high = self.hex4()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        (self.chars.next()? == '\\' && self.chars.next()? == 'u').then_some(())?;
        let low = self.hex4()?.checked_sub(0xdc00)?;
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)
    }

    fn hex4(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |value, _| Some(value * 16 + self.chars.next()?.to_digit(16)?))
    }

    fn word(&mut self) -> Option<Json> {
        let mut word = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c))
        {
            word.push(c);
        }
        match word.as_str() {
            "null" => Some(Json::Null),
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            number => number.parse().ok().map(Json::Number),
        }
    }

    fn expect(&mut self, wanted: char) -> Option<char> {
        self.skip_space();
        self.chars.next_if_eq(&wanted)
    }

    fn skip_space(&mut self) {
        while self.chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn reads_a_diagnostic() {
        let line = r#"{"code": "E0101", "span": {"line": 2}, "help": null, "x": [true, -1.5e1]}"#;
        let value = Json::parse(line).unwrap();
        assert_eq!(value.get("code").and_then(Json::as_str), Some("E0101"));
        let line = value.get("span").and_then(|span| span.get("line"));
        assert_eq!(line.and_then(Json::as_number), Some(2.0));
        assert_eq!(value.get("help"), Some(&Json::Null));
        let array = Json::Array(vec![Json::Bool(true), Json::Number(-15.0)]);
        assert_eq!(value.get("x"), Some(&array));
    }

    #[test]
    fn resolves_escapes() {
        let value = Json::parse(r#""a\n\"\\\u00e9\ud83d\ude00""#).unwrap();
        assert_eq!(value.as_str(), Some("a\n\"\\é😀"));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "[1,", "{\"a\" 1}", "1 2", "\"open", "nil", "\"\\ud800x\""] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }
}
