//! Every relative link of a Markdown file leads to a file or folder of the repository.

use super::{Repo, Violation};
use std::collections::HashSet;

/// Checks the links of every Markdown file.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let known = known_paths(repo);
    let mut found = Vec::new();
    for (path, text) in repo.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in relative_links(text) {
            if !resolve(path, target).is_some_and(|target| known.contains(target.as_str())) {
                let message = format!("the link to `{target}` leads nowhere in this repository");
                found.push(Violation::new(path, line, message));
            }
        }
    }
    found
}

/// All files, and all folders that hold one; the root is the empty path.
fn known_paths(repo: &Repo) -> HashSet<&str> {
    let mut known = HashSet::from([""]);
    for path in repo.paths() {
        known.insert(path);
        known.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    known
}

/// Line and target of each link that is not an address or a heading of the same file.
fn relative_links(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            let targets = targets(line).into_iter().filter(|target| is_relative(target));
            found.extend(targets.map(|target| (index + 1, target)));
        }
    }
    found
}

/// The targets of `[text](target)`, `![text](target "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.match_indices("](").filter(|(at, _)| !is_in_code_span(line, *at));
    let inline = inline.filter_map(|(at, open)| line[at + open.len()..].split(')').next());
    let defined = line.starts_with('[') && !line.starts_with("[^");
    let definition = line.split_once("]: ").filter(|_| defined).map(|(_, target)| target);
    inline.chain(definition).filter_map(clean).collect()
}

fn is_in_code_span(line: &str, at: usize) -> bool {
    let n_before = line[..at].matches('`').count();
    n_before % 2 == 1 && line[at..].contains('`')
}

fn clean(target: &str) -> Option<&str> {
    let target = target.split_whitespace().next()?.trim_matches(['<', '>']);
    target.split('#').next().filter(|target| !target.is_empty())
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

/// The path from the root that a link in `file` means; none if it leaves the repository.
fn resolve(file: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::violations;

    fn found(text: &str) -> String {
        violations(check, &[("docs/a.md", text), ("docs/errors/E0101.md", ""), ("README.md", "")])
    }

    #[test]
    fn links_to_files_and_folders_resolve() {
        assert_eq!(found("[a](errors/E0101.md#top) [b](../README.md \"t\") [c](errors/)\n"), "");
        assert_eq!(found("[x]: ../README.md\n[^1]: a note\n[r](..) [h](#here)\n"), "");
        assert_eq!(found("[w](https://example.org/x) [m](mailto:a@example.org)\n"), "");
    }

    #[test]
    fn code_is_not_searched_for_links() {
        assert_eq!(found("`let a = f[i](x);` and\n```\nlet b = g[i](y);\n```\n"), "");
    }

    #[test]
    fn broken_links_are_named() {
        let nowhere = |target: &str| {
            format!("docs/a.md:1: the link to `{target}` leads nowhere in this repository")
        };
        assert_eq!(found("[a](E0101.md)\n"), nowhere("E0101.md"));
        assert_eq!(found("[a](../../other/x.md)\n"), nowhere("../../other/x.md"));
        assert_eq!(found("[a](/README.md)\n"), nowhere("/README.md"));
        assert_eq!(found("[x]: gone.md\n"), nowhere("gone.md"));
    }
}
