//! The shape of `@y / @x`: shape(y) ++ shape(x), records part by part.

use super::Analyser;
use super::expressions::plain;
use super::value::Shape;
use crate::hir::ExprId;

impl Analyser<'_> {
    pub(super) fn derivative(&mut self, expr: ExprId, y: &Shape, x: &Shape) -> Shape {
        match (y, x) {
            (Shape::Record(parts), _) if !matches!(x, Shape::Record(_)) => {
                Shape::Record(parts.iter().map(|part| self.derivative(expr, part, x)).collect())
            }
            (_, Shape::Record(parts)) => {
                Shape::Record(parts.iter().map(|part| self.derivative(expr, y, part)).collect())
            }
            (Shape::Tensor(extents, element), _) => {
                let inner = self.derivative(expr, element, x);
                Shape::tensor(extents.clone(), inner)
            }
            (_, Shape::Tensor(extents, element)) => {
                let inner = self.derivative(expr, y, element);
                Shape::tensor(extents.clone(), inner)
            }
            (Shape::Ints(_), _) => Shape::tensor(y.extents(), plain(x.clone())),
            (_, Shape::Ints(_)) => plain(x.clone()),
            _ => Shape::Opaque,
        }
    }
}
