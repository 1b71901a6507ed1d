//! The shape of `@y / @x`: shape(y) ++ shape(x), part by part in the order of the type: a tuple that
//! is differentiated is outermost, then a tuple of parameters.

use super::expressions::plain;
use super::value::Shape;
use crate::types::Ty;

/// The shape of the derivative of a value of one shape and type by one of another.
pub(super) fn derivative((y, y_ty): (&Shape, &Ty), (x, x_ty): (&Shape, &Ty)) -> Shape {
    match (y, y_ty, x, x_ty) {
        (Shape::Record(parts), Ty::Tuple(types), ..) => {
            let parts = parts.iter().zip(types);
            Shape::Record(parts.map(|part| derivative(part, (x, x_ty))).collect())
        }
        (_, _, Shape::Record(parts), Ty::Tuple(types)) => {
            let parts = parts.iter().zip(types);
            Shape::Record(parts.map(|part| derivative((y, y_ty), part)).collect())
        }
        (Shape::Tensor(extents, inner), ..) => {
            Shape::tensor(extents.clone(), derivative((inner, element(y_ty)), (x, x_ty)))
        }
        (_, _, Shape::Tensor(extents, inner), _) => {
            Shape::tensor(extents.clone(), derivative((y, y_ty), (inner, element(x_ty))))
        }
        // A struct, and a number.
        (Shape::Record(parts), ..) => {
            let each = parts.iter().map(|part| derivative((part, &Ty::Error), (x, x_ty)));
            Shape::Record(each.collect())
        }
        (_, _, Shape::Record(parts), _) => {
            let each = parts.iter().map(|part| derivative((y, y_ty), (part, &Ty::Error)));
            Shape::Record(each.collect())
        }
        (Shape::Ints(_), ..) => Shape::tensor(y.extents(), plain(x.clone())),
        (_, _, Shape::Ints(_), _) => plain(x.clone()),
        _ => Shape::Opaque,
    }
}

fn element(ty: &Ty) -> &Ty {
    match ty {
        Ty::Tensor(element, _) => element,
        _ => &Ty::Error,
    }
}
