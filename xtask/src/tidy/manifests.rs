//! What every manifest of the workspace says: the shared lints, the licence, a description.

use super::{Repo, Violation};
use crate::manifest::{self, Entry};

/// Checks the manifest of every member.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    repo.manifests().flat_map(|(_, path, text)| check_manifest(path, text)).collect()
}

fn check_manifest(path: &str, text: &str) -> Vec<Violation> {
    let entries = manifest::entries(text);
    let says = |rule: fn(&Entry<'_>) -> bool| entries.iter().any(rule);
    let rules = [
        (says(has_lints), "no `[lints] workspace = true`"),
        (says(has_licence), "no `license.workspace = true`"),
        (says(has_description), "no description"),
    ];
    let broken = rules.into_iter().filter(|(holds, _)| !holds);
    broken.map(|(_, message)| Violation::new(path, 1, message)).collect()
}

fn has_lints(entry: &Entry<'_>) -> bool {
    (entry.section, entry.key, entry.value) == ("lints", "workspace", "true")
}

fn has_licence(entry: &Entry<'_>) -> bool {
    let inherited = [("license.workspace", "true"), ("license", "{ workspace = true }")];
    entry.section == "package" && inherited.contains(&(entry.key, entry.value))
}

fn has_description(entry: &Entry<'_>) -> bool {
    entry.section == "package" && entry.key == "description" && entry.value.len() > 2
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::violations;

    #[test]
    fn a_complete_manifest_is_fine() {
        let text =
            "[package]\ndescription = \"d\"\nlicense.workspace = true\n[lints]\nworkspace = true\n";
        assert_eq!(violations(check, &[("crates/a/Cargo.toml", text)]), "");
    }

    #[test]
    fn each_missing_part_is_named() {
        let text = "[package]\ndescription = \"\"\nlicense = \"MIT\"\n";
        let expected = "xtask/Cargo.toml:1: no `[lints] workspace = true`\n\
                        xtask/Cargo.toml:1: no `license.workspace = true`\n\
                        xtask/Cargo.toml:1: no description";
        assert_eq!(violations(check, &[("xtask/Cargo.toml", text)]), expected);
    }
}
