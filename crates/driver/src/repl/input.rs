//! Where an entry ends, and what it is made of.
//!
//! A statement ends with `;`, as in any program, and an entry with its last statement. Only an
//! expression at the end may go without: its value is what the entry is for. Where a shell has
//! reason to end an entry all the same, a missing `;` is put in.

use std::sync::Arc;

use einlang_source::{Sources, Span};
use einlang_syntax::ast::{AstNode, SourceFile, Statement, UseTree};
use einlang_syntax::lexer::{Unterminated, lex};
use einlang_syntax::{Parse, SyntaxKind, parse};

/// Whether a text is an entry yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// It is, right or wrong.
    Complete,
    /// More may come; an empty line ends it.
    Unfinished,
    /// More must come: a bracket or comment is open.
    Open,
}

/// Judges what was read so far.
pub fn input(text: &str) -> Input {
    let tokens = lex(text);
    if tokens.errors.iter().any(|error| error.what == Unterminated::Comment) {
        return Input::Open;
    }
    let mut depth = 0_usize;
    for kind in &tokens.kinds {
        match kind {
            kind if kind.closer().is_some() && *kind != SyntaxKind::INTERP_OPEN => depth += 1,
            SyntaxKind::INTERP_CLOSE => {}
            kind if kind.is_closer() => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Input::Complete,
            },
            _ => {}
        }
    }
    let end = end_of(text);
    let parsed = parsed(text);
    let ends_early = |span: Span| span.start as usize >= end;
    match parsed.diagnostics.first() {
        _ if depth > 0 => Input::Open,
        Some(first) if ends_early(first.primary.span) => {
            let entry = Entry::of(text);
            let is_value = entry.shows && &*entry.text != text;
            if is_value { Input::Complete } else { Input::Unfinished }
        }
        _ => Input::Complete,
    }
}

/// An entry and what can be told from its text.
pub(super) struct Entry {
    /// The text, with the `;` that its last statement may lack.
    pub(super) text: Arc<str>,
    /// It ends with an expression without `;`.
    pub(super) shows: bool,
    /// It has items or bindings.
    pub(super) is_kept: bool,
    /// The names that it makes.
    pub(super) names: Vec<String>,
}

impl Entry {
    pub(super) fn of(text: &str) -> Entry {
        let whole = parsed(text);
        if whole.diagnostics.is_empty() {
            return Entry::from(text.into(), &whole, false);
        }
        let (head, rest) = text.split_at(end_of(text));
        let ended = format!("{head};{rest}");
        let parse = parsed(&ended);
        match parse.diagnostics.is_empty() {
            true => Entry::from(ended.into(), &parse, true),
            false => Entry::from(text.into(), &whole, false),
        }
    }

    /// `ended` says that the last `;` is ours.
    fn from(text: Arc<str>, parse: &Parse, ended: bool) -> Entry {
        let statements: Vec<Statement<'_>> = SourceFile::of(&parse.tree).statements().collect();
        let is_effect = |s: &Statement<'_>| matches!(s, Statement::Expr(_) | Statement::For(_));
        let shows = statements.last().is_some_and(|last| match last {
            Statement::Expr(last) => ended || !text[last.range()].trim_end().ends_with(';'),
            _ => false,
        });
        let mut names = Vec::new();
        statements.iter().for_each(|statement| made_by(*statement, &mut names));
        let is_kept = !statements.iter().all(is_effect);
        Entry { text, shows, is_kept, names }
    }
}

fn parsed(text: &str) -> Parse {
    let mut sources = Sources::new();
    let file = sources.add("", text);
    parse(file, sources.text_arc(file))
}

/// Where the last token ends that means something.
fn end_of(text: &str) -> usize {
    let tokens = lex(text);
    let last = (0..tokens.len()).rev().find(|at| !tokens.kinds[*at].is_trivia());
    last.map_or(0, |at| tokens.range(at).end)
}

/// The names that a statement makes.
fn made_by(statement: Statement<'_>, names: &mut Vec<String>) {
    let item = match statement {
        Statement::Fn(item) => item.name(),
        Statement::Struct(item) => item.name(),
        Statement::Enum(item) => item.name(),
        Statement::Const(item) => item.name(),
        Statement::Input(item) => item.name(),
        Statement::Mod(item) => item.name(),
        Statement::Let(binding) => {
            let bound = binding.pattern().into_iter().flat_map(|pattern| pattern.names());
            names.extend(bound.map(|name| name.text().to_string()));
            None
        }
        Statement::Use(item) => {
            item.tree().into_iter().for_each(|tree| imported(tree, names));
            None
        }
        Statement::Rule(_) | Statement::For(_) | Statement::Expr(_) => None,
    };
    names.extend(item.map(|name| name.text().to_string()));
}

fn imported(tree: UseTree<'_>, names: &mut Vec<String>) {
    if let Some(list) = tree.list() {
        list.for_each(|tree| imported(tree, names));
    } else if tree.glob().is_none() {
        let alias = tree.alias().map(|name| name.text().to_string());
        let last = || tree.path()?.last().map(|token| token.text().to_string());
        names.extend(alias.or_else(last));
    }
}
