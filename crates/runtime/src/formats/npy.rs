//! The `npy` format, versions 1 to 3: a header that is a Python dictionary, then the elements.
//!
//! Both orders of axes and of bytes are read; what is written is row-major and little-endian.

use super::within;
use crate::array::{Array, Elem, byte_length};
use crate::error::FileError;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// What a header says.
struct Header {
    elem: Elem,
    swapped: bool,
    fortran: bool,
    shape: Vec<usize>,
}

pub(super) fn decode(bytes: &[u8], limit: u64) -> Result<Array, FileError> {
    let (header, data) = split(bytes)?;
    let header = Reader { rest: header }.header()?;
    let wanted = byte_length(header.elem, &header.shape)?;
    within(wanted, limit)?;
    let Some(data) = data.get(..wanted) else {
        let message =
            format!("the header declares {wanted} bytes of elements, and {} follow", data.len());
        return Err(FileError::malformed(message));
    };
    let size = header.elem.size();
    let mut data = match header.fortran && header.shape.len() > 1 {
        true => row_major(data, size, &header.shape),
        false => data.to_vec(),
    };
    if header.swapped {
        data.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    Array::new(header.elem, header.shape, data)
}

/// The text of the header and the bytes after it.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), FileError> {
    let cut = || FileError::malformed("the file ends within its header");
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| match MAGIC.starts_with(bytes) {
        true => cut(),
        false => FileError::malformed("this is no npy file: it does not begin with `\\x93NUMPY`"),
    })?;
    let (version, rest) = rest.split_at_checked(2).ok_or_else(cut)?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        other => {
            let message = format!("version {other} of the npy format is not known");
            return Err(FileError::malformed(message));
        }
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header);
    Ok((header.map_err(|_| FileError::malformed("the header is no text"))?, data))
}

/// Elements that lie column by column, row by row.
fn row_major(data: &[u8], size: usize, shape: &[usize]) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for extent in shape {
        strides.push(stride);
        stride *= extent;
    }
    let mut out = Vec::with_capacity(data.len());
    let mut point = vec![0; shape.len()];
    let mut at = 0;
    for _ in 0..data.len() / size {
        out.extend_from_slice(&data[at * size..(at + 1) * size]);
        for axis in (0..shape.len()).rev() {
            point[axis] += 1;
            at += strides[axis];
            if point[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            point[axis] = 0;
        }
    }
    out
}

/// A reader of the Python literals that headers consist of.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn header(mut self) -> Result<Header, FileError> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.eat('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" => descr = Some(self.elem()?),
                "fortran_order" => fortran = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                key => {
                    return Err(FileError::malformed(format!("the header has a key `{key}`")));
                }
            }
            if !self.eat(',') {
                self.expect('}')?;
                break;
            }
        }
        let missing = |key: &str| FileError::malformed(format!("the header has no `{key}`"));
        let (elem, swapped) = descr.ok_or_else(|| missing("descr"))?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        Ok(Header { elem, swapped, fortran, shape })
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(wanted);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), FileError> {
        let missing = || FileError::malformed(format!("the header lacks a `{wanted}`"));
        self.eat(wanted).then_some(()).ok_or_else(missing)
    }

    fn string(&mut self) -> Result<&'t str, FileError> {
        let quote = if self.eat('\'') { '\'' } else { '"' };
        let opened = quote == '\'' || self.eat('"');
        let found = self.rest.split_once(quote).filter(|_| opened);
        let (text, rest) =
            found.ok_or_else(|| FileError::malformed("the header lacks a string"))?;
        self.rest = rest;
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, FileError> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(FileError::malformed("`fortran_order` is neither True nor False"))
    }

    fn shape(&mut self) -> Result<Vec<usize>, FileError> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.eat(')') {
            self.rest = self.rest.trim_start();
            let n_digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, rest) = self.rest.split_at(n_digits);
            let extent = digits.parse();
            shape.push(extent.map_err(|_| FileError::malformed("the shape is no list of sizes"))?);
            // Python 2 marked long integers.
            self.rest = rest.strip_prefix('L').unwrap_or(rest);
            if !self.eat(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    /// The element type, and whether its bytes come in the other order.
    fn elem(&mut self) -> Result<(Elem, bool), FileError> {
        if self.eat('[') {
            return Err(FileError::unsuitable("the elements are records, not numbers"));
        }
        let descr = self.string()?;
        let (order, kind) = match descr.split_at_checked(1) {
            Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
            _ => ("<", descr),
        };
        let elem = DESCRS.iter().find(|(_, name)| *name == kind).map(|(elem, _)| *elem);
        let unknown = || {
            let message = format!("elements of type `{descr}` are no numbers of the language");
            FileError::unsuitable(message)
        };
        Ok((elem.ok_or_else(unknown)?, order == ">"))
    }
}

