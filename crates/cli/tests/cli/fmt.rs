//! `einlang fmt`. What the formatter makes of a program is tested beside the formatter; here is
//! what happens to files.

use std::fs;

use crate::support::Sandbox;

const UGLY: &str = "let   x = 1 ;\nlet y=x+2;\n";
const PRETTY: &str = "let x = 1;\nlet y = x + 2;\n";
const BROKEN: &str = "let   x = ;\n";

#[test]
fn files_are_formatted_in_place() {
    let sandbox = Sandbox::with("a.ein", UGLY);
    sandbox.write("b.ein", PRETTY);
    let summary = "1 file formatted, 1 unchanged\n";
    sandbox.einlang(&["fmt", "a.ein", "b.ein"]).ends_with(0).says("", summary);
    assert_eq!(sandbox.read("a.ein"), PRETTY);
    sandbox.einlang(&["fmt", "."]).ends_with(0).says("", "0 files formatted, 2 unchanged\n");
}

#[test]
fn an_unchanged_file_is_not_written() {
    let sandbox = Sandbox::with("a.ein", PRETTY);
    let modified =
        || fs::metadata(sandbox.path("a.ein")).and_then(|m| m.modified()).expect("a time");
    let before = modified();
    sandbox.einlang(&["fmt", "a.ein"]).ends_with(0);
    assert_eq!(modified(), before);
}

#[test]
fn a_broken_file_is_left_alone_and_the_others_are_not() {
    let sandbox = Sandbox::with("broken.ein", BROKEN);
    sandbox.write("ugly.ein", UGLY);
    let answer = sandbox.einlang(&["fmt", "."]).ends_with(1);
    assert!(answer.stderr.starts_with("error[E0101]"), "{}", answer.stderr);
    assert!(
        answer.stderr.ends_with("1 file formatted, 0 unchanged, 1 failed\n"),
        "{}",
        answer.stderr
    );
    assert_eq!(
        (sandbox.read("broken.ein"), sandbox.read("ugly.ein")),
        (BROKEN.into(), PRETTY.into())
    );
}

#[test]
fn check_shows_the_difference_and_writes_nothing() {
    let sandbox = Sandbox::with("a.ein", UGLY);
    sandbox.write("b.ein", PRETTY);
    sandbox.transcript("fmt-check", &["fmt", "--check", "."]).ends_with(1);
    assert_eq!(sandbox.read("a.ein"), UGLY);
    let summary = "0 files would change, 1 unchanged\n";
    sandbox.einlang(&["fmt", "--check", "b.ein"]).ends_with(0).says("", summary);
}

#[test]
fn check_reports_broken_files_too() {
    let sandbox = Sandbox::with("broken.ein", BROKEN);
    let answer = sandbox.einlang(&["fmt", "--check", "."]).ends_with(1);
    assert!(answer.stderr.starts_with("error[E0101]") && answer.stdout.is_empty());
}

#[test]
fn text_goes_to_standard_output() {
    let sandbox = Sandbox::new();
    sandbox.einlang_with_stdin(&["fmt", "-"], UGLY.as_bytes()).ends_with(0).says(PRETTY, "");
    sandbox.einlang(&["fmt", "-c", UGLY]).ends_with(0).says(PRETTY, "");
    let answer = sandbox.einlang_with_stdin(&["fmt", "-"], BROKEN.as_bytes()).ends_with(1);
    assert_eq!(answer.stdout, "");
    let answer = sandbox.einlang_with_stdin(&["fmt", "--check", "-"], UGLY.as_bytes()).ends_with(1);
    assert!(answer.stdout.starts_with("--- <standard input>\n+++ <standard input>\n@@ "));
}

#[test]
fn the_difference_is_coloured_on_demand() {
    let args = ["fmt", "--check", "-c", UGLY, "--color=always"];
    let answer = Sandbox::new().einlang(&args).ends_with(1);
    assert!(answer.stdout.contains("\u{1b}[32m+let x = 1;\u{1b}[0m\n"), "{}", answer.stdout);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let sandbox = Sandbox::with("a.ein", UGLY);
    let path = sandbox.path("a.ein");
    let mut permissions = fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("permissions");
    sandbox.transcript("fmt-read-only", &["fmt", "a.ein"]).ends_with(1);
    assert_eq!(sandbox.read("a.ein"), UGLY);
}

#[cfg(unix)]
#[test]
fn links_stay_links_and_permissions_stay_as_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::with("real/a.ein", UGLY);
    let real = sandbox.path("real/a.ein");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o750)).expect("permissions");
    symlink("real/a.ein", sandbox.path("link.ein")).expect("a link");
    sandbox.einlang(&["fmt", "link.ein"]).ends_with(0);
    assert!(fs::symlink_metadata(sandbox.path("link.ein")).expect("a link").is_symlink());
    assert_eq!(sandbox.read("real/a.ein"), PRETTY);
    assert_eq!(fs::metadata(&real).expect("a file").permissions().mode() & 0o777, 0o750);
    assert_eq!(fs::read_dir(sandbox.path("real")).expect("a folder").count(), 1, "nothing is left");
}

#[test]
fn formatting_twice_is_formatting_once_whatever_the_line_ends() {
    let sandbox = Sandbox::with("dos.ein", UGLY.replace('\n', "\r\n"));
    sandbox.einlang(&["fmt", "dos.ein"]).ends_with(0);
    sandbox.einlang(&["fmt", "--check", "dos.ein"]).ends_with(0);
    assert_eq!(sandbox.read("dos.ein").replace("\r\n", "\n"), PRETTY);
}
