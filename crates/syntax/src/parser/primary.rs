//! Primary expressions, and the calls, subscripts and fields that follow them.

use super::expressions::Level;
use super::{Context, Finished, Parser, access, patterns, statements, strings};
use crate::errors::Expected;
use crate::kind::SyntaxKind::*;

/// A primary expression with everything that binds tightest.
pub(super) fn with_postfix(p: &mut Parser<'_>, floor: Level) -> Option<Finished> {
    let mut value = atom(p, floor)?;
    // `f[k](e where a, b)`: after subscripts the commas of a `where` belong to it.
    let mut subscripted = false;
    loop {
        value = match p.current() {
            L_PAREN => call(p, value, subscripted),
            L_BRACK => {
                subscripted = true;
                index(p, value)
            }
            DOT => field(p, value),
            _ => return Some(value),
        };
    }
}

/// The fields and methods of a block-like expression at the start of a statement.
pub(super) fn fields_only(p: &mut Parser<'_>, mut value: Finished) -> Finished {
    while p.at(DOT) {
        value = field(p, value);
        if p.at(L_PAREN) {
            value = call(p, value, false);
        }
    }
    value
}

fn call(p: &mut Parser<'_>, callee: Finished, subscripted: bool) -> Finished {
    let marker = p.precede(callee);
    let args = p.start();
    p.delimited(R_PAREN, Expected::Expression, |p| argument(p, subscripted));
    p.finish(args, ARG_LIST);
    p.finish(marker, CALL_EXPR)
}

fn argument(p: &mut Parser<'_>, subscripted: bool) -> bool {
    if p.at(IDENT) && p.nth(1) == EQ {
        let marker = p.start();
        p.name("the name of a parameter");
        p.bump();
        p.expression_where(false);
        p.finish(marker, NAMED_ARG);
        return true;
    }
    element(p, subscripted)
}

/// An element of a list; `several` as in `expression_where`.
fn element(p: &mut Parser<'_>, several: bool) -> bool {
    p.at_expression_start() && p.expression_where(several).is_some()
}

fn index(p: &mut Parser<'_>, value: Finished) -> Finished {
    let marker = p.precede(value);
    let subscripts = p.start();
    access::bracket_items(p);
    p.finish(subscripts, SUBSCRIPTS);
    p.finish(marker, INDEX_EXPR)
}

fn field(p: &mut Parser<'_>, value: Finished) -> Finished {
    let marker = p.precede(value);
    p.bump();
    if !p.eat(INT) {
        p.name("a field");
    }
    p.finish(marker, FIELD_EXPR)
}

/// An expression that begins with its own token. `floor` limits the body of a lambda.
pub(super) fn atom(p: &mut Parser<'_>, floor: Level) -> Option<Finished> {
    Some(match p.current() {
        MINUS | INT | FLOAT | TRUE | FALSE => literal(p),
        STR_OPEN => strings::string(p),
        IDENT | SELF | SUPER | CRATE => path_or_struct(p),
        IN => {
            let marker = p.start();
            p.bump();
            p.finish(marker, PATH)
        }
        L_PAREN => parenthesised(p),
        L_BRACK => array(p),
        L_BRACE => statements::block(p),
        IF => if_expression(p),
        MATCH => match_expression(p),
        TRY => try_expression(p),
        PIPE | PIPE2 => lambda(p, floor),
        _ => {
            p.error_expected(Expected::Expression);
            return None;
        }
    })
}

/// A number with its sign, or `true`, `false`.
pub(super) fn literal(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    p.eat(MINUS);
    p.bump();
    p.finish(marker, LITERAL)
}

fn path_or_struct(p: &mut Parser<'_>) -> Finished {
    let path = p.path();
    if p.at(L_BRACE) && !p.context.no_struct && at_struct_fields(p) {
        let marker = p.precede(path);
        let fields = p.start();
        p.delimited(R_BRACE, Expected::Name("a field"), struct_field);
        p.finish(fields, STRUCT_FIELD_LIST);
        return p.finish(marker, STRUCT_EXPR);
    }
    path
}

/// After a path, `{ x: …`, `{ x, …`, `{ x }` and `{}` hold fields; anything else is a block.
fn at_struct_fields(p: &Parser<'_>) -> bool {
    match p.nth(1) {
        R_BRACE => true,
        IDENT => matches!(p.nth(2), COLON | COMMA | R_BRACE),
        _ => false,
    }
}

fn struct_field(p: &mut Parser<'_>) -> bool {
    if !matches!(p.current(), IDENT | COLON) {
        return false;
    }
    let marker = p.start();
    p.name("a field");
    if p.eat(COLON) {
        p.expression_where(false);
    }
    p.finish(marker, STRUCT_FIELD);
    true
}

/// `()`, `(e)`, `(e where …)`, `(a, b)`
fn parenthesised(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    let opener = p.pos;
    let commas = p.delimited(R_PAREN, Expected::Expression, |p| element(p, true));
    let empty = p.pos == opener + 2;
    p.finish(marker, if commas > 0 || empty { TUPLE_EXPR } else { PAREN_EXPR })
}

