//! The messages of one run, collected from every stage.
//!
//! Stages push what they find as they find it; the driver sorts and drops duplicates once, before
//! anything is shown, so that output follows the source text and not the order of the passes.

use std::collections::HashSet;
use std::{slice, vec};

use super::{Diagnostic, Severity};

/// The messages of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// A run with nothing to say.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a message at the end.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True when there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True when the program is rejected.
    pub fn has_errors(&self) -> bool {
        self.n_errors() > 0
    }

    /// The number of errors.
    pub fn n_errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// The number of warnings.
    pub fn n_warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        self.list.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }

    /// Orders the messages by file and place. Those at one place keep their order.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| {
            let span = diagnostic.primary.span;
            (span.file, span.start)
        });
    }

    /// Keeps the first of messages that are equal in every part: two passes may find one mistake.
    pub fn dedup(&mut self) {
        let mut seen = HashSet::new();
        let is_new: Vec<bool> =
            self.list.iter().map(|diagnostic| seen.insert(diagnostic)).collect();
        let mut is_new = is_new.into_iter();
        self.list.retain(|_| is_new.next().unwrap_or(true));
    }

    /// The messages in order.
    pub fn iter(&self) -> slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The messages as a plain list.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.list.extend(more);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(list: I) -> Diagnostics {
        Diagnostics { list: list.into_iter().collect() }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(only: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![only] }
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics { list }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> vec::IntoIter<Diagnostic> {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> slice::Iter<'a, Diagnostic> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::span::{FileId, Span};

    fn error(file: u32, start: u32, message: &str) -> Diagnostic {
        Diagnostic::error(Code::E0101, message, Span::at(FileId(file), start), "")
    }

    fn messages(diagnostics: &Diagnostics) -> Vec<&str> {
        diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect()
    }

    #[test]
    fn sorting_goes_by_file_and_place_and_is_stable() {
        let mut all = Diagnostics::new();
        all.extend([error(1, 0, "d"), error(0, 9, "b"), error(0, 9, "c"), error(0, 2, "a")]);
        all.sort();
        assert_eq!(messages(&all), ["a", "b", "c", "d"]);
    }

    #[test]
    fn exact_duplicates_are_dropped_wherever_they_stand() {
        let differs = error(0, 1, "a").with_note("more");
        let mut all: Diagnostics =
            [error(0, 1, "a"), error(0, 2, "b"), error(0, 1, "a"), differs].into_iter().collect();
        all.dedup();
        assert_eq!(messages(&all), ["a", "b", "a"]);
    }

    #[test]
    fn errors_and_warnings_are_counted_apart() {
        let mut all = Diagnostics::new();
        assert!(all.is_empty() && !all.has_errors());
        all.push(Diagnostic::warning(Code::E0308, "w", Span::at(FileId(0), 0), ""));
        assert!(!all.has_errors());
        all.push(error(0, 0, "e"));
        assert_eq!((all.len(), all.n_errors(), all.n_warnings()), (2, 1, 1));
        assert!(all.has_errors());
    }
}
