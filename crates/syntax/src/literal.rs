//! What literals mean: numbers with their suffixes, escapes in strings, format specifications.
//!
//! The lexer only finds where a literal ends. Here its spelling is judged and its value computed,
//! once, for the validator and for every later stage.

use std::borrow::Cow;

/// The scalar types a number may carry as a suffix.
pub const NUMBER_TYPES: &[&str] =
    &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f8e4m3", "f16", "bf16", "f32", "f64"];

/// What is wrong with a literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BadLiteral {
    /// `0x` without a hexadecimal digit, or with a letter that is none.
    HexDigits,
    /// `0b1` or `0o7`, which other languages have.
    Radix(char),
    /// `1e`, `1e+`.
    Exponent,
    /// Letters after a number that name no scalar type.
    Suffix(String),
    /// `1.5i32`.
    IntegerSuffixOnFloat(String),
    /// The value does not fit the suffix type, or any integer type.
    TooLarge(String),
    /// The float is beyond the largest finite value.
    Infinite,
    /// A backslash before a character that needs none.
    Escape(String),
    /// `\u{…}` without one to six hexadecimal digits that name a character.
    UnicodeEscape,
    /// A `}` in a string that closes nothing.
    LoneBrace,
    /// A format specification outside the grammar; the words say where.
    FormatSpec(String),
}

/// The value of a number as written, without its sign.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NumberValue {
    /// Digits only.
    Int(u64),
    /// With a fraction, an exponent, or a float suffix.
    Float(f64),
}

/// A number literal taken apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number<'t> {
    /// The value without its sign.
    pub value: NumberValue,
    /// The digits as written, without suffix: `f64` literals of higher precision keep theirs.
    pub digits: &'t str,
    /// The type suffix.
    pub suffix: Option<&'t str>,
}

/// Reads a number token. `negative` tells whether a minus belongs to it, which makes room for the
/// smallest integer.
pub fn number(text: &str, negative: bool) -> Result<Number<'_>, BadLiteral> {
    if let Some(rest) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return hexadecimal(text, rest, negative);
    }
    let (digits, suffix) = split_suffix(text);
    if digits.ends_with(['e', 'E', '+', '-']) {
        return Err(BadLiteral::Exponent);
    }
    check_suffix(digits, suffix)?;
    let plain: Cow<'_, str> =
        if digits.contains('_') { digits.replace('_', "").into() } else { digits.into() };
    let float = digits.contains(['.', 'e', 'E']);
    let value = match suffix {
        Some(ty) if float && !ty.contains('f') => {
            return Err(BadLiteral::IntegerSuffixOnFloat(ty.to_string()));
        }
        Some(ty) if ty.contains('f') => NumberValue::Float(finite(&plain)?),
        _ if float => NumberValue::Float(finite(&plain)?),
        ty => NumberValue::Int(fitting(plain.parse().ok(), ty, negative)?),
    };
    Ok(Number { value, digits, suffix })
}

fn hexadecimal<'t>(text: &'t str, rest: &'t str, negative: bool) -> Result<Number<'t>, BadLiteral> {
    // `0x1f32` is all digits; only `i` and `u` can begin a suffix.
    let end = rest.find(['i', 'u']).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    if !digits.contains(|c: char| c.is_ascii_hexdigit())
        || digits.contains(|c: char| !c.is_ascii_hexdigit() && c != '_')
    {
        return Err(BadLiteral::HexDigits);
    }
    let suffix = (!suffix.is_empty()).then_some(suffix);
    check_suffix("", suffix)?;
    let value = u64::from_str_radix(&digits.replace('_', ""), 16).ok();
    let value = NumberValue::Int(fitting(value, suffix, negative)?);
    Ok(Number { value, digits: &text[..2 + end], suffix })
}

/// Splits `2.5e3f64` after the exponent. The digits end where a letter stands that is no exponent.
fn split_suffix(text: &str) -> (&str, Option<&str>) {
    let mut exponent = false;
    for (i, c) in text.char_indices() {
        let sign_of_exponent = matches!(c, '+' | '-');
        match c {
            '0'..='9' | '_' | '.' => {}
            'e' | 'E' if !exponent && begins_exponent(&text[i + 1..]) => exponent = true,
            _ if sign_of_exponent => {}
            _ => return (&text[..i], Some(&text[i..])),
        }
    }
    (text, None)
}

fn begins_exponent(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
}

fn check_suffix(digits: &str, suffix: Option<&str>) -> Result<(), BadLiteral> {
    match suffix {
        Some(ty) if !NUMBER_TYPES.contains(&ty) => match ty.chars().next() {
            Some(letter @ ('b' | 'o')) if digits == "0" && ty.len() > 1 => {
                Err(BadLiteral::Radix(letter))
            }
            _ => Err(BadLiteral::Suffix(ty.to_string())),
        },
        _ => Ok(()),
    }
}

fn finite(digits: &str) -> Result<f64, BadLiteral> {
    let value: f64 = digits.parse().map_err(|_| BadLiteral::Exponent)?;
    if value.is_finite() { Ok(value) } else { Err(BadLiteral::Infinite) }
}

/// Checks an integer against its suffix; without one, against the widest integer types.
fn fitting(value: Option<u64>, ty: Option<&str>, negative: bool) -> Result<u64, BadLiteral> {
    let ty = ty.unwrap_or(if negative { "i64" } else { "u64" });
    let bits: u32 = ty[1..].parse().unwrap_or(64);
    let max = match (ty.starts_with('u'), negative) {
        (true, true) => 0,
        (true, false) => u64::MAX >> (64 - bits),
        (false, true) => 1 << (bits - 1),
        (false, false) => (1 << (bits - 1)) - 1,
    };
    value.filter(|value| *value <= max).ok_or_else(|| BadLiteral::TooLarge(ty.to_string()))
}

