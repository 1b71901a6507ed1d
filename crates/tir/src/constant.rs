//! Constants: an element type and the bits of one value.
//!
//! Bits make equality and hashing exact, also for NaN and −0. The text form is the shortest
//! decimal that reads back to the same bits, followed by the type: `2.5f32`, `-1i8`, `true`,
//! `inff64`; a NaN with a payload is written by its bits, `0x7fc00001_f32`.

use std::fmt;

use crate::small_float::SmallFloat;
use crate::types::{Elem, ElemKind};

/// One value of an element type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Const {
    elem: Elem,
    /// The value's own bits, the rest zero; integers are sign-extended.
    bits: u64,
}

impl Const {
    /// A truth value.
    pub fn bool(value: bool) -> Const {
        Const { elem: Elem::Bool, bits: u64::from(value) }
    }

    /// An integer, wrapped to the type as the language's narrowing does; floats round it.
    pub fn int(elem: Elem, value: i128) -> Const {
        let bits = match elem.kind() {
            ElemKind::Bool => u64::from(value != 0),
            ElemKind::Float => return Const::float(elem, value as f64),
            ElemKind::Signed => sign_extend(value as u64, elem.bits()),
            ElemKind::Unsigned => value as u64 & mask(elem.bits()),
        };
        Const { elem, bits }
    }

    /// A float, rounded to the type; an integer type truncates and saturates as `as` does.
    pub fn float(elem: Elem, value: f64) -> Const {
        let bits = match elem {
            Elem::F64 => value.to_bits(),
            Elem::F32 => u64::from((value as f32).to_bits()),
            Elem::Bool => u64::from(value != 0.0),
            _ if elem.is_float() => SmallFloat::of(elem).encode(value),
            _ => return Const::int(elem, saturate(elem, value)),
        };
        Const { elem, bits }
    }

    /// The value with these bits, of which only as many as the type has count.
    pub fn from_bits(elem: Elem, bits: u64) -> Const {
        let bits = match elem.kind() {
            ElemKind::Bool => bits & 1,
            ElemKind::Signed => sign_extend(bits, elem.bits()),
            _ => bits & mask(elem.bits()),
        };
        Const { elem, bits }
    }

    /// The zero of a type; `false` for truth values.
    pub fn zero(elem: Elem) -> Const {
        Const { elem, bits: 0 }
    }

    /// The one of a type; `true` for truth values.
    pub fn one(elem: Elem) -> Const {
        Const::int(elem, 1)
    }

    /// The identity of `max`: minus infinity, or the smallest value of a type without one.
    pub fn lowest(elem: Elem) -> Const {
        match elem.kind() {
            ElemKind::Float if elem == Elem::F8E4M3 => Const::float(elem, -448.0),
            ElemKind::Float => Const::float(elem, f64::NEG_INFINITY),
            ElemKind::Signed => Const::int(elem, -(1_i128 << (elem.bits() - 1))),
            ElemKind::Bool | ElemKind::Unsigned => Const::zero(elem),
        }
    }

    /// The identity of `min`: infinity, or the largest value of a type without one.
    pub fn highest(elem: Elem) -> Const {
        match elem.kind() {
            ElemKind::Float if elem == Elem::F8E4M3 => Const::float(elem, 448.0),
            ElemKind::Float => Const::float(elem, f64::INFINITY),
            ElemKind::Signed => Const::int(elem, (1_i128 << (elem.bits() - 1)) - 1),
            ElemKind::Unsigned => Const::from_bits(elem, u64::MAX),
            ElemKind::Bool => Const::one(elem),
        }
    }

    /// The type.
    pub fn elem(self) -> Elem {
        self.elem
    }

