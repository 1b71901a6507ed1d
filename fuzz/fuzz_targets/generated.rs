//! Bytes choose a program: one without meaning, which parses without a message and survives
//! formatting, and one with meaning, whose values the generator knows.

#![no_main]

use einlang_testkit::generate::program::{Section, program};
use einlang_testkit::generate::{Size, Source, syntax};
use einlang_testkit::invariants;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = syntax::file(&mut Source::from_bytes(bytes), Size::MEDIUM);
    invariants::check_clean(&text);
    invariants::check_format(&text);
    let program = program(&mut Source::from_bytes(bytes), Section::ALL, 4);
    invariants::check_clean(&program.text);
});
