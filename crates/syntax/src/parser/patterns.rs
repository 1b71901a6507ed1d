//! Patterns: in `match`, `let`, `for`, parameters and comprehensions.

use super::{Finished, Parser, primary, strings};
use crate::errors::Expected;
use crate::kind::SyntaxKind::*;

impl Parser<'_> {
    /// A token that can begin a pattern.
    pub(super) fn at_pattern_start(&self) -> bool {
        matches!(
            self.current(),
            UNDERSCORE
                | IDENT
                | INT
                | FLOAT
                | MINUS
                | STR_OPEN
                | TRUE
                | FALSE
                | L_PAREN
                | L_BRACK
                | SELF
                | SUPER
                | CRATE
        )
    }
}

/// A pattern with its alternatives: `10 | 20`.
pub(super) fn pattern(p: &mut Parser<'_>) -> bool {
    let Some(first) = simple(p) else { return false };
    if p.at(PIPE) {
        let marker = p.precede(first);
        while p.eat(PIPE) {
            simple(p);
        }
        p.finish(marker, OR_PAT);
    }
    true
}

/// A pattern without alternatives at its top.
pub(super) fn simple(p: &mut Parser<'_>) -> Option<Finished> {
    p.nested(simple_here).flatten()
}

fn simple_here(p: &mut Parser<'_>) -> Option<Finished> {
    let marker = p.start();
    Some(match p.current() {
        UNDERSCORE => {
            p.bump();
            p.finish(marker, WILDCARD_PAT)
        }
        INT | FLOAT | MINUS | STR_OPEN | TRUE | FALSE => {
            p.abandon(marker);
            literal_or_range(p)
        }
        IDENT if !at_constructor(p) => {
            p.name("a name");
            if p.eat(AT) {
                // `n @ 1 | 2` binds the whole alternative.
                pattern(p);
            }
            p.finish(marker, NAME_PAT)
        }
        IDENT | SELF | SUPER | CRATE => {
            p.path();
            let kind = constructor_payload(p);
            p.finish(marker, kind)
        }
        L_PAREN => {
            let opener = p.pos;
            let commas = p.delimited(R_PAREN, Expected::Pattern, list_item);
            let single = commas == 0 && p.pos > opener + 2;
            p.finish(marker, if single { PAREN_PAT } else { TUPLE_PAT })
        }
        L_BRACK => {
            p.delimited(R_BRACK, Expected::Pattern, list_item);
            p.finish(marker, ARRAY_PAT)
        }
        _ => {
            p.abandon(marker);
            p.error_expected(Expected::Pattern);
            return None;
        }
    })
}

/// A name with a path, a payload or fields after it; `fn f(x {` has none of them.
fn at_constructor(p: &Parser<'_>) -> bool {
    match p.nth(1) {
        COLON2 | L_PAREN => true,
        L_BRACE => match p.nth(2) {
            R_BRACE | DOT2 => true,
            IDENT => matches!(p.nth(3), COLON | COMMA | R_BRACE),
            _ => false,
        },
        _ => false,
    }
}

/// What follows the path of a variant or struct.
fn constructor_payload(p: &mut Parser<'_>) -> crate::SyntaxKind {
    match p.current() {
        L_PAREN => {
            p.delimited(R_PAREN, Expected::Pattern, list_item);
            VARIANT_PAT
        }
        L_BRACE => {
            p.delimited(R_BRACE, Expected::Name("a field"), field);
            STRUCT_PAT
        }
        _ => PATH_PAT,
    }
}

/// An element of a tuple or array pattern: a pattern, perhaps with its type, or `..rest`.
fn list_item(p: &mut Parser<'_>) -> bool {
    if p.at(DOT2) {
        rest(p);
        return true;
    }
    if !p.at_pattern_start() {
        return false;
    }
    let marker = p.start();
    pattern(p);
    if p.type_ascription() {
        p.finish(marker, TYPED_PAT);
    } else {
        p.abandon(marker);
    }
    true
}

/// `..` or `..rest`
fn rest(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    if p.at(IDENT) {
        p.name("a name");
    }
    p.finish(marker, REST_PAT);
}

/// `x`, `x: pattern` or `..`
fn field(p: &mut Parser<'_>) -> bool {
    if p.at(DOT2) {
        rest(p);
        return true;
    }
    if !p.at(IDENT) {
        return false;
    }
    let marker = p.start();
    p.name("a field");
    if p.eat(COLON) {
        pattern(p);
    }
    p.finish(marker, FIELD_PAT);
    true
}

fn literal_or_range(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    bound(p);
    if matches!(p.current(), DOT2 | DOT2EQ) {
        p.bump();
        if matches!(p.current(), INT | FLOAT | MINUS) {
            bound(p);
        }
        return p.finish(marker, RANGE_PAT);
    }
    p.finish(marker, LITERAL_PAT)
}

fn bound(p: &mut Parser<'_>) {
    if p.at(STR_OPEN) {
        strings::string(p);
    } else if p.at(MINUS) && !matches!(p.nth(1), INT | FLOAT) {
        p.bump();
        p.error_expected(Expected::Other("a number", "only numbers can be negative in a pattern"));
    } else {
        primary::literal(p);
    }
}
