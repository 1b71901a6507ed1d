//! The object of a kernel with what its code asks for by number, as bytes that can be kept on a disk.
//!
//! The bytes are lines, one per number, then the objects. They are read back only by the version that
//! wrote them, so there is nothing here about others; what cannot be read is as good as absent.

use einlang_tir::op::Op;
use einlang_tir::types::{Elem, Ident};

use crate::frame::{Call, Scalar, Tables};
use crate::tiers::{Size, Sums};

/// The line before the objects, with their sizes.
const OBJECT: &str = "object";

/// Code that is not linked yet.
pub(crate) struct Object {
    pub(crate) tables: Tables,
    /// Objects that are linked together.
    pub(crate) codes: Vec<Vec<u8>>,
    pub(crate) size: Size,
}

impl Object {
    /// The object as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Tables { checked, scalars, calls, n_keys } = &self.tables;
        let Size { n_instructions, sums } = self.size;
        let mut text = format!(
            "keys {n_keys}\nchecked {checked}\ninstructions {n_instructions}\nsums {}\n",
            sums.name()
        );
        for Scalar { op, elems: [a, b], result } in scalars {
            text += &format!("scalar {} {a} {b} {result}\n", op.name());
        }
        for Call { function, args, results } in calls {
            let elems = |list: &[Elem]| list.iter().map(|e| format!("{e} ")).collect::<String>();
            text += &format!(
                "call {} {}{} {}{}\n",
                args.len(),
                elems(args),
                results.len(),
                elems(results),
                function.as_str()
            );
        }
        let sizes: Vec<String> = self.codes.iter().map(|code| code.len().to_string()).collect();
        text += &format!("{OBJECT} {}\n", sizes.join(" "));
        let mut bytes = text.into_bytes();
        self.codes.iter().for_each(|code| bytes.extend(code));
        bytes
    }

    /// The object that bytes hold.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Object> {
        let (mut tables, mut size) = (Tables::default(), Size::default());
        loop {
            let end = bytes.iter().position(|byte| *byte == b'\n')?;
            let line = std::str::from_utf8(&bytes[..end]).ok()?;
            bytes = &bytes[end + 1..];
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "keys" => tables.n_keys = rest.parse().ok()?,
                "checked" => tables.checked = rest.parse().ok()?,
                "instructions" => size.n_instructions = rest.parse().ok()?,
                "sums" => size.sums = Sums::named(rest)?,
                "scalar" => tables.scalars.push(scalar(rest)?),
                "call" => tables.calls.push(call(rest)?),
                OBJECT => return Some(Object { tables, codes: codes(rest, bytes)?, size }),
                _ => return None,
            }
        }
    }
}

/// The objects of these sizes.
fn codes(sizes: &str, mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut codes = Vec::new();
    for size in sizes.split(' ') {
        let (code, rest) = bytes.split_at_checked(size.parse().ok()?)?;
        codes.push(code.to_vec());
        bytes = rest;
    }
    bytes.is_empty().then_some(codes)
}

fn scalar(text: &str) -> Option<Scalar> {
    let mut words = text.split(' ');
    let op = Op::parse(words.next()?)?;
    let mut elem = || words.next().and_then(Elem::parse);
    Some(Scalar { op, elems: [elem()?, elem()?], result: elem()? })
}

fn call(text: &str) -> Option<Call> {
    let (args, rest) = elems(text)?;
    let (results, rest) = elems(rest)?;
    Some(Call { function: Ident::new(rest), args, results })
}

/// A number and as many types, and what follows.
fn elems(text: &str) -> Option<(Vec<Elem>, &str)> {
    let (n, mut rest) = text.split_once(' ')?;
    let mut list = Vec::new();
    for _ in 0..n.parse::<usize>().ok()? {
        let (word, after) = rest.split_once(' ')?;
        list.push(Elem::parse(word)?);
        rest = after;
    }
    Some((list, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_back() {
        let mut tables = Tables { checked: true, n_keys: 3, ..Tables::default() };
        for op in Op::ALL {
            let elems = [Elem::F16, Elem::I64];
            tables.scalars.push(Scalar { op: *op, elems, result: Elem::Bool });
        }
        let odd = Ident::new("a name 3 with [spaces]");
        tables.calls.push(Call { function: odd, args: vec![Elem::F32; 2], results: vec![] });
        let none = Ident::new("f");
        tables.calls.push(Call { function: none, args: vec![], results: vec![Elem::U8] });
        let codes = vec![b"\x7fELF\nobject\n\0".to_vec(), b"2".to_vec()];
        let object =
            Object { tables, codes, size: Size { n_instructions: 12, sums: Sums::Called } };
        let read = Object::from_bytes(&object.to_bytes()).expect("it was written here");
        assert_eq!(format!("{:?}", read.tables), format!("{:?}", object.tables));
        assert_eq!(read.codes, object.codes);
        assert_eq!(read.size, object.size);
        let mut cut = object.to_bytes();
        cut.pop();
        assert!(Object::from_bytes(&cut).is_none());
        assert!(Object::from_bytes(b"").is_none());
        assert!(Object::from_bytes(b"scalar nonsense f32 f32 f32\nobject 0\n").is_none());
    }
}
