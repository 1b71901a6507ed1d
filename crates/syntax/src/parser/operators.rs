//! The loosest operators: pipes with `else` and `catch`, `with`, and `where`.

use super::expressions::Level;
use super::{Context, Finished, Parser, access};
use crate::errors::Expected;
use crate::kind::SyntaxKind::*;

/// `x |> f`, `x ?> f`, `x !> f`, `x else e`, `x catch |err| e`, `x with […] = e`, at the operator.
pub(super) fn pipe(p: &mut Parser<'_>, left: Finished) -> Finished {
    let kind = match p.current() {
        ELSE => ELSE_EXPR,
        CATCH => CATCH_EXPR,
        WITH => return with_updates(p, left),
        _ => PIPE_EXPR,
    };
    let marker = p.precede(left);
    p.bump();
    p.expression_above(Level::Or);
    p.finish(marker, kind)
}

/// `x with [i, 1..3] = e, [0, :] = f`
fn with_updates(p: &mut Parser<'_>, left: Finished) -> Finished {
    let marker = p.precede(left);
    p.bump();
    loop {
        update(p);
        if !(p.at(COMMA) && at_further_update(p)) {
            break;
        }
        p.bump();
    }
    p.finish(marker, WITH_EXPR)
}

fn update(p: &mut Parser<'_>) {
    let marker = p.start();
    if p.at(L_BRACK) {
        let subscripts = p.start();
        access::bracket_items(p);
        p.finish(subscripts, SUBSCRIPTS);
    } else {
        p.error_expected(Expected::Other(
            "`[` and the points to replace",
            "an update is written `x with [i, 1..3] = value`",
        ));
    }
    if p.expect(EQ) || (p.at_expression_start() && !p.on_new_line()) {
        p.expression_above(Level::Or);
    }
    p.finish(marker, WITH_UPDATE);
}

/// After a comma, `[…] =` is another update; `[…]` alone is the next element of a list around.
fn at_further_update(p: &Parser<'_>) -> bool {
    let opener = p.pos + 1;
    p.nth(1) == L_BRACK
        && p.brackets.partner(opener).is_some_and(|closer| p.kinds.get(closer + 1) == Some(&EQ))
}

/// `where` and its items after a value, when they are there.
pub(super) fn where_clause(p: &mut Parser<'_>, value: Finished, several: bool) -> Finished {
    if !p.at(WHERE) {
        return value;
    }
    let marker = p.precede(value);
    p.bump();
    where_item(p);
    while several && p.at(COMMA) && !is_end_of_items(p) {
        p.bump();
        where_item(p);
    }
    if p.at(ELSE) {
        let fallback = p.start();
        p.bump();
        p.expression();
        p.finish(fallback, WHERE_ELSE);
    }
    p.finish(marker, WHERE_EXPR)
}

/// A trailing comma before the closing bracket belongs to the list around.
fn is_end_of_items(p: &Parser<'_>) -> bool {
    p.nth(1).is_closer()
}

/// `z = e` or a guard. `else` ends it.
fn where_item(p: &mut Parser<'_>) {
    let context = Context { no_else: true, ..p.context };
    p.within(context, |p| {
        let marker = p.start();
        if p.at_name() && p.nth(1) == EQ {
            p.index_name("a name");
            p.bump();
            p.expression();
            p.finish(marker, WHERE_BINDING);
        } else {
            p.expression();
            p.finish(marker, WHERE_GUARD);
        }
    });
}
