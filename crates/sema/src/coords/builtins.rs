//! The functions that every program has.

use super::layout::{Axis, Layout};
use super::{Checker, Val};
use crate::builtins::{Constructor, Function};
use crate::hir::ExprId;

impl Checker<'_> {
    pub(super) fn builtin(&mut self, function: Function, args: &[(ExprId, &Val)]) -> Layout {
        match (function, args) {
            (
                Function::Print
                | Function::Assert
                | Function::Len
                | Function::Shape
                | Function::Typeof
                | Function::Converged,
                _,
            ) => Layout::default(),
            (Function::ArrayAppend, [(list, whole), (value, new)]) => {
                let element = whole.layout.element();
                let element = self.agree((*list, &element), (*value, &new.layout));
                element.after(vec![Axis::default()])
            }
            (_, [(a, left), (b, right)]) => {
                self.elementwise((*a, &left.layout), (*b, &right.layout))
            }
            // Elementary functions go leaf by leaf.
            (_, [(_, value)]) => value.layout.clone(),
            _ => Layout::default(),
        }
    }
}

/// `Some(x)`, `Ok(x)`, `Err(x)`
pub(super) fn constructed(constructor: Constructor, mut parts: Vec<Layout>) -> Layout {
    let value = parts.pop().unwrap_or_default();
    Layout::of_parts(match constructor {
        Constructor::Some | Constructor::None | Constructor::Ok => vec![value],
        Constructor::Err => vec![Layout::default(), value],
    })
}
