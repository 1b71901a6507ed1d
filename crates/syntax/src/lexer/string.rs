//! Strings and the expressions inside them.
//!
//! `"a {x:>8} b"` becomes the tokens `"` · `a ` · `{` · … · `:>8` · `}` · ` b` · `"`. The doubled
//! braces `{{` and `}}` are text. Inside an interpolation, the first `:` outside brackets that is
//! not part of `::` begins the format specification.

use super::{Lexer, OpenString, Unterminated};
use crate::kind::SyntaxKind::{
    INTERP_CLOSE, INTERP_OPEN, INTERP_SPEC, STR_CLOSE, STR_OPEN, STR_TEXT,
};

impl Lexer<'_> {
    pub(super) fn string_open(&mut self) {
        let start = self.pos;
        self.pos += 1;
        self.push(STR_OPEN, start);
        self.string_body(start as u32);
    }

    /// Text up to the closing quote or the next interpolation.
    fn string_body(&mut self, quote: u32) {
        let start = self.pos;
        self.skip_text();
        if self.pos > start {
            self.push(STR_TEXT, start);
        }
        let here = self.pos;
        match self.bytes.get(here) {
            Some(b'"') => {
                self.pos += 1;
                self.push(STR_CLOSE, here);
            }
            Some(b'{') => {
                self.pos += 1;
                self.push(INTERP_OPEN, here);
                self.open_strings.push(OpenString { quote, depth: 0 });
            }
            _ => {
                // The outermost string is the one whose quote the reader must find.
                let outermost = self.open_strings.first().map_or(quote, |open| open.quote);
                self.open_strings.clear();
                self.error(Unterminated::String, outermost as usize, here);
            }
        }
    }

    fn skip_text(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'"' | b'\n', _) => return,
                (b'\r', b'\n') => return,
                (b'{', b'{') => self.pos += 2,
                (b'{', _) => return,
                (b'\\', b'u') if self.peek(2) == b'{' => self.skip_unicode_escape(),
                (b'\\', b'\n' | b'\r') => self.pos += 1,
                (b'\\', _) => self.skip_escape(),
                _ if self.pos >= self.bytes.len() => return,
                _ => self.pos += 1,
            }
        }
    }

    /// `\u{…}`: its braces are not an interpolation.
    fn skip_unicode_escape(&mut self) {
        self.pos += 3;
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
            self.pos += 1;
        }
        if self.peek(0) == b'}' {
            self.pos += 1;
        }
    }

    fn skip_escape(&mut self) {
        self.pos += 1;
        self.pos += self.char_here().map_or(0, char::len_utf8);
    }

    pub(super) fn in_interpolation(&self) -> bool {
        !self.open_strings.is_empty()
    }

    /// Handles the marks that mean something else inside an interpolation. Returns whether a token
    /// was made.
    pub(super) fn interpolation_mark(&mut self, byte: u8) -> bool {
        let Some(open) = self.open_strings.last_mut() else { return false };
        match byte {
            b'(' | b'[' | b'{' => open.depth += 1,
            b'}' if open.depth == 0 => {
                self.interpolation_close();
                return true;
            }
            b')' | b']' | b'}' => open.depth = open.depth.saturating_sub(1),
            b':' if open.depth == 0 && self.peek(1) != b':' => {
                self.format_spec();
                return true;
            }
            _ => {}
        }
        false
    }

    fn interpolation_close(&mut self) {
        let start = self.pos;
        self.pos += 1;
        self.push(INTERP_CLOSE, start);
        if let Some(open) = self.open_strings.pop() {
            self.string_body(open.quote);
        }
    }

    /// The colon and everything up to the closing brace.
    fn format_spec(&mut self) {
        let start = self.pos;
        while !matches!(self.peek(0), b'}' | b'"' | b'\n') && self.pos < self.bytes.len() {
            self.pos += self.char_here().map_or(1, char::len_utf8);
        }
        self.push(INTERP_SPEC, start);
    }

    /// A line or the text has ended inside an interpolation: the strings around it are over.
    pub(super) fn close_open_strings(&mut self) {
        if let Some(outermost) = self.open_strings.first() {
            let quote = outermost.quote as usize;
            self.open_strings.clear();
            self.error(Unterminated::Interpolation, quote, self.pos);
        }
    }
}
