//! Tangents of host values: zeros, unit vectors, and Jacobians from their columns.

use std::sync::Arc;

use einlang_tir::constant::Const;

use crate::stop::Stop;
use crate::tensor::{Storage, TensorValue};
use crate::value::{HostValue, Node};

/// The value with all its floats zero; what is no float stays. Values may be nested as deep as
/// memory allows, so those that are open wait on a stack.
pub(super) fn zeros_like(value: &HostValue) -> Result<HostValue, Stop> {
    let mut open: Vec<(&Arc<Node>, Vec<HostValue>)> = Vec::new();
    let mut next = Some(value);
    loop {
        let mut done = match next.take() {
            Some(HostValue::Node(node)) => {
                open.push((node, Vec::with_capacity(node.items.len())));
                None
            }
            Some(leaf) => Some(zero_leaf(leaf)?),
            None => None,
        };
        loop {
            let Some((node, items)) = open.last_mut() else {
                return done.ok_or_else(|| Stop::internal("a value without a zero"));
            };
            items.extend(done.take());
            match node.items.get(items.len()) {
                Some(item) => {
                    next = Some(item);
                    break;
                }
                None => {
                    let Some((node, items)) = open.pop() else { break };
                    let kind = node.kind.clone();
                    done = Some(HostValue::Node(Arc::new(Node {
                        kind,
                        items,
                        below: node.below.clone(),
                    })));
                }
            }
        }
    }
}

fn zero_leaf(value: &HostValue) -> Result<HostValue, Stop> {
    match value {
        HostValue::Scalar(number) if number.elem().is_float() => {
            Ok(Const::zero(number.elem()).into())
        }
        HostValue::Tensor(tensor) if tensor.elem().is_float() => one_hot(tensor, -1),
        other => Ok(other.clone()),
    }
}

/// Zeros in the shape of a tensor, and one at a position.
pub(super) fn one_hot(tensor: &TensorValue, at: i128) -> Result<HostValue, Stop> {
    let (zero, one) = (Const::zero(tensor.elem()), Const::one(tensor.elem()));
    let mut data = Storage::with_capacity(tensor.elem(), tensor.len());
    for position in 0..tensor.len() {
        let value = if position as i128 == at { one } else { zero };
        data.push_bits(value.bits());
    }
    made(tensor.shape().to_vec(), data)
}

/// The axes of the target, then those of the parameter, from one column per point of it.
pub(super) fn jacobian(
    columns: &[HostValue],
    of: &TensorValue,
    by: &TensorValue,
) -> Result<HostValue, Stop> {
    let mut data = Storage::with_capacity(of.elem(), of.len() * by.len());
    let columns: Option<Vec<&TensorValue>> =
        columns.iter().map(|column| column.as_tensor().map(|tensor| &**tensor)).collect();
    let Some(columns) = columns else {
        return Err(Stop::internal("a column of a Jacobian is no tensor"));
    };
    for position in 0..of.len() {
        for column in &columns {
            let Some(entry) = column.get(position) else {
                return Err(Stop::internal("a column of a Jacobian is too short"));
            };
            // What does not depend on the point is zero, never minus zero.
            let is_zero = entry.as_float() == Some(0.0);
            let entry = if is_zero { Const::zero(entry.elem()) } else { entry };
            data.push_bits(entry.bits());
        }
    }
    made([of.shape(), by.shape()].concat(), data)
}

fn made(shape: Vec<usize>, data: Storage) -> Result<HostValue, Stop> {
    match TensorValue::new(shape, data) {
        Some(tensor) => Ok(HostValue::tensor(tensor)),
        None => Err(Stop::internal("a tangent lost an element")),
    }
}