    /// The bits; integers are sign-extended.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// The truth value, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        (self.elem == Elem::Bool).then_some(self.bits != 0)
    }

    /// The integer, if it is one.
    pub fn as_int(self) -> Option<i128> {
        match self.elem.kind() {
            ElemKind::Signed => Some(i128::from(self.bits as i64)),
            ElemKind::Unsigned => Some(i128::from(self.bits)),
            _ => None,
        }
    }

    /// The number as a double, exact for every float type; `None` for anything else.
    pub fn as_float(self) -> Option<f64> {
        match self.elem {
            Elem::F64 => Some(f64::from_bits(self.bits)),
            Elem::F32 => Some(f64::from(f32::from_bits(self.bits as u32))),
            elem if elem.is_float() => Some(SmallFloat::of(elem).decode(self.bits)),
            _ => None,
        }
    }

    /// The constant with this text form.
    pub fn parse_typed(text: &str) -> Option<Const> {
        match text {
            "true" => return Some(Const::bool(true)),
            "false" => return Some(Const::bool(false)),
            _ => {}
        }
        Elem::ALL.iter().find_map(|elem| {
            let number = text.strip_suffix(elem.as_str())?;
            let number = match number.starts_with("0x") {
                true => number.strip_suffix('_')?,
                false => number,
            };
            Const::parse(*elem, number)
        })
    }

    /// The number that a spelling such as `2.5`, `-1`, `inf` or `0x7fc00001` means at a type.
    pub fn parse(elem: Elem, text: &str) -> Option<Const> {
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(|bits| Const::from_bits(elem, bits));
        }
        match elem.kind() {
            ElemKind::Bool => None,
            ElemKind::Float if elem == Elem::F32 => text
                .parse::<f32>()
                .ok()
                .map(|value| Const::from_bits(elem, u64::from(value.to_bits()))),
            ElemKind::Float => text.parse().ok().map(|value| Const::float(elem, value)),
            _ => {
                let value: i128 = text.parse().ok()?;
                Some(Const::int(elem, value)).filter(|c| c.as_int() == Some(value))
            }
        }
    }
}

/// Truncates toward zero into the range of an integer type; NaN becomes zero.
fn saturate(elem: Elem, value: f64) -> i128 {
    let (low, high) = (Const::lowest(elem).as_int(), Const::highest(elem).as_int());
    (value as i128).clamp(low.unwrap_or(0), high.unwrap_or(0))
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

fn sign_extend(bits: u64, width: u32) -> u64 {
    let unused = 64 - width;
    ((bits << unused) as i64 >> unused) as u64
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.as_bool() {
            return write!(f, "{value}");
        }
        if let Some(value) = self.as_int() {
            return write!(f, "{value}{}", self.elem);
        }
        let value = self.as_float().unwrap_or_default();
        if value.is_nan() && *self != Const::float(self.elem, f64::NAN) {
            return write!(f, "0x{:x}_{}", self.bits, self.elem);
        }
        match self.elem {
            _ if value.is_nan() => write!(f, "nan{}", self.elem),
            Elem::F32 => write!(f, "{:?}{}", value as f32, self.elem),
            _ => write!(f, "{value:?}{}", self.elem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(constant: Const, text: &str) {
        assert_eq!(constant.to_string(), text);
    }

    #[test]
    fn constants_print_shortest() {
        check(Const::float(Elem::F32, 0.1), "0.1f32");
        check(Const::float(Elem::F64, -0.0), "-0.0f64");
        check(Const::int(Elem::I8, 255), "-1i8");
        check(Const::int(Elem::U8, -1), "255u8");
        check(Const::bool(true), "true");
        check(Const::lowest(Elem::F32), "-inff32");
        check(Const::float(Elem::F64, f64::NAN), "nanf64");
        check(Const::from_bits(Elem::F32, 0x7fc0_0001), "0x7fc00001_f32");
    }

    #[test]
    fn text_reads_back() {
        for elem in Elem::ALL {
            for bits in [0, 1, 2, 0x3c, 0x7f, 0x7e0b, 0x8000, 0x4049_0fdb, 0x7fc0_0001, u64::MAX] {
                let constant = Const::from_bits(*elem, bits);
                assert_eq!(Const::parse_typed(&constant.to_string()), Some(constant), "{constant}");
            }
        }
        assert_eq!(Const::parse_typed("3"), None);
    }

    #[test]
    fn conversions_follow_the_language() {
        assert_eq!(Const::float(Elem::I8, -300.0), Const::int(Elem::I8, -128));
        assert_eq!(Const::float(Elem::U8, f64::NAN), Const::zero(Elem::U8));
        assert_eq!(Const::highest(Elem::U64).as_int(), Some(u64::MAX.into()));
        assert_eq!(Const::parse(Elem::I8, "300"), None);
    }
}
