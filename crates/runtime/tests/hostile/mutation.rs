//! A file with a few changes, of the kinds that break decoders: bits, lengths, counts, ends.

use einlang_runtime::formats::Format;

use crate::random::Random;
use crate::seeds::Seed;

/// Counts that overflow, wrap around, or ask for too much.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "100000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "1099511627776",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "-1",
    "-9223372036854775808",
    "1e400",
    "0x10",
    "nan",
    "",
];

/// The same for counts in binary.
const WORDS: &[u64] = &[
    0,
    1,
    2,
    7,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// One of the files after one to four changes.
pub(crate) fn mutant<'s>(seeds: &'s [Seed], random: &mut Random) -> (&'s Seed, Vec<u8>) {
    let seed = random.pick(seeds);
    let mut bytes = seed.bytes.clone();
    for _ in 0..=random.below(4) {
        change(&mut bytes, seeds, random);
    }
    if seed.format == Some(Format::Png) && random.below(4) > 0 {
        repair_checksums(&mut bytes);
    }
    (seed, bytes)
}

fn change(bytes: &mut Vec<u8>, seeds: &[Seed], random: &mut Random) {
    let (start, end) = span(bytes, random);
    match random.below(10) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(start) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(start) {
                *byte =
                    *random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\n', b',', b'{', b'"']);
            }
        }
        3 => bytes.truncate(start),
        4 => drop(bytes.drain(start..end)),
        5 => {
            let copied = bytes[start..end].to_vec();
            bytes.splice(start..start, copied);
        }
        6 => {
            let other = &random.pick(seeds).bytes;
            let (from, to) = span(other, random);
            bytes.splice(start..end, other[from..to].iter().copied());
        }
        7 | 8 => grow_number(bytes, random),
        _ => overwrite_word(bytes, start, random),
    }
}

/// A short part of the file, often near its beginning, where headers are.
fn span(bytes: &[u8], random: &mut Random) -> (usize, usize) {
    let reach = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(160) };
    let start = random.below(reach);
    let length = if random.below(8) == 0 { bytes.len() } else { 24 };
    (start, (start + random.below(length)).min(bytes.len()))
}

/// Replaces one of the decimal numbers in the file.
fn grow_number(bytes: &mut Vec<u8>, random: &mut Random) {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts: Vec<usize> = (0..bytes.len().min(4096))
        .filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1)))
        .collect();
    if starts.is_empty() {
        return;
    }
    let start = *random.pick(&starts);
    let end = (start..bytes.len()).find(|at| !is_digit(*at)).unwrap_or(bytes.len());
    bytes.splice(start..end, random.pick(NUMBERS).bytes());
}

/// Overwrites a count of 2, 4 or 8 bytes in either order.
fn overwrite_word(bytes: &mut [u8], start: usize, random: &mut Random) {
    let word = *random.pick(WORDS);
    let size = *random.pick(&[2, 4, 8]);
    let (little, big) = (word.to_le_bytes(), word.to_be_bytes());
    let written = if random.below(2) == 0 { &little[..size] } else { &big[8 - size..] };
    for (byte, new) in bytes[start..].iter_mut().zip(written) {
        *byte = *new;
    }
}

/// Makes the checksums of PNG chunks right again, so that what is wrong is found further inside.
pub(crate) fn repair_checksums(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(head) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let Some(end) = (at + 8).checked_add(length) else { return };
        let Some(content) = bytes.get(at + 4..end) else { return };
        let sum = crc(content).to_be_bytes();
        let Some(place) = bytes.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&sum);
        at = end + 4;
    }
}

/// The checksum of PNG and zip, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}

#[test]
fn the_checksum_is_the_usual_one() {
    assert_eq!(crc(b"123456789"), 0xcbf4_3926);
}