/// `[a, b]` or `[e | i in 0..n, cond, k = i + 1]`
fn array(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    let opener = p.pos;
    let bar = std::cell::Cell::new(false);
    p.delimited(R_BRACK, Expected::Expression, |p| {
        if bar.get() {
            return comprehension_item(p);
        }
        let first = p.pos == opener + 1;
        let found = element(p, false);
        if found && first && p.at(PIPE) {
            bar.set(true);
            p.bump();
            return comprehension_item(p);
        }
        found
    });
    p.finish(marker, if bar.get() { COMPREHENSION } else { ARRAY_EXPR })
}

fn comprehension_item(p: &mut Parser<'_>) -> bool {
    let marker = p.start();
    if p.at(IDENT) && p.nth(1) == EQ {
        p.name("a name");
        p.bump();
        p.expression();
        p.finish(marker, COMP_BINDING);
    } else if at_generator(p) {
        patterns::simple(p);
        p.bump();
        p.expression();
        p.finish(marker, COMP_GENERATOR);
    } else if p.at_expression_start() {
        p.expression();
        p.finish(marker, COMP_CONDITION);
    } else {
        p.abandon(marker);
        return false;
    }
    true
}

/// `i in …` or `(a, b) in …`; a membership test as a condition goes into parentheses.
fn at_generator(p: &Parser<'_>) -> bool {
    match p.current() {
        IDENT | UNDERSCORE => p.nth(1) == IN,
        L_PAREN | L_BRACK => {
            p.brackets.partner(p.pos).is_some_and(|end| p.kinds.get(end + 1) == Some(&IN))
        }
        _ => false,
    }
}

fn if_expression(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    p.bump();
    head(p);
    statements::body(p);
    if p.eat(ELSE) {
        if p.at(IF) {
            p.nested(if_expression);
        } else {
            statements::body(p);
        }
    }
    p.finish(marker, IF_EXPR)
}

/// The expression between a keyword and its block.
fn head(p: &mut Parser<'_>) {
    if p.at(L_BRACE) {
        return p.error_expected(Expected::Expression);
    }
    p.within(Context { no_struct: true, no_else: false }, |p| p.expression());
}

fn match_expression(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    p.bump();
    head(p);
    if p.at(L_BRACE) {
        let arms = p.start();
        p.delimited_with(R_BRACE, Expected::Pattern, true, match_arm);
        p.finish(arms, MATCH_ARM_LIST);
    } else {
        p.error_expected(Expected::Token(L_BRACE));
        p.skip_to_block();
        arms_without_brace(p);
    }
    p.finish(marker, MATCH_EXPR)
}

/// The opening brace of the arms is missing: they are read all the same, up to the closing one.
fn arms_without_brace(p: &mut Parser<'_>) {
    let arms = p.start();
    let from = p.pos;
    if p.at(L_BRACE) {
        p.delimited_with(R_BRACE, Expected::Pattern, true, match_arm);
    } else if !p.on_new_line() || p.at_pattern_start() {
        while match_arm(p) {
            p.eat(COMMA);
        }
        p.eat(R_BRACE);
    }
    if p.pos > from {
        p.finish(arms, MATCH_ARM_LIST);
    } else {
        p.abandon(arms);
    }
}

fn match_arm(p: &mut Parser<'_>) -> bool {
    if !p.at_pattern_start() && !p.at(FAT_ARROW) {
        return false;
    }
    let marker = p.start();
    if p.at(FAT_ARROW) {
        p.error_expected(Expected::Pattern);
    } else {
        patterns::pattern(p);
    }
    if p.at(WHERE) {
        let guard = p.start();
        p.bump();
        p.expression();
        p.finish(guard, MATCH_GUARD);
    }
    if p.expect(FAT_ARROW) || (p.at_expression_start() && !p.on_new_line()) {
        p.expression_where(false);
    }
    p.finish(marker, MATCH_ARM);
    true
}

/// `try e` binds tighter than the pipes that handle its failure.
fn try_expression(p: &mut Parser<'_>) -> Finished {
    let marker = p.start();
    p.bump();
    p.expression_above(Level::Or);
    p.finish(marker, TRY_EXPR)
}

/// `|x, y| e`. The body reaches as far as the place of the lambda lets it.
fn lambda(p: &mut Parser<'_>, floor: Level) -> Finished {
    let marker = p.start();
    let params = p.start();
    if !p.eat(PIPE2) {
        p.bump();
        while !p.at(PIPE) && p.at_pattern_start() {
            let param = p.start();
            patterns::simple(p);
            p.type_ascription();
            p.finish(param, PARAM);
            if !p.eat(COMMA) {
                break;
            }
        }
        p.expect(PIPE);
    }
    p.finish(params, PARAM_LIST);
    p.expression_above(floor.min(Level::Or));
    p.finish(marker, LAMBDA_EXPR)
}
