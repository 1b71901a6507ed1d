//! Calls, subscripts, fields and reductions: what follows a value directly.

use super::Grammar;
use super::place::{Level, Next, Place};

impl Grammar<'_, '_> {
    /// The value that brackets or a dot follow. It never gets parentheses that it does not need:
    /// they would change what the commas of a `where` belong to.
    fn base(&mut self, place: Place) {
        self.expression(place.left(Level::Postfix, Next::Postfix));
    }

    /// `f(a, b, lr = 0.1)`
    pub(super) fn call(&mut self, place: Place) {
        self.base(place);
        self.arguments(false);
    }

    /// `sum[k](e where a, b)`, `reduce[k](init, |a, b| …)(e)`
    pub(super) fn reduction(&mut self, _: Place) {
        self.name();
        self.subscripts(true);
        self.arguments(true);
        if self.source.one_in(4) {
            self.arguments(true);
        }
    }

    /// With `several`, the commas after a `where` belong to it, so only the last argument has one.
    fn arguments(&mut self, several: bool) {
        self.bracketed("(", ")", |g| {
            let n = g.source.below(4);
            g.items(n, |g, i| {
                if i + 1 == n {
                    return g.expression_where(several, Next::End);
                }
                if g.source.one_in(4) {
                    g.name();
                    g.token("=");
                }
                g.expression(Place::FREE);
            });
        });
    }

    /// `A[1..3, :]`, `h[t - 1 else 0.0]`
    pub(super) fn index(&mut self, place: Place) {
        self.base(place);
        self.subscripts(true);
    }

    /// Brackets with at least one item; `else e` gives what lies outside.
    pub(super) fn subscripts(&mut self, default: bool) {
        self.bracketed("[", "]", |g| {
            let n = 1 + g.source.below(3);
            let default = default && g.source.one_in(6);
            for i in 0..n {
                let is_last = i + 1 == n;
                g.bracket_item(if is_last && default { Next::ELSE } else { Next::End });
                if !is_last {
                    g.token(",");
                }
            }
            if default {
                g.token("else");
                g.expression(Place::FREE);
            }
            if g.source.one_in(8) {
                g.token(",");
            }
        });
    }

    fn bracket_item(&mut self, next: Next) {
        self.context.no_else = true;
        match self.source.below(12) {
            0..=4 => self.expression(Place { first_in_item: true, ..Place::before(next) }),
            5 => self.token(":"),
            6 => {
                self.tokens(&["1", ".."]);
                self.expression(Place { floor: Level::Sum, ..Place::before(next) });
            }
            7 => self.tokens(&["..", "3"]),
            8 => {
                self.token("..");
                self.index_name();
            }
            9 => {
                self.token("..");
                self.index_name();
                self.token(":");
                self.expression(Place::before(next));
            }
            10 => {
                self.index_name();
                self.token("in");
                self.expression(Place::before(next));
            }
            _ => {
                self.index_name();
                self.token(":");
                self.index_name();
            }
        }
        self.context.no_else = false;
    }

    /// `p.x`, `t.0`
    pub(super) fn field(&mut self, place: Place) {
        self.base(place);
        self.token(".");
        if self.source.one_in(3) {
            // A space would let the number go on: `t. 0.1` holds a float.
            self.touch_next();
            let number = self.source.pick(&["0", "1"]);
            self.token(number);
        } else {
            self.name();
        }
    }
}
