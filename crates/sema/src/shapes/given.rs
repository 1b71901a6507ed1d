//! Bindings of which a session has the values: their extents and integers are known, and the
//! statements that define them are not walked again.

use einlang_source::map::HashMap;

use einlang_source::Span;

use super::Analyser;
use super::value::Shape;
use crate::hir::*;
use crate::types::groups;

/// What is known of bindings whose values are there, by the place of their names.
pub type Given = HashMap<Span, Shape>;

impl Analyser<'_> {
    /// Binds what is given, before anything is walked.
    pub(super) fn bind_given(&mut self) {
        let root = self.typed.modules.first().copied().flatten();
        let Some(root) = root.filter(|_| !self.given.is_empty()) else { return };
        let outer = std::mem::replace(&mut self.cur, root);
        for (local, binding) in self.body().locals.iter() {
            if let Some(shape) = self.given.get(&binding.name.span) {
                self.bind_named(local, shape);
            }
        }
        self.cur = outer;
    }

    /// Whether all that a statement binds is given.
    pub(super) fn is_given(&self, statement: &Statement) -> bool {
        let bound = groups::bound(statement);
        let is_given = |local: &LocalId| self.given.contains_key(&self.body()[*local].name.span);
        !self.given.is_empty() && !bound.is_empty() && bound.iter().all(is_given)
    }
}
