//! The float formats that Rust does not have: `f16`, `bf16` and `f8e4m3`.
//!
//! Decoding is exact; encoding rounds to nearest, ties to even. `f8e4m3` has no infinity: the
//! pattern of all ones is NaN, and everything beyond the largest finite number becomes NaN.

use crate::types::Elem;

/// A format with a sign bit, an exponent and a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallFloat {
    exponent_bits: u32,
    fraction_bits: u32,
    has_infinity: bool,
}

impl SmallFloat {
    /// The format of an element type; a type that Rust has is never asked for.
    pub(crate) fn of(elem: Elem) -> SmallFloat {
        let (exponent_bits, fraction_bits, has_infinity) = match elem {
            Elem::F8E4M3 => (4, 3, false),
            Elem::BF16 => (8, 7, true),
            _ => (5, 10, true),
        };
        SmallFloat { exponent_bits, fraction_bits, has_infinity }
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The bits of a magnitude that is not a number.
    fn nan(self) -> u64 {
        let all = (1 << (self.exponent_bits + self.fraction_bits)) - 1;
        if self.has_infinity { self.infinity() | 1 << (self.fraction_bits - 1) } else { all }
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.fraction_bits
    }

    /// The number with these bits.
    pub(crate) fn decode(self, bits: u64) -> f64 {
        let sign =
            if bits >> (self.exponent_bits + self.fraction_bits) & 1 == 1 { -1.0 } else { 1.0 };
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let exponent = (bits >> self.fraction_bits) & ((1 << self.exponent_bits) - 1);
        let magnitude = bits & ((1 << (self.exponent_bits + self.fraction_bits)) - 1);
        if self.has_infinity && magnitude == self.infinity() {
            return sign * f64::INFINITY;
        }
        if (self.has_infinity && magnitude > self.infinity()) || magnitude == self.nan() {
            return f64::NAN;
        }
        let (whole, exponent) = match exponent {
            0 => (fraction, 1),
            e => (fraction | 1 << self.fraction_bits, e as i32),
        };
        sign * whole as f64 * 2_f64.powi(exponent - self.bias() - self.fraction_bits as i32)
    }

    /// The bits of the nearest number.
    pub(crate) fn encode(self, value: f64) -> u64 {
        let sign = u64::from(value.is_sign_negative()) << (self.exponent_bits + self.fraction_bits);
        if value.is_nan() {
            return self.nan();
        }
        sign | self.encode_magnitude(value.abs())
    }

    fn encode_magnitude(self, value: f64) -> u64 {
        // The exponent of the leading bit, but never below that of the smallest normal number.
        let lowest = 1 - self.bias();
        let leading = (value.to_bits() >> 52) as i32 - 1023;
        let exponent = leading.max(lowest);
        let over = if self.has_infinity { self.infinity() } else { self.nan() };
        if exponent > self.bias() + 2 {
            return over;
        }
        let scale = 2_f64.powi(self.fraction_bits as i32 - exponent);
        let rounded = (value * scale).round_ties_even() as u64;
        // A carry out of the fraction moves into the exponent by itself.
        let bits = (((exponent - lowest) as u64) << self.fraction_bits) + rounded;
        bits.min(over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_reads_back() {
        for elem in [Elem::F16, Elem::BF16, Elem::F8E4M3] {
            let format = SmallFloat::of(elem);
            for bits in 0..1_u64 << elem.bits() {
                let value = format.decode(bits);
                if !value.is_nan() {
                    assert_eq!(format.encode(value), bits, "{elem} {bits:#x} {value}");
                }
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let half = SmallFloat::of(Elem::F16);
        assert_eq!(half.decode(half.encode(2049.0)), 2048.0);
        assert_eq!(half.decode(half.encode(2051.0)), 2052.0);
        assert_eq!(half.decode(half.encode(65520.0)), f64::INFINITY);
        let eighth = SmallFloat::of(Elem::F8E4M3);
        assert_eq!(eighth.decode(eighth.encode(448.0)), 448.0);
        assert!(eighth.decode(eighth.encode(1000.0)).is_nan());
        assert_eq!(half.encode(1e-30), 0);
    }
}
