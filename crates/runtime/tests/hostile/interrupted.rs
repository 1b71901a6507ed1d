//! Writes that are broken off: by a signal in the middle, or by a disk that takes no more. The old
//! file is whole, or the new one is.
//!
//! The writer is this test binary, started once more with a path in its environment.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use einlang_runtime::files;

const PATH: &str = "EINLANG_TEST_WRITES_TO";
const N_BYTES: usize = 1 << 20;

/// Writes files of equal bytes over each other until it is killed, or until it fails.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    for number in 1..u8::MAX {
        if let Err(error) = files::write(Path::new(&path), &vec![number; N_BYTES]) {
            println!("failed: {error}");
            std::process::exit(7);
        }
    }
}

/// A call of the writer through a shell that first runs `before`.
fn writer_after(before: &str, path: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    let binary = std::env::current_exe().expect("this binary has a path");
    command.arg("-c").arg(format!("{before}exec \"$0\" --exact interrupted::writer --nocapture"));
    command.arg(binary).env(PATH, path).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

#[test]
fn a_killed_write_leaves_a_whole_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.bin");
    for delay in [1, 3, 7, 12, 20, 33, 50, 75] {
        fs::write(&path, vec![0; N_BYTES]).expect("an old file");
        let mut writer = writer_after("", &path).spawn().expect("the writer starts");
        sleep(Duration::from_millis(delay));
        writer.kill().expect("the writer can be killed");
        writer.wait().expect("the writer ends");
        let found = fs::read(&path).expect("there is a file");
        assert_eq!(found.len(), N_BYTES, "after {delay} ms");
        assert!(found.iter().all(|byte| *byte == found[0]), "two files in one after {delay} ms");
    }
}

#[test]
fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.bin");
    fs::write(&path, b"old").expect("an old file");
    let output = writer_after("trap '' XFSZ; ulimit -f 64; ", &path).output().expect("it starts");
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(fs::read(&path).expect("there is a file"), b"old");
    assert_eq!(files::list(folder.path()), Ok(vec!["data.bin".to_owned()]));
}