/// A problem inside a piece of string text, with its byte range there.
pub type TextProblem = (std::ops::Range<usize>, BadLiteral);

/// The characters that a piece of string text stands for, and what is wrong with it.
pub fn unescape(text: &str) -> (Cow<'_, str>, Vec<TextProblem>) {
    if !text.contains(['\\', '{', '}']) {
        return (text.into(), Vec::new());
    }
    let mut out = String::with_capacity(text.len());
    let mut problems = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        let length = match piece(rest) {
            Ok((meaning, length)) => {
                out.push(meaning);
                length
            }
            Err((problem, length)) => {
                problems.push((at..at + length, problem));
                length.max(c.len_utf8())
            }
        };
        rest = &rest[length..];
    }
    (out.into(), problems)
}

/// One character of text, or one escape, with its length.
fn piece(rest: &str) -> Result<(char, usize), (BadLiteral, usize)> {
    let mut chars = rest.chars();
    let first = chars.next().unwrap_or('\u{fffd}');
    match (first, chars.next()) {
        ('{', Some('{')) => Ok(('{', 2)),
        ('}', Some('}')) => Ok(('}', 2)),
        ('}', _) => Err((BadLiteral::LoneBrace, 1)),
        ('\\', Some('n')) => Ok(('\n', 2)),
        ('\\', Some('t')) => Ok(('\t', 2)),
        ('\\', Some('"')) => Ok(('"', 2)),
        ('\\', Some('\\')) => Ok(('\\', 2)),
        ('\\', Some('u')) => unicode_escape(rest),
        ('\\', Some(other)) => {
            let length = 1 + other.len_utf8();
            Err((BadLiteral::Escape(rest[..length].to_string()), length))
        }
        ('\\', None) => Err((BadLiteral::Escape("\\".to_string()), 1)),
        _ => Ok((first, first.len_utf8())),
    }
}

fn unicode_escape(rest: &str) -> Result<(char, usize), (BadLiteral, usize)> {
    let Some(inner) = rest.strip_prefix("\\u{") else { return Err((BadLiteral::UnicodeEscape, 2)) };
    let Some(end) = inner.find('}') else { return Err((BadLiteral::UnicodeEscape, 3)) };
    let (digits, length) = (&inner[..end], end + 4);
    let hex = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| hex);
    match code.and_then(char::from_u32) {
        Some(c) => Ok((c, length)),
        None => Err((BadLiteral::UnicodeEscape, length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_values() {
        let value = |text| number(text, false).map(|n| n.value);
        assert_eq!(value("1_000"), Ok(NumberValue::Int(1000)));
        assert_eq!(value("0xff"), Ok(NumberValue::Int(255)));
        assert_eq!(value("0xffu8"), Ok(NumberValue::Int(255)));
        assert_eq!(value("3.25"), Ok(NumberValue::Float(3.25)));
        assert_eq!(value("1e-3"), Ok(NumberValue::Float(1e-3)));
        assert_eq!(value("2f64"), Ok(NumberValue::Float(2.0)));
        assert_eq!(value("1.5e2f8e4m3"), Ok(NumberValue::Float(150.0)));
        assert_eq!(value("1."), Ok(NumberValue::Float(1.0)));
        assert_eq!(number("7i64", false).map(|n| n.suffix), Ok(Some("i64")));
    }

    #[test]
    fn a_minus_makes_room_for_the_smallest_integer() {
        assert!(number("128i8", true).is_ok());
        assert_eq!(number("128i8", false), Err(BadLiteral::TooLarge("i8".into())));
        assert_eq!(number("255u8", true), Err(BadLiteral::TooLarge("u8".into())));
        assert_eq!(number("129i8", true), Err(BadLiteral::TooLarge("i8".into())));
        assert!(number("9223372036854775808", true).is_ok());
        assert!(number("18446744073709551615", false).is_ok());
        assert!(number("18446744073709551616", false).is_err());
    }

    #[test]
    fn wrong_spellings_are_named() {
        let problem = |text| number(text, false).expect_err(text);
        assert_eq!(problem("0xzz"), BadLiteral::HexDigits);
        assert_eq!(problem("0x"), BadLiteral::HexDigits);
        assert_eq!(problem("0b101"), BadLiteral::Radix('b'));
        assert_eq!(problem("1e"), BadLiteral::Exponent);
        assert_eq!(problem("1e+"), BadLiteral::Exponent);
        assert_eq!(problem("12abc"), BadLiteral::Suffix("abc".into()));
        assert_eq!(problem("1.5i32"), BadLiteral::IntegerSuffixOnFloat("i32".into()));
        assert_eq!(problem("1e999"), BadLiteral::Infinite);
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape(r#"a\n\t\"\\\u{3b1}{{}}"#).0, "a\n\t\"\\α{}");
        let problems = unescape(r"\q }").1;
        assert_eq!(
            problems,
            [(0..2, BadLiteral::Escape("\\q".into())), (3..4, BadLiteral::LoneBrace)]
        );
        assert_eq!(unescape(r"\u{110000}").1[0].1, BadLiteral::UnicodeEscape);
        assert_eq!(unescape(r"\u{d800}").1[0].1, BadLiteral::UnicodeEscape);
        assert_eq!(unescape(r"\u41").1[0].1, BadLiteral::UnicodeEscape);
    }
}
