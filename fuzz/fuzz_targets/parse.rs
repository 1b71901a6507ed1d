//! Any bytes, read as UTF-8 with replacement characters, parse to a sound tree.

#![no_main]

use einlang_testkit::invariants;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    invariants::check(&String::from_utf8_lossy(bytes));
});
