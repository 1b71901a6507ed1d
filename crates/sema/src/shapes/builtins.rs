//! Calls of what every program has.

use einlang_index::MinMax;

use super::Analyser;
use super::expressions::{integer, plain};
use super::value::Shape;
use crate::builtins::{Builtin, Function};
use crate::hir::*;
use crate::types::Ty;

impl Analyser<'_> {
    pub(super) fn builtin(
        &mut self,
        expr: ExprId,
        function: Function,
        args: &[Arg],
        shapes: &[Shape],
    ) -> Shape {
        match (function, shapes) {
            (Function::Len, [shape]) => match shape.extents().into_iter().next() {
                Some(extent) => Shape::Int(extent),
                None => Shape::Opaque,
            },
            (Function::Shape, [shape]) if !shape.extents().is_empty() => {
                Shape::Ints(shape.extents())
            }
            (Function::Detach, [shape]) => shape.clone(),
            (Function::Min | Function::Max, [Shape::Int(a), Shape::Int(b)]) => {
                self.extremum(Builtin::Function(function), a, b)
            }
            (Function::Abs, [Shape::Int(a)]) => {
                integer(a.scale(-1).and_then(|b| MinMax::max_of([a.clone(), b])))
            }
            (Function::ArrayAppend, [list, _]) => match list {
                Shape::Tensor(extents, element) if !extents.is_empty() => {
                    let mut extents = extents.clone();
                    match extents[0].add_constant(1) {
                        Ok(longer) => extents[0] = longer,
                        Err(_) => return self.unknown(expr),
                    }
                    Shape::Tensor(extents, element.clone())
                }
                Shape::Ints(values) => {
                    Shape::tensor(vec![MinMax::from(values.len() as i64 + 1)], Shape::Opaque)
                }
                _ => self.unknown(expr),
            },
            (function, _) if !function.is_elementwise() => self.unknown(expr),
            // Elementwise: the shape of the first operand that has one.
            _ => match self.ty(expr) {
                Ty::Tensor(..) | Ty::Tuple(_) | Ty::Struct(..) => {
                    let with_axes = |shape: &&Shape| {
                        matches!(shape, Shape::Tensor(..) | Shape::Ints(_) | Shape::Record(_))
                    };
                    let tensors: Vec<(&Arg, &Shape)> =
                        args.iter().zip(shapes).filter(|(_, shape)| with_axes(shape)).collect();
                    self.same_shapes(expr, &tensors);
                    match tensors.first() {
                        Some((_, shape)) => plain((*shape).clone()),
                        None => self.unknown(expr),
                    }
                }
                _ => Shape::Opaque,
            },
        }
    }

    /// The operands of an elementwise function have equal extents.
    fn same_shapes(&mut self, expr: ExprId, tensors: &[(&Arg, &Shape)]) {
        let Some(((first, x), others)) = tensors.split_first() else { return };
        for (other, y) in others {
            for (axis, (x, y)) in x.extents().iter().zip(&y.extents()).enumerate() {
                if !self.same_extent(expr, x, y, axis, first.value, other.value) {
                    return;
                }
            }
        }
    }
}
