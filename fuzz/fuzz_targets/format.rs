//! Formatting any bytes keeps every token and comment; formatting twice changes nothing more.

#![no_main]

use einlang_testkit::invariants;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    invariants::check_format(&String::from_utf8_lossy(bytes));
});