/// Element types as NumPy spells them.
const DESCRS: &[(Elem, &str)] = &[
    (Elem::Bool, "b1"),
    (Elem::I8, "i1"),
    (Elem::I16, "i2"),
    (Elem::I32, "i4"),
    (Elem::I64, "i8"),
    (Elem::U8, "u1"),
    (Elem::U16, "u2"),
    (Elem::U32, "u4"),
    (Elem::U64, "u8"),
    (Elem::F16, "f2"),
    (Elem::F32, "f4"),
    (Elem::F64, "f8"),
];

pub(super) fn encode(array: &Array) -> Result<Vec<u8>, FileError> {
    let elem = array.elem();
    let descr = DESCRS.iter().find(|(known, _)| *known == elem).map(|(_, name)| *name);
    let unknown = || {
        let message = format!("an npy file cannot hold {elem}; convert the elements with `as f32`");
        FileError::unsuitable(message)
    };
    let descr = descr.ok_or_else(unknown)?;
    let order = if elem.size() == 1 { '|' } else { '<' };
    let extents: String = array.shape().iter().map(|extent| format!("{extent}, ")).collect();
    let shape = match array.shape().len() {
        1 => extents.trim_end(),
        _ => extents.trim_end_matches(", "),
    };
    let header =
        format!("{{'descr': '{order}{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take ten bytes, the line end one; ranks are far too small for a
    // header that needs the longer length of version 2.
    let length = (10 + header.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    let short = u16::try_from(length);
    let length_field = short.map_err(|_| FileError::unsuitable("the array has too many axes"))?;
    let mut out = Vec::with_capacity(10 + length + array.bytes().len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&length_field.to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.resize(10 + length - 1, b' ');
    out.push(b'\n');
    out.extend_from_slice(array.bytes());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    /// A file of version 1 with this header.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(header.len()).expect("short").to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    fn read(header: &str, data: &[u8]) -> Result<Array, FileError> {
        decode(&file(header, data), 1 << 20)
    }

    #[test]
    fn every_type_survives() {
        for elem in Elem::ALL {
            let n = 6 * elem.size();
            let bytes: Vec<u8> = (0..n).map(|at| (at % 2) as u8).collect();
            let array = Array::new(*elem, vec![2, 3], bytes).expect("it fits");
            match encode(&array) {
                Ok(file) => {
                    assert_eq!((file.len() - n) % ALIGNMENT, 0);
                    assert_eq!(decode(&file, 1 << 20), Ok(array));
                }
                Err(_) => assert!(matches!(elem, Elem::BF16 | Elem::F8E4M3)),
            }
        }
    }

    #[test]
    fn headers_are_written_as_numpy_writes_them() {
        let text = |shape: Vec<usize>| {
            let n = shape.iter().product::<usize>();
            let array = Array::new(Elem::U8, shape, vec![0; n]).expect("it fits");
            let file = encode(&array).expect("bytes can be kept");
            String::from_utf8_lossy(&file[10..]).into_owned()
        };
        assert!(
            text(vec![]).starts_with("{'descr': '|u1', 'fortran_order': False, 'shape': (), }")
        );
        assert!(text(vec![3]).contains("'shape': (3,), }"));
        assert!(text(vec![2, 0, 3]).contains("'shape': (2, 0, 3), }"));
    }

    #[test]
    fn both_orders_are_read() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let columns = [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 1, 6];
        let array = read(header, &columns).expect("a good file");
        assert_eq!(array.bits().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 262]);
        let header = "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<u2\"}";
        assert_eq!(read(header, &[1, 0, 2, 0]).expect("a good file").shape(), [2]);
    }

    #[test]
    fn hostile_headers_are_errors() {
        let kind = |descr: &str, shape: &str| {
            let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}");
            read(&text, &[0; 8]).map_err(|error| error.kind)
        };
        assert_eq!(kind("'<f4'", "(1000000,)"), Err(Kind::TooLarge));
        assert_eq!(kind("'<f4'", "(100,)"), Err(Kind::Malformed));
        assert_eq!(kind("'<f4'", "(99999999999999999999999,)"), Err(Kind::Malformed));
        assert_eq!(kind("'<f4'", "(4294967296, 4294967296)"), Err(Kind::TooLarge));
        assert_eq!(kind("'<f4'", "(-1,)"), Err(Kind::Malformed));
        assert_eq!(kind("'<U5'", "(2,)"), Err(Kind::Unsuitable));
        assert_eq!(kind("'é'", "(2,)"), Err(Kind::Unsuitable));
        assert_eq!(kind("[('x', '<f4')]", "(2,)"), Err(Kind::Unsuitable));
        assert!(kind("'<f4'", "(2,)").is_ok());
        assert_eq!(read("{}", &[]).map_err(|error| error.kind), Err(Kind::Malformed));
        assert_eq!(decode(b"PK\x03\x04", 9).map_err(|error| error.kind), Err(Kind::Malformed));
    }
}
