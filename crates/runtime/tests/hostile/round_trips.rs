//! What is written is read back as it was.

use einlang_runtime::formats::Format;
use einlang_runtime::{Array, Elem};

use crate::random::Random;

/// A random array: up to four axes, empty and single points included.
fn random_array(elem: Elem, random: &mut Random) -> Array {
    let rank = random.below(5);
    let shape: Vec<usize> = (0..rank).map(|_| *random.pick(&[0, 1, 1, 2, 3, 5])).collect();
    let n = shape.iter().product::<usize>() * elem.size();
    let byte = |random: &mut Random| match elem {
        Elem::Bool => random.next() as u8 % 2,
        _ => random.next() as u8,
    };
    let bytes = (0..n).map(|_| byte(random)).collect();
    Array::new(elem, shape, bytes).expect("the bytes are as many as they should be")
}

#[test]
fn binary_formats_keep_every_bit() {
    let mut n_kept = 0;
    for number in 0..600 {
        let mut random = Random::new(number);
        let elem = *random.pick(Elem::ALL);
        let array = random_array(elem, &mut random);
        if let Ok(file) = Format::Npy.encode(&array) {
            assert_eq!(Format::Npy.decode(&file, 1 << 20).as_ref(), Ok(&array), "npy {number}");
            n_kept += 1;
        }
        for format in [Format::Npz, Format::Safetensors] {
            let named = [("w".to_owned(), array.clone())];
            if let Ok(file) = format.encode_named(&named) {
                let read = format.decode_named(&file, "w", 1 << 20);
                assert_eq!(read.as_ref(), Ok(&array), "{} {number}", format.name());
                n_kept += 1;
            }
        }
    }
    assert!(n_kept > 1000, "{n_kept}");
}

#[test]
fn pictures_keep_every_byte() {
    for number in 0..200 {
        let mut random = Random::new(number);
        let extents = [1 + random.below(9), 1 + random.below(9), 1 + random.below(4)];
        let n = extents.iter().product();
        let bytes: Vec<u8> = (0..n).map(|_| random.next() as u8).collect();
        let picture = Array::new(Elem::U8, extents.to_vec(), bytes).expect("it fits");
        let file = Format::Png.encode(&picture).expect("a picture");
        assert_eq!(Format::Png.decode(&file, 1 << 20), Ok(picture), "png {number}");
        let bytes = (0..extents[0] * extents[1]).map(|_| random.next() as u8).collect();
        let grey = Array::new(Elem::U8, extents[..2].to_vec(), bytes).expect("it fits");
        let file = Format::Pgm.encode(&grey).expect("a picture");
        assert_eq!(Format::Pgm.decode(&file, 1 << 20), Ok(grey), "pgm {number}");
    }
}

/// Tables hold the shortest text that reads back to the same number.
#[test]
fn tables_keep_every_number() {
    for number in 0..200 {
        let mut random = Random::new(number);
        let (rows, columns) = (1 + random.below(5), 1 + random.below(4));
        let values = (0..rows * columns).map(|_| match random.below(3) {
            0 => f64::from_bits(random.next()),
            1 => random.next() as i32 as f64,
            _ => random.below(100) as f64 / 8.0,
        });
        let finite = values.map(|value| if value.is_finite() { value } else { 0.5 });
        let bytes: Vec<u8> = finite.flat_map(f64::to_le_bytes).collect();
        let table = Array::new(Elem::F64, vec![rows, columns], bytes).expect("it fits");
        let file = Format::Csv.encode(&table).expect("a table");
        assert_eq!(Format::Csv.decode(&file, 1 << 20), Ok(table), "csv {number}");
    }
}
