//! Types, with the dimensions of tensors.

use super::expressions::Level;
use super::{Finished, Parser};
use crate::errors::Expected;
use crate::kind::SyntaxKind::*;

/// A token that can begin a type.
pub(super) fn at_start(p: &Parser<'_>) -> bool {
    matches!(p.current(), IDENT | SELF | SUPER | CRATE | L_BRACK | L_PAREN)
}

/// A type. Returns false, having reported it, where there is none.
pub(super) fn ty(p: &mut Parser<'_>) -> bool {
    ty_with(p, true)
}

/// The type after `as`, where `<` is a comparison.
pub(super) fn cast_target(p: &mut Parser<'_>) -> bool {
    ty_with(p, false)
}

fn ty_with(p: &mut Parser<'_>, generics: bool) -> bool {
    if !at_start(p) {
        p.error_expected(Expected::Type);
        return false;
    }
    p.nested(|p| match p.current() {
        L_BRACK => tensor(p),
        L_PAREN => tuple_or_function(p),
        _ if p.at_word("jagged") && p.nth(1) == L_BRACK => jagged(p),
        _ => named(p, generics),
    })
    .is_some()
}

/// `f32`, `Option<f32>`, `model::State`
fn named(p: &mut Parser<'_>, generics: bool) -> Finished {
    let marker = p.start();
    p.path();
    if generics && p.at(LT) {
        let arguments = p.start();
        p.angle_list(Expected::Type, |p| at_start(p) && ty(p));
        p.finish(arguments, GENERIC_ARGS);
    }
    p.finish(marker, PATH_TYPE)
}

/// `[f32]`, `[f32; 2, 3]`, `[f32; ..l, c]`, `[f32; *]`
fn tensor(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    element_and_dims(p);
    p.finish(marker, TENSOR_TYPE)
}

/// `jagged[i32; 3d]`
fn jagged(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    p.bump();
    element_and_dims(p);
    p.finish(marker, JAGGED_TYPE)
}

/// The brackets of a tensor type: its element, then `;` and dimensions.
fn element_and_dims(p: &mut Parser<'_>) {
    let opener = p.pos;
    p.bump();
    ty(p);
    if p.at(SEMI) {
        let dims = p.start();
        // The semicolon stands where a list has its opening bracket.
        p.dimensions(opener, dimension);
        p.finish(dims, DIM_LIST);
    }
    if !p.eat(R_BRACK) {
        p.error_unclosed(R_BRACK, opener);
        if p.brackets.partner(opener).is_some() && p.skip_in_list(opener, R_BRACK, false) {
            p.eat(R_BRACK);
        }
    }
}

fn dimension(p: &mut Parser<'_>) -> bool {
    let marker = p.start();
    let kind = match p.current() {
        QUESTION => {
            p.bump();
            DIM_ANY
        }
        STAR => {
            p.bump();
            DIM_STAR
        }
        DOT2 => {
            p.bump();
            p.index_name("a name for the rest of the axes");
            DIM_REST
        }
        // `3d` in `jagged[i32; 3d]` is a number of levels, not an expression.
        INT if p.text_at(p.pos).ends_with('d') && !p.text_at(p.pos).starts_with("0x") => {
            p.bump();
            DIM_EXPR
        }
        _ if p.at_expression_start() => {
            p.expression_above(Level::Sum);
            DIM_EXPR
        }
        _ => {
            p.abandon(marker);
            return false;
        }
    };
    p.finish(marker, kind);
    true
}

/// `(f32, i32)`, `()`, `(f32)`, `(f32, f32) -> f32`
fn tuple_or_function(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    let opener = p.pos;
    let commas = p.delimited(R_PAREN, Expected::Type, |p| at_start(p) && ty(p));
    if p.eat(ARROW) {
        ty(p);
        return p.finish(marker, FN_TYPE);
    }
    let single = commas == 0 && p.pos > opener + 2;
    p.finish(marker, if single { PAREN_TYPE } else { TUPLE_TYPE })
}
