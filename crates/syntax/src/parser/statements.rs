//! Statements and blocks.

use super::recover::OpenBlock;
use super::{Context, Finished, Marker, Parser, access, items, patterns};
use crate::errors::{self, Expected};
use crate::kind::SyntaxKind::*;

/// One statement of a file. Always consumes something.
pub(super) fn top_level(p: &mut Parser<'_>) {
    p.believe_again();
    if p.current().is_closer() {
        stray_closer(p);
    } else if !statement(p, false) {
        p.error_expected(Expected::Here(
            "a statement",
            "a statement is an item such as `fn` or `struct`, a `let`, or an expression with `;`",
        ));
        skip_at_least_one(p);
    }
}

/// One statement of a block; its last expression needs no semicolon.
pub(super) fn block_statement(p: &mut Parser<'_>) {
    p.believe_again();
    if matches!(p.current(), R_PAREN | R_BRACK | INTERP_CLOSE) {
        stray_closer(p);
    } else if !statement(p, true) {
        p.error_expected(Expected::Here("a statement or `}`", "end the block with `}`"));
        skip_at_least_one(p);
    }
}

fn stray_closer(p: &mut Parser<'_>) {
    let marker = p.start();
    p.unmatched_closer();
    p.bump();
    p.finish(marker, ERROR);
}

fn skip_at_least_one(p: &mut Parser<'_>) {
    let from = p.pos;
    p.skip_statement();
    if p.pos == from {
        let marker = p.start();
        p.bump();
        p.finish(marker, ERROR);
    }
}

/// Returns false, having consumed nothing, where no statement begins.
fn statement(p: &mut Parser<'_>, in_block: bool) -> bool {
    let marker = p.start();
    let from = p.pos;
    items::attributes(p);
    let decorated = p.pos > from;
    p.eat(PUB);
    match p.current() {
        FN => items::function(p, marker),
        AT if p.nth(1) == FN => items::rule(p, marker),
        STRUCT => items::structure(p, marker),
        ENUM => items::enumeration(p, marker),
        MOD => items::module(p, marker),
        USE => items::import(p, marker),
        CONST => items::constant(p, marker),
        INPUT => items::input(p, marker),
        LET => binding(p, marker),
        FOR => for_loop(p, marker),
        SEMI => {
            p.bump();
            p.finish(marker, EXPR_STMT);
        }
        _ if p.pos > from => not_decorated(p, marker, decorated),
        _ if p.at_expression_start() => expression_statement(p, marker, in_block),
        _ => {
            p.abandon(marker);
            return false;
        }
    }
    true
}

/// Attributes or `pub` with nothing to stand before.
fn not_decorated(p: &mut Parser<'_>, marker: Marker, decorated: bool) {
    if decorated && matches!(p.current(), EOF | R_BRACE) {
        let diagnostic = errors::dangling_attribute(p.span_at(p.pos - 1));
        p.report(diagnostic);
    } else {
        p.error_expected(Expected::Here(
            "an item",
            "only items and bindings can carry attributes or `pub`",
        ));
    }
    if !(p.on_new_line() && p.at_statement_start()) {
        p.skip_statement();
    }
    p.finish(marker, ERROR);
}

/// `let C[i, j] = …;`, `let (a, b: f32) = …;`, `let x: T = …;`
fn binding(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    binding_head(p);
    p.type_ascription();
    p.value_after_equals();
    if p.at_word("until") {
        until(p);
    }
    p.expect_semicolon();
    p.finish(marker, LET_STMT);
}

fn binding_head(p: &mut Parser<'_>) {
    if p.at(EQ) || p.at(COLON) || !p.at_pattern_start() {
        p.error_expected(Expected::Name("a name or a pattern"));
        // A keyword here was meant as the name.
        if p.current().is_keyword() && matches!(p.nth(1), EQ | COLON | L_BRACK) {
            let marker = p.start();
            p.bump();
            p.finish(marker, ERROR);
        }
    } else {
        patterns::simple(p);
    }
    if p.at(L_BRACK) {
        let slots = p.start();
        access::bracket_items(p);
        p.finish(slots, SLOTS);
    }
}

/// `until cond, max n`
fn until(p: &mut Parser<'_>) {
    let marker = p.start();
    p.bump();
    p.expression();
    let advice = "an open recurrence needs both parts: `until condition, max steps`";
    if !p.eat(COMMA) {
        p.error_expected(Expected::Other("`, max` and a number of steps", advice));
    }
    if p.at_word("max") {
        p.bump();
        p.expression();
    } else if p.kinds[p.pos - 1] == COMMA {
        p.error_expected(Expected::Other("`max` and a number of steps", advice));
    }
    p.finish(marker, UNTIL_CLAUSE);
}

/// `for (a, b) in pairs { … }`
fn for_loop(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    if p.at_pattern_start() {
        patterns::simple(p);
    } else {
        p.error_expected(Expected::Pattern);
    }
    if p.expect(IN) || (p.at_expression_start() && !p.at(L_BRACE)) {
        p.within(Context { no_struct: true, no_else: false }, |p| p.expression());
    }
    body(p);
    p.finish(marker, FOR_STMT);
}

/// An expression with its semicolon. In a block the last one may go without, and so may one that
/// ends with a block of its own.
fn expression_statement(p: &mut Parser<'_>, marker: Marker, in_block: bool) {
    let (_, block_like) = p.statement_expression();
    if in_block && p.block_ends() {
        // The value of the block: not a statement at all.
        return p.abandon(marker);
    }
    if block_like && !p.at(SEMI) && p.at_statement_start_or_end() {
        p.finish(marker, EXPR_STMT);
        return;
    }
    p.expect_semicolon();
    p.finish(marker, EXPR_STMT);
}

/// A block where the grammar demands one.
pub(super) fn body(p: &mut Parser<'_>) {
    if p.at(L_BRACE) {
        block(p);
        return;
    }
    p.error_expected(Expected::Token(L_BRACE));
    p.skip_to_block();
    if p.at(L_BRACE) {
        block(p);
    } else {
        missing_brace(p);
    }
}

/// The opening brace is missing. When its partner is there, the statements between are read as the
/// block they were meant to be.
fn missing_brace(p: &mut Parser<'_>) {
    if !p.at_statement_start() || (p.on_new_line() && p.at_item_start() && p.column_is_zero()) {
        return;
    }
    let marker = p.start();
    p.nested(|p| {
        while !matches!(p.current(), R_BRACE | EOF) {
            if p.on_new_line() && p.at_item_start() && p.column_is_zero() {
                break;
            }
            block_statement(p);
        }
        p.eat(R_BRACE);
    });
    p.finish(marker, BLOCK);
}

/// `{ …; e }`
pub(super) fn block(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    braced(p, block_statement);
    p.finish(marker, BLOCK)
}

/// Braces around statements, at the opening one.
pub(super) fn braced(p: &mut Parser<'_>, statement: fn(&mut Parser<'_>)) {
    let opener = p.pos;
    let outer = p.block.replace(OpenBlock::new(opener));
    let done = p.nested(|p| {
        p.bump();
        p.within(Context::default(), |p| {
            while !p.block_ends() {
                statement(p);
            }
            close_block(p, opener);
        });
    });
    p.block = outer;
    if done.is_none() {
        p.eat(R_BRACE);
    }
}

fn close_block(p: &mut Parser<'_>, opener: usize) {
    if p.block_ended_by_layout() || !p.eat(R_BRACE) {
        p.believe_again();
        p.error_unclosed(R_BRACE, opener);
    }
}
