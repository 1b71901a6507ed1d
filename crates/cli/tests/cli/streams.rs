//! What happens when nobody reads, or nothing can be written.

use std::io::Read;
use std::process::Stdio;

use crate::support::Sandbox;

#[test]
fn a_reader_that_goes_away_is_nobodys_fault() {
    let sandbox = Sandbox::with("long.ein", "let x = 1;\n".repeat(20_000));
    let mut command = sandbox.command(&["ir", "long.ein"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 16]).expect("the first bytes");
    drop(stdout);
    let output = child.wait_with_output().expect("an end");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let sandbox = Sandbox::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
    let mut command = sandbox.command(&["explain", "E0101"]);
    let output = command.stdout(full).output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.starts_with("error: cannot write the output: "), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_file_is_refused() {
    let answer = Sandbox::new().einlang(&["check", "/dev/zero"]).ends_with(1);
    assert!(answer.stderr.contains("is larger than 256 MiB"), "{}", answer.stderr);
}
