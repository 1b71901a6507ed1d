//! Sources that cannot be read: E0901 and E0903.

use std::fs::File;

use crate::support::Sandbox;

#[test]
fn a_missing_file() {
    let sandbox = Sandbox::with("src/main.ein", "");
    sandbox.transcript("missing-file", &["run", "model.ein"]).ends_with(1);
    sandbox.transcript("misspelt-file", &["run", "src/mian.ein"]).ends_with(1);
    sandbox.transcript("missing-extension", &["check", "src/main"]).ends_with(1);
}

#[test]
fn a_directory() {
    let sandbox = Sandbox::with("src/main.ein", "");
    sandbox.write("lib/util.ein", "");
    sandbox.transcript("directory", &["run", "lib"]).ends_with(1);
    sandbox.transcript("directory-with-main", &["ir", "src"]).ends_with(1);
}

#[test]
fn a_file_in_another_encoding() {
    let sandbox = Sandbox::with("latin.ein", b"let a = 1;\nlet s = \"caf\xe9\";\n");
    sandbox.transcript("not-utf8", &["check", "latin.ein"]).ends_with(1);
    let utf16: Vec<u8> = "\u{feff}let x = 1;\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.write("wide.ein", utf16);
    sandbox.transcript("utf16", &["check", "wide.ein"]).ends_with(1);
    let answer = sandbox.einlang_with_stdin(&["check", "-"], b"\xff").ends_with(1);
    assert!(answer.stderr.contains("`<standard input>` is not UTF-8 text"), "{}", answer.stderr);
}

#[test]
fn a_binary_file() {
    let sandbox = Sandbox::with("data.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', }\n\x00\xff");
    sandbox.transcript("binary", &["run", "data.npy"]).ends_with(1);
}

#[test]
fn a_file_that_is_too_large() {
    let sandbox = Sandbox::new();
    let file = File::create(sandbox.path("big.ein")).expect("a file");
    file.set_len((256 << 20) + 1).expect("a sparse file");
    sandbox.transcript("too-large", &["check", "big.ein"]).ends_with(1);
}

#[test]
fn no_command_writes_to_what_it_cannot_read() {
    let bytes = b"let s = \"caf\xe9\";\n";
    let sandbox = Sandbox::with("latin.ein", bytes);
    sandbox.einlang(&["fmt", "latin.ein"]).ends_with(1);
    assert_eq!(std::fs::read(sandbox.path("latin.ein")).expect("a file"), bytes);
}
