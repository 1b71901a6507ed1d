//! What a value says about extents and integers: in a session they are known exactly.

use einlang_interp::value::{HostValue, NodeKind};
use einlang_sema::shapes::Shape;
use einlang_sema::types::Ty;

/// Longer vectors of integers are data; shorter ones may be shapes.
const LONGEST_SHAPE: usize = 16;

/// The shape of a value of a type.
pub(super) fn of(ty: &Ty, value: &HostValue) -> Shape {
    match (ty, value) {
        (Ty::Tensor(_, axes), value) => tensor(axes.len(), value),
        (_, HostValue::Scalar(number)) if number.elem().is_int() => {
            let number = number.as_int().and_then(|number| i64::try_from(number).ok());
            number.map_or(Shape::Opaque, Shape::int)
        }
        (Ty::Tuple(types), HostValue::Node(node)) if types.len() == node.items.len() => {
            Shape::Record(types.iter().zip(&node.items).map(|(ty, item)| of(ty, item)).collect())
        }
        _ => Shape::Opaque,
    }
}

/// A tensor with this many axes: of numbers, of records as a record of tensors, or as lists.
fn tensor(rank: usize, value: &HostValue) -> Shape {
    match value {
        HostValue::Tensor(tensor) if tensor.shape().len() == rank => {
            let is_short = rank == 1 && tensor.elem().is_int() && tensor.len() <= LONGEST_SHAPE;
            let numbers = tensor.consts().map(|number| number.as_int()?.try_into().ok());
            match is_short.then(|| numbers.collect::<Option<Vec<i64>>>()).flatten() {
                Some(numbers) => Shape::ints(numbers),
                None => Shape::with_extents(tensor.shape(), Shape::Opaque),
            }
        }
        HostValue::Node(node) if node.kind == NodeKind::List => {
            let mut extents = Vec::with_capacity(rank);
            let mut at = Some(value);
            for _ in 0..rank {
                let items = at.and_then(HostValue::as_node).map_or(&[][..], |node| &node.items);
                extents.push(items.len());
                at = items.first();
            }
            Shape::with_extents(&extents, Shape::Opaque)
        }
        HostValue::Node(_) => match outer(rank, value) {
            Some(extents) => Shape::with_extents(&extents, element(rank, value)),
            None => Shape::Opaque,
        },
        _ => Shape::Opaque,
    }
}

/// The extents of the axes that all parts of a record share.
fn outer(rank: usize, value: &HostValue) -> Option<Vec<usize>> {
    let mut at = value;
    loop {
        match at {
            HostValue::Tensor(tensor) => return tensor.shape().get(..rank).map(<[usize]>::to_vec),
            HostValue::Node(node) => at = node.items.first()?,
            _ => return None,
        }
    }
}

/// The shape of one record of a tensor of records.
fn element(rank: usize, value: &HostValue) -> Shape {
    match value {
        HostValue::Tensor(tensor) => match tensor.shape().get(rank..) {
            Some(inner) if !inner.is_empty() => Shape::with_extents(inner, Shape::Opaque),
            _ => Shape::Opaque,
        },
        HostValue::Node(node) if node.kind != NodeKind::List => {
            Shape::Record(node.items.iter().map(|item| element(rank, item)).collect())
        }
        _ => Shape::Opaque,
    }
}
