//! The recovering parser: tokens to tree, whatever the tokens are.
//!
//! Recursive descent for items, patterns and types, precedence climbing for expressions. Grammar
//! functions emit events (start a node, take a token, finish a node) into [`Parser`]; `build` turns
//! them into the flat tree and puts the trivia back. The grammar is in `items`, `statements`,
//! `expressions`, `operators`, `access`, `patterns`, `types`.
//!
//! Invariants: every loop consumes a token or ends; the parser's own recursion is bounded by
//! [`MAX_NESTING`] and the height of the finished tree by [`MAX_HEIGHT`], so that later passes may
//! recurse over it; an error is reported once, at the place where the text stops making sense, and
//! `recover` decides where sense begins again.

mod access;
mod brackets;
mod build;
mod expressions;
mod items;
mod lists;
mod operators;
mod patterns;
mod primary;
mod recover;
mod statements;
mod strings;
mod types;

use std::sync::Arc;

use einlang_source::{Code, Diagnostic, FileId, Span};

use crate::kind::SyntaxKind::{self, *};
use crate::lexer::{self, Tokens};
use crate::tree::Tree;
use crate::{errors, validate};

/// How deep brackets, blocks, prefixes and types may nest.
pub const MAX_NESTING: u32 = 200;

/// How many nodes may lie between the root and a token; operators in a row count one each.
pub const MAX_HEIGHT: u32 = 1024;

/// A tree and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parse {
    /// The tree; always there, and its text is always the source text.
    pub tree: Tree,
    /// The errors, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a file.
pub fn parse(file: FileId, text: impl Into<Arc<str>>) -> Parse {
    let text = text.into();
    let tokens = lexer::lex(&text);
    let mut diagnostics: Vec<Diagnostic> =
        tokens.errors.iter().map(|error| errors::unterminated(file, *error)).collect();
    let mut parser = Parser::new(file, &text, &tokens);
    items::source_file(&mut parser);
    diagnostics.append(&mut parser.errors);
    let built = build::build(&tokens, &parser.significant, parser.events);
    if let Some(token) = built.too_high {
        let range = tokens.range(token as usize);
        let span = Span::new(file, range.start as u32, range.end as u32);
        diagnostics.push(errors::too_deep(span));
    }
    let tree = Tree::new(text, tokens, built.nodes);
    validate::validate(file, &tree, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    forget_echoes(&tree, &mut diagnostics);
    Parse { tree, diagnostics }
}

/// A forgotten quote turns the rest of its line inside out. What else is wrong on that line will
/// mean something only when the quote is there.
fn forget_echoes(tree: &Tree, diagnostics: &mut Vec<Diagnostic>) {
    let line = |diagnostic: &Diagnostic| {
        let before = &tree.text()[..diagnostic.primary.span.start as usize];
        before.rfind('\n').map_or(0, |newline| newline + 1)
    };
    let unterminated = |diagnostic: &&Diagnostic| diagnostic.code == Code::E0102;
    let lines: Vec<usize> = diagnostics.iter().filter(unterminated).map(line).collect();
    if !lines.is_empty() {
        diagnostics.retain(|diagnostic| {
            diagnostic.code == Code::E0102 || lines.binary_search(&line(diagnostic)).is_err()
        });
    }
}

/// One step of building the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A node begins. `parent` is the distance to a later `Start` that became its parent, or 0.
    Start { kind: SyntaxKind, parent: u32 },
    /// The innermost open node ends.
    Finish,
    /// The next significant token belongs to the innermost open node.
    Token,
    /// A `Start` that was given up, or taken already.
    Nothing,
}

pub(crate) struct Parser<'t> {
    file: FileId,
    text: &'t str,
    tokens: &'t Tokens,
    /// Indices of the tokens that are not trivia.
    significant: Vec<u32>,
    /// Their kinds, then `EOF`.
    kinds: Vec<SyntaxKind>,
    /// Position among the significant tokens.
    pos: usize,
    events: Vec<Event>,
    errors: Vec<Diagnostic>,
    nesting: u32,
    context: Context,
    brackets: brackets::Brackets,
    /// The innermost open block.
    block: Option<recover::OpenBlock>,
    recovery: recover::Recovery,
}

