//! Finding the cases, and reading the directives that `check` can judge.

use std::fs;
use std::path::{Path, PathBuf};

/// One conformance case.
pub(crate) struct Case {
    /// `SECTION/NAME`
    pub(crate) name: String,
    /// The folder that the program runs in.
    pub(crate) folder: PathBuf,
    /// The name of the main file in that folder.
    pub(crate) file: String,
    /// The text of that file.
    pub(crate) text: String,
}

/// `//! error CODE line N mentions a b`
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct ExpectedError<'a> {
    /// The code, or several separated by `|`.
    pub(crate) code: &'a str,
    /// The line of the program, from 1, if it matters.
    pub(crate) line: Option<usize>,
    /// Words that the message or the help must contain.
    pub(crate) words: Vec<&'a str>,
}

impl Case {
    /// The errors that the directives of this case expect.
    pub(crate) fn errors(&self) -> impl Iterator<Item = ExpectedError<'_>> {
        self.expected("//! error ")
    }

    /// The warnings that the directives of this case expect.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = ExpectedError<'_>> {
        self.expected("//! warn ")
    }

    /// Those flags of the case that matter to `check`; the others are for running it.
    pub(crate) fn checking_flags(&self) -> Vec<&str> {
        let lines = self.text.lines().filter_map(|line| line.strip_prefix("//! flags:"));
        let mut words = lines.flat_map(str::split_whitespace);
        let mut flags = Vec::new();
        while let Some(word) = words.next() {
            match word {
                "--strict" | "--zero-fill" => flags.push(word),
                "--outputs" => flags.extend([Some(word), words.next()].into_iter().flatten()),
                _ => {}
            }
        }
        flags
    }

    fn expected(&self, directive: &str) -> impl Iterator<Item = ExpectedError<'_>> {
        let lines = self.text.lines().filter_map(move |line| line.strip_prefix(directive));
        lines.filter_map(expected_error)
    }

    /// A case for tests.
    #[cfg(test)]
    pub(crate) fn of(name: &str, text: &str) -> Case {
        let (name, text) = (name.to_owned(), text.to_owned());
        Case { name, text, folder: PathBuf::new(), file: String::new() }
    }
}

/// Every case below a folder, sorted by name.
pub(crate) fn find(root: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    collect(root, "", &mut cases).map_err(|error| format!("cannot read the cases: {error}"))?;
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// A folder with a `main.ein` is one case; elsewhere each file is one.
fn collect(folder: &Path, name: &str, cases: &mut Vec<Case>) -> std::io::Result<()> {
    if folder.join("main.ein").exists() {
        cases.push(read(folder, name, "main.ein")?);
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let below = |part: &str| format!("{name}/{part}").trim_start_matches('/').to_owned();
        if entry.path().is_dir() {
            collect(&entry.path(), &below(&file), cases)?;
        } else if let Some(stem) = file.strip_suffix(".ein") {
            cases.push(read(folder, &below(stem), &file)?);
        }
    }
    Ok(())
}

fn read(folder: &Path, name: &str, file: &str) -> std::io::Result<Case> {
    let text = String::from_utf8_lossy(&fs::read(folder.join(file))?).into_owned();
    Ok(Case { name: name.to_owned(), folder: folder.to_owned(), file: file.to_owned(), text })
}

fn expected_error(directive: &str) -> Option<ExpectedError<'_>> {
    let (head, words) = directive.split_once(" mentions ").unwrap_or((directive, ""));
    let mut parts = head.split_whitespace();
    let code = parts.next()?;
    let line = match parts.next() {
        Some("line") => parts.next()?.parse().ok(),
        _ => None,
    };
    Some(ExpectedError { code, line, words: words.split_whitespace().collect() })
}

#[cfg(test)]
mod tests {
    use super::{Case, ExpectedError};

    #[test]
    fn flags_that_matter_to_check_are_read() {
        let case = Case::of("a/b", "let x = 1;\n//! flags: --strict --checked --outputs x,y\n");
        assert_eq!(case.checking_flags(), ["--strict", "--outputs", "x,y"]);
        assert!(Case::of("a/b", "//! flags: --checked\n").checking_flags().is_empty());
    }

    #[test]
    fn error_directives_are_read_with_and_without_details() {
        let text = "let x = 1\n//! about: y\n//! error E0101\n//! error E0308 line 2 mentions x 3\n\
                    //! error-count 2\n//! run-error E0701\n";
        let case = Case::of("a/b", text);
        let expected = [
            ExpectedError { code: "E0101", line: None, words: vec![] },
            ExpectedError { code: "E0308", line: Some(2), words: vec!["x", "3"] },
        ];
        assert_eq!(case.errors().collect::<Vec<_>>(), expected);
    }
}
