//! Format specifications, `[[fill]align][sign][0][width][.precision][type]`, with Python's
//! meaning.
//!
//! A tensor under a numeric type is formatted element by element; every other value that is
//! neither a number nor a string is shown as `print` would and then treated as text.

use einlang_tir::constant::Const;

use super::{scalar, show, show_tensor};
use crate::value::HostValue;

/// A format specification.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FormatSpec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Wider fields and longer fractions than this would cost memory.
const MAX_COUNT: usize = 10_000;

impl FormatSpec {
    /// Reads a specification, without its colon.
    pub fn parse(text: &str) -> Result<FormatSpec, String> {
        let mut spec = FormatSpec::default();
        let chars: Vec<char> = text.chars().collect();
        let mut at = 0;
        let is_align = |c: Option<&char>| c.is_some_and(|c| "<>^=".contains(*c));
        if is_align(chars.get(1)) {
            (spec.fill, spec.align, at) = (Some(chars[0]), Some(chars[1]), 2);
        } else if is_align(chars.first()) {
            (spec.align, at) = (Some(chars[0]), 1);
        }
        if let Some(c) = chars.get(at).filter(|c| "+- ".contains(**c)) {
            (spec.sign, at) = (Some(*c), at + 1);
        }
        if chars.get(at) == Some(&'0') {
            (spec.zero, at) = (true, at + 1);
        }
        spec.width = digits(&chars, &mut at)?.unwrap_or(0);
        if chars.get(at) == Some(&'.') {
            at += 1;
            spec.precision = Some(digits(&chars, &mut at)?.ok_or("expected digits after `.`")?);
        }
        if let Some(c) = chars.get(at) {
            if !"dfegxbs%".contains(*c) {
                return Err(format!("unknown type `{c}`; the types are `d f e g x b s %`"));
            }
            (spec.kind, at) = (Some(*c), at + 1);
        }
        match chars.get(at) {
            None => Ok(spec),
            Some(extra) => Err(format!("unexpected `{extra}` after the type")),
        }
    }

    fn is_numeric(&self) -> bool {
        self.precision.is_some() || self.kind.is_some_and(|kind| kind != 's')
    }
}

fn digits(chars: &[char], at: &mut usize) -> Result<Option<usize>, String> {
    let mut value = None;
    while let Some(digit) = chars.get(*at).and_then(|c| c.to_digit(10)) {
        let next = value.unwrap_or(0) * 10 + digit as usize;
        if next > MAX_COUNT {
            return Err(format!("a count is more than {MAX_COUNT}"));
        }
        (value, *at) = (Some(next), *at + 1);
    }
    Ok(value)
}

/// The value under a specification; an empty one is what `print` shows.
pub fn format_value(value: &HostValue, spec: &str) -> Result<String, String> {
    let spec = FormatSpec::parse(spec)?;
    if spec == FormatSpec::default() {
        return Ok(show(value));
    }
    match value {
        HostValue::Scalar(value) => number(*value, &spec),
        HostValue::Tensor(tensor) if spec.is_numeric() || tensor.shape().is_empty() => {
            let error = std::cell::RefCell::new(None);
            let element = |value: Const| {
                number(value, &spec).unwrap_or_else(|message| {
                    error.replace(Some(message));
                    String::new()
                })
            };
            let text = show_tensor(tensor, &element);
            error.into_inner().map_or(Ok(text), Err)
        }
        _ if spec.kind.is_some_and(|kind| kind != 's') => {
            Err(format!("the format `{}` is for numbers", spec.kind.unwrap_or('s')))
        }
        _ => Ok(text(&show(value), &spec)),
    }
}

/// Text: the precision cuts, and the text stands left.
fn text(whole: &str, spec: &FormatSpec) -> String {
    let kept: String = whole.chars().take(spec.precision.unwrap_or(usize::MAX)).collect();
    let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
    pad("", &kept, spec.align.filter(|align| *align != '=').unwrap_or('<'), fill, spec.width)
}

fn number(value: Const, spec: &FormatSpec) -> Result<String, String> {
    let int = value.as_int().or_else(|| value.as_bool().map(i128::from));
    let (negative, body) = match (spec.kind, int, value.as_float()) {
        (Some('s'), ..) => return Ok(text(&scalar(value), spec)),
        (None, ..) if value.as_bool().is_some() => return Ok(text(&scalar(value), spec)),
        (None | Some('d'), Some(int), _) => (int < 0, int.unsigned_abs().to_string()),
        (Some('x'), Some(int), _) => (int < 0, format!("{:x}", int.unsigned_abs())),
        (Some('b'), Some(int), _) => (int < 0, format!("{:b}", int.unsigned_abs())),
        (Some(kind @ ('d' | 'x' | 'b')), None, _) => {
            return Err(format!("the format `{kind}` is for integers, not {}", value.elem()));
        }
        (kind, int, float) => {
            let float = float.unwrap_or_else(|| int.unwrap_or_default() as f64);
            (float.is_sign_negative() && !float.is_nan(), magnitude(value, float.abs(), kind, spec))
        }
    };
    let sign = match (negative, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    };
    let fill = spec.fill.unwrap_or(if spec.zero { '0' } else { ' ' });
    let align = spec.align.unwrap_or(if spec.zero { '=' } else { '>' });
    Ok(pad(sign, &body, align, fill, spec.width))
}

