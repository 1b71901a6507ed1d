//! Patterns.

use einlang_source::Span;
use einlang_syntax::ast;

use super::Resolver;
use crate::builtins::{Builtin, Constructor};
use crate::hir::*;

impl<'t> Resolver<'_, 't> {
    /// A pattern; its names become bindings of the given kind, visible from here on.
    pub(super) fn pattern(&mut self, pattern: ast::Pattern<'t>, kind: LocalKind) -> Pattern {
        let span = self.span(pattern);
        let kind = self.pattern_kind(pattern, kind);
        Pattern { kind: kind.unwrap_or(PatternKind::Error), span }
    }

    pub(super) fn pattern_or_error(
        &mut self,
        pattern: Option<ast::Pattern<'t>>,
        kind: LocalKind,
        span: Span,
    ) -> Pattern {
        match pattern {
            Some(pattern) => self.pattern(pattern, kind),
            None => Pattern { kind: PatternKind::Error, span },
        }
    }

    fn pattern_kind(&mut self, pattern: ast::Pattern<'t>, kind: LocalKind) -> Option<PatternKind> {
        Some(match pattern {
            ast::Pattern::Wildcard(_) => PatternKind::Wildcard,
            ast::Pattern::Name(name) => self.name_pattern(name, kind)?,
            ast::Pattern::Literal(literal) => PatternKind::Literal(self.literal_pattern(literal)?),
            ast::Pattern::Range(range) => PatternKind::Range {
                start: self.number(range.start()?)?,
                end: match range.end() {
                    Some(end) => Some(self.number(end)?),
                    None => None,
                },
                inclusive: range.is_inclusive(),
            },
            ast::Pattern::Or(or) => PatternKind::Or(self.alternatives(or, kind)),
            ast::Pattern::Tuple(tuple) => PatternKind::Tuple(self.patterns(tuple.elements(), kind)),
            ast::Pattern::Array(array) => PatternKind::Array(self.patterns(array.elements(), kind)),
            ast::Pattern::Rest(rest) => {
                let name = rest.name().map(|name| self.ident(name));
                PatternKind::Rest(name.map(|name| self.bind(name, kind)))
            }
            ast::Pattern::Struct(item) => self.struct_pattern(item, kind)?,
            ast::Pattern::Variant(variant) => {
                let res = self.value_path(variant.path()?);
                PatternKind::Variant(res, self.patterns(variant.elements(), kind))
            }
            ast::Pattern::Path(path) => PatternKind::Value(self.value_path(path.path()?)),
            ast::Pattern::Typed(typed) => {
                let inner = self.pattern(typed.pattern()?, kind);
                PatternKind::Typed(Box::new(inner), self.ty(typed.ty()?))
            }
            ast::Pattern::Paren(paren) => return self.pattern_kind(paren.inner()?, kind),
        })
    }

    fn patterns(
        &mut self,
        patterns: impl Iterator<Item = ast::Pattern<'t>>,
        kind: LocalKind,
    ) -> Vec<Pattern> {
        patterns.map(|pattern| self.pattern(pattern, kind)).collect()
    }

    /// The alternatives of one pattern bind the same names: each name is one binding.
    fn alternatives(&mut self, or: ast::OrPat<'t>, kind: LocalKind) -> Vec<Pattern> {
        let before = self.frame().locals.len();
        let mut first_names = Vec::new();
        let mut resolved = Vec::new();
        for (i, alternative) in or.elements().enumerate() {
            if i > 0 {
                self.frame().locals.truncate(before);
            }
            resolved.push(self.pattern(alternative, kind));
            if i == 0 {
                first_names = self.frame().locals.since(before).to_vec();
            }
        }
        self.frame().locals.truncate(before);
        for (name, local) in first_names {
            self.frame().locals.push(name, local);
        }
        resolved
    }

    /// A plain name is a binding, unless it is a constant or a variant without payload.
    fn name_pattern(&mut self, pattern: ast::NamePat<'t>, kind: LocalKind) -> Option<PatternKind> {
        let name = self.ident(pattern.name()?);
        if let Some(inner) = pattern.inner() {
            let local = self.bind(name, kind);
            return Some(PatternKind::Bind(local, Some(Box::new(self.pattern(inner, kind)))));
        }
        if kind == LocalKind::Pattern
            && let Some(res) = self.pattern_value(name)
        {
            return Some(PatternKind::Value(res));
        }
        Some(PatternKind::Bind(self.bind(name, kind), None))
    }

    fn pattern_value(&mut self, name: Ident) -> Option<Res> {
        let none = Res::Builtin(Builtin::Constructor(Constructor::None));
        let res = self.find_item(name.name)?;
        match res {
            Res::Variant(..) => Some(res),
            Res::Builtin(_) if res == none => Some(res),
            Res::Def(def) if matches!(self.cx.program.defs[def].kind, DefKind::Const(_)) => {
                Some(res)
            }
            _ => None,
        }
    }

    fn struct_pattern(&mut self, item: ast::StructPat<'t>, kind: LocalKind) -> Option<PatternKind> {
        let res = self.struct_path(item.path()?);
        let mut fields = Vec::new();
        for field in item.fields() {
            let name = self.ident(field.name()?);
            let pattern = match field.pattern() {
                Some(pattern) => self.pattern(pattern, kind),
                None => {
                    let local = self.bind(name, kind);
                    Pattern { kind: PatternKind::Bind(local, None), span: name.span }
                }
            };
            fields.push((name, pattern));
        }
        Some(PatternKind::Struct { res, fields, open: item.rest().is_some() })
    }

    fn literal_pattern(&mut self, pattern: ast::LiteralPat<'t>) -> Option<Literal> {
        match (pattern.literal(), pattern.string()) {
            (Some(literal), _) => self.number(literal),
            (None, Some(string)) => self.plain_string(string),
            (None, None) => None,
        }
    }
}
