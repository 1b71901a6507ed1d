//! A reader for the part of TOML that our manifests use: sections of `key = value` lines.
//!
//! It is not a TOML parser: values are kept as text, and a value that spans several lines is seen
//! only as its first one. Manifests written by hand in the usual style need no more.

/// One line of a manifest that says something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry<'a> {
    /// The line number, from 1.
    pub(crate) line: usize,
    /// The section, such as `dev-dependencies`.
    pub(crate) section: &'a str,
    /// The key; empty for the line that opens the section.
    pub(crate) key: &'a str,
    /// The value as written, without a comment that follows it.
    pub(crate) value: &'a str,
}

/// A dependency of a manifest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dependency<'a> {
    /// The line number, from 1.
    pub(crate) line: usize,
    /// The name of the package.
    pub(crate) name: &'a str,
    /// Whether only tests, examples and benchmarks use it.
    pub(crate) dev: bool,
}

/// The entries of a manifest, in order.
pub(crate) fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.split(" #").next().unwrap_or(raw).trim();
        if line.starts_with('[') && line.ends_with(']') && !line.contains('"') {
            section = line.trim_matches(['[', ']']).trim();
            found.push(Entry { line: index + 1, section, key: "", value: "" });
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            found.push(Entry { line: index + 1, section, key: key.trim(), value: value.trim() });
        }
    }
    found
}

/// The dependencies of every kind that a manifest names.
pub(crate) fn dependencies(text: &str) -> Vec<Dependency<'_>> {
    entries(text).into_iter().filter_map(dependency).collect()
}

/// Understands `[dependencies] name = …`, `name.workspace = true` and `[dependencies.name]`.
fn dependency(entry: Entry<'_>) -> Option<Dependency<'_>> {
    let (kind, name) = match entry.section.rsplit_once('.') {
        // Of a section of its own only the opening line counts; its keys are details.
        Some((kind, name)) if kind.ends_with("dependencies") && entry.key.is_empty() => {
            (kind, name)
        }
        Some((kind, _)) if kind.ends_with("dependencies") => return None,
        _ => (entry.section, entry.key.split('.').next().unwrap_or(entry.key)),
    };
    let known = kind.ends_with("dependencies") && !name.is_empty();
    known.then(|| Dependency { line: entry.line, name, dev: kind.ends_with("dev-dependencies") })
}

#[cfg(test)]
mod tests {
    use super::{dependencies, entries};

    #[test]
    fn entries_carry_section_and_line() {
        let found = entries("# top\n[package]\nname = \"x\" # note\n\n[lints]\nworkspace = true\n");
        let seen: Vec<_> = found.iter().map(|e| (e.line, e.section, e.key, e.value)).collect();
        let expected = [
            (2, "package", "", ""),
            (3, "package", "name", "\"x\""),
            (5, "lints", "", ""),
            (6, "lints", "workspace", "true"),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn dependencies_are_found_in_every_form() {
        let text = "[dependencies]\na.workspace = true\nb = \"1\"\n[dependencies.c]\npath = \"c\"\n\
                    [target.'cfg(unix)'.dependencies]\nd = \"1\"\n[dev-dependencies]\ne = \"1\"\n";
        let seen: Vec<_> = dependencies(text).iter().map(|d| (d.line, d.name, d.dev)).collect();
        let expected =
            [(2, "a", false), (3, "b", false), (4, "c", false), (7, "d", false), (9, "e", true)];
        assert_eq!(seen, expected);
    }
}
