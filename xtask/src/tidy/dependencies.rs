//! The layering: a crate uses only the crates that the table allows it.
//!
//! `docs/architecture.md` shows the same table with its reasons; both change together, which this
//! check enforces too.

use super::{Repo, Violation};
use crate::manifest;

/// Each crate and the crates it may use, in processing order: a row names only rows above it.
const TABLE: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("index", &[]),
    ("syntax", &["source"]),
    ("tir", &["source", "index"]),
    ("sema", &["syntax", "index", "tir"]),
    ("loops", &["tir", "index"]),
    ("runtime", &[]),
    ("interp", &["index", "tir", "loops", "runtime"]),
    ("codegen", &["index", "tir", "loops", "runtime", "interp"]),
    ("driver", &["source", "index", "syntax", "tir", "sema", "loops", "runtime", "interp"]),
    ("ide", &["driver"]),
    ("cli", &["driver", "codegen", "ide", "runtime"]),
    ("python", &["tir", "interp", "codegen", "driver", "cli", "runtime"]),
    ("wasm", &["driver", "ide"]),
    ("testkit", &["source", "syntax", "driver"]),
    ("xtask", &[]),
];

/// Whatever reaches this crate anyway may name it: everything that reports errors needs its spans.
const FOUNDATION: &str = "source";

/// The crate of test helpers: a dev-dependency of anything, a dependency of nothing.
const TEST_HELPERS: &str = "testkit";

/// The document that explains the table.
const DOCUMENT: &str = "docs/architecture.md";

/// Compares manifests and document with the table.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let crates = repo.manifests().flat_map(|(name, path, text)| check_crate(name, path, text));
    let document = repo.text(DOCUMENT).into_iter().flat_map(check_document);
    crates.chain(document).collect()
}

fn check_crate(name: &str, path: &str, text: &str) -> Vec<Violation> {
    let Some(allowed) = allowed(name) else {
        let message = format!("crate `{name}` is not in the dependency table of xtask");
        return vec![Violation::new(path, 1, message)];
    };
    let mut found = Vec::new();
    for dependency in manifest::dependencies(text) {
        let Some(ours) = dependency.name.strip_prefix("einlang-") else {
            continue;
        };
        let helps_tests = dependency.dev && ours == TEST_HELPERS;
        if !helps_tests && !allowed.contains(&ours) {
            let message = format!("crate `{name}` may not depend on `{ours}`");
            found.push(Violation::new(path, dependency.line, message));
        }
    }
    found
}

/// The row of a crate, with the foundation added where the row leads to it.
fn allowed(name: &str) -> Option<Vec<&'static str>> {
    let mut allowed = row(name)?.to_vec();
    if allowed.iter().any(|name| reaches_foundation(name)) && !allowed.contains(&FOUNDATION) {
        allowed.push(FOUNDATION);
    }
    Some(allowed)
}

fn reaches_foundation(name: &str) -> bool {
    name == FOUNDATION || row(name).is_some_and(|row| row.iter().any(|n| reaches_foundation(n)))
}

fn row(name: &str) -> Option<&'static [&'static str]> {
    TABLE.iter().find(|(candidate, _)| *candidate == name).map(|(_, row)| *row)
}

/// Rows such as ``| `syntax` | what it owns | `source` |`` state the last column.
fn check_document(text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((name, stated)) = documented_row(line) else {
            continue;
        };
        if row(name).is_none_or(|row| row != stated) {
            let message = format!("the row of `{name}` differs from the dependency table of xtask");
            found.push(Violation::new(DOCUMENT, index + 1, message));
        }
    }
    found
}

fn documented_row(line: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` |")?;
    let (_, column) = rest.strip_suffix(" |")?.rsplit_once("| ")?;
    let names = column.split(", ").map(|word| word.trim_matches('`'));
    Some((name, names.filter(|name| *name != "–").collect()))
}

#[cfg(test)]
mod tests {
    use super::{TABLE, check, row};
    use crate::tidy::violations;

    fn manifest(section: &str, dependency: &str) -> String {
        format!("[{section}]\neinlang-{dependency}.workspace = true\n")
    }

    #[test]
    fn rows_name_only_rows_above_them() {
        for (index, (name, row)) in TABLE.iter().enumerate() {
            let above = |name: &&str| TABLE[..index].iter().any(|(earlier, _)| earlier == name);
            assert!(row.iter().all(above), "{name}");
        }
    }

    #[test]
    fn only_cli_and_python_use_codegen() {
        let users = TABLE.iter().filter(|(_, row)| row.contains(&"codegen"));
        assert_eq!(users.map(|(name, _)| *name).collect::<Vec<_>>(), ["cli", "python"]);
        assert!(row("driver").is_some());
    }

    #[test]
    fn a_dependency_outside_the_row_is_a_violation() {
        let text = manifest("dependencies", "syntax");
        assert_eq!(
            violations(check, &[("crates/source/Cargo.toml", &text)]),
            "crates/source/Cargo.toml:2: crate `source` may not depend on `syntax`"
        );
        assert_eq!(violations(check, &[("crates/sema/Cargo.toml", &text)]), "");
    }

    #[test]
    fn the_foundation_may_be_named_where_it_is_reached() {
        let text = manifest("dependencies", "source");
        assert_eq!(violations(check, &[("crates/cli/Cargo.toml", &text)]), "");
        assert_ne!(violations(check, &[("crates/runtime/Cargo.toml", &text)]), "");
        assert_ne!(violations(check, &[("crates/index/Cargo.toml", &text)]), "");
    }

    #[test]
    fn test_helpers_are_for_tests_only() {
        let dev = manifest("dev-dependencies", "testkit");
        assert_eq!(violations(check, &[("crates/source/Cargo.toml", &dev)]), "");
        let normal = manifest("dependencies", "testkit");
        assert_ne!(violations(check, &[("crates/source/Cargo.toml", &normal)]), "");
        let other = manifest("dev-dependencies", "driver");
        assert_ne!(violations(check, &[("crates/source/Cargo.toml", &other)]), "");
    }

    #[test]
    fn an_unknown_crate_needs_a_row() {
        let found = violations(check, &[("crates/extra/Cargo.toml", "")]);
        assert!(found.ends_with("crate `extra` is not in the dependency table of xtask"));
    }

    #[test]
    fn the_document_states_the_same_table() {
        let document =
            "| crate | owns |\n| `source` | a, b | – |\n| `tir` | c | `source`, `index` |\n";
        assert_eq!(violations(check, &[("docs/architecture.md", document)]), "");
        let wrong = "| `tir` | c | `source` |\n";
        assert_eq!(
            violations(check, &[("docs/architecture.md", wrong)]),
            "docs/architecture.md:1: the row of `tir` differs from the dependency table of xtask"
        );
    }
}
