//! Items: what a file, a module or a block declares.

use super::{Marker, Parser, patterns, statements, types};
use crate::errors::Expected;
use crate::kind::SyntaxKind::*;

/// The whole file.
pub(super) fn source_file(p: &mut Parser<'_>) {
    let marker = p.start();
    while !p.at(EOF) {
        statements::top_level(p);
    }
    p.finish(marker, SOURCE_FILE);
}

/// `#[audit] #[broadcast(scale: b, h)]`
pub(super) fn attributes(p: &mut Parser<'_>) {
    while p.at(HASH) {
        let marker = p.start();
        p.bump();
        if p.at(L_BRACK) {
            p.delimited(R_BRACK, Expected::Name("a name for the attribute"), attribute_body);
        } else {
            p.error_expected(Expected::Token(L_BRACK));
        }
        p.finish(marker, ATTR);
    }
}

fn attribute_body(p: &mut Parser<'_>) -> bool {
    if !p.at(IDENT) {
        return false;
    }
    p.name("a name for the attribute");
    if p.at(L_PAREN) {
        let args = p.start();
        p.delimited(R_PAREN, Expected::Expression, attribute_argument);
        p.finish(args, ATTR_ARGS);
    }
    true
}

fn attribute_argument(p: &mut Parser<'_>) -> bool {
    if !p.at_expression_start() {
        return false;
    }
    let marker = p.start();
    if p.at_name() && p.nth(1) == COLON {
        p.index_name("a name");
        p.bump();
    }
    p.expression();
    p.finish(marker, ATTR_ARG);
    true
}

/// `fn softmax[c](x: [f32; ..l, c, ..r]) -> [f32; ..l, c, ..r] { … }`, after attributes and `pub`.
pub(super) fn function(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.name("a name for the function");
    if p.at(LT) {
        generic_parameters(p);
    }
    if p.at(L_BRACK) {
        let coords = p.start();
        let coordinate = Expected::Name("a coordinate");
        p.delimited(R_BRACK, coordinate, |p| p.at_name() && p.index_name("a coordinate"));
        p.finish(coords, COORD_PARAMS);
    }
    if p.at(LT) {
        generic_parameters(p);
    }
    parameter_list(p);
    if p.at(ARROW) {
        let ret = p.start();
        p.bump();
        types::ty(p);
        p.finish(ret, RET_TYPE);
    }
    statements::body(p);
    p.finish(marker, FN_ITEM);
}

/// `@fn f(x, y) { … }` or `@fn f(x, y) from @r { … }`, at the `@`.
pub(super) fn rule(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.bump();
    // A rule may be given for a function of another module, so its name is a path.
    if p.at_path_start() {
        p.path();
    } else {
        p.error_expected(Expected::Name("the name of the function"));
    }
    parameter_list(p);
    if p.at_word("from") {
        let from = p.start();
        p.bump();
        p.expect(AT);
        p.name("a name for the cotangent");
        p.finish(from, RULE_FROM);
    }
    statements::body(p);
    p.finish(marker, RULE_ITEM);
}

fn generic_parameters(p: &mut Parser<'_>) {
    let marker = p.start();
    p.angle_list(Expected::Name("a type parameter"), |p| p.at(IDENT) && p.name("a type parameter"));
    p.finish(marker, GENERIC_PARAMS);
}

fn parameter_list(p: &mut Parser<'_>) {
    let marker = p.start();
    if p.at(L_PAREN) {
        p.delimited(R_PAREN, Expected::Name("a parameter"), parameter);
    } else {
        p.error_expected(Expected::Token(L_PAREN));
        // The parameters are probably there, and end before the body.
        while !matches!(p.current(), L_BRACE | ARROW | SEMI | EOF) && !p.at_item_start() {
            p.bump();
            if p.kinds[p.pos - 1] == R_PAREN {
                break;
            }
        }
    }
    p.finish(marker, PARAM_LIST);
}

fn parameter(p: &mut Parser<'_>) -> bool {
    if !p.at_pattern_start() {
        if p.current().is_keyword() && !p.at_item_start() {
            p.error_expected(Expected::Name("a name for the parameter"));
            p.bump();
            return true;
        }
        return false;
    }
    let marker = p.start();
    patterns::simple(p);
    p.type_ascription();
    if p.eat(EQ) {
        p.expression();
    }
    p.finish(marker, PARAM);
    true
}

