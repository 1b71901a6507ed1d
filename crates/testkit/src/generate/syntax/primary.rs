//! Expressions that begin with a token of their own.

use super::Grammar;
use super::place::{Level, Next, Place};
use einlang_syntax::SyntaxKind::STAR2;

/// Numbers that a minus belongs to.
const NEGATIVE: &[&str] = &["1", "2.5", "128i8", "1e-3", "9223372036854775808", "3.0f64"];

impl Grammar<'_, '_> {
    /// A name, a path, a literal.
    pub(super) fn leaf(&mut self, place: Place) {
        match self.source.below(12) {
            0..=4 => self.name(),
            5..=7 => self.positive(place),
            8 => self.negative(place),
            9 => {
                let word = self.source.pick(&["true", "false"]);
                self.token(word);
            }
            10 => self.long_path(),
            _ => self.index_name(),
        }
    }

    fn positive(&mut self, place: Place) {
        // After a prefix minus the number would become its literal, except before `**`; before a
        // dot or bracket it would be hard to read at best.
        let is_base = matches!(place.next, Next::Operator(STAR2, _));
        let claimed = place.after_minus && !is_base;
        if claimed || place.next == Next::Postfix {
            self.bracketed("(", ")", Self::number);
        } else {
            self.number();
        }
    }

    /// A negative literal. Before `**` the minus would not belong to it; as a subscript it is an
    /// error. The choice does not depend on the place, here as everywhere, so that the same choices
    /// give the same program with more parentheses.
    fn negative(&mut self, place: Place) {
        let number = self.source.pick(NEGATIVE);
        let is_base = matches!(place.next, Next::Operator(STAR2, _));
        if is_base || place.first_in_item || place.next == Next::Postfix {
            self.bracketed("(", ")", |g| g.tokens(&["-", number]));
        } else {
            self.tokens(&["-", number]);
        }
    }

    /// `(e)`, `(e where …)`
    pub(super) fn parenthesised(&mut self) {
        self.bracketed("(", ")", |g| g.expression_where(true, Next::End));
    }

    /// `()`, `(a,)`, `(a, b)`
    pub(super) fn tuple(&mut self) {
        self.bracketed("(", ")", |g| match g.source.below(4) {
            1 => {
                g.expression(Place::FREE);
                g.token(",");
            }
            n => g.items(n, |g, _| g.expression(Place::FREE)),
        });
    }

    pub(super) fn array(&mut self) {
        self.bracketed("[", "]", |g| {
            let n = g.source.below(4);
            g.items(n, |g, _| g.expression_where(false, Next::End));
        });
    }

    /// `[e | i in 0..n, cond, k = i + 1]`
    pub(super) fn comprehension(&mut self) {
        self.bracketed("[", "]", |g| {
            g.expression(Place::before(Next::Bar));
            g.token("|");
            let n = 1 + g.source.below(3);
            g.items(n, |g, i| g.comprehension_item(i));
        });
    }

    fn comprehension_item(&mut self, i: usize) {
        match if i == 0 { 0 } else { self.source.below(3) } {
            0 => {
                self.generator_pattern();
                self.token("in");
                self.expression(Place::FREE);
            }
            1 => self.expression(Place { first_in_item: true, ..Place::FREE }),
            _ => {
                self.name();
                self.token("=");
                self.expression(Place::FREE);
            }
        }
    }

    /// `P { x: 1.0, y }`
    pub(super) fn struct_literal(&mut self) {
        self.constructor();
        self.bracketed("{", "}", |g| {
            let n = g.source.below(3);
            g.items(n, |g, _| {
                g.name();
                if g.source.flip() {
                    g.token(":");
                    g.expression_where(false, Next::End);
                }
            });
        });
    }

    /// `|x, y| e`
    pub(super) fn lambda(&mut self, place: Place) {
        match self.source.below(4) {
            0 => self.token("||"),
            n => {
                self.token("|");
                self.items(n, |g, _| g.lambda_parameter());
                self.token("|");
            }
        }
        let floor: Level = place.lambda_floor();
        self.operand(place.right(floor));
    }

    fn lambda_parameter(&mut self) {
        self.binding_pattern();
        if self.source.one_in(3) {
            self.token(":");
            self.ty();
        }
    }

    pub(super) fn if_alone(&mut self) {
        self.token("if");
        self.head();
        self.block();
    }

    /// `if c { } else if d { } else { }`
    pub(super) fn if_else(&mut self) {
        self.if_alone();
        for _ in 0..self.source.below(3) {
            self.token("else");
            self.if_alone();
        }
        self.token("else");
        self.block();
    }

    /// The expression between a keyword and its braces.
    pub(super) fn head(&mut self) {
        let outer = self.context;
        self.context.no_struct = true;
        self.context.no_else = false;
        self.expression(Place { first_in_head: true, ..Place::FREE });
        self.context = outer;
    }

    pub(super) fn match_expression(&mut self) {
        self.token("match");
        self.head();
        self.bracketed("{", "}", |g| {
            let n = g.source.below(4);
            // After a block the comma may be left out, where no bracket could make it a call.
            let mut after_block = false;
            for i in 0..n {
                if after_block {
                    g.word_pattern()
                } else {
                    g.pattern()
                }
                after_block = g.rest_of_arm(i + 1 == n);
            }
        });
    }

    /// From the guard to the comma; true when the comma was left out between two arms.
    fn rest_of_arm(&mut self, is_last: bool) -> bool {
        if self.source.one_in(4) {
            self.token("where");
            self.expression(Place::FREE);
        }
        self.token("=>");
        if self.source.one_in(4) {
            self.deeper(Self::block);
            let comma = self.source.flip();
            if comma {
                self.token(",");
            }
            return !comma;
        }
        self.expression_where(false, Next::End);
        if !is_last || self.source.flip() {
            self.token(",");
        }
        false
    }
}
