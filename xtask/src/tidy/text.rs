//! Hygiene of text files: nothing that works on one machine only, no invisible differences.

use super::{Repo, Violation};

/// Folders whose presence in an absolute path ties a file to one machine. They are written in two
/// parts so that this file passes its own check.
const PRIVATE_PATHS: [&str; 3] =
    [concat!("/", "home/"), concat!("/", "root/"), concat!("/", "work/")];

/// Checks every text file.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    repo.texts().flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let complaints =
            [private_path(line), tab(path, line), trailing_space(path, line), conflict(line)];
        let complaints = complaints.into_iter().flatten();
        found.extend(complaints.map(|message| Violation::new(path, index + 1, message)));
    }
    if !is_exempt(path) && !text.is_empty() && !text.ends_with('\n') {
        found.push(Violation::new(path, text.lines().count(), "no newline at the end of the file"));
    }
    found
}

/// A path counts where it starts, not where a longer one merely contains it.
fn private_path(line: &str) -> Option<String> {
    let continues = |c: char| c.is_alphanumeric() || "._-)}>~".contains(c);
    let starts = |start: usize| !line[..start].ends_with(continues);
    let mut candidates = PRIVATE_PATHS.iter();
    let found = candidates.find(|path| line.match_indices(**path).any(|(at, _)| starts(at)))?;
    Some(format!("an absolute path of one machine: {found}"))
}

fn tab(path: &str, line: &str) -> Option<String> {
    (path.ends_with(".rs") && line.contains('\t')).then(|| "a tab".to_owned())
}

fn trailing_space(path: &str, line: &str) -> Option<String> {
    let trailing = !is_exempt(path) && line.ends_with([' ', '\t', '\r']);
    trailing.then(|| "white space at the end of the line".to_owned())
}

/// Where a merge was left undone.
fn conflict(line: &str) -> Option<String> {
    let is_side =
        |sign: &str| line.strip_prefix(&sign.repeat(7)).is_some_and(|rest| rest.starts_with(' '));
    (is_side("<") || is_side(">")).then(|| "a mark of a merge conflict".to_owned())
}

/// Fixtures and snapshots hold whatever their test needs, down to the last byte.
fn is_exempt(path: &str) -> bool {
    let is_fixture = path.starts_with("tests/") || path.contains("/tests/");
    path.ends_with(".txt") || (is_fixture && !path.ends_with(".rs"))
}

#[cfg(test)]
mod tests {
    use super::{PRIVATE_PATHS, check};
    use crate::tidy::violations;

    fn found(path: &str, text: &str) -> String {
        violations(check, &[(path, text)])
    }

    #[test]
    fn paths_of_one_machine_are_found_where_they_start() {
        for private in PRIVATE_PATHS {
            let expected = format!("a.md:2: an absolute path of one machine: {private}");
            assert_eq!(found("a.md", &format!("x\nsee `{private}x`\n")), expected);
            assert_eq!(found("a.md", &format!("see target{private}x\n")), "");
        }
    }

    #[test]
    fn white_space_is_visible_or_absent() {
        assert_eq!(found("a.rs", "x\n\ty\n"), "a.rs:2: a tab");
        assert_eq!(found("Makefile", "x\n\ty\n"), "");
        assert_eq!(found("a.md", "x \n"), "a.md:1: white space at the end of the line");
        assert_eq!(found("a.md", "x\r\n"), "a.md:1: white space at the end of the line");
        assert_eq!(found("a.md", "x\ny"), "a.md:2: no newline at the end of the file");
        assert_eq!(found("a.md", ""), "");
    }

    #[test]
    fn conflicts_are_settled() {
        let sides = ["<", ">"].map(|sign| format!("{} main\n", sign.repeat(7)));
        for side in sides {
            assert_eq!(found("a.md", &side), "a.md:1: a mark of a merge conflict");
        }
        assert_eq!(found("a.md", ">>> x\n"), "");
    }

    #[test]
    fn fixtures_may_hold_anything_but_test_code_may_not() {
        assert_eq!(found("crates/syntax/tests/lex/a.ein", "x \ny"), "");
        assert_eq!(found("tests/a.txt", "x \n"), "");
        assert_eq!(found("crates/syntax/src/snapshot.txt", "x \n"), "");
        assert_ne!(found("crates/syntax/tests/lex.rs", "x \n"), "");
    }
}