/// The digits of a float that is not negative.
fn magnitude(value: Const, float: f64, kind: Option<char>, spec: &FormatSpec) -> String {
    if !float.is_finite() {
        let text = if float.is_nan() { "nan" } else { "inf" };
        return text.to_owned() + if kind == Some('%') { "%" } else { "" };
    }
    let precision = spec.precision.unwrap_or(6);
    match (kind, spec.precision) {
        (Some('f'), _) => format!("{float:.precision$}"),
        (Some('e'), _) => exponent(float, precision),
        (Some('%'), _) => format!("{:.precision$}%", float * 100.0),
        (None, None) => scalar(value).trim_start_matches('-').to_owned(),
        (None, Some(_)) => general(float, precision, true),
        _ => general(float, precision, false),
    }
}

/// `1.5e+00`, with two digits at least in the exponent.
fn exponent(float: f64, precision: usize) -> String {
    let text = format!("{float:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

/// `g`: as many significant digits as the precision says, without zeros at the end. Without a type
/// at least one digit stays behind the point.
fn general(float: f64, precision: usize, point: bool) -> String {
    let precision = precision.max(1);
    let rounded = format!("{float:.*e}", precision - 1);
    let power: i32 = rounded.split_once('e').and_then(|(_, p)| p.parse().ok()).unwrap_or(0);
    let limit = if point { precision as i32 - 1 } else { precision as i32 };
    if (-4..limit.max(1)).contains(&power) {
        let decimals = (precision as i32 - 1 - power).max(0) as usize;
        let text = trimmed(&format!("{float:.decimals$}"));
        return if point && !text.contains('.') { text + ".0" } else { text };
    }
    let text = exponent(float, precision - 1);
    let (digits, power) = text.split_once('e').unwrap_or((&text, "+00"));
    format!("{}e{power}", trimmed(digits))
}

fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

fn pad(sign: &str, body: &str, align: char, fill: char, width: usize) -> String {
    let missing = width.saturating_sub(sign.chars().count() + body.chars().count());
    let fills = |n: usize| fill.to_string().repeat(n);
    match align {
        '<' => format!("{sign}{body}{}", fills(missing)),
        '^' => format!("{}{sign}{body}{}", fills(missing / 2), fills(missing - missing / 2)),
        '=' => format!("{sign}{}{body}", fills(missing)),
        _ => format!("{}{sign}{body}", fills(missing)),
    }
}

#[cfg(test)]
mod tests {
    use einlang_tir::types::Elem;

    use super::*;

    #[track_caller]
    fn check(value: impl Into<HostValue>, spec: &str, want: &str) {
        assert_eq!(format_value(&value.into(), spec).as_deref(), Ok(want), "{spec}");
    }

    fn int(value: i128) -> Const {
        Const::int(Elem::I32, value)
    }

    fn float(value: f64) -> Const {
        Const::float(Elem::F64, value)
    }

    #[test]
    fn integers_as_python_writes_them() {
        check(int(42), "08d", "00000042");
        check(int(-42), "08d", "-0000042");
        check(int(42), "+", "+42");
        check(int(42), "<6", "42    ");
        check(int(42), "*^6", "**42**");
        check(int(255), "x", "ff");
        check(int(-5), "b", "-101");
        check(int(3), ".2f", "3.00");
        check(int(3), "%", "300.000000%");
        check(Const::bool(true), "d", "1");
        check(Const::bool(true), ">6", "  true");
    }

    #[test]
    fn floats_as_python_writes_them() {
        check(float(2.34567), ".2f", "2.35");
        check(float(-2.34567), "8.2f", "   -2.35");
        check(float(1234.5), "e", "1.234500e+03");
        check(float(0.00012345), ".3e", "1.234e-04");
        check(float(0.25), ".1%", "25.0%");
        check(float(1234567.0), "g", "1.23457e+06");
        check(float(0.0001), "g", "0.0001");
        check(float(0.00001), "g", "1e-05");
        check(float(100000.0), "g", "100000");
        check(float(2.0), ".3", "2.0");
        check(float(1234.5), ".2", "1.2e+03");
        check(float(f64::NAN), ".2f", "nan");
        check(float(2.5), "=+8.1f", "+    2.5");
        check(float(2.0), "6", "   2.0");
    }

    #[test]
    fn text_stands_left_and_is_cut() {
        check(HostValue::str("abc"), "5", "abc  ");
        check(HostValue::str("abc"), ">5s", "  abc");
        check(HostValue::str("abcdef"), ".3", "abc");
        assert!(format_value(&HostValue::str("a"), "d").is_err());
        assert!(format_value(&float(1.0).into(), "d").is_err());
        assert!(format_value(&int(1).into(), "q").is_err());
    }
}
