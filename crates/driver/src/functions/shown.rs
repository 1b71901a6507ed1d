//! How messages about a call are shown: in the words of the source and not of the wrapper.
//!
//! The wrapper declares an input for each argument and a binding for the result. A message that names one of them
//! names the parameter, or the function, and one that points at the wrapper points at the parameter, or at the name of
//! the function.
//!
//! Invariant: spans of the file stay what they are. Edits of the wrapper are left out.

use std::ops::Range;

use einlang_source::{Diagnostic, Diagnostics, FileId, Span};
use einlang_syntax::Tree;
use einlang_syntax::ast::{AstNode, SourceFile, Statement};

use super::wrapper::{Call, RESULT, argument, declared};
use crate::run::Failure;

/// What stands for the words of a wrapper.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    file: FileId,
    /// Where the wrapper begins.
    from: usize,
    /// Its words and what is shown instead; longer ones come before their beginnings.
    words: Vec<(String, String)>,
    /// The lines of inputs in the wrapper, and where their parameters are declared.
    places: Vec<(Range<usize>, Span)>,
    /// The name of the function.
    function: Span,
}

impl Shown {
    /// What stands for the words of the wrapper `text` of a file, which is this file now.
    pub(super) fn new(tree: &Tree, call: &Call, file: FileId, text: &str) -> Option<Shown> {
        let functions = SourceFile::of(tree).statements().filter_map(|statement| match statement {
            Statement::Fn(item) => Some((item, item.name()?)),
            _ => None,
        });
        let (item, name) = functions.filter(|(_, name)| name.text() == call.function).last()?;
        let place = |range: Range<usize>| Span::new(file, range.start as u32, range.end as u32);
        let (mut words, mut places, from) = (Vec::new(), Vec::new(), tree.text().len());
        for (at, given) in call.arguments.iter().enumerate() {
            let mut params =
                item.params().filter_map(|param| Some((param, param.pattern()?.text())));
            let param = match &given.name {
                Some(name) => params.find(|(_, spelled)| spelled == name),
                None => params.nth(at),
            };
            let Some((param, spelled)) = param else { continue };
            words.push((argument(at), spelled.to_owned()));
            let start = from + text[from..].find(&declared(at)).unwrap_or(text.len() - from);
            let end = start + text[start..].find('\n').unwrap_or(0);
            places.push((start..end, place(param.range())));
        }
        words.reverse();
        words.push((RESULT.to_owned(), call.function.clone()));
        Some(Shown { file, from, words, places, function: place(name.range()) })
    }

    pub(crate) fn failure(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Program(found) => Failure::Program(self.diagnostics(&found)),
            other => other,
        }
    }

    pub(crate) fn diagnostics(&self, found: &Diagnostics) -> Diagnostics {
        let mut all = Diagnostics::new();
        found.iter().for_each(|diagnostic| all.push(self.diagnostic(diagnostic)));
        all
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut helps = diagnostic.helps.clone();
        helps.iter_mut().for_each(|help| help.edits.retain(|edit| !self.is_wrapper(edit.span)));
        let mut shown =
            Diagnostic { helps, ..diagnostic.clone() }.map_spans(&|span| self.span(span));
        let labels =
            shown.secondary.iter_mut().chain([&mut shown.primary]).map(|label| &mut label.text);
        let helps = shown.helps.iter_mut().map(|help| &mut help.text);
        let texts = labels.chain(helps).chain(&mut shown.notes).chain([&mut shown.message]);
        texts.for_each(|text| self.reword(text));
        shown
    }

    fn is_wrapper(&self, span: Span) -> bool {
        span.file == self.file && span.start as usize >= self.from
    }

    fn span(&self, span: Span) -> Span {
        if !self.is_wrapper(span) {
            return span;
        }
        let input = self.places.iter().find(|(line, _)| line.contains(&(span.start as usize)));
        input.map_or(self.function, |(_, param)| *param)
    }

    fn reword(&self, text: &mut String) {
        for (word, shown) in &self.words {
            if text.contains(word.as_str()) {
                *text = text.replace(word.as_str(), shown);
            }
        }
    }
}
