//! PNG pictures: height, width and 1 to 4 channels of bytes.
//!
//! Palettes are expanded and deeper pictures reduced to 8 bits.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, Limits, Transformations};

use super::within;
use crate::array::{Array, Elem};
use crate::error::FileError;

/// Deflate makes at most this many bytes of one, a little rounded up.
const MAX_EXPANSION: usize = 1100;

fn broken(error: &DecodingError) -> FileError {
    match error {
        DecodingError::LimitsExceeded => {
            FileError::too_large("the picture needs more memory than allowed")
        }
        error => FileError::malformed(format!("the picture cannot be read: {error}")),
    }
}

pub(super) fn decode(bytes: &[u8], limit: u64) -> Result<Array, FileError> {
    let limits = Limits { bytes: usize::try_from(limit).unwrap_or(usize::MAX) };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| broken(&error))?;
    // The decoder takes three bytes for each colour without looking whether they are there.
    if reader.info().palette.as_deref().is_some_and(|palette| palette.len() % 3 != 0) {
        return Err(FileError::malformed("the palette ends within a colour"));
    }
    let n_bytes = reader.output_buffer_size();
    let n_bytes = n_bytes.ok_or_else(|| FileError::too_large("the picture has too many points"))?;
    within(n_bytes, limit)?;
    if n_bytes / MAX_EXPANSION > bytes.len() {
        let message = "the header declares more points than the file can hold";
        return Err(FileError::malformed(message));
    }
    let mut data = vec![0; n_bytes];
    let frame = reader.next_frame(&mut data).map_err(|error| broken(&error))?;
    data.truncate(frame.buffer_size());
    let shape = vec![frame.height as usize, frame.width as usize, frame.color_type.samples()];
    Array::new(Elem::U8, shape, data)
}

pub(super) fn encode(array: &Array) -> Result<Vec<u8>, FileError> {
    let wrong = || {
        let message =
            format!("a picture has type [u8; height, width, channels], not {}", array.describe());
        FileError::unsuitable(message)
    };
    let (height, width, channels) = match array.shape() {
        [height, width] => (*height, *width, 1),
        [height, width, channels] => (*height, *width, *channels),
        _ => return Err(wrong()),
    };
    let color = match channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        4 => ColorType::Rgba,
        _ => return Err(wrong()),
    };
    if array.elem() != Elem::U8 {
        return Err(wrong());
    }
    if array.is_empty() {
        return Err(FileError::unsuitable("a picture without points cannot be saved"));
    }
    let failed = |error: &dyn std::fmt::Display| {
        FileError::unsuitable(format!("the picture cannot be written: {error}"))
    };
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, width as u32, height as u32);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| failed(&error))?;
    writer.write_image_data(array.bytes()).map_err(|error| failed(&error))?;
    writer.finish().map_err(|error| failed(&error))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn pictures_survive() {
        for channels in 1..=4 {
            let bytes: Vec<u8> = (0..6 * channels).map(|at| (at * 9) as u8).collect();
            let picture = Array::new(Elem::U8, vec![2, 3, channels], bytes).expect("it fits");
            let file = encode(&picture).expect("a picture");
            assert_eq!(decode(&file, 100), Ok(picture));
        }
    }

    #[test]
    fn deep_pictures_and_palettes_are_reduced_and_expanded() {
        let write = |color, depth, palette: Option<Vec<u8>>, data: &[u8]| {
            let mut out = Vec::new();
            let mut encoder = Encoder::new(&mut out, 2, 1);
            encoder.set_color(color);
            encoder.set_depth(depth);
            if let Some(palette) = palette {
                encoder.set_palette(palette);
            }
            let mut writer = encoder.write_header().expect("a header");
            writer.write_image_data(data).expect("points");
            writer.finish().expect("an end");
            decode(&out, 100).expect("a picture")
        };
        let deep = write(ColorType::Grayscale, BitDepth::Sixteen, None, &[0x12, 0x34, 0xff, 0xff]);
        assert_eq!((deep.shape(), deep.bytes()), (&[1, 2, 1][..], &[0x12, 0xff][..]));
        let palette = Some(vec![1, 2, 3, 4, 5, 6]);
        let colours = write(ColorType::Indexed, BitDepth::One, palette, &[0b0100_0000]);
        assert_eq!((colours.shape(), colours.bytes()), (&[1, 2, 3][..], &[1, 2, 3, 4, 5, 6][..]));
    }

    #[test]
    fn enormous_pictures_are_refused_unread() {
        let picture = Array::new(Elem::U8, vec![1, 1, 1], vec![0]).expect("it fits");
        let file = encode(&picture).expect("a picture");
        assert_eq!(decode(&file, 0).map_err(|error| error.kind), Err(Kind::TooLarge));
        let mut bomb = Vec::new();
        let writer = Encoder::new(&mut bomb, 1 << 16, 1 << 16).write_header().expect("a header");
        drop(writer);
        // Signature and header take 33 bytes.
        bomb.truncate(33);
        bomb.extend_from_slice(&file[33..]);
        assert_eq!(decode(&bomb, 1 << 20).map_err(|error| error.kind), Err(Kind::TooLarge));
        assert_eq!(decode(&bomb, 1 << 40).map_err(|error| error.kind), Err(Kind::Malformed));
        let wrong = Array::new(Elem::F32, vec![1, 1, 1], vec![0; 4]).expect("it fits");
        assert_eq!(encode(&wrong).map_err(|error| error.kind), Err(Kind::Unsuitable));
    }
}
