//! Good files to begin with: what the writers make, and what only other programs do.

use std::io::{Cursor, Write};

use einlang_runtime::formats::Format;
use einlang_runtime::{Array, Elem};
use png::{BitDepth, ColorType, Encoder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A good file. Without a format it is plain text.
pub(crate) struct Seed {
    pub(crate) name: String,
    pub(crate) format: Option<Format>,
    pub(crate) bytes: Vec<u8>,
}

fn seed(name: impl Into<String>, format: Format, bytes: impl Into<Vec<u8>>) -> Seed {
    Seed { name: name.into(), format: Some(format), bytes: bytes.into() }
}

pub(crate) fn array(elem: Elem, shape: &[usize]) -> Array {
    let n = shape.iter().product::<usize>() * elem.size();
    let bytes = (0..n).map(|at| if elem == Elem::Bool { at as u8 % 2 } else { at as u8 });
    Array::new(elem, shape.to_vec(), bytes.collect())
        .expect("the bytes are as many as they should be")
}

pub(crate) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    written(&mut all);
    npy_by_hand(&mut all);
    archives(&mut all);
    pictures(&mut all);
    texts(&mut all);
    all
}

/// What the writers make of arrays of several types and shapes.
fn written(all: &mut Vec<Seed>) {
    for elem in Elem::ALL {
        for shape in [&[][..], &[0], &[3, 2], &[2, 1, 2, 3]] {
            let array = array(*elem, shape);
            for format in [Format::Npy, Format::Csv, Format::Png, Format::Pgm] {
                if let Ok(bytes) = format.encode(&array) {
                    all.push(seed(format!("{elem}{shape:?}.{}", format.name()), format, bytes));
                }
            }
            for format in [Format::Npz, Format::Safetensors] {
                let named = [("a".to_owned(), array.clone()), ("b/c".to_owned(), array.clone())];
                if let Ok(bytes) = format.encode_named(&named) {
                    all.push(seed(format!("{elem}{shape:?}.{}", format.name()), format, bytes));
                }
            }
        }
    }
    let grey = array(Elem::U8, &[3, 4]);
    for format in [Format::Png, Format::Pgm] {
        let bytes = format.encode(&grey).expect("a picture");
        all.push(seed(format!("grey.{}", format.name()), format, bytes));
    }
}

fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(header.len()).expect("a short header").to_le_bytes();
    let length = if version == 1 { &length[..2] } else { &length[..] };
    [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), data].concat()
}

fn npy_by_hand(all: &mut Vec<Seed>) {
    let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
    for version in [1, 2, 3] {
        let bytes = npy(version, header, &[0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 1, 6]);
        all.push(seed(format!("version {version}.npy"), Format::Npy, bytes));
    }
    let header = "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<f8\"}";
    all.push(seed("python 2.npy", Format::Npy, npy(1, header, &[1; 16])));
    let empty = "{'descr': '<f4', 'fortran_order': True, 'shape': (4, 0, 7), }";
    all.push(seed("empty.npy", Format::Npy, npy(2, empty, &[])));
}

fn archives(all: &mut Vec<Seed>) {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        archive.add_directory("folder/", options).expect("an entry");
        for name in ["x.npy", "folder/y.npy", "notes.txt"] {
            archive.start_file(name, options).expect("an entry");
            let content =
                npy(1, "{'descr': '<u1', 'fortran_order': False, 'shape': (300,)}", &[7; 300]);
            archive.write_all(&content).expect("an entry");
        }
        let bytes = archive.finish().expect("an archive").into_inner();
        all.push(seed(format!("{method}.npz"), Format::Npz, bytes));
    }
    let header = r#"{"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"BF16","shape":[],"data_offsets":[16,18]}}"#;
    let length = (header.len() as u64).to_le_bytes();
    let bytes = [&length[..], header.as_bytes(), &[3; 18]].concat();
    all.push(seed("metadata.safetensors", Format::Safetensors, bytes));
}

fn pictures(all: &mut Vec<Seed>) {
    let kinds = [
        (ColorType::Grayscale, BitDepth::One, 1),
        (ColorType::Grayscale, BitDepth::Sixteen, 8),
        (ColorType::Indexed, BitDepth::Two, 1),
        (ColorType::Rgba, BitDepth::Sixteen, 32),
        (ColorType::GrayscaleAlpha, BitDepth::Eight, 8),
    ];
    for (color, depth, n_row) in kinds {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, 4, 3);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == ColorType::Indexed {
            encoder.set_palette((0..12).collect::<Vec<u8>>());
            encoder.set_trns(vec![0, 128, 255]);
        }
        let mut writer = encoder.write_header().expect("a header");
        writer.write_image_data(&vec![0x1b; 3 * n_row]).expect("points");
        writer.finish().expect("a picture");
        all.push(seed(format!("{color:?} {depth:?}.png"), Format::Png, bytes));
    }
    for text in ["P2\n# made by hand\n3 2\n15\n0 1 2\n3 4 15\n", "P2 1 1 1 1"] {
        all.push(seed(text.lines().next().unwrap_or_default(), Format::Pgm, text));
    }
    let deep = [b"P5 2 2 65535\n", &[0, 1, 2, 3, 4, 5, 6, 7][..]].concat();
    all.push(seed("deep.pgm", Format::Pgm, deep));
}

fn texts(all: &mut Vec<Seed>) {
    let tables = [
        "x,y\n1,2\n3.5,-4e3\n",
        "1;2\r\n3;4\r\n",
        "\"a \"\"b\"\"\",\"c\nd\"\n0x10,inf\n-nan,1e-400\n",
        "\u{feff}t,x\n0,1\n",
        "1,2,3",
        "7\n",
    ];
    for text in tables {
        if Format::Csv.decode(text.as_bytes(), crate::LIMIT).is_ok() {
            all.push(seed(format!("{text:?}.csv"), Format::Csv, text));
        }
    }
    let text = "plain text, 42, \u{1f600}\u{301}\r\n\u{0}end".as_bytes().to_vec();
    all.push(Seed { name: "text".to_owned(), format: None, bytes: text });
}
