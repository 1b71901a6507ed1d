//! File and function budgets: what is short can be read at once.
//!
//! Only a file far over the budget is a violation, and only if its module documentation gives no
//! reason. The rest is a report, for the scan is rough: it trusts the layout that rustfmt makes.

use super::{Repo, Violation};

/// Files above this are listed in the report.
const NOTED_FILE: usize = 300;
/// Files above this need a reason in their module documentation.
const LONG_FILE: usize = 700;
/// Functions above this are listed in the report.
const NOTED_FUNCTION: usize = 100;
/// How the reason starts.
const REASON: &str = "Longer than the budget because";

/// Files over the hard limit without a reason.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let long = rust_files(repo).filter(|(_, text)| text.lines().count() > LONG_FILE);
    let unexplained = long.filter(|(_, text)| !module_doc(text).contains(REASON));
    unexplained.map(|(path, text)| Violation::new(path, 1, too_long(text))).collect()
}

/// Files and functions that are worth splitting.
pub(crate) fn report(repo: &Repo) -> Vec<Violation> {
    rust_files(repo).flat_map(|(path, text)| notes(path, text)).collect()
}

fn rust_files(repo: &Repo) -> impl Iterator<Item = (&str, &str)> {
    repo.texts().filter(|(path, _)| path.ends_with(".rs"))
}

fn too_long(text: &str) -> String {
    let n_lines = text.lines().count();
    format!("{n_lines} lines: split it, or say in its module doc `{REASON} …`")
}

fn notes(path: &str, text: &str) -> Vec<Violation> {
    let n_lines = text.lines().count();
    let file = (n_lines > NOTED_FILE).then(|| Violation::new(path, 1, format!("{n_lines} lines")));
    let long = long_functions(text).into_iter();
    let functions = long.map(|(line, name, n_lines)| {
        Violation::new(path, line, format!("function `{name}` has {n_lines} lines"))
    });
    file.into_iter().chain(functions).collect()
}

/// The `//!` lines at the top as one line, so that a wrapped sentence is found.
fn module_doc(text: &str) -> String {
    let doc = text.lines().map_while(|line| line.strip_prefix("//!"));
    doc.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Line, name and length of functions over the limit: from `fn` to the brace at its indentation.
fn long_functions(text: &str) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let closes = |line: &&str| line.len() == indent + 1 && line.ends_with('}');
        let n_lines = lines[index..].iter().position(closes).map_or(1, |last| last + 1);
        if n_lines > NOTED_FUNCTION && !is_one_liner(line) {
            found.push((index + 1, name, n_lines));
        }
    }
    found
}

fn is_one_liner(line: &str) -> bool {
    line.ends_with('}') || line.ends_with(';')
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_modifier = |word: &str| {
        word.starts_with("pub") || matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"")
    };
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    before.split_whitespace().all(is_modifier).then_some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{check, report};
    use crate::tidy::violations;

    #[test]
    fn a_long_file_needs_a_reason() {
        let body = "// x\n".repeat(701);
        let found = violations(check, &[("a.rs", &body), ("b.txt", &body)]);
        assert!(found.starts_with("a.rs:1: 701 lines: "), "{found}");
        assert_eq!(found.lines().count(), 1);
        let explained =
            format!("//! A table. Longer than the\n//! budget because it is one.\n{body}");
        assert_eq!(violations(check, &[("a.rs", &explained)]), "");
    }

    #[test]
    fn the_report_lists_long_files_and_functions() {
        let body = "        step();\n".repeat(100);
        let text =
            format!("impl A {{\n    pub fn go(&self) {{\n{body}    }}\n    fn short() {{}}\n}}\n");
        assert_eq!(violations(report, &[("a.rs", &text)]), "a.rs:2: function `go` has 102 lines");
        let file = "// x\n".repeat(301);
        assert_eq!(violations(report, &[("a.rs", &file)]), "a.rs:1: 301 lines");
    }
}
