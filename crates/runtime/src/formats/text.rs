//! Text in UTF-8, and numbers as text.

use crate::array::Elem;
use crate::error::FileError;

/// The text of a file; a byte order mark is left out.
pub fn decode_text(bytes: Vec<u8>) -> Result<String, FileError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        FileError::malformed(format!("the file is not UTF-8 text: byte {offset} is invalid"))
    })?;
    match text.strip_prefix('\u{feff}') {
        Some(rest) => Ok(rest.to_owned()),
        None => Ok(text),
    }
}

/// An element as text: floats with the shortest digits that read back as the same number.
pub fn number_text(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::Bool => u8::from(bits != 0).to_string(),
        Elem::I8 => (bits as i8).to_string(),
        Elem::I16 => (bits as i16).to_string(),
        Elem::I32 => (bits as i32).to_string(),
        Elem::I64 => (bits as i64).to_string(),
        Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => bits.to_string(),
        Elem::F8E4M3 => format!("{:?}", small_float(bits, 4, 3)),
        Elem::F16 => format!("{:?}", small_float(bits, 5, 10)),
        Elem::BF16 => format!("{:?}", f32::from_bits((bits as u32) << 16)),
        Elem::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Elem::F64 => format!("{:?}", f64::from_bits(bits)),
    }
}

/// The value of a float of few bits. The one with 4 exponent bits has no infinities, and only one
/// pattern of its highest exponent is no number.
fn small_float(bits: u64, n_exponent: u32, n_fraction: u32) -> f32 {
    let sign = if bits >> (n_exponent + n_fraction) & 1 == 1 { -1.0 } else { 1.0 };
    let highest = (1_u64 << n_exponent) - 1;
    let exponent = bits >> n_fraction & highest;
    let fraction = bits & ((1 << n_fraction) - 1);
    let bias = (1_i32 << (n_exponent - 1)) - 1;
    let scale = |power: i32| 2_f32.powi(power - n_fraction as i32);
    match (n_exponent, exponent, fraction) {
        (4, 15, 7) => f32::NAN,
        (5, 31, 0) => sign * f32::INFINITY,
        (5, 31, _) => f32::NAN,
        (_, 0, fraction) => sign * fraction as f32 * scale(1 - bias),
        (_, exponent, fraction) => {
            sign * (fraction | 1 << n_fraction) as f32 * scale(exponent as i32 - bias)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_utf_8() {
        assert_eq!(decode_text("\u{feff}é".into()), Ok("é".to_owned()));
        let error = decode_text(b"ab\xff".to_vec()).expect_err("no text");
        assert_eq!(error.message, "the file is not UTF-8 text: byte 2 is invalid");
    }

    #[test]
    fn numbers_have_the_shortest_digits() {
        let cases = [
            (Elem::I8, 0xff, "-1"),
            (Elem::U8, 0xff, "255"),
            (Elem::F16, 0x3c00, "1.0"),
            (Elem::F16, 0xfc00, "-inf"),
            (Elem::F16, 0x0001, "5.9604645e-8"),
            (Elem::BF16, 0x3fc0, "1.5"),
            (Elem::F8E4M3, 0x7e, "448.0"),
            (Elem::F8E4M3, 0x7f, "NaN"),
            (Elem::F32, 0x3dcc_cccd, "0.1"),
        ];
        for (elem, bits, text) in cases {
            assert_eq!(number_text(elem, bits), text);
        }
    }
}
