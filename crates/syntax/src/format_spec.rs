//! The specification after the colon in `"{x:>8.3f}"`, with Python's meaning:
//! `[[fill]align][sign][0][width][.precision][type]`.

use std::iter::Peekable;
use std::str::Chars;

/// Where the text stands in its field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// `<`
    Left,
    /// `>`
    Right,
    /// `^`
    Centre,
    /// `=`: padding goes between the sign and the digits.
    AfterSign,
}

/// When a sign is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sign {
    /// `-`: only for negative numbers.
    #[default]
    Minus,
    /// `+`: always.
    Plus,
    /// A space in place of `+`.
    Space,
}

/// How the value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presentation {
    /// `d`
    Decimal,
    /// `f`
    Fixed,
    /// `e`
    Exponent,
    /// `g`
    General,
    /// `x`
    Hexadecimal,
    /// `b`
    Binary,
    /// `s`
    Text,
    /// `%`
    Percent,
}

impl Presentation {
    /// The letter that stands for it.
    pub fn letter(self) -> char {
        match self {
            Presentation::Decimal => 'd',
            Presentation::Fixed => 'f',
            Presentation::Exponent => 'e',
            Presentation::General => 'g',
            Presentation::Hexadecimal => 'x',
            Presentation::Binary => 'b',
            Presentation::Text => 's',
            Presentation::Percent => '%',
        }
    }
}

/// A format specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FormatSpec {
    /// The character that fills the field.
    pub fill: Option<char>,
    /// Where the text stands.
    pub align: Option<Align>,
    /// When a sign is written.
    pub sign: Sign,
    /// A `0` before the width: fill with zeros after the sign.
    pub zero: bool,
    /// The least number of characters.
    pub width: Option<u32>,
    /// Digits after the point, or significant digits, or characters kept.
    pub precision: Option<u32>,
    /// How the value is written.
    pub presentation: Option<Presentation>,
}

/// Wider fields and longer fractions than this are a mistake, and would cost memory.
const MAX_COUNT: u32 = 10_000;

impl FormatSpec {
    /// Reads a specification, without its colon. The error says what is wrong.
    pub fn parse(text: &str) -> Result<FormatSpec, String> {
        let mut spec = FormatSpec::default();
        let mut chars = text.chars().peekable();
        spec.read_alignment(text, &mut chars);
        spec.read_sign(&mut chars);
        spec.zero = chars.next_if_eq(&'0').is_some();
        spec.width = number(&mut chars, "the width")?;
        if chars.next_if_eq(&'.').is_some() {
            let precision = number(&mut chars, "the precision")?;
            spec.precision = Some(precision.ok_or("expected digits after `.`")?);
        }
        spec.presentation = chars.next().map(presentation).transpose()?;
        match chars.next() {
            None => Ok(spec),
            Some(extra) => Err(format!("unexpected `{extra}` after the type")),
        }
    }

    fn read_alignment(&mut self, text: &str, chars: &mut Peekable<Chars<'_>>) {
        let mut ahead = text.chars();
        let (first, second) = (ahead.next(), ahead.next());
        if let Some(align) = second.and_then(alignment) {
            (self.fill, self.align) = (first, Some(align));
            chars.next();
            chars.next();
        } else if let Some(align) = first.and_then(alignment) {
            self.align = Some(align);
            chars.next();
        }
    }

    fn read_sign(&mut self, chars: &mut Peekable<Chars<'_>>) {
        self.sign = match chars.next_if(|c| matches!(c, '+' | '-' | ' ')) {
            Some('+') => Sign::Plus,
            Some(' ') => Sign::Space,
            _ => Sign::Minus,
        };
    }
}

fn alignment(c: char) -> Option<Align> {
    match c {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Centre),
        '=' => Some(Align::AfterSign),
        _ => None,
    }
}

fn presentation(c: char) -> Result<Presentation, String> {
    match c {
        'd' => Ok(Presentation::Decimal),
        'f' => Ok(Presentation::Fixed),
        'e' => Ok(Presentation::Exponent),
        'g' => Ok(Presentation::General),
        'x' => Ok(Presentation::Hexadecimal),
        'b' => Ok(Presentation::Binary),
        's' => Ok(Presentation::Text),
        '%' => Ok(Presentation::Percent),
        other => Err(format!("unknown type `{other}`; the types are `d f e g x b s %`")),
    }
}

fn number(chars: &mut Peekable<Chars<'_>>, what: &str) -> Result<Option<u32>, String> {
    let mut value: Option<u32> = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        chars.next();
        let next = value.unwrap_or(0) * 10 + digit;
        if next > MAX_COUNT {
            return Err(format!("{what} is more than {MAX_COUNT}"));
        }
        value = Some(next);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_read() {
        let spec = FormatSpec::parse("*^+012.3f").expect("well formed");
        assert_eq!(
            spec,
            FormatSpec {
                fill: Some('*'),
                align: Some(Align::Centre),
                sign: Sign::Plus,
                zero: true,
                width: Some(12),
                precision: Some(3),
                presentation: Some(Presentation::Fixed),
            }
        );
        assert_eq!(FormatSpec::parse(""), Ok(FormatSpec::default()));
        assert_eq!(FormatSpec::parse(">>8").map(|s| s.fill), Ok(Some('>')));
        assert_eq!(FormatSpec::parse("%").map(|s| s.presentation), Ok(Some(Presentation::Percent)));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(FormatSpec::parse("8q").is_err_and(|e| e.contains("`q`")));
        assert!(FormatSpec::parse(".f").is_err_and(|e| e.contains("digits after")));
        assert!(FormatSpec::parse("8fx").is_err_and(|e| e.contains("`x`")));
        assert!(FormatSpec::parse("99999999999").is_err_and(|e| e.contains("width")));
    }
}
