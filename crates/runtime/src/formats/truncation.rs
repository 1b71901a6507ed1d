//! No prefix of a file and no file with one byte changed makes a decoder panic or allocate much.

use super::*;
use crate::array::Elem;

/// A good file of each format.
fn files() -> Vec<(Format, Vec<u8>)> {
    let wide = Array::new(Elem::F32, vec![3, 2], (0..24).collect()).expect("it fits");
    let picture = Array::new(Elem::U8, vec![3, 2, 3], (0..18).collect()).expect("it fits");
    let grey = Array::new(Elem::U8, vec![3, 2], (0..6).collect()).expect("it fits");
    let named = vec![("a".to_owned(), wide.clone()), ("b".to_owned(), grey.clone())];
    let encoded = |format: Format| match format {
        Format::Npy | Format::Csv => format.encode(&wide),
        Format::Png => format.encode(&picture),
        Format::Pgm => format.encode(&grey),
        Format::Npz | Format::Safetensors => format.encode_named(&named),
    };
    let file = |format: &Format| (*format, encoded(*format).expect("a good file"));
    Format::ALL.iter().map(file).collect()
}

fn decode(format: Format, bytes: &[u8]) -> Result<Array, FileError> {
    match format.has_names() {
        true => format.decode_named(bytes, "a", 1 << 16),
        false => format.decode(bytes, 1 << 16),
    }
}

#[test]
fn the_whole_file_is_read_and_every_prefix_answered() {
    for (format, file) in files() {
        assert!(decode(format, &file).is_ok(), "{}", format.name());
        let n_good = (0..file.len()).filter(|end| decode(format, &file[..*end]).is_ok()).count();
        // Text may end anywhere between two lines, and pictures before what follows their points.
        let may_end_early = matches!(format, Format::Csv | Format::Png);
        assert!(n_good == 0 || may_end_early, "{}: {n_good}", format.name());
    }
}

#[test]
fn every_changed_byte_is_answered() {
    for (format, file) in files() {
        for at in 0..file.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[at] ^= flip;
                if let Ok(array) = decode(format, &changed) {
                    assert!(array.bytes().len() <= 1 << 16);
                }
            }
        }
    }
}

#[test]
fn names_are_asked_for() {
    let (_, npz) = files().swap_remove(1);
    let error = Format::Npz.decode(&npz, 100).expect_err("two arrays");
    assert_eq!(error.message, "the file holds several arrays (`a`, `b`); name one");
    assert!(Format::Npy.names(&[]).is_err());
    let one = Array::new(Elem::U8, vec![1], vec![1]).expect("it fits");
    let twice = [("x".to_owned(), one.clone()), ("x".to_owned(), one.clone())];
    assert!(Format::Npz.encode_named(&twice).is_err());
    assert!(Format::Npz.encode(&one).is_err());
    assert_eq!(Format::parse("NPY"), Some(Format::Npy));
}
