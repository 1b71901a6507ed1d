//! What stands inside `[…]`, on either side of `=`: one grammar for subscripts, slots, reduction
//! indices and updates. Which of them it is, names decide later.

use super::{Context, Parser};
use crate::errors::Expected;
use crate::kind::SyntaxKind::*;

const INDEX: Expected = Expected::Other(
    "an index",
    "an index is an expression, `:`, a range, `..rest`, `name in range` or `name: coordinate`",
);

const AFTER_DEFAULT: Expected = Expected::Here(
    "`]` after the default",
    "one default stands for all subscripts: write it after the last of them",
);

/// The brackets and their items, at the opening bracket.
pub(super) fn bracket_items(p: &mut Parser<'_>) {
    p.delimited(R_BRACK, INDEX, |p| {
        let found = p.within(Context { no_else: true, no_struct: false }, bracket_item);
        if found && p.at(ELSE) {
            default_read(p);
            if p.at(COMMA) && p.nth(1) != R_BRACK {
                p.error_expected(AFTER_DEFAULT);
            }
        }
        found
    });
}

/// `else e` after the last subscript.
fn default_read(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    p.expression();
    p.finish(marker, DEFAULT_READ);
}

fn bracket_item(p: &mut Parser<'_>) -> bool {
    let marker = p.start();
    let kind = match (p.current(), p.nth(1)) {
        (COLON, _) => {
            p.bump();
            SUB_ALL
        }
        (DOT2, IDENT | IN) if ends_rest(p) => {
            p.bump();
            p.index_name("a name for the rest");
            if p.eat(COLON) {
                p.expression();
            }
            SUB_REST
        }
        (IDENT | IN, IN) => {
            p.index_name("an index");
            p.bump();
            p.expression();
            SUB_IN
        }
        (IDENT | IN, COLON) => {
            p.index_name("an index");
            p.bump();
            coordinate(p);
            SUB_COORD
        }
        _ => {
            p.abandon(marker);
            return p.at_expression_start() && p.expression().is_some();
        }
    };
    p.finish(marker, kind);
    true
}

/// `..name` is a rest; `..name + 1` would be a range.
fn ends_rest(p: &Parser<'_>) -> bool {
    matches!(p.nth(2), COMMA | R_BRACK | COLON | ELSE | EOF | R_PAREN | SEMI | EQ)
}

/// The coordinate after `name:`, perhaps with a range of its own.
fn coordinate(p: &mut Parser<'_>) {
    if p.at_name() {
        p.index_name("a coordinate");
    } else {
        p.error_expected(Expected::Name("a coordinate"));
    }
}