/// `struct P { x: f32, y: f32 }`
pub(super) fn structure(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.name("a name for the struct");
    if p.at(LT) {
        generic_parameters(p);
    }
    if p.at(L_BRACE) {
        field_list(p);
    } else {
        p.error_expected(Expected::Token(L_BRACE));
        p.skip_statement();
    }
    p.finish(marker, STRUCT_ITEM);
}

fn field_list(p: &mut Parser<'_>) {
    let marker = p.start();
    p.delimited(R_BRACE, Expected::Name("a field"), field);
    p.finish(marker, FIELD_LIST);
}

fn field(p: &mut Parser<'_>) -> bool {
    if !matches!(p.current(), PUB | IDENT | COLON) {
        return false;
    }
    let marker = p.start();
    p.eat(PUB);
    p.name("a name for the field");
    if p.expect(COLON) || types::at_start(p) {
        types::ty(p);
    }
    p.finish(marker, FIELD_DEF);
    true
}

/// `enum E { A, B(f32), C { k: i32 } }`
pub(super) fn enumeration(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.name("a name for the enum");
    if p.at(LT) {
        generic_parameters(p);
    }
    if p.at(L_BRACE) {
        let list = p.start();
        p.delimited(R_BRACE, Expected::Name("a variant"), variant);
        p.finish(list, VARIANT_LIST);
    } else {
        p.error_expected(Expected::Token(L_BRACE));
        p.skip_statement();
    }
    p.finish(marker, ENUM_ITEM);
}

fn variant(p: &mut Parser<'_>) -> bool {
    if !p.at(IDENT) {
        return false;
    }
    let marker = p.start();
    p.name("a name for the variant");
    if p.at(L_PAREN) {
        let payload = p.start();
        p.delimited(R_PAREN, Expected::Type, |p| types::at_start(p) && types::ty(p));
        p.finish(payload, VARIANT_TUPLE);
    } else if p.at(L_BRACE) {
        field_list(p);
    }
    p.finish(marker, VARIANT);
    true
}

/// `mod a;` or `mod a { … }`
pub(super) fn module(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.name("a name for the module");
    if p.at(L_BRACE) {
        let list = p.start();
        statements::braced(p, statements::block_statement);
        p.finish(list, ITEM_LIST);
    } else {
        p.expect_semicolon();
    }
    p.finish(marker, MOD_ITEM);
}

/// `use p::q::{f, g as h};`
pub(super) fn import(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    if !use_tree(p) {
        p.error_expected(Expected::Name("a path"));
    }
    p.expect_semicolon();
    p.finish(marker, USE_ITEM);
}

fn use_tree(p: &mut Parser<'_>) -> bool {
    if !p.at_path_start() && !matches!(p.current(), STAR | L_BRACE) {
        return false;
    }
    let marker = p.start();
    if p.at_path_start() {
        p.path();
        if p.at(COLON2) {
            p.bump();
            use_end(p);
        }
    } else {
        use_end(p);
    }
    if p.at(AS) {
        let alias = p.start();
        p.bump();
        p.name("the new name");
        p.finish(alias, USE_ALIAS);
    }
    p.finish(marker, USE_TREE);
    true
}

fn use_end(p: &mut Parser<'_>) {
    let marker = p.start();
    match p.current() {
        STAR => {
            p.bump();
            p.finish(marker, USE_GLOB);
        }
        L_BRACE => {
            p.delimited(R_BRACE, Expected::Name("a name to import"), use_tree);
            p.finish(marker, USE_LIST);
        }
        _ => {
            p.abandon(marker);
            p.error_expected(Expected::Name("a name, `*` or `{`"));
        }
    }
}

/// `const N = 10;`
pub(super) fn constant(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.name("a name for the constant");
    p.type_ascription();
    p.value_after_equals();
    p.expect_semicolon();
    p.finish(marker, CONST_ITEM);
}

/// `input lr: f32 = 0.1;`
pub(super) fn input(p: &mut Parser<'_>, marker: Marker) {
    p.bump();
    p.name("a name for the input");
    if !p.type_ascription() {
        p.error_expected(Expected::Other(
            "`:` and a type",
            "an input states its type, such as `input A: [f32; M, K];`",
        ));
    }
    if p.eat(EQ) {
        p.expression();
    }
    p.expect_semicolon();
    p.finish(marker, INPUT_ITEM);
}
