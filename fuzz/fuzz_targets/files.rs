//! Any bytes are an array or an error to every decoder, and no array is larger than allowed.

#![no_main]

use einlang_runtime::formats::Format;
use libfuzzer_sys::fuzz_target;

const LIMIT: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    for format in Format::ALL {
        let names = format.names(bytes).unwrap_or_default();
        let named = names.iter().take(4).map(|name| format.decode_named(bytes, name, LIMIT));
        for array in named.chain([format.decode(bytes, LIMIT)]).flatten() {
            assert!(array.bytes().len() as u64 <= LIMIT);
        }
    }
});
