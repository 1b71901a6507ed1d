//! E0103: a number, escape, brace or format specification that is not spelled as the language
//! spells it. `crate::literal` finds the problem; the words are here.

use einlang_source::{Code, Diagnostic, Span};

use crate::literal::{BadLiteral, NUMBER_TYPES};

/// The message for a malformed literal.
pub(crate) fn malformed_literal(problem: &BadLiteral, text: &str, span: Span) -> Diagnostic {
    let error = |message: String, label: &str| Diagnostic::error(Code::E0103, message, span, label);
    match problem {
        BadLiteral::HexDigits => {
            error(format!("`{text}` is not a hexadecimal number"), "expected digits 0–9 and a–f")
                .with_help("write `0x` and hexadecimal digits, such as `0xff`")
        }
        BadLiteral::Radix(letter) => {
            error(format!("`{text}` is not a number"), "numbers are decimal or hexadecimal")
                .with_help(format!("there is no `0{letter}` form: write the number in decimal or as `0x…`"))
        }
        BadLiteral::Exponent => error(format!("`{text}` has no exponent"), "expected digits after `e`")
            .with_help("write the exponent, such as `1e-3`, or leave out the `e`"),
        BadLiteral::Suffix(suffix) => unknown_suffix(suffix, error),
        BadLiteral::IntegerSuffixOnFloat(suffix) => {
            error(format!("a number with a fraction cannot be `{suffix}`"), "this is a float")
                .with_help(format!("leave out the fraction, or convert with `as {suffix}`"))
        }
        BadLiteral::TooLarge(ty) => error(format!("`{text}` does not fit `{ty}`"), "out of range")
            .with_help("use a wider or signed type, such as `i64` or `f64`"),
        BadLiteral::Infinite => error(format!("`{text}` is too large for a float"), "rounds to infinity")
            .with_help("the constant `INF` of `std::math` is infinity"),
        BadLiteral::Escape(escape) => error(format!("unknown escape `{escape}`"), "not an escape")
            .with_help("the escapes are `\\n`, `\\t`, `\\\"`, `\\\\` and `\\u{…}`; write `\\\\` for a backslash"),
        BadLiteral::UnicodeEscape => error(format!("`{text}` names no character"), "malformed escape")
            .with_help("write one to six hexadecimal digits in braces, such as `\\u{3b1}`"),
        BadLiteral::LoneBrace => error("a `}` in this string closes nothing".to_string(), "unmatched `}`")
            .with_edit("write `}}` for the character", span, "}}"),
        BadLiteral::FormatSpec(problem) => {
            error(format!("malformed format specification `{text}`"), problem)
                .with_help("a specification is `[[fill]align][sign][0][width][.precision][type]`, such as `>8.3f`")
        }
    }
}

fn unknown_suffix(suffix: &str, error: impl Fn(String, &str) -> Diagnostic) -> Diagnostic {
    let diagnostic = error(format!("`{suffix}` is not a number type"), "unknown suffix");
    match einlang_source::nearest(suffix, NUMBER_TYPES.iter().copied()) {
        Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
        None => diagnostic.with_help(
            "a suffix is one of `i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f16 bf16 f32 f64`",
        ),
    }
}
