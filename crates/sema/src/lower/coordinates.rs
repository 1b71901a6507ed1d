//! Coordinate calls: the axes that are named pass through whole, and those that are indices around
//! the call are read at those indices.

use super::access::Spec;
use super::value::{R, Val};
use super::{Lower, unsupported};
use crate::hir::{Arg, Dim, ExprId, LocalId, LocalKind, Res, Subscript, TypeKind, TypeRef};
use crate::types::Callee;

impl<'p> Lower<'p> {
    /// `softmax[class](logits[batch, class])`
    pub(super) fn coordinate_call(
        &mut self,
        expr: ExprId,
        callee: ExprId,
        indices: &'p [Subscript],
        args: &'p [Arg],
    ) -> R<Val<'p>> {
        let mut read = Vec::new();
        let mut new = Vec::new();
        for (position, subscript) in indices.iter().enumerate() {
            let Subscript::Index(binder) = subscript else { continue };
            new.extend(self.coordinates.insert(binder.local).then_some(binder.local));
            if let Some(Res::Local(outer)) = binder.shadows
                && self.body()[outer].kind == LocalKind::Index
            {
                read.push((position, outer));
            }
        }
        let value = self.call(expr, callee, args);
        self.coordinates.retain(|local| !new.contains(local));
        let value = value?;
        if read.is_empty() {
            return Ok(value);
        }
        self.read_at_indices(value, expr, &read)
    }

    /// The result of a coordinate call, read at the coordinates that are indices around it.
    fn read_at_indices(
        &mut self,
        value: Val<'p>,
        expr: ExprId,
        read: &[(usize, LocalId)],
    ) -> R<Val<'p>> {
        let Some(Callee::Instance(id)) = self.callee(expr) else {
            return unsupported(self.here, "a coordinate call of this value");
        };
        let instance = self.typed.instance(id);
        let body = self.body_of(instance.body);
        let Some(TypeRef { kind: TypeKind::Tensor(_, dims), .. }) = &body.ret else {
            return unsupported(self.here, "a coordinate call without a declared result");
        };
        let mut specs: Vec<Spec> = Vec::new();
        for dim in dims {
            match dim {
                Dim::Rest(local, _) => {
                    let n_axes = instance.rests.get(local).copied().unwrap_or(0);
                    specs.extend((0..n_axes).map(|_| Spec::All));
                }
                Dim::Extent(Res::Local(local), _) => {
                    let position = body.coordinates.iter().position(|c| c == local);
                    let index = read.iter().find(|(at, _)| Some(*at) == position);
                    match index {
                        Some((_, index)) => {
                            let value = self.local(self.frame.body, *index)?;
                            let scalar = self.expect_scalar(value, self.here)?;
                            specs.push(Spec::Point(self.point(&scalar)?, true));
                        }
                        None => specs.push(Spec::All),
                    }
                }
                _ => specs.push(Spec::All),
            }
        }
        let value = self.named(value, "called")?;
        self.read_specs(&value, &specs)
    }
}
