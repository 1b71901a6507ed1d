//! The files that list conformance cases: lines `SECTION` or `SECTION/NAME`, and `#` comments.

use super::cases::Case;
use std::fs;
use std::path::Path;

/// The entries of one such file.
pub(crate) struct Selection {
    file: &'static str,
    entries: Vec<(usize, String)>,
}

impl Selection {
    /// Reads the file; one that does not exist has no entries.
    pub(crate) fn read(root: &Path, file: &'static str) -> Result<Selection, String> {
        let path = root.join(file);
        if !path.exists() {
            return Ok(Selection::parse(file, ""));
        }
        let text = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
        Ok(Selection::parse(file, &text))
    }

    fn parse(file: &'static str, text: &str) -> Selection {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or(line).trim());
        let numbered = lines.enumerate().map(|(index, line)| (index + 1, line.to_owned()));
        Selection { file, entries: numbered.filter(|(_, line)| !line.is_empty()).collect() }
    }

    /// Whether the file selects nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The cases selected; an entry that selects none is an error, for it promises nothing.
    pub(crate) fn choose<'a>(&self, cases: &'a [Case]) -> Result<Vec<&'a Case>, String> {
        for (line, entry) in &self.entries {
            if !cases.iter().any(|case| selects(entry, &case.name)) {
                return Err(format!("{}:{line}: no case is called {entry}", self.file));
            }
        }
        let chosen =
            |case: &&Case| self.entries.iter().any(|(_, entry)| selects(entry, &case.name));
        Ok(cases.iter().filter(chosen).collect())
    }

    /// Substring filters for the shared runner that select at least these cases.
    pub(crate) fn filters(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|(_, entry)| match entry.contains('/') {
            true => entry.clone(),
            false => format!("{entry}/"),
        })
    }
}

fn selects(entry: &str, name: &str) -> bool {
    name.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{Case, Selection};

    fn names(text: &str) -> Result<Vec<String>, String> {
        let cases =
            ["lex/comments", "lex/floats", "lexer/x", "types/cast"].map(|n| Case::of(n, ""));
        let chosen = Selection::parse("list.txt", text).choose(&cases)?;
        Ok(chosen.iter().map(|case| case.name.clone()).collect())
    }

    #[test]
    fn sections_and_names_select_exactly() {
        assert_eq!(names("lex # all\n").unwrap(), ["lex/comments", "lex/floats"]);
        assert_eq!(names("# x\n\ntypes/cast\n").unwrap(), ["types/cast"]);
    }

    #[test]
    fn an_entry_without_a_case_is_an_error() {
        assert_eq!(names("lex\nnone\n").unwrap_err(), "list.txt:2: no case is called none");
    }

    #[test]
    fn filters_for_the_runner_end_sections_with_a_slash() {
        let selection = Selection::parse("list.txt", "lex\ntypes/cast\n");
        assert_eq!(selection.filters().collect::<Vec<_>>(), ["lex/", "types/cast"]);
    }
}
