//! Which shared libraries a program or module of Linux needs, as `ldd` would say, read from the file itself.
//!
//! Only what is needed of the format (64 bits, little-endian) is understood; anything else is no answer.

/// The program headers that are looked at.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

/// The entries of the dynamic section that are looked at.
const NEEDED: u64 = 1;
const STRINGS: u64 = 5;

/// The names of the shared libraries that a file needs; none if it is no such file.
pub(crate) fn needed(bytes: &[u8]) -> Option<Vec<String>> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = usize::try_from(number(bytes, 32, 8)?).ok()?;
    let (size, n) = (number(bytes, 54, 2)? as usize, number(bytes, 56, 2)? as usize);
    let segments: Vec<Segment> =
        (0..n).map(|at| Segment::read(bytes, headers + at * size)).collect::<Option<_>>()?;
    let Some(dynamic) = segments.iter().find(|segment| segment.kind == DYNAMIC) else {
        // A program that is linked statically needs nothing.
        return Some(Vec::new());
    };
    let entries = (0..dynamic.size / 16).map(|at| {
        let place = (dynamic.offset + at * 16) as usize;
        Some((number(bytes, place, 8)?, number(bytes, place + 8, 8)?))
    });
    let entries: Vec<(u64, u64)> = entries.collect::<Option<_>>()?;
    let strings = entries.iter().find(|(tag, _)| *tag == STRINGS)?.1;
    let holds = |segment: &&Segment| {
        segment.kind == LOAD && (segment.address..segment.address + segment.size).contains(&strings)
    };
    let segment = segments.iter().find(holds)?;
    let strings = segment.offset + (strings - segment.address);
    let names = entries.iter().filter(|(tag, _)| *tag == NEEDED);
    names.map(|(_, at)| text(bytes, usize::try_from(strings + at).ok()?)).collect()
}

/// A part of the file that is loaded somewhere.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Segment {
    fn read(bytes: &[u8], at: usize) -> Option<Segment> {
        Some(Segment {
            kind: number(bytes, at, 4)? as u32,
            offset: number(bytes, at + 8, 8)?,
            address: number(bytes, at + 16, 8)?,
            size: number(bytes, at + 32, 8)?,
        })
    }
}

/// An unsigned number of some bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A text up to its zero byte.
fn text(bytes: &[u8], at: usize) -> Option<String> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    String::from_utf8(rest[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn other_files_give_no_answer() {
        assert_eq!(needed(b""), None);
        assert_eq!(needed(b"#!/bin/sh\n"), None);
        assert_eq!(needed(b"\x7fELF\x02\x01 and no more"), None);
    }

    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    #[test]
    fn this_program_needs_the_c_library() {
        let own = std::env::current_exe().expect("a test is a program");
        let found =
            needed(&std::fs::read(own).expect("it can be read")).expect("it is an ELF file");
        assert!(found.iter().any(|name| name.starts_with("libc.so")), "{found:?}");
        assert!(found.iter().all(|name| name.contains(".so")), "{found:?}");
    }
}
