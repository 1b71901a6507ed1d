//! Patterns: each name gets the part of the shape that it is bound to.

use super::Analyser;
use super::symbols::{Origin, Source};
use super::value::Shape;
use crate::hir::*;
use crate::types::Ty;
use crate::types::groups::pattern_locals;

impl Analyser<'_> {
    pub(super) fn bind_pattern(&mut self, pattern: &Pattern, shape: &Shape) {
        match &pattern.kind {
            PatternKind::Bind(local, inner) => {
                self.bind_named(*local, shape);
                if let Some(inner) = inner {
                    self.bind_pattern(inner, shape);
                }
            }
            PatternKind::Typed(inner, ty) => {
                let name = self.pattern_name(inner);
                let shape = self.annotate(shape, ty, pattern.span, &name);
                self.bind_pattern(inner, &shape);
            }
            PatternKind::Tuple(parts) => match shape {
                Shape::Record(shapes) if shapes.len() == parts.len() => {
                    for (part, shape) in parts.iter().zip(shapes) {
                        self.bind_pattern(part, shape);
                    }
                }
                _ => self.bind_unknown(pattern),
            },
            PatternKind::Struct { res: Res::Def(def), fields, .. } => {
                let DefKind::Struct(item) = &self.program.def(*def).kind else {
                    return self.bind_unknown(pattern);
                };
                let Shape::Record(shapes) = shape else { return self.bind_unknown(pattern) };
                for (name, part) in fields {
                    let position = item.fields.iter().position(|f| f.name.name == name.name);
                    match position.and_then(|position| shapes.get(position)) {
                        Some(shape) => self.bind_pattern(part, shape),
                        None => self.bind_unknown(part),
                    }
                }
            }
            _ => self.bind_unknown(pattern),
        }
    }

    /// A name for a value; an integer without an expression gets a symbol of its own.
    pub(super) fn bind_named(&mut self, local: LocalId, shape: &Shape) {
        let ty = self.typed_here().local(local).clone();
        let source = Source::Local(self.cur, local);
        let known = match (shape, &ty) {
            (Shape::Opaque, Ty::Scalar(scalar)) if scalar.is_integer() => {
                self.fresh(&ty, source, true)
            }
            (Shape::Opaque, Ty::Tensor(..) | Ty::Tuple(_) | Ty::Struct(..)) => {
                self.fresh(&ty, source, true)
            }
            _ => shape.clone(),
        };
        self.rename_axes(local, &known);
        self.bind(local, known);
    }

    /// An extent that data decides is called after the first name of the tensor.
    fn rename_axes(&mut self, local: LocalId, shape: &Shape) {
        let Shape::Tensor(extents, _) = shape else { return };
        let name = self.text(self.body()[local].name.name).to_owned();
        for (axis, extent) in extents.iter().enumerate() {
            let Some(var) = extent.as_quasi().and_then(|quasi| quasi.as_var()) else { continue };
            let unnamed = |source: &Source| match source {
                Source::Expr(instance, expr) => {
                    let body = &self.program.bodies[self.typed.instance(*instance).body];
                    !matches!(body.kind(*expr), ExprKind::Name(_))
                }
                _ => false,
            };
            if matches!(self.symbols.origin(var), Some(Origin::Axis(source, ..)) if unnamed(source))
                && self.symbols.is_generic(var)
            {
                let shown = match extents.len() {
                    1 => format!("len({name})"),
                    _ => format!("{name}.shape[{axis}]"),
                };
                self.symbols.rename(var, &shown);
            }
        }
    }

    /// Names of which only the types are known.
    pub(super) fn bind_unknown(&mut self, pattern: &Pattern) {
        let mut locals = Vec::new();
        pattern_locals(pattern, &mut locals);
        for local in locals {
            self.bind_named(local, &Shape::Opaque);
        }
    }
}
