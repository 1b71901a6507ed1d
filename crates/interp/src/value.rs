//! The values of host programs.
//!
//! Values are shared and never change; updating makes a new one, in place where nobody else has
//! it. Dropping a value never recurses, so a list that is linked a million times is no danger.

use std::sync::Arc;

use einlang_tir::constant::Const;
use einlang_tir::types::Ident;

use crate::tensor::TensorValue;

/// A value of a host program.
#[derive(Clone, Debug)]
pub enum HostValue {
    /// A number or truth value.
    Scalar(Const),
    /// A string.
    Str(Arc<str>),
    /// A tensor.
    Tensor(Arc<TensorValue>),
    /// A list, tuple, struct, enum or closure.
    Node(Arc<Node>),
}

impl HostValue {
    /// Whether two values are the same, bit for bit.
    pub fn has_bits_of(&self, other: &HostValue) -> bool {
        match (self, other) {
            (HostValue::Scalar(one), HostValue::Scalar(other)) => {
                one.elem() == other.elem() && one.bits() == other.bits()
            }
            (HostValue::Str(one), HostValue::Str(other)) => one == other,
            (HostValue::Tensor(one), HostValue::Tensor(other)) => {
                let (a, b) = (one.data(), other.data());
                one.shape() == other.shape()
                    && a.elem() == b.elem()
                    && (0..a.len()).all(|at| a.bits(at) == b.bits(at))
            }
            (HostValue::Node(one), HostValue::Node(other)) => {
                one.kind == other.kind
                    && one.items.len() == other.items.len()
                    && one.items.iter().zip(&other.items).all(|(a, b)| a.has_bits_of(b))
            }
            _ => false,
        }
    }
}

/// What a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// A list.
    List,
    /// A tuple; the empty one is `()`.
    Tuple,
    /// A struct of this name with these fields.
    Struct(Ident, Arc<[Ident]>),
    /// A variant; its fields have names if there are as many as items.
    Variant {
        /// The enum.
        of: Ident,
        /// The variant.
        name: Ident,
        /// The names of the fields, none for positional ones.
        fields: Arc<[Ident]>,
    },
    /// A function with its first parameters given.
    Closure(Ident),
}

/// A value made of values.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its parts.
    pub items: Vec<HostValue>,
    /// Of an empty list, the extents of the axes below, if they are known.
    pub below: Vec<usize>,
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut doomed = std::mem::take(&mut self.items);
        while let Some(value) = doomed.pop() {
            if let HostValue::Node(node) = value
                && let Some(mut node) = Arc::into_inner(node)
            {
                doomed.append(&mut node.items);
            }
        }
    }
}

impl HostValue {
    /// A string.
    pub fn str(text: &str) -> HostValue {
        HostValue::Str(Arc::from(text))
    }

    /// A tensor.
    pub fn tensor(tensor: TensorValue) -> HostValue {
        HostValue::Tensor(Arc::new(tensor))
    }

    /// A value made of values.
    pub fn node(kind: NodeKind, items: Vec<HostValue>) -> HostValue {
        HostValue::Node(Arc::new(Node { kind, items, below: Vec::new() }))
    }

    /// A tuple.
    pub fn tuple(items: Vec<HostValue>) -> HostValue {
        HostValue::node(NodeKind::Tuple, items)
    }

    /// A list.
    pub fn list(items: Vec<HostValue>) -> HostValue {
        HostValue::node(NodeKind::List, items)
    }

    /// A list whose elements would have these extents, should there be none.
    pub fn list_over(items: Vec<HostValue>, below: &[usize]) -> HostValue {
        let below = if items.is_empty() { below.to_vec() } else { Vec::new() };
        HostValue::Node(Arc::new(Node { kind: NodeKind::List, items, below }))
    }

    /// The length of a list along an axis: its own, that of the first list in it, and so on.
    pub fn list_extent(&self, axis: usize) -> usize {
        let mut list = self.as_node().filter(|node| node.kind == NodeKind::List);
        for left in (1..=axis).rev() {
            let Some(node) = list else { return 0 };
            if node.items.is_empty() {
                return node.below.get(left - 1).copied().unwrap_or(0);
            }
            let first = node.items.first().and_then(HostValue::as_node);
            list = first.filter(|node| node.kind == NodeKind::List);
        }
        list.map_or(0, |list| list.items.len())
    }

    /// A variant of an enum with positional fields.
    pub fn variant(of: &Ident, name: &str, items: Vec<HostValue>) -> HostValue {
        let (of, name, fields) = (of.clone(), Ident::new(name), Arc::from([]));
        HostValue::node(NodeKind::Variant { of, name, fields }, items)
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Const> {
        match self {
            HostValue::Scalar(value) => Some(*value),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            HostValue::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Arc<TensorValue>> {
        match self {
            HostValue::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The node, if it is one.
    pub fn as_node(&self) -> Option<&Arc<Node>> {
        match self {
            HostValue::Node(node) => Some(node),
            _ => None,
        }
    }
}

impl From<Const> for HostValue {
    fn from(value: Const) -> HostValue {
        HostValue::Scalar(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_deep_values_does_not_recurse() {
        let mut value = HostValue::tuple(Vec::new());
        for _ in 0..1_000_000 {
            value = HostValue::variant(&Ident::new("List"), "Cons", vec![value]);
        }
        drop(value);
    }
}
