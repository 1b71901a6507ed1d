//! Every diagnostic code has its page, and every page its code.

use super::{Repo, Violation};
use std::collections::BTreeMap;

/// Where the codes are declared.
const CATALOGUE: &str = "crates/source/src/code.rs";
/// Where their pages are.
const PAGES: &str = "docs/errors/";
/// What the code blocks of a page are marked as: a program that shows the error, and one without.
const BLOCKS: [&str; 2] = ["ein,fails", "ein,repaired"];

/// A code of the catalogue.
struct Code<'a> {
    line: usize,
    title: &'a str,
}

/// Compares the catalogue with the pages.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let codes = codes(repo.text(CATALOGUE).unwrap_or_default());
    if codes.is_empty() {
        // Without this line, moving the catalogue would switch the check off.
        return vec![Violation::new(CATALOGUE, 1, "no codes found")];
    }
    let mut found = missing_pages(repo, &codes);
    for (path, text) in repo.texts() {
        let page = path.strip_prefix(PAGES).and_then(|name| name.strip_suffix(".md"));
        match page.map(|name| (name, codes.get(name))) {
            Some((name, Some(code))) => found.extend(check_page(path, text, name, code.title)),
            Some((name, None)) if name != "README" => {
                found.push(Violation::new(path, 1, format!("there is no code {name}")));
            }
            _ => {}
        }
    }
    found
}

/// The lines `E0101: "unexpected token",` between `codes! {` and `}`.
fn codes(text: &str) -> BTreeMap<&str, Code<'_>> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    let inside = numbered.skip_while(|(_, line)| *line != "codes! {").skip(1);
    let declared = inside.take_while(|(_, line)| *line != "}").filter_map(|(line, text)| {
        let (code, title) = text.split_once(": \"")?;
        Some((code, Code { line, title: title.strip_suffix("\",")? }))
    });
    declared.collect()
}

fn missing_pages(repo: &Repo, codes: &BTreeMap<&str, Code<'_>>) -> Vec<Violation> {
    let pages = codes.iter().map(|(name, code)| (format!("{PAGES}{name}.md"), code.line));
    let missing = pages.filter(|(page, _)| repo.text(page).is_none());
    missing.map(|(page, line)| Violation::new(CATALOGUE, line, format!("no page {page}"))).collect()
}

fn check_page(path: &str, text: &str, code: &str, title: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let heading = format!("# {code}: {title}");
    if text.lines().next() != Some(&heading) {
        found.push(Violation::new(path, 1, format!("the first line must be `{heading}`")));
    }
    let fences = opening_fences(text);
    for (line, info) in fences.iter().filter(|(_, info)| !BLOCKS.contains(info)) {
        let message = format!("code block `{info}` must be `ein,fails` or `ein,repaired`");
        found.push(Violation::new(path, *line, message));
    }
    for block in BLOCKS.iter().filter(|block| !fences.iter().any(|(_, info)| info == *block)) {
        found.push(Violation::new(path, 1, format!("no code block marked `{block}`")));
    }
    found
}

/// The line and the marking of each code block.
fn opening_fences(text: &str) -> Vec<(usize, &str)> {
    let fences =
        (1..).zip(text.lines()).filter_map(|(n, line)| Some((n, line.strip_prefix("```")?)));
    fences.step_by(2).map(|(line, info)| (line, info.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::violations;

    const CODES: (&str, &str) = (
        "crates/source/src/code.rs",
        "macro_rules! codes {\n}\n\ncodes! {\n    E0101: \"unexpected token\",\n}\n\nimpl Code {}\n",
    );
    const PAGE: &str =
        "# E0101: unexpected token\n\n```ein,fails\nlet\n```\n\n```ein,repaired\nlet x = 1;\n```\n";

    fn page(path: &str, text: &str) -> String {
        violations(check, &[CODES, (path, text)])
    }

    #[test]
    fn a_complete_page_is_fine() {
        assert_eq!(page("docs/errors/E0101.md", PAGE), "");
    }

    #[test]
    fn the_catalogue_must_be_found() {
        assert_eq!(violations(check, &[]), "crates/source/src/code.rs:1: no codes found");
    }

    #[test]
    fn codes_and_pages_belong_together() {
        let missing = "crates/source/src/code.rs:5: no page docs/errors/E0101.md";
        assert_eq!(violations(check, &[CODES]), missing);
        let surplus = page("docs/errors/E0998.md", PAGE);
        assert_eq!(surplus, format!("{missing}\ndocs/errors/E0998.md:1: there is no code E0998"));
    }

    #[test]
    fn a_page_has_the_title_of_its_code() {
        let found = page("docs/errors/E0101.md", &PAGE.replace("unexpected", "odd"));
        let expected = "the first line must be `# E0101: unexpected token`";
        assert_eq!(found, format!("docs/errors/E0101.md:1: {expected}"));
    }

    #[test]
    fn a_page_shows_a_failing_and_a_repaired_program() {
        let found = page("docs/errors/E0101.md", &PAGE.replace("ein,fails", "ein"));
        assert_eq!(
            found,
            "docs/errors/E0101.md:3: code block `ein` must be `ein,fails` or `ein,repaired`\n\
             docs/errors/E0101.md:1: no code block marked `ein,fails`"
        );
    }
}
