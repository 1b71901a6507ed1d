use super::*;

fn kinds(text: &str) -> Vec<SyntaxKind> {
    lex(text).kinds.into_iter().filter(|kind| !kind.is_trivia()).collect()
}

fn pieces(text: &str) -> Vec<(SyntaxKind, &str)> {
    let tokens = lex(text);
    (0..tokens.len()).map(|i| (tokens.kinds[i], &text[tokens.range(i)])).collect()
}

#[test]
fn every_fixed_token_lexes_as_itself() {
    for kind in SyntaxKind::ALL {
        if let Some(text) = kind.fixed_text() {
            assert_eq!(pieces(text), [(*kind, text)]);
        }
    }
}

#[test]
fn ranges_are_not_floats() {
    assert_eq!(kinds("1..5"), [INT, DOT2, INT]);
    assert_eq!(kinds("1.0..=2.5"), [FLOAT, DOT2EQ, FLOAT]);
    assert_eq!(kinds("1."), [FLOAT]);
    assert_eq!(kinds("x.0.1"), [IDENT, DOT, INT, DOT, INT]);
}

#[test]
fn a_number_takes_in_its_suffix() {
    for text in ["7i64", "2.0f64", "0xff", "0xzz", "1_000", "1e-3", "1e5f64", "3d", "1e", "0b2"] {
        assert_eq!(pieces(text).len(), 1, "{text}");
    }
}

#[test]
fn strings_hold_expressions() {
    assert_eq!(
        pieces(r#""a {x[1]:>8} b""#),
        [
            (STR_OPEN, "\""),
            (STR_TEXT, "a "),
            (INTERP_OPEN, "{"),
            (IDENT, "x"),
            (L_BRACK, "["),
            (INT, "1"),
            (R_BRACK, "]"),
            (INTERP_SPEC, ":>8"),
            (INTERP_CLOSE, "}"),
            (STR_TEXT, " b"),
            (STR_CLOSE, "\""),
        ]
    );
    assert_eq!(kinds(r#""{{}}""#), [STR_OPEN, STR_TEXT, STR_CLOSE]);
    assert_eq!(kinds(r#""\u{1f600}""#), [STR_OPEN, STR_TEXT, STR_CLOSE]);
    assert_eq!(
        kinds(r#""{a::b:x}""#),
        [STR_OPEN, INTERP_OPEN, IDENT, COLON2, IDENT, INTERP_SPEC, INTERP_CLOSE, STR_CLOSE]
    );
    assert_eq!(
        kinds(r#""{f("{y}")}""#),
        [
            STR_OPEN,
            INTERP_OPEN,
            IDENT,
            L_PAREN,
            STR_OPEN,
            INTERP_OPEN,
            IDENT,
            INTERP_CLOSE,
            STR_CLOSE,
            R_PAREN,
            INTERP_CLOSE,
            STR_CLOSE
        ]
    );
}

#[test]
fn a_forgotten_quote_costs_one_line() {
    let tokens = lex("let s = \"never closed;\nlet t = 1;");
    assert_eq!(tokens.errors, [LexError { what: Unterminated::String, start: 8, end: 22 }]);
    assert_eq!(tokens.kinds[tokens.len() - 1], SEMI);
    let tokens = lex("let s = \"{x + \nlet t = 1;");
    assert_eq!(tokens.errors, [LexError { what: Unterminated::Interpolation, start: 8, end: 14 }]);
    assert_eq!(tokens.kinds[tokens.len() - 1], SEMI);
}

#[test]
fn comments_nest() {
    assert_eq!(kinds("/* a /* b */ c */ x // y"), [IDENT]);
    assert_eq!(lex("/* /* */").errors.len(), 1);
    assert_eq!(pieces("/// doc\r\nx")[0], (DOC_COMMENT, "/// doc"));
    assert_eq!(pieces("//// rule")[0].0, LINE_COMMENT);
}

#[test]
fn names_follow_unicode() {
    assert_eq!(kinds("größe 面積 σ2 _x _"), [IDENT, IDENT, IDENT, IDENT, UNDERSCORE]);
    assert_eq!(kinds("€"), [UNKNOWN]);
}