/// What the place of an expression forbids. Brackets lift all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Context {
    /// In the head of `if`, `match` or `for`: a `{` after a name begins the block.
    no_struct: bool,
    /// In a subscript or a `where` item: `else` belongs to the construct around.
    no_else: bool,
}

/// An open node.
#[must_use]
pub(crate) struct Marker {
    event: u32,
}

/// A finished node, which may still become the first child of another.
#[derive(Clone, Copy)]
pub(crate) struct Finished {
    event: u32,
}

impl<'t> Parser<'t> {
    fn new(file: FileId, text: &'t str, tokens: &'t Tokens) -> Parser<'t> {
        let mut significant = Vec::with_capacity(tokens.len());
        let mut kinds = Vec::with_capacity(tokens.len() + 1);
        for (i, kind) in tokens.kinds.iter().enumerate() {
            if !kind.is_trivia() {
                significant.push(i as u32);
                kinds.push(*kind);
            }
        }
        let brackets = brackets::Brackets::matching(&kinds);
        kinds.push(EOF);
        Parser {
            file,
            text,
            tokens,
            events: Vec::with_capacity(kinds.len() * 3),
            significant,
            kinds,
            pos: 0,
            errors: Vec::new(),
            nesting: 0,
            context: Context::default(),
            brackets,
            block: None,
            recovery: recover::Recovery::default(),
        }
    }

    fn current(&self) -> SyntaxKind {
        self.kinds[self.pos]
    }

    fn nth(&self, ahead: usize) -> SyntaxKind {
        self.kinds.get(self.pos + ahead).copied().unwrap_or(EOF)
    }

    fn at(&self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    /// The current token is the identifier `word`.
    fn at_word(&self, word: &str) -> bool {
        self.at(IDENT) && self.text_at(self.pos) == word
    }

    /// At an identifier or at `in`, which is a name wherever an operand is expected.
    fn at_name(&self) -> bool {
        matches!(self.current(), IDENT | IN)
    }

    fn text_at(&self, pos: usize) -> &'t str {
        match self.significant.get(pos) {
            Some(&token) => &self.text[self.tokens.range(token as usize)],
            None => "",
        }
    }

    /// The span of a significant token; the empty span at the end of the text for `EOF`.
    fn span_at(&self, pos: usize) -> Span {
        match self.significant.get(pos) {
            Some(&token) => {
                let range = self.tokens.range(token as usize);
                Span::new(self.file, range.start as u32, range.end as u32)
            }
            None => Span::at(self.file, self.text.len() as u32),
        }
    }

    fn bump(&mut self) {
        if self.pos < self.significant.len() {
            self.events.push(Event::Token);
            self.pos += 1;
        }
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let here = self.at(kind);
        if here {
            self.bump();
        }
        here
    }

    fn start(&mut self) -> Marker {
        let event = self.events.len() as u32;
        self.events.push(Event::Nothing);
        Marker { event }
    }

    fn finish(&mut self, marker: Marker, kind: SyntaxKind) -> Finished {
        self.events[marker.event as usize] = Event::Start { kind, parent: 0 };
        self.events.push(Event::Finish);
        Finished { event: marker.event }
    }

    /// Gives up a node; its tokens belong to the node around.
    fn abandon(&mut self, marker: Marker) {
        debug_assert_eq!(self.events[marker.event as usize], Event::Nothing);
    }

    /// Opens a node around one that is finished already.
    fn precede(&mut self, child: Finished) -> Marker {
        let marker = self.start();
        if let Event::Start { parent, .. } = &mut self.events[child.event as usize] {
            *parent = marker.event - child.event;
        }
        marker
    }

    /// Runs `f` with a context of its own.
    fn within<R>(&mut self, context: Context, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.context, context);
        let result = f(self);
        self.context = outer;
        result
    }

    /// Runs `f` one level deeper, or reports that the nesting is too deep and passes over what
    /// the bracket here holds.
    fn nested<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.nesting >= MAX_NESTING {
            self.too_deep();
            return None;
        }
        self.nesting += 1;
        let result = f(self);
        self.nesting -= 1;
        Some(result)
    }
}

#[cfg(test)]
mod tests;
