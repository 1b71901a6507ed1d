//! Strings with escapes, interpolations and format specifications.

use super::Grammar;
use super::layout::INTERPOLATION;
use super::place::{Context, Place};

const TEXTS: &[&str] = &[
    "a",
    "",
    "loss = ",
    "\\n",
    "\\t",
    "\\\"",
    "\\\\",
    "\\u{3b1}",
    "{{",
    "}}",
    "größe ",
    "//",
    "/*",
    "'",
    "\\u{1F600}",
    ": ",
    "{{}}",
];

const SPECS: &[&str] =
    &[":d", ":>8", ":.3f", ":*^+012.3e", ":x", ":<3s", ":%", ":=+5d", ": b", ":08.2g", ":"];

impl Grammar<'_, '_> {
    /// A string with whatever a string may hold.
    pub(super) fn string(&mut self) {
        self.token("\"");
        while self.one_more(1) {
            if self.source.flip() {
                self.interpolation();
            } else {
                self.string_text();
            }
        }
        self.touching_token("\"");
    }

    /// A string of text alone, as a pattern needs it.
    pub(super) fn plain_string(&mut self) {
        self.token("\"");
        self.string_text();
        self.touching_token("\"");
    }

    fn string_text(&mut self) {
        let text = self.source.pick(TEXTS);
        self.touching_token(text);
    }

    /// `{expr}` or `{expr:spec}`
    fn interpolation(&mut self) {
        self.touching_token("{");
        self.last = INTERPOLATION.to_string();
        self.in_strings += 1;
        let inside = Context { no_colon: true, ..Context::default() };
        let outer = std::mem::replace(&mut self.context, inside);
        self.deeper(|g| g.expression(Place::FREE));
        self.context = outer;
        if self.source.one_in(3) {
            let spec = self.source.pick(SPECS);
            self.token(spec);
            self.touching_token("}");
        } else {
            self.token("}");
        }
        self.in_strings -= 1;
        // What follows is text again and joins nothing.
        self.last.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use einlang_syntax::format_spec::FormatSpec;
    use einlang_syntax::literal::unescape;

    #[test]
    fn every_piece_is_well_formed() {
        for text in TEXTS {
            assert_eq!(unescape(text).1, [], "{text}");
        }
        for spec in SPECS {
            assert!(FormatSpec::parse(&spec[1..]).is_ok(), "{spec}");
        }
    }
}
