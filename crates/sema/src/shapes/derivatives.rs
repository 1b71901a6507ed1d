//! The shape of `@y / @x`: shape(y) ++ shape(x), records part by part.

use super::expressions::plain;
use super::value::Shape;

/// The shape of the derivative of a value of one shape by one of another.
pub(super) fn derivative(y: &Shape, x: &Shape) -> Shape {
    match (y, x) {
        (Shape::Record(parts), _) if !matches!(x, Shape::Record(_)) => {
            Shape::Record(parts.iter().map(|part| derivative(part, x)).collect())
        }
        (_, Shape::Record(parts)) => {
            Shape::Record(parts.iter().map(|part| derivative(y, part)).collect())
        }
        (Shape::Tensor(extents, element), _) => {
            Shape::tensor(extents.clone(), derivative(element, x))
        }
        (_, Shape::Tensor(extents, element)) => {
            Shape::tensor(extents.clone(), derivative(y, element))
        }
        (Shape::Ints(_), _) => Shape::tensor(y.extents(), plain(x.clone())),
        (_, Shape::Ints(_)) => plain(x.clone()),
        _ => Shape::Opaque,
    }
}
