//! Strings, with the expressions inside them as part of the tree.

use super::{Context, Finished, Parser};
use crate::kind::SyntaxKind::*;

/// A string, at its opening quote. One that is not closed was reported by the lexer.
pub(super) fn string(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    p.bump();
    loop {
        match p.current() {
            STR_TEXT => p.bump(),
            INTERP_OPEN => interpolation(p),
            STR_CLOSE => {
                p.bump();
                break;
            }
            _ => break,
        }
    }
    p.finish(marker, STRING)
}

/// `{expr:spec}`
fn interpolation(p: &mut Parser<'_>) {
    let marker = p.start();
    let opener = p.pos;
    p.nested(|p| {
        p.bump();
        p.within(Context::default(), |p| p.expression());
        p.eat(INTERP_SPEC);
        if !p.at(INTERP_CLOSE) {
            p.error_unclosed(INTERP_CLOSE, opener);
            if let Some(end) = p.brackets.partner(opener) {
                let rest = p.start();
                p.bump_to(end);
                p.finish(rest, ERROR);
            }
        }
        p.eat(INTERP_CLOSE);
    });
    p.finish(marker, INTERPOLATION);
}
