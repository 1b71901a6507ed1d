//! Comprehensions: rectangular when every inner length is the same, jagged otherwise.

use einlang_source::map::HashSet;

use super::Checker;
use super::groups::pattern_locals;
use super::ty::Ty;
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
}
