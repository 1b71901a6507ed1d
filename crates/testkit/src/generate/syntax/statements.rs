//! Statements and blocks.

use super::Grammar;
use super::place::{Next, Place};

impl Grammar<'_, '_> {
    pub(super) fn file(&mut self) {
        self.statements(true);
    }

    /// `{ …; e }`
    pub(super) fn block(&mut self) {
        self.bracketed("{", "}", |g| {
            g.statements(false);
            if g.source.flip() {
                g.expression_where(true, Next::End);
            }
        });
    }

    /// The body of a module.
    pub(super) fn item_list(&mut self) {
        self.bracketed("{", "}", |g| g.statements(true));
    }

    fn statements(&mut self, all_items: bool) {
        let usual = if all_items { 20 } else { 2 };
        let mut more = self.one_more(usual);
        while more {
            let again = self.one_more(usual);
            self.statement(all_items, !again);
            self.end_line();
            more = again;
        }
    }

    fn statement(&mut self, all_items: bool, is_last: bool) {
        if !self.spend() {
            return self.plain_let();
        }
        self.deeper(|g| match g.source.below(20) {
            0..=3 => g.plain_let(),
            4..=9 => g.indexed_let(),
            10 | 11 => g.expression_statement(),
            12 => g.for_loop(),
            13 => g.braced_statement(all_items && is_last),
            14..=17 => g.item(),
            18 if all_items => g.input(),
            18 => g.plain_let(),
            _ if all_items => g.module(),
            _ => g.item(),
        });
    }

    /// `let x = e;`, `let (a, b: f32) = e;`, `let x: T = e where …;`
    fn plain_let(&mut self) {
        self.docs();
        self.attributes();
        self.token("let");
        self.binding_pattern();
        if self.source.one_in(4) {
            self.token(":");
            self.ty();
        }
        self.token("=");
        self.expression_where(true, Next::End);
        self.token(";");
    }

    /// `let C[i, j in 0..n, k: c, ..r, 0] = …;`, and the same for a tuple of names
    fn indexed_let(&mut self) {
        self.docs();
        self.attributes();
        self.token("let");
        if self.source.one_in(6) {
            self.bracketed("(", ")", |g| {
                let n = 2 + g.source.below(2);
                g.items(n, |g, _| g.name());
            });
        } else {
            self.name();
        }
        self.bracketed("[", "]", |g| {
            let n = 1 + g.source.below(3);
            g.items(n, |g, _| g.slot());
        });
        self.token("=");
        if self.source.one_in(6) {
            self.expression_where(true, Next::Word);
            self.until();
        } else {
            self.expression_where(true, Next::End);
        }
        self.token(";");
    }

    fn slot(&mut self) {
        self.context.no_else = true;
        match self.source.below(9) {
            0..=2 => self.index_name(),
            3 => self.integer(),
            4 => {
                self.index_name();
                self.token("in");
                self.expression(Place::FREE);
            }
            5 => {
                self.index_name();
                self.tokens(&["in", "1", ".."]);
            }
            6 => {
                self.index_name();
                self.token(":");
                self.index_name();
            }
            7 => {
                self.token("..");
                self.index_name();
                if self.source.flip() {
                    self.token(":");
                    self.name();
                }
            }
            _ => self.expression(Place { first_in_item: true, ..Place::FREE }),
        }
        self.context.no_else = false;
    }

    /// `until cond, max n`
    fn until(&mut self) {
        self.token("until");
        self.expression(Place::FREE);
        self.tokens(&[",", "max"]);
        self.expression(Place::FREE);
    }

    /// `for (a, b) in pairs { … }`
    fn for_loop(&mut self) {
        self.token("for");
        self.binding_pattern();
        self.token("in");
        self.head();
        self.block();
    }

    fn expression_statement(&mut self) {
        self.expression_where(true, Next::End);
        self.token(";");
    }

    /// A construct that ends with a block needs no semicolon. What follows could make it an
    /// operand, so it goes without only at the very end of a file or module, or before an item.
    fn braced_statement(&mut self, is_last: bool) {
        match self.source.below(4) {
            0 => self.block(),
            1 => self.if_alone(),
            2 => self.if_else(),
            _ => self.match_expression(),
        }
        if !is_last {
            match self.source.below(3) {
                0 => self.token(";"),
                _ => self.plain_let(),
            }
        }
    }
}
