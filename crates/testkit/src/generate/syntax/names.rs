//! Names, paths and numbers.

use super::Grammar;

/// Names of every kind: plain, indexed, Unicode, contextual words, and words of other languages
/// that mean nothing here.
const NAMES: &[&str] = &[
    "x", "y", "i", "j", "k", "t", "A", "W", "batch", "class", "h0", "_tmp", "größe", "σ2", "面積",
    "last", "max", "until", "from", "reduce", "sum", "jagged", "result", "print", "self_",
    "return", "N", "lettuce", "inner", "f32",
];

const TYPE_NAMES: &[&str] =
    &["f32", "i32", "bool", "str", "f64", "i8", "u64", "bf16", "f8e4m3", "int", "State", "T"];

const ROOTS: &[&str] = &["std", "crate", "self", "super", "python", "model"];

const INTEGERS: &[&str] =
    &["0", "1", "2", "10", "42", "1_000", "0xff", "7i64", "0u8", "0x00u16", "0x_ab", "3f64"];

const FLOATS: &[&str] = &[
    "1.0", "0.5", "3.25", "1e-3", "2.0f64", "1.5e+10", "6.02E23", "1e5", "1_0.0_1", "9.", "4bf16",
];

impl Grammar<'_, '_> {
    /// A name that may be introduced or used anywhere.
    pub(super) fn name(&mut self) {
        let name = self.source.pick(NAMES);
        self.token(name);
    }

    /// The name of an index or coordinate, which may be `in`.
    pub(super) fn index_name(&mut self) {
        if self.source.one_in(12) { self.token("in") } else { self.name() }
    }

    pub(super) fn type_name(&mut self) {
        let name = self.source.pick(TYPE_NAMES);
        self.token(name);
    }

    /// `a::b::c`, of at least two parts.
    pub(super) fn long_path(&mut self) {
        let root = self.source.pick(ROOTS);
        self.token(root);
        for _ in 0..=self.source.below(2) {
            self.token("::");
            self.name();
        }
    }

    /// The path of a struct or variant.
    pub(super) fn constructor(&mut self) {
        if self.source.one_in(3) { self.long_path() } else { self.name() }
    }

    pub(super) fn integer(&mut self) {
        let number = self.source.pick(INTEGERS);
        self.token(number);
    }

    /// A number without a sign.
    pub(super) fn number(&mut self) {
        if self.source.one_in(3) {
            let number = self.source.pick(FLOATS);
            self.token(number);
        } else {
            self.integer();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use einlang_syntax::SyntaxKind;
    use einlang_syntax::lexer::lex;
    use einlang_syntax::literal::number;

    #[test]
    fn every_name_is_a_name_and_every_number_a_number() {
        for name in NAMES.iter().chain(TYPE_NAMES) {
            assert_eq!(lex(name).kinds, [SyntaxKind::IDENT], "{name}");
        }
        for text in INTEGERS.iter().chain(FLOATS) {
            assert_eq!(lex(text).len(), 1, "{text}");
            assert!(number(text, false).is_ok() && number(text, true).is_ok(), "{text}");
        }
    }
}
