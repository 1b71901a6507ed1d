//! What the tool has to say about a program, as data.
//!
//! A [`Diagnostic`] is built where the problem is found and knows nothing of colours, columns or
//! JSON; [`crate::render`] turns it into text for people or for programs. Every error carries at
//! least one help line: an error that cannot say what to do next is not finished.

mod list;

use std::fmt;

pub use list::Diagnostics;

use crate::code::Code;
use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The program is rejected or has failed.
    Error,
    /// The program runs, but probably not as meant.
    Warning,
}

impl Severity {
    /// The word that begins a headline, and the value in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A span with a few words about it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The words; may be empty for a plain underline.
    pub text: String,
}

/// A change of the source text that repairs the problem. All edits of one help are applied
/// together; they never overlap.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Edit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// What stands there afterwards.
    pub replacement: String,
}

/// Advice, with the edits that carry it out when a machine can apply them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Help {
    /// The advice as a sentence without a final stop.
    pub text: String,
    /// Machine-applicable edits; empty when only a person can decide.
    pub edits: Vec<Edit>,
}

/// One message about a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic {
    /// The stable code, explained by `einlang explain`.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// The headline: one sentence without a final stop that names what is wrong.
    pub message: String,
    /// Where it is wrong.
    pub primary: Label,
    /// Other places that matter, in any file.
    pub secondary: Vec<Label>,
    /// Facts that explain the rule.
    pub notes: Vec<String>,
    /// What to do about it, best advice first.
    pub helps: Vec<Help>,
}

impl Diagnostic {
    /// An error with its headline, the place, and the words at the place.
    pub fn error(
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, text: label.into() },
            secondary: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
        }
    }

    /// A warning with its headline, the place, and the words at the place.
    pub fn warning(
        code: Code,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span, label) }
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact that explains the rule.
    #[must_use]
    pub fn with_note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds advice for a person.
    #[must_use]
    pub fn with_help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(Help { text: text.into(), edits: Vec::new() });
        self
    }

    /// Adds advice that a machine can carry out by one replacement.
    #[must_use]
    pub fn with_edit(
        mut self,
        text: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Diagnostic {
        let edit = Edit { span, replacement: replacement.into() };
        self.helps.push(Help { text: text.into(), edits: vec![edit] });
        self
    }

    /// Adds advice that a machine can carry out by several edits, applied together.
    #[must_use]
    pub fn with_edits(mut self, text: impl Into<String>, edits: Vec<Edit>) -> Diagnostic {
        self.helps.push(Help { text: text.into(), edits });
        self
    }

    /// Every place that the message points to, those of its edits included.
    pub fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let edits = self.helps.iter().flat_map(|help| help.edits.iter().map(|edit| edit.span));
        let labels = self.secondary.iter().map(|label| label.span);
        [self.primary.span].into_iter().chain(labels).chain(edits)
    }

    /// The same message about other places.
    #[must_use]
    pub fn map_spans(&self, f: &dyn Fn(Span) -> Span) -> Diagnostic {
        let mut moved = self.clone();
        moved.primary.span = f(moved.primary.span);
        moved.secondary.iter_mut().for_each(|label| label.span = f(label.span));
        for edit in moved.helps.iter_mut().flat_map(|help| &mut help.edits) {
            edit.span = f(edit.span);
        }
        moved
    }

    /// The best advice that a machine can carry out. Helps are alternatives: apply at most one.
    pub fn fix(&self) -> Option<&Help> {
        self.helps.iter().find(|help| !help.edits.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    #[test]
    fn the_first_help_with_edits_is_the_fix() {
        let span = Span::at(FileId(0), 3);
        let plain = Diagnostic::error(Code::E0101, "e", span, "").with_help("think");
        assert_eq!(plain.fix(), None);
        let two = plain.with_edit("add `;`", span, ";").with_edit("add `,`", span, ",");
        assert_eq!(two.fix().map(|help| help.text.as_str()), Some("add `;`"));
    }
}
