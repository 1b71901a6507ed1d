//! Numbers. A number token takes in whatever letters and digits touch it, so that `0xzz` or
//! `12abc` is one wrong literal and not two tokens; `crate::literal` judges the spelling later.

use super::Lexer;
use crate::kind::SyntaxKind::{DOT, FLOAT, INT};

impl Lexer<'_> {
    pub(super) fn number(&mut self) {
        let start = self.pos;
        if self.tokens.kinds.last() == Some(&DOT) {
            // In `t.0.1` the numbers name tuple fields and never form the float `0.1`.
            self.skip_digits();
            return self.push(INT, start);
        }
        if self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X') {
            self.skip_identifier();
            return self.push(INT, start);
        }
        self.skip_digits();
        let mut kind = INT;
        if self.at_fraction() {
            kind = FLOAT;
            self.pos += 1;
            self.skip_digits();
        }
        if matches!(self.peek(0), b'e' | b'E') && self.at_exponent() {
            kind = FLOAT;
            self.pos += 2;
        }
        // The rest of the exponent, and a type suffix.
        self.skip_identifier();
        self.push(kind, start);
    }

    fn skip_digits(&mut self) {
        while matches!(self.peek(0), b'0'..=b'9' | b'_') {
            self.pos += 1;
        }
    }

    /// A dot that belongs to the number: not the one of `1..5`, nor of `1.max`.
    fn at_fraction(&self) -> bool {
        let next = self.peek(1);
        let name = next.is_ascii_alphabetic() || next == b'_' || next >= 0x80;
        self.peek(0) == b'.' && next != b'.' && !name
    }

    /// An `e` followed by digits or a sign. Anything else is left to be a (wrong) suffix.
    fn at_exponent(&self) -> bool {
        matches!(self.peek(1), b'0'..=b'9' | b'+' | b'-')
    }
}
