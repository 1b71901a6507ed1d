//! Patterns: the parts of a layout that names are bound to.

use super::layout::Layout;
use super::{Checker, Reach};
use crate::builtins::{Builtin, Constructor};
use crate::hir::*;
use crate::types::Ty;

impl Checker<'_> {
    /// Binds the names of a pattern to the parts of a value with this layout.
    pub(super) fn bind(&mut self, pattern: &Pattern, layout: &Layout, reach: &Reach) {
        match &pattern.kind {
            PatternKind::Error
            | PatternKind::Wildcard
            | PatternKind::Literal(_)
            | PatternKind::Range { .. }
            | PatternKind::Value(_) => {}
            PatternKind::Bind(local, inner) => {
                self.set_local(*local, layout.clone(), reach.clone());
                if let Some(inner) = inner {
                    self.bind(inner, layout, reach);
                }
            }
            PatternKind::Or(alternatives) => {
                for alternative in alternatives {
                    self.bind(alternative, layout, reach);
                }
            }
            PatternKind::Tuple(parts) => self.bind_parts(parts, &layout.parts, reach),
            PatternKind::Variant(res, parts) => {
                let error = Res::Builtin(Builtin::Constructor(Constructor::Err));
                let skipped = if *res == error { 1 } else { 0 };
                self.bind_parts(parts, layout.parts.get(skipped..).unwrap_or_default(), reach);
            }
            PatternKind::Array(parts) => {
                let element = layout.element();
                for part in parts {
                    let whole = matches!(part.kind, PatternKind::Rest(_));
                    self.bind(part, if whole { layout } else { &element }, reach);
                }
            }
            PatternKind::Rest(local) => {
                if let Some(local) = local {
                    self.set_local(*local, layout.clone(), reach.clone());
                }
            }
            PatternKind::Struct { res, fields, .. } => {
                for (name, part) in fields {
                    let found = self.pattern_field(*res, *name, layout);
                    self.bind(part, &found, reach);
                }
            }
            PatternKind::Typed(inner, ty) => {
                let mut fit = self.fit_here();
                let layout = self.fit(ty, layout, super::declared::Mode::Cast, &mut fit);
                self.bind(inner, &layout, reach);
            }
        }
    }

    fn bind_parts(&mut self, patterns: &[Pattern], parts: &[Layout], reach: &Reach) {
        for (position, pattern) in patterns.iter().enumerate() {
            let found = parts.get(position).cloned().unwrap_or_default();
            self.bind(pattern, &found, reach);
        }
    }

    fn pattern_field(&self, res: Res, name: Ident, layout: &Layout) -> Layout {
        let Res::Def(def) = res else { return Layout::default() };
        let DefKind::Struct(item) = &self.program.def(def).kind else { return Layout::default() };
        let position = item.fields.iter().position(|field| field.name.name == name.name);
        position.and_then(|position| layout.parts.get(position)).cloned().unwrap_or_default()
    }

    /// The layout of a binding, as long as its type has axes.
    pub(super) fn set_local(&mut self, local: LocalId, mut layout: Layout, reach: Reach) {
        let ty: &Ty = super::plain(self.typed.instance(self.work().instance).local(local));
        if layout.axes.len() != ty.rank() {
            layout.axes = vec![Default::default(); ty.rank()];
        }
        let work = self.work_mut();
        work.locals.insert(local, layout);
        work.reaches.insert(local, reach);
    }
}
