//! Pieces that many constructs share: names, paths, bracketed lists, `: type` and `= value`.

use super::{Context, Parser, types};
use crate::errors::Expected;
use crate::kind::SyntaxKind::{self, *};

impl Parser<'_> {
    /// A bracketed list, at its opening bracket. `item` reads one item and returns false, having
    /// consumed nothing, where none begins. Returns how many commas separate the items.
    pub(super) fn delimited(
        &mut self,
        closer: SyntaxKind,
        expected: Expected,
        item: impl Fn(&mut Self) -> bool,
    ) -> usize {
        self.delimited_with(closer, expected, false, item)
    }

    /// Like [`Self::delimited`]; with `after_brace`, an item that ends with `}` needs no comma.
    pub(super) fn delimited_with(
        &mut self,
        closer: SyntaxKind,
        expected: Expected,
        after_brace: bool,
        item: impl Fn(&mut Self) -> bool,
    ) -> usize {
        let opener = self.pos;
        let commas = self.nested(|p| {
            p.bump();
            p.within(Context::default(), |p| {
                let commas = p.list_items(opener, closer, expected, after_brace, &item);
                if !p.eat(closer) {
                    p.error_unclosed(closer, opener);
                }
                commas
            })
        });
        commas.unwrap_or(0)
    }

    fn list_items(
        &mut self,
        opener: usize,
        closer: SyntaxKind,
        expected: Expected,
        after_brace: bool,
        item: &impl Fn(&mut Self) -> bool,
    ) -> usize {
        let mut commas = 0;
        while !self.at(closer) && !self.at(EOF) {
            if item(self) {
                let ends = self.at(closer) || (after_brace && self.kinds[self.pos - 1] == R_BRACE);
                if self.eat(COMMA) {
                    commas += 1;
                } else if !ends {
                    self.error_in_list(Expected::CommaOr(closer), opener);
                    // Perhaps only the comma is missing: then the next round finds an item here.
                    let cut = closer != R_BRACE && self.line_was_cut();
                    if cut || (self.at(L_BRACE) && !self.skip_in_list(opener, closer, after_brace))
                    {
                        break;
                    }
                }
            } else {
                let here = if self.at_list_end() { Expected::Token(closer) } else { expected };
                self.error_in_list(here, opener);
                if !self.skip_in_list(opener, closer, after_brace) {
                    break;
                }
                commas += usize::from(self.eat(COMMA));
            }
        }
        commas
    }

    /// The dimensions of a tensor type, at the `;`; `opener` is the bracket around.
    pub(super) fn dimensions(&mut self, opener: usize, item: impl Fn(&mut Self) -> bool) {
        self.bump();
        let expected = Expected::Other(
            "a dimension",
            "a dimension is a number, a name, `?`, `*`, `..rest` or a sum of sizes such as `N + 1`",
        );
        if self.at(R_BRACK) {
            self.error_in_list(expected, opener);
        }
        self.list_items(opener, R_BRACK, expected, false, &item);
    }

    /// At a token that no list goes on with.
    fn at_list_end(&self) -> bool {
        matches!(self.current(), SEMI | EOF) || self.current().is_closer() || self.at_item_start()
    }

    /// `<A, B>`, at the `<`.
    pub(super) fn angle_list(&mut self, expected: Expected, item: impl Fn(&mut Self) -> bool) {
        self.nested(|p| {
            p.bump();
            while !p.at(GT) {
                if !item(p) {
                    p.error_expected(expected);
                    break;
                }
                if !p.eat(COMMA) {
                    break;
                }
            }
            p.expect(GT);
        });
    }

    /// A name that is introduced here. `what` describes it for the error message.
    pub(super) fn name(&mut self, what: &'static str) -> bool {
        let marker = self.start();
        if self.eat(IDENT) {
            self.finish(marker, NAME);
            return true;
        }
        self.error_expected(Expected::Name(what));
        // A keyword was probably meant as the name.
        let after = matches!(
            self.nth(1),
            EQ | COLON | L_PAREN | L_BRACK | L_BRACE | SEMI | COMMA | R_PAREN
        );
        if self.current().is_keyword() && after {
            self.bump();
            self.finish(marker, ERROR);
        } else {
            self.abandon(marker);
        }
        false
    }

    /// The name of an index or coordinate, which may be `in`.
    pub(super) fn index_name(&mut self, what: &'static str) -> bool {
        if !self.at(IN) {
            return self.name(what);
        }
        let marker = self.start();
        self.bump();
        self.finish(marker, NAME);
        true
    }

    pub(super) fn at_path_start(&self) -> bool {
        matches!(self.current(), IDENT | SELF | SUPER | CRATE)
    }

    /// `a::b::c`. Stops before `::{` and `::*`, which belong to `use`.
    pub(super) fn path(&mut self) -> super::Finished {
        let marker = self.start();
        self.bump();
        while self.at(COLON2) && matches!(self.nth(1), IDENT | SELF | SUPER | CRATE) {
            self.bump();
            self.bump();
        }
        self.finish(marker, PATH)
    }

    /// `: type`, when there is one.
    pub(super) fn type_ascription(&mut self) -> bool {
        if !self.at(COLON) {
            return false;
        }
        let marker = self.start();
        self.bump();
        types::ty(self);
        self.finish(marker, TYPE_ASCRIPTION);
        true
    }

    /// `= value` of a binding or constant.
    pub(super) fn value_after_equals(&mut self) {
        if self.eat(EQ) {
            self.expression_where(true);
            return;
        }
        self.error_expected(Expected::Token(EQ));
        if self.at_expression_start() && !self.on_new_line() {
            self.expression_where(true);
        }
    }
}
