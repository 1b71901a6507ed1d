//! Lists as tensors, tensors as lists, and equality.

use einlang_tir::host::HostType;
use einlang_tir::types::Elem;

use crate::stop::{Stop, StopCode};
use crate::tensor::{Storage, TensorValue};
use crate::value::{HostValue, NodeKind};

/// The tensor of nested lists, which must be rectangular.
pub(super) fn to_tensor(list: &HostValue, elem: Elem, rank: usize) -> Result<TensorValue, Stop> {
    let mut shape = vec![None; rank];
    let mut data = Storage::with_capacity(elem, 0);
    fill(list, elem, 0, &mut shape, &mut data)?;
    let shape = shape.into_iter().map(|extent| extent.unwrap_or(0)).collect();
    TensorValue::new(shape, data).ok_or_else(|| Stop::internal("a list lost an element"))
}

fn fill(
    value: &HostValue,
    elem: Elem,
    axis: usize,
    shape: &mut [Option<usize>],
    data: &mut Storage,
) -> Result<(), Stop> {
    match value {
        HostValue::Scalar(value) if axis == shape.len() && value.elem() == elem => {
            data.push_bits(value.bits());
            Ok(())
        }
        HostValue::Tensor(tensor) if axis + tensor.shape().len() == shape.len() => {
            for (at, extent) in tensor.shape().iter().enumerate() {
                agree(&mut shape[axis + at], *extent, axis + at)?;
            }
            (0..tensor.len())
                .filter_map(|at| tensor.data().bits(at))
                .for_each(|b| data.push_bits(b));
            Ok(())
        }
        HostValue::Node(node) if node.kind == NodeKind::List && axis < shape.len() => {
            agree(&mut shape[axis], node.items.len(), axis)?;
            for (at, extent) in node.below.iter().enumerate() {
                if let Some(known) = shape.get_mut(axis + 1 + at) {
                    known.get_or_insert(*extent);
                }
            }
            node.items.iter().try_for_each(|item| fill(item, elem, axis + 1, shape, data))
        }
        _ => Err(Stop::internal("a list holds something that is no tensor")),
    }
}

fn agree(known: &mut Option<usize>, extent: usize, axis: usize) -> Result<(), Stop> {
    match known.replace(extent) {
        Some(other) if other != extent => {
            let message = format!(
                "the list is not rectangular: axis {axis} has lengths {other} and {extent}"
            );
            Err(Stop::new(StopCode::Extents, message))
        }
        _ => Ok(()),
    }
}

/// The parts along the first axis, as values of a type.
pub(super) fn to_list(tensor: &TensorValue, of: &HostType) -> Result<HostValue, Stop> {
    let n = tensor.shape().first().copied().unwrap_or(0);
    let mut items = Vec::with_capacity(n);
    for at in 0..n {
        let row = tensor.row(at).ok_or_else(|| Stop::internal("a tensor lost a row"))?;
        items.push(match of {
            HostType::Scalar(_) => {
                let value = row.get(0).ok_or_else(|| Stop::internal("a row has no element"))?;
                value.into()
            }
            HostType::List(of) => to_list(&row, of)?,
            _ => HostValue::tensor(row),
        });
    }
    Ok(HostValue::list_over(items, tensor.shape().get(1..).unwrap_or(&[])))
}

/// A list that knows its extents where it, or a list in it, is empty.
pub(super) fn shaped(list: &HostValue, extents: &[usize]) -> HostValue {
    match (list, extents) {
        (HostValue::Node(node), [_, below @ ..])
            if node.kind == NodeKind::List && extents.contains(&0) =>
        {
            let items = node.items.iter().map(|item| shaped(item, below)).collect();
            HostValue::list_over(items, below)
        }
        _ => list.clone(),
    }
}

/// Whether two values of one type are equal in all their parts.
pub(super) fn equal(a: &HostValue, b: &HostValue) -> bool {
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        match (a, b) {
            (HostValue::Scalar(a), HostValue::Scalar(b)) if same(*a, *b) => {}
            (HostValue::Str(a), HostValue::Str(b)) if a == b => {}
            (HostValue::Tensor(a), HostValue::Tensor(b)) => {
                if a.shape() != b.shape() || !a.consts().zip(b.consts()).all(|(a, b)| same(a, b)) {
                    return false;
                }
            }
            (HostValue::Node(a), HostValue::Node(b)) => {
                let is_closure = matches!(a.kind, NodeKind::Closure(_));
                if is_closure || a.kind != b.kind || a.items.len() != b.items.len() {
                    return false;
                }
                pairs.extend(a.items.iter().zip(&b.items));
            }
            _ => return false,
        }
    }
    true
}

/// Floats compare as numbers, so that 0 is −0 and NaN is nothing.
fn same(a: einlang_tir::constant::Const, b: einlang_tir::constant::Const) -> bool {
    match (a.as_float(), b.as_float()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
