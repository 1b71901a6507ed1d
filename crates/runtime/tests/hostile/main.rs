//! Hostile files: every mutant of a good file is an array within the limit or an error of the right
//! kind, and takes little memory either way. And writes that are broken off leave the old file.
//!
//! A run of CI tries some thousands of mutants; `EINLANG_MUTANTS=200000` tries more. A failure names
//! the seed, which alone decides the mutant.

mod allocation;
mod interrupted;
mod mutation;
mod random;
mod round_trips;
mod seeds;

use einlang_runtime::formats::{Format, decode_text};
use einlang_runtime::{FileError, Kind};

use mutation::mutant;
use random::Random;
use seeds::{Seed, seeds};

/// The most bytes that an array may have.
const LIMIT: u64 = 1 << 16;

/// The most memory that reading a small file may take: a few copies of the largest array, and what
/// decompression needs for its windows and tables.
const MEMORY: usize = 1 << 20;

fn n_mutants() -> u64 {
    let wanted = std::env::var("EINLANG_MUTANTS").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(6000)
}

/// What is wrong with an answer, if anything is.
fn judge<T>(answer: &Result<T, FileError>, n_bytes: impl Fn(&T) -> usize) -> Result<(), String> {
    match answer {
        Ok(value) if n_bytes(value) as u64 <= LIMIT => Ok(()),
        Ok(value) => Err(format!("{} bytes", n_bytes(value))),
        Err(error) => match error.kind {
            Kind::Malformed | Kind::Unsuitable | Kind::TooLarge => {
                let is_sentence = !error.message.is_empty() && error.message.len() < 2000;
                is_sentence.then_some(()).ok_or_else(|| format!("says {:?}", error.message))
            }
            Kind::NotFound | Kind::Outside => Err(format!("{:?}: {}", error.kind, error.message)),
        },
    }
}

/// Asks every decoder that a file of this format may meet.
fn read(format: Option<Format>, bytes: &[u8]) -> Result<usize, String> {
    let mut n_read = 0;
    let Some(format) = format else {
        let answer = decode_text(bytes.to_vec());
        judge(&answer, |_| 0)?;
        return Ok(usize::from(answer.is_ok()));
    };
    if format.has_names() {
        let names = format.names(bytes);
        judge(&names, |_| 0)?;
        for name in names.unwrap_or_default().iter().take(4) {
            let answer = format.decode_named(bytes, name, LIMIT);
            judge(&answer, |array| array.bytes().len())?;
            n_read += usize::from(answer.is_ok());
        }
    }
    let answer = format.decode(bytes, LIMIT);
    judge(&answer, |array| array.bytes().len())?;
    Ok(n_read + usize::from(answer.is_ok()))
}

#[test]
fn good_files_are_read() {
    for Seed { name, format, bytes } in seeds() {
        let (answer, peak) = allocation::peak(|| read(format, &bytes));
        assert!(answer.is_ok_and(|n_read| n_read > 0), "{name}");
        assert!(peak <= MEMORY + 16 * bytes.len(), "{name} takes {peak} bytes");
    }
}

#[test]
fn every_mutant_is_answered_within_bounds() {
    let seeds = seeds();
    let mut n_read = 0;
    for number in 0..n_mutants() {
        let mut random = Random::new(number);
        let (seed, bytes) = mutant(&seeds, &mut random);
        let (answer, peak) = allocation::peak(|| {
            std::panic::catch_unwind(|| read(seed.format, &bytes))
                .unwrap_or_else(|_| Err("a panic".to_owned()))
        });
        match answer {
            Ok(n) => n_read += n,
            Err(wrong) => panic!("mutant {number} of {}: {wrong}", seed.name),
        }
        let bound = MEMORY + 16 * bytes.len();
        assert!(peak <= bound, "mutant {number} of {} takes {peak} bytes", seed.name);
    }
    assert!(n_read as u64 > n_mutants() / 20, "only {n_read} mutants are still files");
}

/// Files of one format are offered to the decoders of all others.
#[test]
fn the_wrong_decoder_is_no_worse() {
    for seed in seeds() {
        for format in Format::ALL {
            let answer = read(Some(*format), &seed.bytes);
            assert!(answer.is_ok(), "{} as {}: {answer:?}", seed.name, format.name());
        }
    }
}

/// Mutants that once broke something.
#[test]
fn a_palette_that_ends_within_a_colour_is_an_error() {
    let all = seeds();
    let picture = all.iter().find(|seed| seed.name == "Indexed Two.png").expect("a seed");
    let mut bytes = picture.bytes.clone();
    let at = bytes.windows(4).position(|word| word == b"PLTE").expect("a palette");
    bytes[at - 1] -= 1;
    bytes.remove(at + 4);
    mutation::repair_checksums(&mut bytes);
    let answer = Format::Png.decode(&bytes, LIMIT).map_err(|error| error.kind);
    assert_eq!(answer, Err(Kind::Malformed));
}
