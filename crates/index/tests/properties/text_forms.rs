//! What is printed reads back as the same thing, and no text panics.

use crate::domain_ops::quasi;
use crate::plain::*;
use einlang_index::{Affine, Domain, MinMax, Quasi, Vars};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn domains_round_trip(a in bounded(3, 3, 4, 4)) {
        let mut w = world();
        let domain = a.build(&w);
        let text = domain.display(&w.vars).to_string();
        prop_assert_eq!(Domain::parse(&text, &mut w.vars).unwrap(), domain, "{}", text);
    }

    #[test]
    fn expressions_round_trip(text in quasi()) {
        let mut w = world();
        let expr = Quasi::parse(&text, &mut w.vars).unwrap();
        let shown = expr.display(&w.vars).to_string();
        prop_assert_eq!(Quasi::parse(&shown, &mut w.vars).unwrap(), expr, "{}", shown);
    }

    #[test]
    fn expressions_mean_what_they_say(text in quasi(), i in -9..9i64, j in -9..9i64, n in -9..9i64) {
        let mut w = world();
        let expr = Quasi::parse(&text, &mut w.vars).unwrap();
        let value = |v| if v == w.dims[0] { i } else if v == w.dims[1] { j } else { n };
        prop_assert_eq!(expr.eval(&value).unwrap(), evaluate(&text, i, j, n));
    }

    #[test]
    fn affine_round_trips(c in any::<i64>(), a in any::<i64>(), b in any::<i64>()) {
        let mut w = world();
        let expr = Affine::new(c, [(w.dims[0], a), (w.n, b)]).unwrap();
        let shown = expr.display(&w.vars).to_string();
        prop_assert_eq!(Affine::parse(&shown, &mut w.vars).unwrap(), expr, "{}", shown);
    }

    #[test]
    fn any_text_is_accepted_or_refused(text in "[ij0-9+*/%()<>=:{}\\[\\], `a-z-]{0,40}") {
        let _ = Domain::parse(&text, &mut Vars::new());
        let _ = Quasi::parse(&text, &mut Vars::new());
        let _ = Domain::parse(&format!("{{ [i, j] : {text} }}"), &mut Vars::new());
    }

    #[test]
    fn any_characters_are_accepted_or_refused(text in "\\PC{0,30}") {
        let _ = Domain::parse(&text, &mut Vars::new());
        let _ = Domain::parse(&format!("{{ [i] : i < {text} }}"), &mut Vars::new());
    }
}

/// A second reader of the generator's fully parenthesised texts, which computes with numbers.
fn evaluate(text: &str, i: i64, j: i64, n: i64) -> i128 {
    let inner = text.strip_prefix("floor").unwrap_or(text);
    let floor = inner.len() < text.len();
    let Some(body) = inner.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return match text {
            "i" => i.into(),
            "j" => j.into(),
            _ => n.into(),
        };
    };
    let Some((left, op, right)) = split(body) else { return body.parse().unwrap() };
    let (a, b) = (evaluate(left, i, j, n), right);
    let number = || b.parse::<i128>().unwrap();
    match op {
        "+" => a + evaluate(b, i, j, n),
        "*" => a * evaluate(b, i, j, n),
        "/" if floor => a.div_euclid(number()),
        "/" => a / number(),
        "%" => a % number(),
        _ => a.rem_euclid(number()),
    }
}

/// Splits at the operator outside all parentheses.
fn split(body: &str) -> Option<(&str, &str, &str)> {
    let mut depth = 0;
    for (at, c) in body.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '*' if depth == 0 => return Some((&body[..at], "*", &body[at + 1..])),
            ' ' if depth == 0 => {
                let (op, right) = body[at + 1..].split_once(' ').unwrap();
                return Some((&body[..at], op, right));
            }
            _ => {}
        }
    }
    None
}

#[test]
fn the_documented_forms_read_as_meant() {
    let cases = [
        (
            "{ [i, j] : 0 <= i < n and j = 2*i + 1 }",
            "{ [i, j] : 2*i = j - 1 and i >= 0 and i < n }",
        ),
        (
            "{ [i] : exists e : i = 2*e and 0 <= e < n }",
            "{ [i] : i >= 0 and i <= 2*n - 2 and (i) mod 2 = 0 }",
        ),
        ("{ [i] : 0 <= i / 2 < n and i >= 0 }", "{ [i] : i >= 0 and i < 2*n }"),
        (
            "{ [i] : i mod 4 >= 1 and i mod 6 != 3 }",
            "{ [i] : (i + 2) mod 6 <= 1 and (i + 3) mod 4 <= 2 or (i) mod 6 <= 2 and (i + 3) mod 4 <= 2 }",
        ),
        ("{ [i] : not (i >= 0 and i < n) }", "{ [i] : i < 0 or i >= 0 and i >= n }"),
        ("{ [i] : i = 1 or (i) < 0 and (i + 1)*2 > (-3) }", "{ [i] : i = 1 or i >= -2 and i < 0 }"),
        ("{ [`a b`, `and`] : `a b` < `len(x)` }", "{ [`a b`, `and`] : `a b` < `len(x)` }"),
        ("{ [] }", "{ [] }"),
    ];
    for (text, shown) in cases {
        let mut vars = Vars::new();
        let domain = Domain::parse(text, &mut vars).unwrap();
        let again = domain.display(&vars).to_string();
        assert!(Domain::parse(shown, &mut vars).unwrap().is_same(&domain).is_true(), "{again}");
        assert_eq!(again, shown);
    }
}

#[test]
fn bounds_round_trip() {
    let mut vars = Vars::new();
    for text in ["n - 1", "min(m, n - 1)", "max(0, min(n - K + 1, m))", "max(min, 2*max)"] {
        let bound = MinMax::parse(text, &mut vars).unwrap();
        let again = MinMax::parse(&bound.display(&vars).to_string(), &mut vars).unwrap();
        assert_eq!(again, bound, "{text}");
    }
    assert!(MinMax::parse("min()", &mut vars).is_err());
    assert!(MinMax::parse(&"min(".repeat(99), &mut vars).is_err());
}

#[test]
fn errors_say_where() {
    let mut vars = Vars::new();
    let mut fails = |text: &str| Domain::parse(text, &mut vars).unwrap_err().to_string();
    assert_eq!(fails("{ [i] : i * i < 3 }"), "at byte 14: a product needs a number on one side");
    assert_eq!(fails("{ [i] : i }"), "at byte 10: expected a comparison");
    assert_eq!(fails("{ [i] : i / 0 < 1 }"), "at byte 14: the divisor is not a positive constant");
    assert_eq!(fails("{ [i, i] }"), "at byte 7: `i` cannot be a dimension here");
    assert_eq!(fails(&"(".repeat(500)), "at byte 0: expected `{`");
    assert!(fails(&format!("{{ [i] : {}", "(".repeat(500))).contains("nested too deeply"));
    assert!(fails(&format!("{{ [i] : {} i < 0", "(".repeat(500))).contains("nested too deeply"));
}
