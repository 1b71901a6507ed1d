//! What all steps of name resolution share: the program under construction, the spellings of
//! names, and the diagnostics.

use einlang_source::{Diagnostic, FileId, Interner, Name, Span};
use einlang_syntax::Token;
use einlang_syntax::ast::{self, AstNode};

use crate::hir::{Ident, Program};

/// The state of one resolution.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub(crate) program: Program,
    pub(crate) interner: Interner,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// How many unknown names have been compared with all others.
    n_suggestions: usize,
}

/// A file that is full of unknown names is of another kind; comparing each with all others would
/// take longer than anybody waits.
const MAX_SUGGESTIONS: usize = 100;

impl Context {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether it is still worth looking for what a name could have meant.
    pub(crate) fn may_suggest(&mut self) -> bool {
        self.n_suggestions += 1;
        self.n_suggestions <= MAX_SUGGESTIONS
    }

    pub(crate) fn spelling(&self, name: Name) -> &str {
        self.interner.resolve(name)
    }

    /// The name that a token spells.
    pub(crate) fn token(&mut self, file: FileId, token: Token<'_>) -> Ident {
        Ident { name: self.interner.intern(token.text()), span: span_of(file, token.range()) }
    }

    /// The name in a `NAME` node.
    pub(crate) fn ident(&mut self, file: FileId, name: ast::Name<'_>) -> Ident {
        Ident { name: self.interner.intern(name.text()), span: span_of(file, name.range()) }
    }
}

/// The span of a byte range of a file.
pub(crate) fn span_of(file: FileId, range: std::ops::Range<usize>) -> Span {
    Span::new(file, range.start as u32, range.end as u32)
}
