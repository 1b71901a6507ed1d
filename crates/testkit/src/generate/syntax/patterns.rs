//! Patterns of every form.

use super::Grammar;

impl Grammar<'_, '_> {
    /// A pattern for a `match` arm, with alternatives.
    pub(super) fn pattern(&mut self) {
        self.simple_pattern();
        for _ in 0..self.source.below(8).saturating_sub(5) {
            self.token("|");
            self.simple_pattern();
        }
    }

    /// A pattern that begins with a word, so that it can follow a block without a comma.
    pub(super) fn word_pattern(&mut self) {
        if self.source.flip() { self.name() } else { self.token("_") }
    }

    /// A pattern for `let`, parameters, `for` and comprehensions: one that always fits.
    pub(super) fn binding_pattern(&mut self) {
        if !self.spend() {
            return self.name();
        }
        match self.source.below(8) {
            0..=3 => self.name(),
            4 => self.token("_"),
            5 => self.deeper(Self::tuple_pattern),
            6 => self.deeper(Self::array_pattern),
            _ => self.deeper(|g| {
                g.constructor();
                g.field_patterns();
            }),
        }
    }

    /// A pattern of a comprehension's generator, which a name, `_` or bracket begins.
    pub(super) fn generator_pattern(&mut self) {
        match self.source.below(5) {
            0..=1 => self.name(),
            2 => self.token("_"),
            3 => self.deeper(Self::tuple_pattern),
            _ => self.deeper(Self::array_pattern),
        }
    }

    fn simple_pattern(&mut self) {
        if !self.spend() {
            return self.name();
        }
        match self.source.below(12) {
            0 => self.name(),
            1 => self.token("_"),
            2 => self.literal_pattern(),
            3 => self.range_pattern(),
            4 => self.deeper(Self::tuple_pattern),
            5 => self.deeper(Self::array_pattern),
            6 => self.deeper(|g| g.bracketed("(", ")", Self::pattern)),
            7 => self.long_path(),
            8 => self.deeper(|g| {
                g.constructor();
                let n = g.source.below(3);
                g.bracketed("(", ")", |g| g.items(n, |g, _| g.pattern()));
            }),
            9 => self.deeper(|g| {
                g.constructor();
                g.field_patterns();
            }),
            _ => {
                self.name();
                self.token("@");
                self.deeper(Self::pattern);
            }
        }
    }

    fn literal_pattern(&mut self) {
        match self.source.below(6) {
            0 => self.integer(),
            1 => self.number(),
            2 => self.tokens(&["-", "1"]),
            3 => self.token("true"),
            4 => self.token("false"),
            _ => self.plain_string(),
        }
    }

    /// `0..=9`, `0..9`, `-1..`
    fn range_pattern(&mut self) {
        if self.source.one_in(4) {
            self.token("-");
        }
        self.token("1");
        let inclusive = self.source.flip();
        self.token(if inclusive { "..=" } else { ".." });
        if inclusive || self.source.flip() {
            self.number();
        }
    }

    /// `()`, `(a,)`, `(a, b: f32, ..rest)`
    fn tuple_pattern(&mut self) {
        self.bracketed("(", ")", |g| {
            let n = g.source.below(4);
            match n {
                // A single pattern in parentheses is no tuple.
                1 => {
                    g.pattern();
                    g.token(",");
                }
                _ => g.items(n, Self::list_pattern),
            }
        });
    }

    fn array_pattern(&mut self) {
        self.bracketed("[", "]", |g| {
            let n = g.source.below(4);
            g.items(n, Self::list_pattern);
        });
    }

    fn list_pattern(&mut self, _: usize) {
        match self.source.below(6) {
            0..=2 => self.pattern(),
            3 => {
                self.name();
                self.token(":");
                self.ty();
            }
            4 => self.token(".."),
            _ => {
                self.token("..");
                self.name();
            }
        }
    }

    /// `{ x, y: p, .. }`
    fn field_patterns(&mut self) {
        self.bracketed("{", "}", |g| {
            let n = g.source.below(4);
            g.items(n, |g, i| {
                if i + 1 == n && g.source.one_in(4) {
                    return g.token("..");
                }
                g.name();
                if g.source.flip() {
                    g.token(":");
                    g.pattern();
                }
            });
        });
    }
}
