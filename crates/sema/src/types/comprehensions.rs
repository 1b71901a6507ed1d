//! Comprehensions: rectangular when every inner length is the same, jagged otherwise.

use einlang_source::map::HashSet;

use super::Checker;
use super::groups::pattern_locals;
use super::ty::Ty;
use super::walk;
use crate::hir::*;

impl Checker<'_> {
    pub(super) fn comprehension(
        &mut self,
        element: ExprId,
        items: &[CompItem],
        hint: Option<&Ty>,
    ) -> Ty {
        let (mut bound, mut filtered) = (HashSet::default(), false);
        for item in items {
            match item {
                CompItem::Generator(pattern, iterable) => {
                    let found = self.infer(*iterable);
                    let part = self.iterated(&found, *iterable);
                    self.bind_pattern(pattern, &part);
                    let mut locals = Vec::new();
                    pattern_locals(pattern, &mut locals);
                    bound.extend(locals);
                }
                CompItem::Binding(local, value) => {
                    let first = self.vars.count();
                    let ty = self.infer(*value);
                    self.vars.default_since(first);
                    self.set_local(*local, ty);
                    bound.insert(*local);
                }
                CompItem::Condition(condition) => {
                    self.condition(*condition, "a condition of a comprehension");
                    filtered = true;
                }
            }
        }
        let inner_hint = match hint {
            Some(Ty::Jagged(inner, levels)) if *levels > 1 => {
                Some(Ty::Jagged(inner.clone(), levels - 1))
            }
            _ => None,
        };
        let found = self.infer_hinted(element, inner_hint.as_ref());
        let wanted_jagged = matches!(hint, Some(Ty::Jagged(..)));
        match self.shallow(&found) {
            Ty::Tensor(inner, extents)
                if wanted_jagged || filtered || self.varies(element, &bound) =>
            {
                Ty::Jagged(inner, extents.len() as u32 + 1)
            }
            Ty::Jagged(inner, levels) => Ty::Jagged(inner, levels + 1),
            other if wanted_jagged && !other.is_silent() => Ty::Jagged(Box::new(other), 1),
            other => Ty::tensor(other, vec![None]),
        }
    }

    /// Whether the length of an element depends on the generators around it.
    fn varies(&self, element: ExprId, outer: &HashSet<LocalId>) -> bool {
        let body = self.body();
        match body.kind(element) {
            ExprKind::Comprehension { element, items } => {
                let dependent = items.iter().any(|item| match item {
                    CompItem::Condition(_) => true,
                    CompItem::Generator(_, iterable) => walk::mentions(body, *iterable, outer),
                    CompItem::Binding(..) => false,
                });
                // Iterating over a row of a tensor has the length of all rows.
                let rows = items.iter().all(|item| match item {
                    CompItem::Generator(_, iterable) => self.is_row(*iterable, outer),
                    CompItem::Condition(_) => false,
                    CompItem::Binding(..) => true,
                });
                (dependent && !rows) || self.varies(*element, outer)
            }
            ExprKind::Access { subscripts, .. } => {
                subscripts.iter().any(|subscript| match subscript {
                    Subscript::Expr(expr) => {
                        matches!(body.kind(*expr), ExprKind::Range { .. })
                            && walk::mentions(body, *expr, outer)
                    }
                    _ => false,
                })
            }
            ExprKind::Block(Block { value: Some(value), .. }) => self.varies(*value, outer),
            ExprKind::If { then, otherwise, .. } => {
                self.varies(*then, outer) || otherwise.is_some_and(|e| self.varies(e, outer))
            }
            _ => false,
        }
    }

    /// A name of an outer generator that stands for a row of a tensor, or something that mentions
    /// no outer generator at all.
    fn is_row(&self, iterable: ExprId, outer: &HashSet<LocalId>) -> bool {
        let body = self.body();
        match body.kind(iterable) {
            ExprKind::Name(Res::Local(local)) if outer.contains(local) => {
                matches!(
                    self.work().exprs.get(&iterable).map(|ty| self.shallow(ty)),
                    Some(Ty::Tensor(..))
                )
            }
            _ => !walk::mentions(body, iterable, outer),
        }
    }
}
