//! Tensors as the builder hands them out, and reading them.

use super::expr::{Expr, NodeKind, Operand, Subscripts};
use crate::types::{Elem, Ident};

/// A tensor of the module under construction.
#[derive(Clone, Debug)]
pub struct TensorRef {
    pub(super) name: Ident,
    pub(super) elem: Elem,
}

impl TensorRef {
    /// The element at a point.
    pub fn at(&self, at: impl Subscripts) -> Expr {
        Expr::new(self.elem, NodeKind::Read(self.name.clone(), at.list(), None))
    }

    /// The element at a point, or `default` outside the box and where no clause covers it.
    pub fn at_or(&self, at: impl Subscripts, default: impl Operand) -> Expr {
        let default = default.at(self.elem);
        Expr::new(self.elem, NodeKind::Read(self.name.clone(), at.list(), Some(default)))
    }

    /// One entry of the Jacobian of this tensor: its element at `at` by `other` at `by`.
    pub fn deriv(&self, at: impl Subscripts, other: &TensorRef, by: impl Subscripts) -> Expr {
        let (of, by) = ((self.name.clone(), at.list()), (other.name.clone(), by.list()));
        Expr::new(self.elem, NodeKind::Deriv(of, by))
    }

    /// The name, which differs from the one asked for if that was taken.
    pub fn name(&self) -> &Ident {
        &self.name
    }
}
