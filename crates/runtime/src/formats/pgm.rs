//! PGM pictures, plain (`P2`) and raw (`P5`): height and width, bytes of grey.
//!
//! Brightness is relative to the largest value of the header, so it is scaled to 255 if that is
//! another number.

use super::within;
use crate::array::{Array, Elem, byte_length};
use crate::error::FileError;

pub(super) fn decode(bytes: &[u8], limit: u64) -> Result<Array, FileError> {
    let mut words = Words { bytes, at: 2 };
    let is_raw = match bytes.get(..2) {
        Some(b"P5") => true,
        Some(b"P2") => false,
        _ => {
            return Err(FileError::malformed(
                "this is no PGM file: it begins with neither P2 nor P5",
            ));
        }
    };
    let [width, height, most] = [words.number()?, words.number()?, words.number()?];
    if !(1..=65535).contains(&most) {
        let message = format!("the largest value must be from 1 to 65535, not {most}");
        return Err(FileError::malformed(message));
    }
    let shape = vec![height as usize, width as usize];
    let n = byte_length(Elem::U8, &shape)?;
    within(n, limit)?;
    // A point takes a byte, two if it is deep, and in plain text at least one digit.
    let width_of_point = if is_raw && most > 255 { 2 } else { 1 };
    let rest = bytes.len().saturating_sub(words.at + 1);
    if n.checked_mul(width_of_point).is_none_or(|wanted| wanted > rest) {
        let message = format!("the header declares {n} points, and {rest} bytes follow");
        return Err(FileError::malformed(message));
    }
    let mut data = Vec::with_capacity(n);
    match is_raw {
        true => {
            // A picture without points may end right after its header.
            let points = bytes.get(words.at + 1..).unwrap_or_default();
            let points = points.chunks_exact(width_of_point).take(n);
            for point in points {
                data.push(point.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)));
            }
        }
        false => {
            for _ in 0..n {
                data.push(words.number()?);
            }
        }
    }
    let scaled = data.iter().map(|value| scale(*value, most)).collect();
    Array::new(Elem::U8, shape, scaled)
}

fn scale(value: u32, most: u32) -> u8 {
    let value = value.min(most);
    match most {
        255 => value as u8,
        _ => ((u64::from(value) * 255 + u64::from(most) / 2) / u64::from(most)) as u8,
    }
}

/// Numbers between white space and comments.
struct Words<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Words<'_> {
    fn number(&mut self) -> Result<u32, FileError> {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'#' => {
                    let comment = self.bytes[self.at..].iter();
                    self.at += comment.take_while(|byte| **byte != b'\n').count();
                }
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        let digits = self.bytes[self.at.min(self.bytes.len())..].iter();
        let n_digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        let digits = &self.bytes[self.at.min(self.bytes.len())..][..n_digits];
        self.at += n_digits;
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| FileError::malformed("a number is missing or too large"))
    }
}

pub(super) fn encode(array: &Array) -> Result<Vec<u8>, FileError> {
    let [height, width] = array.shape() else { return Err(wrong(array)) };
    if array.elem() != Elem::U8 {
        return Err(wrong(array));
    }
    let mut out = format!("P5\n{width} {height}\n255\n").into_bytes();
    out.extend_from_slice(array.bytes());
    Ok(out)
}

fn wrong(array: &Array) -> FileError {
    let message = format!("a grey picture has type [u8; height, width], not {}", array.describe());
    FileError::unsuitable(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn read(file: &[u8]) -> Result<(Vec<usize>, Vec<u8>), Kind> {
        let array = decode(file, 1000).map_err(|error| error.kind)?;
        Ok((array.shape().to_vec(), array.bytes().to_vec()))
    }

    #[test]
    fn both_kinds_are_read() {
        assert_eq!(read(b"P5\n# grey\n2 1\n255\n\x07\xff"), Ok((vec![1, 2], vec![7, 255])));
        assert_eq!(read(b"P2 2 2 # x\n 15\n0 15 7 1"), Ok((vec![2, 2], vec![0, 255, 119, 17])));
        assert_eq!(read(b"P5 1 1 65535 \xff\xff"), Ok((vec![1, 1], vec![255])));
        let picture = Array::new(Elem::U8, vec![2, 1], vec![3, 4]).expect("it fits");
        let file = encode(&picture).expect("a picture");
        assert_eq!((&file[..], decode(&file, 9)), (&b"P5\n1 2\n255\n\x03\x04"[..], Ok(picture)));
    }

    #[test]
    fn a_picture_without_points_ends_with_its_header() {
        assert_eq!(read(b"P5 0 2 255"), Ok((vec![2, 0], Vec::new())));
        assert_eq!(read(b"P5 2 0 65535"), Ok((vec![0, 2], Vec::new())));
    }

    #[test]
    fn hostile_headers_are_errors() {
        assert_eq!(read(b"P5 100000 100000 255 x"), Err(Kind::TooLarge));
        assert_eq!(read(b"P5 4294967295 4294967295 255 x"), Err(Kind::TooLarge));
        assert_eq!(read(b"P5 10 10 255 x"), Err(Kind::Malformed));
        assert_eq!(read(b"P5 1 1 70000 xx"), Err(Kind::Malformed));
        assert_eq!(read(b"P5 1 1 0 x"), Err(Kind::Malformed));
        assert_eq!(read(b"P2 2 1 255 7 x"), Err(Kind::Malformed));
        assert_eq!(read(b"P6 1 1 255 xxx"), Err(Kind::Malformed));
    }
}
