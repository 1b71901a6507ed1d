//! Clauses of one binding agree: bodies that are tensors fill their axes, and annotations hold.

use einlang_index::MinMax;

use super::Analyser;
use super::clauses::Record;
use super::result::CheckKind;
use super::value::Shape;
use crate::errors;
use crate::hir::*;

impl<'p> Analyser<'p> {
    /// A body that is a tensor has the extents of the binding at every point.
    pub(super) fn agree(&mut self, own: &[&Record<'p>], target: LocalId, axes: &[MinMax]) {
        let name = self.text(self.body()[target].name.name).to_owned();
        for record in own {
            let extents = record.body_extents(target);
            for (number, extent) in extents.iter().enumerate() {
                let axis = record.slots.len() + number;
                let Some(whole) = axes.get(axis) else { continue };
                let extent = self.symbols.resolved(extent);
                let span = record.clause.map_or(record.span, |clause| self.tail_span(clause.value));
                if self.mentions_own_index(record, &extent) {
                    let shown = self.symbols.show(&extent);
                    self.report(errors::body_extent_varies(&name, axis, &shown, span));
                    return;
                }
                let names = (format!("axis {axis} of `{name}`"), "this clause".to_owned());
                let places = (self.body()[target].name.span, span);
                let answer =
                    self.require_equal(&extent, whole, CheckKind::Whole, names, span, places);
                if answer.is_false() {
                    let (x, y) = (self.symbols.show(&extent), self.symbols.show(whole));
                    self.report(errors::clause_extents(&name, axis, (&x, span), (&y, places.0)));
                    return;
                }
            }
        }
    }

    fn mentions_own_index(&self, record: &Record<'p>, extent: &MinMax) -> bool {
        let own = &self.frame.indices[record.from.indices..record.to.indices];
        let mut found = false;
        extent.for_each_var(&mut |var| found |= own.iter().any(|index| index.var == var));
        found
    }

    /// The annotation after the slots is of the whole binding or of the body.
    pub(super) fn clause_annotations(&mut self, own: &[&Record<'p>], target: LocalId) {
        let Some(shape) = self.here().locals.get(&target).cloned() else { return };
        for clause in own.iter().filter_map(|record| record.clause) {
            let Some(ty) = &clause.ty else { continue };
            let name = format!("`{}`", self.text(self.body()[target].name.name));
            let span = self.tail_span(clause.value);
            let TypeKind::Tensor(_, dims) = &ty.kind else { continue };
            if dims.len() == shape.extents().len() {
                self.annotate(&shape, ty, span, &name);
            } else if let Shape::Tensor(extents, element) = &shape
                && let Some(inner) = extents.get(extents.len().saturating_sub(dims.len())..)
            {
                let body = Shape::tensor(inner.to_vec(), (**element).clone());
                self.annotate(&body, ty, span, &name);
            }
        }
    }
}
